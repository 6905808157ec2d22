//! What the memory options ask for, as plain data.
//!
//! Made by the program's option parser, which also refuses options that exclude each other; owned by the
//! [`PageSource`](crate::PageSource) made from it, which refuses what the machine can't give.

use std::path::PathBuf;

/// When files on hugetlbfs are removed (`--huge-unlink`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HugeUnlink {
    /// Files of ended processes are removed at start, ours when their mapping goes.
    #[default]
    Existing,
    /// As `Existing`, and ours are removed as soon as they are open: no other program finds them by name.
    Always,
    /// Files stay when the program ends, and the next start uses them again.
    Never,
}

/// Which kind of address a device is given (`--iova-mode`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IovaMode {
    /// Physical addresses; needs a readable `/proc/self/pagemap` (`CAP_SYS_ADMIN`).
    Pa,
    /// Virtual addresses.
    Va,
}

/// The memory options. [`MemoryConfig::default`] stands for "no option given": no limit, memory as it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryConfig {
    /// `-m`, in MiB. With `no_huge` or `legacy_mem` no more than that is handed out; otherwise it is the least that must
    /// be there at start, as DPDK's memory may grow beyond it.
    pub total_mb: Option<u64>,
    /// `--numa-mem`/`--socket-mem`, in MiB, indexed by NUMA node; as `total_mb`, per node. Empty: not given.
    pub per_node_mb: Vec<u64>,
    /// `--numa-limit`/`--socket-limit`, in MiB, indexed by NUMA node; 0 is no limit.
    pub limit_per_node_mb: Vec<u64>,
    /// `--no-huge`: no hugetlbfs pages and no files on hugetlbfs. Transparent huge pages are still used: they need no
    /// reserved pages, which is what users of this option do without.
    pub no_huge: bool,
    /// `--huge-dir`: the hugetlbfs mount that shareable memory must come from.
    pub huge_dir: Option<PathBuf>,
    /// `--in-memory`: no files at all.
    pub in_memory: bool,
    /// `--single-file-segments`: one file for each page size and node; mappings are ranges in it.
    pub single_file_segments: bool,
    /// `--file-prefix`: files on hugetlbfs are named `<prefix>map_<n>`.
    pub file_prefix: String,
    /// `--huge-unlink`.
    pub huge_unlink: HugeUnlink,
    /// `--legacy-mem`: everything reserved is made resident at once.
    pub legacy_mem: bool,
    /// `--match-allocations`: memory goes back to the system exactly as it was taken. This always holds here, as each
    /// allocation is a mapping of its own.
    pub match_allocations: bool,
    /// `--base-virtaddr`: mappings are placed from this address up, where it is free.
    pub base_virtaddr: Option<u64>,
    /// `--iova-mode`; `None` chooses virtual addresses.
    pub iova_mode: Option<IovaMode>,
    /// `--pagesz-mem`: (page size, most memory of that page size), both in bytes.
    pub pagesz_limits: Vec<(u64, u64)>,
}

impl Default for MemoryConfig {
    fn default() -> Self {
        MemoryConfig {
            total_mb: None,
            per_node_mb: Vec::new(),
            limit_per_node_mb: Vec::new(),
            no_huge: false,
            huge_dir: None,
            in_memory: false,
            single_file_segments: false,
            file_prefix: "rte".to_owned(),
            huge_unlink: HugeUnlink::default(),
            legacy_mem: false,
            match_allocations: false,
            base_virtaddr: None,
            iova_mode: None,
            pagesz_limits: Vec::new(),
        }
    }
}
