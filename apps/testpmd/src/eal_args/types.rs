//! EAL options as plain data. Amounts carry their unit in the name; `None` means that the option wasn't given.

use std::path::PathBuf;

use mpps_shm::{HugeUnlink, IovaMode};

use crate::cores::CoreArgs;
use crate::getopt::Notices;

/// All EAL options of one command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EalArgs {
    /// `--help`: print help and end; nothing else was read.
    pub help: bool,
    /// `--version`: name the version and go on.
    pub version: bool,
    /// Core selection, for [`crate::cores::resolve`].
    pub cores: CoreArgs,
    /// Devices.
    pub devices: DeviceArgs,
    /// Memory.
    pub memory: MemoryArgs,
    /// Log.
    pub log: LogArgs,
    /// `--telemetry`, `--no-telemetry`.
    pub telemetry: Telemetry,
    /// `--force-max-simd-bitwidth`: the widest vectors to use, in bits (64 to 512); `None`: no bound.
    pub max_simd_bits: Option<u16>,
    /// `-n`: memory channels, as told.
    pub channels: Option<u32>,
    /// `-r`: memory ranks, as told.
    pub ranks: Option<u32>,
    /// `-d`: driver libraries and folders, as told.
    pub driver_paths: Vec<PathBuf>,
    /// What the user should know.
    pub notices: Notices,
}

/// Which devices to take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceArgs {
    /// `-a`: device strings (`[bus:]name[,key=value...]`), in order.
    pub allow: Vec<String>,
    /// `-b`: device strings, in order.
    pub block: Vec<String>,
    /// `--vdev`: virtual devices (`driver<id>[,key=value...]`), in order, as written.
    pub vdevs: Vec<String>,
    /// `--no-pci`.
    pub no_pci: bool,
    /// `-A`, `--auto-probing`.
    pub autoprobe: Autoprobe,
}

/// Whether devices are taken without being named.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Autoprobe {
    /// All that the lists permit.
    #[default]
    On,
    /// Only those that `-a` or `--vdev` names.
    Off,
}

/// Where memory comes from and how much there may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryArgs {
    /// `-m`: total, in MiB.
    pub total_mb: Option<u64>,
    /// `--numa-mem`, `--socket-mem`: MiB for each NUMA node, from node 0 on; empty when not given.
    pub per_node_mb: Vec<u64>,
    /// `--numa-limit`, `--socket-limit`: upper limit in MiB for each NUMA node, 0 for none.
    pub limit_per_node_mb: Vec<u64>,
    /// `--pagesz-mem`: upper limit for each page size.
    pub page_limits: Vec<PageLimit>,
    /// `--no-huge`.
    pub no_huge: bool,
    /// `--huge-dir`.
    pub huge_dir: Option<PathBuf>,
    /// `--in-memory`.
    pub in_memory: bool,
    /// `--single-file-segments`.
    pub single_file_segments: bool,
    /// `--file-prefix`.
    pub file_prefix: String,
    /// `--huge-unlink`.
    pub huge_unlink: HugeUnlink,
    /// `--no-shconf`.
    pub no_shconf: bool,
    /// `--legacy-mem`.
    pub legacy_mem: bool,
    /// `--match-allocations`.
    pub match_allocations: bool,
    /// `--base-virtaddr`: where to map, rounded up to 16 MiB.
    pub base_virtaddr: Option<u64>,
    /// `--iova-mode`.
    pub iova_mode: Option<IovaMode>,
    /// `--mbuf-pool-ops-name`, as told.
    pub pool_ops: Option<String>,
}

impl Default for MemoryArgs {
    fn default() -> MemoryArgs {
        MemoryArgs {
            total_mb: None,
            per_node_mb: Vec::new(),
            limit_per_node_mb: Vec::new(),
            page_limits: Vec::new(),
            no_huge: false,
            huge_dir: None,
            in_memory: false,
            single_file_segments: false,
            file_prefix: "rte".to_owned(),
            huge_unlink: HugeUnlink::default(),
            no_shconf: false,
            legacy_mem: false,
            match_allocations: false,
            base_virtaddr: None,
            iova_mode: None,
            pool_ops: None,
        }
    }
}

/// `--pagesz-mem`: at most so much memory on pages of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimit {
    /// Page size in bytes, a power of two.
    pub page_bytes: u64,
    /// Limit in bytes, a multiple of the page size.
    pub limit_bytes: u64,
}

/// `--telemetry` and its opposite.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Telemetry {
    /// Neither was given.
    #[default]
    Unsaid,
    /// `--telemetry`.
    On,
    /// `--no-telemetry`.
    Off,
}

/// Log options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LogArgs {
    /// `--log-level=help`: list the levels and end.
    pub help: bool,
    /// `--log-level`, in order; later rules win.
    pub rules: Vec<LogRule>,
}

/// One `--log-level`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRule {
    /// Whose messages.
    pub target: LogTarget,
    /// The least urgent level that still shows.
    pub level: LogLevel,
}

/// Whose messages a log rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogTarget {
    /// Everybody's.
    Global,
    /// Those of log types that a glob matches (`pmd.*:debug`).
    Glob(String),
    /// Those of log types that a regular expression matches (`pmd\..*,8`).
    Regex(String),
}

/// DPDK's levels; the higher, the more is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// 1
    Emergency = 1,
    /// 2
    Alert,
    /// 3
    Critical,
    /// 4
    Error,
    /// 5
    Warning,
    /// 6
    Notice,
    /// 7
    Info,
    /// 8
    Debug,
}
