//! The page source: makes mappings as the memory options ask.
//!
//! One for a program, made from its options at start, shared as an `Arc`; mappings hold the books and files, so they
//! may outlive it.

use crate::backing::Backing;
use crate::books::{Books, Claim};
use crate::config::{HugeUnlink, IovaMode, MemoryConfig};
use crate::error::MemoryError;
use crate::hugedir::HugeDir;
use crate::limits;
use crate::machine::Machine;
use crate::mapping::{HUGE_PAGE, Mapping, SMALL_PAGE};
use crate::pagemap::Pagemap;
use crate::report::{self, PageKind, PageReport};
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};

/// `--base-virtaddr` is rounded up to this, in bytes (reference: DPDK's EAL option).
const BASE_ALIGN: usize = 16 << 20;

/// Makes mappings as the memory options ask.
///
/// A program that locks its memory should do so after its reservations (and with `MCL_ONFAULT`): after
/// `mlockall(MCL_FUTURE)` the kernel counts reserved address space against an ordinary user's limit (`ulimit -l`).
///
/// ```
/// use mpps_shm::{MemoryConfig, PageSource};
///
/// let source = PageSource::new(MemoryConfig { total_mb: Some(40), no_huge: true, ..MemoryConfig::default() })?;
/// let buffers = source.reserve("mb_pool_0", 4 << 20, None)?;
/// buffers.commit(0, 2048)?;
/// // SAFETY: just committed, and nobody else knows of it.
/// unsafe { buffers.as_ptr().write(42) };
/// assert!(source.reserve("mb_pool_1", 352 << 20, None).is_err(), "-m allows 40 MiB");
/// # Ok::<(), mpps_shm::MemoryError>(())
/// ```
#[derive(Debug)]
pub struct PageSource {
    config: MemoryConfig,
    machine: Machine,
    books: Arc<Books>,
    huge_dir: Option<HugeDir>,
    pagemap: Pagemap,
    /// With `--single-file-segments`.
    files: Mutex<Files>,
    /// With `--base-virtaddr`: where the next mapping should go.
    next_address: Mutex<Option<usize>>,
}

/// The file of each page size (0: ordinary pages) and node.
type Files = HashMap<(usize, Option<u32>), Arc<Backing>>;

/// What one mapping is made of.
struct Recipe<'a> {
    name: &'a str,
    len: usize,
    node: Option<u32>,
    kind: PageKind,
    /// Page size of hugetlbfs; 0 elsewhere.
    hugetlb: usize,
}

impl PageSource {
    /// Checks the options against the machine, and removes what ended programs left in `--huge-dir`.
    ///
    /// # Errors
    /// An option asks for what the machine doesn't have.
    pub fn new(config: MemoryConfig) -> Result<PageSource, MemoryError> {
        PageSource::on(Machine::detect(), config)
    }

    pub(crate) fn on(machine: Machine, config: MemoryConfig) -> Result<PageSource, MemoryError> {
        let (accounts, floors) = limits::derive(&config, &machine)?;
        let pagemap = Pagemap::open();
        if config.iova_mode == Some(IovaMode::Pa) && !pagemap.is_readable() {
            return Err(MemoryError::NoPhysicalAddresses);
        }
        let books = Arc::new(Books::new(accounts, floors));
        let huge_dir = open_huge_dir(&config, &books)?;
        let next_address = first_address(&config, &books);
        Ok(PageSource {
            config,
            machine,
            books,
            huge_dir,
            pagemap,
            files: Mutex::default(),
            next_address: Mutex::new(next_address),
        })
    }

    /// Reserves address space for `len` bytes of memory that can be shared with a peer, for the CPUs of `node`. Nothing
    /// is resident yet, except with `--legacy-mem`, and huge pages set aside by `-m` or `--numa-mem`. `name` shows in
    /// errors, in the report and in `/proc/PID/maps`.
    ///
    /// # Errors
    /// The options don't allow that much, the node doesn't exist, `--huge-dir` has too few pages, or the kernel refuses.
    pub fn reserve(
        &self,
        name: &str,
        len: usize,
        node: Option<u32>,
    ) -> Result<Mapping, MemoryError> {
        let node = self.node_for(name, len, node)?;
        let recipe = |hugetlb, kind| Recipe {
            name,
            len,
            node,
            kind,
            hugetlb,
        };
        if let Some(dir) = &self.huge_dir
            && self.config.huge_dir.is_some()
        {
            self.enough_pages(name, len, node, dir.page_size())?;
            return self.make(&recipe(dir.page_size(), PageKind::Hugetlb));
        }
        for size in self.free_sizes(name, len, node) {
            // Somebody else may have been faster, or a control group forbids it: ordinary pages do as well.
            if let Ok(mapping) = self.make(&recipe(size, PageKind::Hugetlb)) {
                return Ok(mapping);
            }
        }
        self.make(&recipe(0, PageKind::Shared))
    }

    /// Reserves `len` bytes of anonymous memory that is never shared with a peer: zero, and resident when touched.
    /// [`Mapping::commit`] is allowed and gives huge pages.
    ///
    /// # Errors
    /// The options don't allow that much, or the kernel refuses.
    pub fn reserve_private(&self, name: &str, len: usize) -> Result<Mapping, MemoryError> {
        let node = self.node_for(name, len, None)?;
        self.make(&Recipe {
            name,
            len,
            node,
            kind: PageKind::Private,
            hugetlb: 0,
        })
    }

    /// Says whether [`reserve`](Self::reserve) of `len` bytes would be within the options.
    ///
    /// # Errors
    /// The options don't allow that much, or the node doesn't exist.
    pub fn check(&self, name: &str, len: usize, node: Option<u32>) -> Result<(), MemoryError> {
        let node = self.node_for(name, len, node)?;
        self.books.check(name, claim(len, node, SMALL_PAGE))
    }

    /// The bytes that the options still allow on `node`; `None`: as many as the machine has.
    pub fn remaining(&self, node: Option<u32>) -> Option<u64> {
        let node = self.node_for("", 0, node).ok()?;
        self.books.left(claim(0, node, SMALL_PAGE))
    }

    /// What became of each live mapping, oldest first; the page size is the one really got.
    pub fn report(&self) -> Vec<PageReport> {
        let mut reports = self.books.live();
        report::read_back(&mut reports);
        reports
    }

    /// What the user should know and hasn't been told: wishes that were met in another way. Each is told once.
    pub fn take_notices(&self) -> Vec<String> {
        self.books.take_notices()
    }

    /// The NUMA nodes that memory can come from, ascending; at least one.
    pub fn nodes(&self) -> &[u32] {
        self.machine.nodes()
    }

    /// The kind of address that devices are given.
    pub fn iova_mode(&self) -> IovaMode {
        self.config.iova_mode.unwrap_or(IovaMode::Va)
    }

    /// The physical address of `ptr`; `None` when it isn't resident or the kernel doesn't tell (it tells processes with
    /// `CAP_SYS_ADMIN`). Only pages of hugetlbfs stay where they are for good.
    pub fn translate(&self, ptr: NonNull<u8>) -> Option<u64> {
        self.pagemap.translate(ptr)
    }

    /// The node to take memory from: the one asked for; with amounts per node the first that has as much left.
    fn node_for(
        &self,
        name: &str,
        len: usize,
        node: Option<u32>,
    ) -> Result<Option<u32>, MemoryError> {
        let nodes = self.machine.nodes();
        if let Some(node) = node {
            limits::known_node(name, node, &self.machine)?;
            return Ok(Some(node));
        }
        if let [only] = nodes {
            return Ok(Some(*only));
        }
        let has_room = |node: &&u32| {
            let left = self.books.left(claim(0, Some(**node), SMALL_PAGE));
            left.is_none_or(|left| left >= len as u64)
        };
        let amounts =
            !self.config.per_node_mb.is_empty() || !self.config.limit_per_node_mb.is_empty();
        let first = nodes.first().copied();
        Ok(if amounts {
            nodes.iter().find(has_room).copied().or(first)
        } else {
            None
        })
    }

    /// Page sizes of hugetlbfs that have enough pages free for `len` bytes, smallest first.
    fn free_sizes(&self, name: &str, len: usize, node: Option<u32>) -> Vec<usize> {
        if self.config.no_huge || len <= HUGE_PAGE / 2 {
            return Vec::new();
        }
        let only = self.huge_dir.as_ref().map(HugeDir::page_size);
        let mut sizes = Vec::new();
        for size in self.machine.huge_sizes() {
            let Ok(bytes) = usize::try_from(size) else {
                continue;
            };
            // Not a page of a gigabyte for a tenth of it.
            if only.is_some_and(|only| only != bytes) || bytes / 4 > len.max(HUGE_PAGE / 4) {
                continue;
            }
            let free = self.machine.huge_free(size, node);
            let need = len.div_ceil(bytes) as u64;
            if free >= need {
                sizes.push(bytes);
            } else if free > 0 {
                let size = crate::error::Size(size);
                let text = format!(
                    "{name} needs {need} huge pages of {size}, {free} are free: ordinary memory is used"
                );
                self.books.notice(text);
            }
        }
        sizes
    }

    fn enough_pages(
        &self,
        name: &str,
        len: usize,
        node: Option<u32>,
        size: usize,
    ) -> Result<(), MemoryError> {
        let size = size as u64;
        let (need, have) = (
            (len as u64).div_ceil(size),
            self.machine.huge_free(size, node),
        );
        if have >= need {
            return Ok(());
        }
        let knob = self.machine.huge_knob(size, node);
        Err(MemoryError::NoHugePages {
            name: name.to_owned(),
            need,
            have,
            size,
            node,
            knob,
        })
    }
}

fn page_size(hugetlb: usize) -> usize {
    if hugetlb == 0 { SMALL_PAGE } else { hugetlb }
}

fn claim(len: usize, node: Option<u32>, page_size: usize) -> Claim {
    let need = (len as u64).checked_next_multiple_of(SMALL_PAGE as u64);
    Claim {
        need: need.unwrap_or(u64::MAX),
        node,
        page_size: page_size as u64,
    }
}

/// Where `--base-virtaddr` wants the first mapping.
fn first_address(config: &MemoryConfig, books: &Books) -> Option<usize> {
    let base = config.base_virtaddr?;
    let aligned = usize::try_from(base)
        .ok()
        .and_then(|base| base.checked_next_multiple_of(BASE_ALIGN));
    if aligned.is_none() {
        books.notice(format!(
            "--base-virtaddr: {base:#x} is no address, any is used"
        ));
    }
    aligned
}

/// The folder for files on hugetlbfs: the one named; one of the mounts where files are to stay; else none is needed.
fn open_huge_dir(config: &MemoryConfig, books: &Books) -> Result<Option<HugeDir>, MemoryError> {
    if let Some(path) = &config.huge_dir {
        if config.no_huge {
            books.notice(format!(
                "--no-huge is given: --huge-dir '{}' is not used",
                path.display()
            ));
            return Ok(None);
        }
        return HugeDir::open(path, config).map(Some);
    }
    if config.no_huge || config.in_memory || config.huge_unlink != HugeUnlink::Never {
        return Ok(None);
    }
    let found = HugeDir::find(config);
    if found.is_none() {
        books.notice(
            "--huge-unlink=never: there is no hugetlbfs mount you may write to, so no file is kept"
                .to_owned(),
        );
    }
    Ok(found)
}

mod make;
#[cfg(test)]
mod tests;
