//! The page source: makes mappings as the memory options ask, and keeps the books of what is handed out.
//!
//! One for a program, made from its options at start, shared as an `Arc`; mappings hold the books, so they may outlive it.

use crate::config::MemoryConfig;
use crate::error::MemoryError;
use crate::mapping::{HUGE_PAGE, Mapping, SMALL_PAGE};
use crate::sys::Span;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

/// What became of one mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageReport {
    /// What the memory is for.
    pub name: String,
    /// Reserved bytes.
    pub len: u64,
}

/// Makes mappings as the memory options ask.
#[derive(Debug)]
pub struct PageSource {
    config: MemoryConfig,
    books: Arc<Books>,
}

impl PageSource {
    /// Checks the options against the machine.
    ///
    /// # Errors
    /// An option asks for what the machine doesn't have.
    pub fn new(config: MemoryConfig) -> Result<PageSource, MemoryError> {
        Ok(PageSource {
            config,
            books: Arc::default(),
        })
    }

    /// Reserves address space for `len` bytes of memory that can be shared with a peer, for the CPUs of `node`. Nothing
    /// is resident yet. `name` shows in errors, in the report and in `/proc/PID/maps`.
    ///
    /// # Errors
    /// The options don't allow that much, or the kernel refuses.
    pub fn reserve(
        &self,
        name: &str,
        len: usize,
        node: Option<u32>,
    ) -> Result<Mapping, MemoryError> {
        let _ = node;
        self.map(name, len, true)
    }

    /// Reserves `len` bytes of anonymous memory that is never shared with a peer: zero, and resident when touched.
    /// [`Mapping::commit`] is allowed and gives huge pages.
    ///
    /// # Errors
    /// The options don't allow that much, or the kernel refuses.
    pub fn reserve_private(&self, name: &str, len: usize) -> Result<Mapping, MemoryError> {
        self.map(name, len, false)
    }

    /// Says whether [`reserve`](Self::reserve) of `len` bytes would be within the options.
    ///
    /// # Errors
    /// The options don't allow that much.
    pub fn check(&self, name: &str, len: usize, node: Option<u32>) -> Result<(), MemoryError> {
        let _ = (name, len, node);
        Ok(())
    }

    /// What became of each live mapping, oldest first.
    pub fn report(&self) -> Vec<PageReport> {
        let live = self
            .books
            .live
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        live.iter().map(|(_, report)| report.clone()).collect()
    }

    fn map(&self, name: &str, len: usize, shared: bool) -> Result<Mapping, MemoryError> {
        let refused = |source: Errno| MemoryError::Reserve {
            name: name.to_owned(),
            len: len as u64,
            hint: "ask for less",
            source: source.into(),
        };
        let page = if len > HUGE_PAGE / 2 {
            HUGE_PAGE
        } else {
            SMALL_PAGE
        };
        let rounded = len.checked_next_multiple_of(page).filter(|len| *len != 0);
        let rounded = rounded.ok_or_else(|| refused(Errno::INVAL))?;
        let span = Span::take(rounded + HUGE_PAGE, None).map_err(refused)?;
        let skip = span.align_offset(HUGE_PAGE);
        let file = if shared {
            Some(self.file(name, rounded).map_err(refused)?)
        } else {
            None
        };
        let mapped = file.as_ref().map(|fd| (fd.as_fd(), 0));
        span.map(skip, rounded, mapped, true).map_err(refused)?;
        let chunks = (0..rounded.div_ceil(HUGE_PAGE))
            .map(|_| AtomicBool::new(false))
            .collect();
        let id = self.books.open(PageReport {
            name: name.to_owned(),
            len: rounded as u64,
        });
        Ok(Mapping {
            name: name.to_owned(),
            span,
            skip,
            len: rounded,
            hugetlb: 0,
            file: file.map(|fd| (Arc::new(fd), 0)),
            chunks,
            growing: Mutex::new(()),
            books: Arc::clone(&self.books),
            id,
        })
    }

    fn file(&self, name: &str, len: usize) -> Result<OwnedFd, Errno> {
        let name = format!("{}map_{name}", self.config.file_prefix);
        let fd = memfd_create(name, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&fd, len as u64)?;
        // A peer that gets the file can't shorten it under our feet.
        fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok(fd)
    }
}

/// What is handed out; shared by the source and its mappings.
#[derive(Debug, Default)]
pub(crate) struct Books {
    live: Mutex<Vec<(u64, PageReport)>>,
}

impl Books {
    fn open(&self, report: PageReport) -> u64 {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        let id = live.last().map_or(0, |(id, _)| id + 1);
        live.push((id, report));
        id
    }

    pub(crate) fn close(&self, id: u64) {
        let mut live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
        live.retain(|(other, _)| *other != id);
    }
}
