//! A mapping: address space with a file or anonymous memory behind it, made resident chunk by chunk.
//!
//! Made by [`PageSource`](crate::PageSource), owned by the pool or port that asked for it; dropping it unmaps the
//! memory, closes the file and gives the budget back.

use crate::error::MemoryError;
use crate::region::Region;
use crate::source::Books;
use crate::sys::Span;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The size of a transparent huge page, and of a page of hugetlbfs unless another is asked for.
pub(crate) const HUGE_PAGE: usize = 2 << 20;
pub(crate) const SMALL_PAGE: usize = 4 << 10;

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
    pub(crate) file: Option<(Arc<OwnedFd>, u64)>,
    /// One for each commit unit: true once it is resident.
    pub(crate) chunks: Box<[AtomicBool]>,
    pub(crate) growing: Mutex<()>,
    pub(crate) books: Arc<Books>,
    pub(crate) id: u64,
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
        self.file.as_ref().map(|(fd, _)| fd.as_fd())
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
        self.populate(start, len)
            .map_err(|source| self.refused(len, source))?;
        // Release: pairs with the Acquire in commit.
        self.chunks[index].store(true, Ordering::Release);
        Ok(())
    }

    fn populate(&self, start: usize, len: usize) -> Result<(), rustix::io::Errno> {
        let at = self.skip + start;
        if len == HUGE_PAGE {
            // One resident page is enough for a collapse of the whole: the kernel zeroes the rest in the huge page at
            // once, in a tenth of the time that 512 small pages and the copy of them take.
            self.span.populate(at, SMALL_PAGE)?;
            // Refused: it stays with small pages, and the report says so.
            let _ = self.span.collapse(at, len);
        }
        self.span.populate(at, len)
    }

    fn outside(&self, offset: usize, len: usize) -> MemoryError {
        MemoryError::Range {
            name: self.name.clone(),
            offset,
            len,
            size: self.len,
        }
    }

    fn refused(&self, len: usize, source: rustix::io::Errno) -> MemoryError {
        MemoryError::Commit {
            name: self.name.clone(),
            len: len as u64,
            hint: "free memory, or raise the memory limit of the control group",
            source: source.into(),
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        self.books.close(self.id);
    }
}
