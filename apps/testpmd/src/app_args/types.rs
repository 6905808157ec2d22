//! testpmd's options as plain data, defaults included: the whole, how to run, ports and cores.

use std::path::PathBuf;

use mpps_wire::MacAddr;

use super::data_types::{NoisyArgs, OffloadArgs, OwnArgs, PoolArgs, QueueArgs, TrafficArgs};
use crate::cores::Numbers;
use crate::getopt::Notices;

/// Names that other crates offer; an unknown one is refused with the whole list.
#[derive(Debug, Clone, Copy)]
pub struct NamesArgs<'a> {
    /// Forwarding engines, for `--forward-mode`.
    pub engines: &'a [&'a str],
    /// MAC-swap kernels, for `--macswap`.
    pub macswap: &'a [&'a str],
    /// Copy kinds, for `--copy`.
    pub copy: &'a [&'a str],
}

/// All of testpmd's options of one command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AppArgs {
    /// `--help`: print help and end; nothing else was read.
    pub help: bool,
    /// How to run.
    pub run: RunArgs,
    /// Ports, cores, topology.
    pub ports: PortArgs,
    /// Queues, rings, bursts.
    pub queues: QueueArgs,
    /// Pools and NUMA.
    pub pools: PoolArgs,
    /// Offloads, RSS.
    pub offloads: OffloadArgs,
    /// Traffic generation and engines.
    pub traffic: TrafficArgs,
    /// The noisy engine.
    pub noisy: NoisyArgs,
    /// Options that DPDK's testpmd doesn't have.
    pub own: OwnArgs,
    /// Lines of DPDK's text that reading these options prints on standard output, in order.
    pub echo: Vec<String>,
    /// Lines of DPDK's text that reading these options prints on standard error, in order.
    pub warnings: Vec<String>,
    /// What the user should know.
    pub notices: Notices,
}

/// A command file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandFile {
    /// Where it is.
    pub path: PathBuf,
    /// Whether each command is echoed.
    pub echo: bool,
}

/// Run control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunArgs {
    /// `-i`.
    pub interactive: bool,
    /// `-a`.
    pub auto_start: bool,
    /// `--cmdline-file`, `--cmdline-file-noecho`: at most 16, in order.
    pub command_files: Vec<CommandFile>,
    /// `--tx-first`.
    pub tx_first: bool,
    /// `--stats-period`, in seconds, 1 to 65534.
    pub stats_period: Option<u16>,
    /// `--display-xstats`: names of extended statistics.
    pub display_xstats: Vec<String>,
    /// Unless `--disable-link-check`.
    pub link_check: bool,
    /// Unless `--disable-device-start`.
    pub device_start: bool,
    /// Link state events, unless `--no-lsc-interrupt`.
    pub link_events: bool,
    /// Removal events, unless `--no-rmv-interrupt`.
    pub removal_events: bool,
    /// `--hot-plug`.
    pub hot_plug: bool,
    /// Events that are printed, a bit for each of [`events`].
    pub printed_events: u32,
    /// Lock memory, unless `--no-mlockall`.
    pub mlockall: bool,
    /// `--record-core-cycles`.
    pub record_core_cycles: bool,
    /// `--record-burst-stats`.
    pub record_burst_stats: bool,
    /// `--num-procs`; 1.
    pub num_procs: u32,
    /// `--proc-id`; below `num_procs`.
    pub proc_id: u32,
}

impl Default for RunArgs {
    fn default() -> RunArgs {
        RunArgs {
            interactive: false,
            auto_start: false,
            command_files: Vec::new(),
            tx_first: false,
            stats_period: None,
            display_xstats: Vec::new(),
            link_check: true,
            device_start: true,
            link_events: true,
            removal_events: true,
            hot_plug: false,
            printed_events: events::DEFAULT,
            mlockall: true,
            record_core_cycles: false,
            record_burst_stats: false,
            num_procs: 1,
            proc_id: 0,
        }
    }
}

/// Port events by name; the bit is the place in [`NAMES`](events::NAMES).
pub mod events {
    /// The names of `--print-event` and `--mask-event`, `all` aside.
    pub const NAMES: [&str; 14] = [
        "unknown",
        "intr_lsc",
        "queue_state",
        "intr_reset",
        "vf_mbox",
        "ipsec",
        "macsec",
        "intr_rmv",
        "dev_probed",
        "dev_released",
        "flow_aged",
        "err_recovering",
        "recovery_success",
        "recovery_failed",
    ];
    /// All of them.
    pub const ALL: u32 = (1 << NAMES.len()) - 1;
    /// What is printed unless said otherwise: all but mailbox messages, probing and release.
    pub const DEFAULT: u32 = ALL & !(1 << 4 | 1 << 8 | 1 << 9);

    /// The bit of an event by its name.
    #[must_use]
    pub fn bit(name: &str) -> Option<u32> {
        NAMES.iter().position(|n| *n == name).map(|at| 1 << at)
    }
}

/// Which ports forward.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum PortSelection {
    /// All.
    #[default]
    All,
    /// `--portmask`, ascending; missing ports are left out.
    Mask(Vec<u16>),
    /// `--portlist`, in this order, which pairs them; missing ports are left out.
    List(Vec<u16>),
}

/// `--port-topology`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Topology {
    /// 0 with 1, 2 with 3.
    #[default]
    Paired,
    /// 0 to 1, 1 to 2, the last to 0.
    Chained,
    /// Each to itself.
    Loop,
}

/// Ports, cores, topology.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortArgs {
    /// `--nb-cores` after the last `--coremask`; unless given, one core, or all of the mask.
    pub nb_cores: Option<u32>,
    /// `--coremask`: lcores that forward.
    pub coremask: Option<Numbers>,
    /// `--nb-ports` after the last selection: the first so many of it.
    pub nb_ports: Option<u16>,
    /// `--portmask`, `--portlist`; the later one.
    pub selection: PortSelection,
    /// `--port-topology`.
    pub topology: Topology,
    /// `--forward-mode`; `None`: io.
    pub forward_mode: Option<String>,
    /// `--eth-peers-configfile`, for [`super::parse_peers`].
    pub peers_file: Option<PathBuf>,
    /// `--eth-peer`: port (0 to 31) and address, in order.
    pub peers: Vec<(u16, MacAddr)>,
}
