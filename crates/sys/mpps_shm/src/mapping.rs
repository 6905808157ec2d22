//! A mapping: address space with a file or anonymous memory behind it, made resident chunk by chunk.
//!
//! Made by [`PageSource`](crate::PageSource), owned by the pool or port that asked for it; dropping it unmaps the
//! memory, closes the file and gives the budget back.

use crate::backing::Backing;
use crate::books::Ticket;
use crate::error::{MemoryError, commit_hint};
use crate::region::Region;
use crate::sys::Span;
use rustix::io::Errno;
use std::os::fd::BorrowedFd;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The size of a transparent huge page, and of a page of hugetlbfs unless another is asked for.
pub(crate) const HUGE_PAGE: usize = 2 << 20;
pub(crate) const SMALL_PAGE: usize = 4 << 10;

/// How often a collapse that is refused for the moment is tried.
const COLLAPSE_TRIES: u32 = 3;

/// Reserved memory. Nothing of it is resident until [`commit`](Mapping::commit); bytes are zero at first.
#[derive(Debug)]
pub struct Mapping {
    pub(crate) name: String,
    pub(crate) span: Span,
    /// Where in the span the memory starts.
    pub(crate) skip: usize,
    pub(crate) len: usize,
    /// Pages of hugetlbfs have this size; 0 elsewhere.
    pub(crate) hugetlb: usize,
    /// The file it is a range of, and where the range starts.
    pub(crate) file: Option<(Arc<Backing>, u64)>,
    /// One for each commit unit: true once it is resident.
    pub(crate) chunks: Box<[AtomicBool]>,
    /// Held while a chunk is made resident.
    pub(crate) growing: Mutex<()>,
    /// Bytes that are committed; the books read it.
    pub(crate) committed: Arc<AtomicU64>,
    #[expect(dead_code, reason = "dropping it is its use: it gives the budget back")]
    pub(crate) ticket: Ticket,
}

impl Mapping {
    /// What the memory is for, as given when it was reserved.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first byte; aligned to 2 MiB, or to the page size of hugetlbfs. Only committed parts may be touched, and a
    /// mapping with a file is seen by everyone who was given that file.
    pub fn as_ptr(&self) -> NonNull<u8> {
        // SAFETY: skip is inside the span; the maker of the mapping mapped the memory there.
        unsafe { self.span.start().add(self.skip) }
    }

    /// Usable bytes: at least what was asked for, rounded up to pages.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Never true: a mapping of nothing is refused.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Page size that is aimed at, in bytes; [`PageSource::report`](crate::PageSource::report) says what came of it.
    pub const fn page_size(&self) -> usize {
        if self.hugetlb != 0 {
            self.hugetlb
        } else if self.len < HUGE_PAGE {
            SMALL_PAGE
        } else {
            HUGE_PAGE
        }
    }

    /// The file behind it, to be passed to a peer; `None` for private memory.
    pub fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.file.as_ref().map(|(file, _)| file.fd())
    }

    /// Where in the file the mapping starts, in bytes; not 0 only with `--single-file-segments`.
    pub const fn fd_offset(&self) -> u64 {
        match &self.file {
            Some((_, offset)) => *offset,
            None => 0,
        }
    }

    /// Pointer and length; valid as long as the mapping lives.
    pub fn region(&self) -> Region {
        // SAFETY: the mapping is one piece of `len` bytes; that it outlives the accesses is asked of who makes them.
        unsafe { Region::new(self.as_ptr(), self.len) }
    }

    /// The granularity in which memory becomes resident, in bytes: 2 MiB, or the page size of hugetlbfs.
    pub const fn commit_unit(&self) -> usize {
        if self.hugetlb != 0 {
            self.hugetlb
        } else {
            HUGE_PAGE
        }
    }

    /// Makes all commit units that `offset` to `offset + len` touches resident, with huge pages where they can be had.
    /// Cheap when they are already; may be called from several threads at once.
    ///
    /// # Errors
    /// The range isn't inside the mapping, or the kernel has no memory (pages, or a control group's limit); what was
    /// resident stays so, and the call may be repeated.
    pub fn commit(&self, offset: usize, len: usize) -> Result<(), MemoryError> {
        let end = offset.checked_add(len).filter(|end| *end <= self.len);
        let Some(end) = end else {
            return Err(self.outside(offset, len));
        };
        if len == 0 {
            return Ok(());
        }
        let unit = self.commit_unit();
        for index in offset / unit..end.div_ceil(unit) {
            // Acquire: pairs with the Release in commit_chunk.
            if !self.chunks[index].load(Ordering::Acquire) {
                self.commit_chunk(index)?;
            }
        }
        Ok(())
    }

    /// Gives up ownership: the memory stays mapped, and in the report, until the process ends.
    pub fn leak(self) -> Region {
        let region = self.region();
        std::mem::forget(self);
        region
    }

    #[cold]
    fn commit_chunk(&self, index: usize) -> Result<(), MemoryError> {
        let _alone = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        // Relaxed: the lock orders this with whoever committed before.
        if self.chunks[index].load(Ordering::Relaxed) {
            return Ok(());
        }
        let start = index * self.commit_unit();
        let len = self.commit_unit().min(self.len - start);
        self.make_resident(start, len)
            .map_err(|errno| self.refused(len, errno))?;
        // Relaxed: a figure for people.
        self.committed.fetch_add(len as u64, Ordering::Relaxed);
        // Release: pairs with the Acquire in commit.
        self.chunks[index].store(true, Ordering::Release);
        Ok(())
    }

    fn make_resident(&self, start: usize, len: usize) -> Result<(), Errno> {
        let at = self.skip + start;
        if self.hugetlb != 0 {
            // Pages first, by a call that returns an error where a store to a page that can't be had is a SIGBUS.
            self.allocate(start, len)?;
        } else if len == HUGE_PAGE && self.span.populate(at, SMALL_PAGE).is_ok() {
            self.collapse(start, len)?;
        }
        match self.span.populate(at, len) {
            // Kernels before 5.14 can't populate. Pages of a file are got like those of hugetlbfs; anonymous memory comes
            // when it is touched.
            Err(Errno::INVAL) => self.allocate(start, len)?,
            result => result?,
        }
        if self.file.as_ref().is_some_and(|(file, _)| file.is_dirty()) {
            // SAFETY: resident since a moment ago, and nobody may use it before `commit` returned.
            unsafe { self.span.zero(at, len)? };
        }
        Ok(())
    }

    /// Tries for one huge page. Refused: small pages will do, and the report says so; but not where the control group's
    /// limit on memory is the reason: with small pages the kernel would end the process, so this is the moment for an error.
    ///
    /// One resident page is enough to collapse them all: the kernel zeroes the rest in the huge page at once, in a tenth
    /// of the time that 512 small pages and their copy take.
    fn collapse(&self, start: usize, len: usize) -> Result<(), Errno> {
        let at = self.skip + start;
        for _ in 0..COLLAPSE_TRIES {
            match self.span.collapse(at, len) {
                // The page is in use elsewhere in the kernel, for a moment.
                Err(Errno::AGAIN) => {}
                // madvise(2): charging the page to the control group failed.
                Err(Errno::BUSY) => return Err(Errno::NOMEM),
                Err(Errno::INVAL) => {
                    // Kernels before 6.1 can't collapse, but some settings give huge pages to who asks beforehand.
                    let _ = self.span.advise_huge(at, self.len - start);
                    break;
                }
                _ => break,
            }
        }
        Ok(())
    }

    fn allocate(&self, start: usize, len: usize) -> Result<(), Errno> {
        match &self.file {
            Some((file, offset)) => file.allocate(offset + start as u64, len as u64),
            None => Ok(()),
        }
    }

    fn outside(&self, offset: usize, len: usize) -> MemoryError {
        MemoryError::Range {
            name: self.name.clone(),
            offset,
            len,
            size: self.len,
        }
    }

    fn refused(&self, len: usize, errno: Errno) -> MemoryError {
        MemoryError::Commit {
            name: self.name.clone(),
            len: len as u64,
            hint: commit_hint(errno, self.hugetlb != 0),
            source: errno.into(),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        if let Some((file, offset)) = &self.file {
            file.release(*offset, self.len as u64);
        }
    }
}

#[cfg(test)]
mod tests;
