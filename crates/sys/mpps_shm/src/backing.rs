//! The files behind shareable memory: memfds on ordinary or huge pages, and files on hugetlbfs.
//!
//! Made by the page source; shared by the mappings in it (one, or many with `--single-file-segments`); the last one to
//! go closes it and removes its name.

use rustix::fs::{
    FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, ftruncate, memfd_create,
};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Longest name that memfd_create(2) takes, in bytes.
const LONGEST_NAME: usize = 249;

/// `MFD_HUGE_SHIFT` of linux/memfd.h: the page size's logarithm stands above these bits.
const HUGE_SHIFT: u32 = 26;

/// A file that is mapped.
#[derive(Debug)]
pub(crate) struct Backing {
    fd: OwnedFd,
    /// Removed when dropped.
    path: Option<PathBuf>,
    /// An earlier program's bytes are in it.
    dirty: bool,
    /// Whether it may grow, and holds more than one mapping.
    growing: bool,
    len: Mutex<u64>,
}

impl Backing {
    /// A memfd of `len` bytes; `huge`: page size of hugetlbfs. It can't be shortened by whoever else gets it, nor made
    /// longer unless it is `growing`.
    pub(crate) fn memfd(
        name: &str,
        huge: Option<usize>,
        len: u64,
        growing: bool,
    ) -> Result<Backing, Errno> {
        let mut flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        if let Some(size) = huge {
            flags |= MemfdFlags::HUGETLB
                | MemfdFlags::from_bits_retain(size.trailing_zeros() << HUGE_SHIFT);
        }
        let fd = create(name, flags)?;
        ftruncate(&fd, len)?;
        let grow = if growing {
            SealFlags::empty()
        } else {
            SealFlags::GROW
        };
        fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::SEAL | grow)?;
        Ok(Backing {
            fd,
            path: None,
            dirty: false,
            growing,
            len: Mutex::new(len),
        })
    }

    /// An open file of `len` bytes, which loses its name `path` in the end.
    pub(crate) fn of_file(fd: OwnedFd, path: Option<PathBuf>, dirty: bool, len: u64) -> Backing {
        Backing {
            fd,
            path,
            dirty,
            growing: false,
            len: Mutex::new(len),
        }
    }

    /// Lets it take more mappings.
    pub(crate) fn into_growing(mut self) -> Backing {
        self.growing = true;
        self
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty
    }

    /// Adds `len` bytes at the end, aligned to `align`, and gives their offset.
    pub(crate) fn grow(&self, len: u64, align: u64) -> Result<u64, Errno> {
        let mut end = self.len.lock().unwrap_or_else(PoisonError::into_inner);
        let offset = end.next_multiple_of(align);
        let longer = offset.checked_add(len).ok_or(Errno::FBIG)?;
        ftruncate(&self.fd, longer)?;
        *end = longer;
        Ok(offset)
    }

    /// Gets pages for a range; a shortage is an error, never a signal.
    pub(crate) fn allocate(&self, offset: u64, len: u64) -> Result<(), Errno> {
        loop {
            match fallocate(&self.fd, FallocateFlags::empty(), offset, len) {
                Err(Errno::INTR) => {}
                result => return result,
            }
        }
    }

    /// A mapping of this range went: its pages go back, where the file itself stays.
    pub(crate) fn release(&self, offset: u64, len: u64) {
        if self.growing {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            // Refused: the pages go when the file does.
            let _ = fallocate(&self.fd, hole, offset, len);
        }
    }
}

impl Drop for Backing {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Gone already: someone else tidied up.
            let _ = rustix::fs::unlink(path);
        }
    }
}

/// Kernels from 6.3 on want to be told that the file will never be executed, and may insist; older ones refuse that flag.
fn create(name: &str, flags: MemfdFlags) -> Result<OwnedFd, Errno> {
    let mut end = name.len().min(LONGEST_NAME);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    let name = &name[..end];
    match memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL) {
        Err(Errno::INVAL) => memfd_create(name, flags),
        result => result,
    }
}

#[cfg(test)]
mod tests;
