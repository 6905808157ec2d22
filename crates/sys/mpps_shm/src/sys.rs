//! The memory calls of the kernel, as functions with as little unsafe as they can have.
//!
//! Stateless but for [`Span`], which owns a range of address space and is owned by a [`Mapping`](crate::Mapping).

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

/// Address space that is ours: nothing else is ever mapped there until it is dropped.
#[derive(Debug)]
pub(crate) struct Span {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: a Span is the ownership of an address range, which is the same for all threads.
unsafe impl Send for Span {}
// SAFETY: its only methods on `&self` are reads of two plain fields, and system calls that may run on any thread.
unsafe impl Sync for Span {}

impl Span {
    /// Takes `len` bytes of address space without access rights, at `hint` if that is free, else anywhere.
    pub(crate) fn take(len: usize, hint: Option<usize>) -> Result<Span, Errno> {
        if let Some(hint) = hint {
            let wanted = ptr::without_provenance_mut(hint);
            let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::FIXED_NOREPLACE;
            // SAFETY: NOREPLACE: an existing mapping is left alone and makes the call fail.
            if let Ok(at) = unsafe { mmap_anonymous(wanted, len, ProtFlags::empty(), flags) } {
                return Span::own(at, len);
            }
        }
        // SAFETY: the kernel chooses a free place.
        let at = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                len,
                ProtFlags::empty(),
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )
        }?;
        Span::own(at, len)
    }

    fn own(at: *mut c_void, len: usize) -> Result<Span, Errno> {
        let start = NonNull::new(at.cast()).ok_or(Errno::FAULT)?;
        Ok(Span { start, len })
    }

    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// The first multiple of `align` in it, as an offset.
    pub(crate) fn align_offset(&self, align: usize) -> usize {
        let addr = self.start.addr().get();
        addr.next_multiple_of(align) - addr
    }

    /// Maps `len` bytes at `offset` with read and write access: of `file` (fd and offset in it) shared with whoever has
    /// the same file, else anonymous. `lazy`: the kernel sets nothing aside for it.
    pub(crate) fn map(
        &self,
        offset: usize,
        len: usize,
        file: Option<(BorrowedFd<'_>, u64)>,
        lazy: bool,
    ) -> Result<NonNull<u8>, Errno> {
        if offset.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(Errno::INVAL);
        }
        let at = self.start.as_ptr().wrapping_add(offset).cast();
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        let reserve = if lazy {
            MapFlags::NORESERVE
        } else {
            MapFlags::empty()
        };
        let got = match file {
            // SAFETY: the range was just checked to be inside this Span, so only our own placeholder is replaced.
            Some((fd, fd_offset)) => unsafe {
                let flags = MapFlags::SHARED | MapFlags::FIXED | reserve;
                mmap(at, len, prot, flags, fd, fd_offset)
            },
            // SAFETY: as above.
            None => unsafe {
                mmap_anonymous(at, len, prot, MapFlags::PRIVATE | MapFlags::FIXED | reserve)
            },
        }?;
        NonNull::new(got.cast()).ok_or(Errno::FAULT)
    }

    /// The bytes at `offset`, checked; for the calls below.
    pub(crate) fn at(&self, offset: usize, len: usize) -> Result<*mut c_void, Errno> {
        if offset.checked_add(len).is_none_or(|end| end > self.len) {
            return Err(Errno::INVAL);
        }
        Ok(self.start.as_ptr().wrapping_add(offset).cast())
    }

    /// Makes the pages of a range resident and writable, as a store to each would, but with an error for a shortage.
    pub(crate) fn populate(&self, offset: usize, len: usize) -> Result<(), Errno> {
        let at = self.at(offset, len)?;
        loop {
            // SAFETY: the range is ours; the call changes no content.
            match unsafe { madvise(at, len, Advice::LinuxPopulateWrite) } {
                Err(Errno::INTR | Errno::AGAIN) => {}
                result => return result,
            }
        }
    }

    /// Asks for the range (2 MiB, aligned, one page of it resident at least) to become one huge page, now.
    pub(crate) fn collapse(&self, offset: usize, len: usize) -> Result<(), Errno> {
        let at = self.at(offset, len)?;
        // SAFETY: the range is ours; the call changes no content.
        match unsafe { libc::madvise(at, len, libc::MADV_COLLAPSE) } {
            0 => Ok(()),
            _ => Err(last_errno()),
        }
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        // SAFETY: the range is ours alone, and the Mapping that is being dropped was the last to hand out access to it.
        let result = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
        debug_assert!(
            result.is_ok(),
            "munmap of a range of our own failed: {result:?}"
        );
    }
}

impl Span {
    /// Says that huge pages are welcome in a range, for when it is populated.
    pub(crate) fn advise_huge(&self, offset: usize, len: usize) -> Result<(), Errno> {
        let at = self.at(offset, len)?;
        // SAFETY: the range is ours; the call changes no content.
        unsafe { madvise(at, len, Advice::LinuxHugepage) }
    }

    /// Leaves a range out of core dumps.
    pub(crate) fn advise_dontdump(&self, offset: usize, len: usize) -> Result<(), Errno> {
        let at = self.at(offset, len)?;
        // SAFETY: the range is ours; the call changes no content.
        unsafe { madvise(at, len, Advice::LinuxDontDump) }
    }
}

/// How strictly memory belongs to a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binding {
    /// Elsewhere when the node has none left.
    Preferred,
    /// Only there.
    Strict,
}

impl Span {
    /// Has the pages of a range, which must not be resident yet, come from `node` (mbind(2)).
    pub(crate) fn bind(
        &self,
        offset: usize,
        len: usize,
        node: u32,
        binding: Binding,
    ) -> Result<(), Errno> {
        const BITS: u32 = u64::BITS;
        let at = self.at(offset, len)?;
        let mode = match binding {
            Binding::Preferred => libc::MPOL_PREFERRED,
            Binding::Strict => libc::MPOL_BIND,
        };
        let mut mask = [0_u64; 16];
        let word = mask.get_mut((node / BITS) as usize).ok_or(Errno::INVAL)?;
        *word = 1 << (node % BITS);
        // One more than there are: the kernel leaves the last bit out.
        let bits = mask.len() * BITS as usize + 1;
        // SAFETY: the kernel reads `bits - 1` bits of mask, which has as many; the range is ours.
        let result =
            unsafe { libc::syscall(libc::SYS_mbind, at, len, mode, mask.as_ptr(), bits, 0) };
        if result == 0 {
            Ok(())
        } else {
            Err(last_errno())
        }
    }

    /// Overwrites a range with zeros.
    ///
    /// # Safety
    /// The range is mapped and resident, and nobody else uses it.
    pub(crate) unsafe fn zero(&self, offset: usize, len: usize) -> Result<(), Errno> {
        let at = self.at(offset, len)?;
        // SAFETY: inside the span; the caller vouches for the rest.
        unsafe { ptr::write_bytes(at.cast::<u8>(), 0, len) };
        Ok(())
    }
}

/// The error of the libc call just made on this thread.
pub(crate) fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

/// The size of an ordinary page in bytes, which offsets of mappings are multiples of.
pub(crate) fn page_size() -> usize {
    // SAFETY: only asks.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).unwrap_or(crate::mapping::SMALL_PAGE)
}
