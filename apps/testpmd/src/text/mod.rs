//! Every text block that testpmd prints, as pure functions of plain data.
//!
//! Why apart: the text is an interface that scripts parse byte for byte, so it is written, and tested, without a port or a
//! thread in sight. A block is a struct whose fields say where the figures come from and whose `Display` is the text; the
//! app fills it, prints it and drops it. Nothing here keeps state but [`RateState`] and [`XstatRates`], of which the
//! app owns one a port for as long as the port lives.
//!
//! Line ends: a *block* (`NicStats`, `FwdReport`, `PortInfo`, ...) ends with its own newline, so it is written with `print!`.
//! A [`Reply`] (standard output) and a [`Refusal`] (standard error) are one line without its end, for `println!` and
//! `eprintln!`; where a template has an empty line in front, that newline is part of the text.
//!
//! The texts are those of 26.11. What 22.11 printed otherwise, and is *not* reproduced:
//!
//! | Block | 26.11 (ours) | 22.11 |
//! |---|---|---|
//! | port info | `Minimum MTU:` and `Maximum MTU:` after `MTU:` | neither line |
//! | port info | `Hash key size in bytes:` also for null ports | the driver gave no size, so no line |
//! | port info | `Rx split:` with `Max segments:` after the LRO line | no such lines |
//! | port info | ends with `Device private info:` and the dump or `  none` | ends with `Device error handling mode:` |
//! | link lines | end with the connector, `None` for ours | no connector |
//! | cycles line | `busy cycles=` | `total cycles=` (same measurement) |
//! | xstats | `state: E` and a tab in front when asked | no such switch |
//! | dumps | `dump mempool` and so on | `dump_mempool`; a ring printed `ct= ch= pt= ph=`, now `cons.` and `prod.` lines |
//! | verbose dump | one write a packet, the header with the first | one write a burst; the bytes are the same |
//! | verbose dump | `Destination UDP port=` also outside tunnels; tunnels over UDP are named | neither |
//! | verbose dump | echo requests may be named `INNER_L4_FRAG` | never |
//! | refusals | what the device layer says begins with `ETHDEV: ` | no such beginning |
//! | `tso show` | `TSO and UFO for non-tunneled packets` | `TSO for non-tunneled packets` |
//! | `show port {p} rss-hash` | of a null port `RSS disabled` | it gave no key size, and that is said |
//!
//! Still older: up to 20.08 a port's `TX-dropped` left out the device's oerrors, link lines read `Port{p} Link Up. speed ...`
//! and 18.11 had no bps. Ours alone: `Rx path:` and `Tx path:` as the last lines of port info, when the port names a path.

mod bursts;
mod config_refusals;
mod device_info;
mod dump;
mod flow;
mod fwd_config;
mod fwd_stats;
mod hash;
mod layout;
mod lifecycle;
mod link;
mod memory;
mod nic_stats;
mod offloads;
mod port_info;
mod port_summary;
mod ptype;
mod queue_info;
mod refusals;
mod replies;
mod rxtx_config;
mod show_refusals;
mod verbose;
mod xstats;

#[cfg(test)]
mod contract_dump_tests;
#[cfg(test)]
mod contract_tests;

pub use bursts::{BurstLine, BurstSpread, CyclesLine, Direction};
pub use config_refusals::ConfigRefusal;
pub use device_info::{DeviceInfo, DevicePort};
pub use dump::{
    DevargsDump, LcoreRow, MempoolDump, MemzoneRow, PhysmemRow, RingDump, RingEnd, SyncType,
};
pub use flow::{FlowComplaint, FlowCount, FlowFault, FlowRow};
pub use fwd_config::{
    CoreList, FwdConfig, FwdMode, MpAlloc, RetryFigures, RxSegments, SocketId, TxPackets, TxTimes,
};
pub use fwd_stats::{
    Accumulated, BadChecksums, FwdInput, FwdReport, PortCounters, PortFwd, StreamCounters,
    StreamFwd, fwd_report,
};
pub use hash::{RETA_GROUP, RSS_TYPES, RetaRows, RssHash, RssNames, RssType, rss_type};
pub use layout::{
    CoreStreams, Layout, LayoutInput, StreamEnds, Topology, UnknownTopology, lay_out,
};
pub use lifecycle::{Event, Lifecycle};
pub use link::{Link, LinkLine, SpeedText};
pub use memory::SocketMemory;
pub use nic_stats::{DeviceStats, NicStats, RateState, Rates, SCREEN_HEAD, StatsCleared};
pub use offloads::{
    DEVICE_CAPABILITIES, Names, OffloadCapabilities, OffloadConfiguration, RX_OFFLOADS, Side,
    TX_OFFLOADS, offload_bit,
};
pub use port_info::{
    DescriptorLimits, ErrorHandling, PortInfo, PrivateInfo, RxSplit, SegmentLimits, SwitchInfo,
    VlanOffload,
};
pub use port_summary::PortSummary;
pub use ptype::{LAYER_LENGTHS, SwPtype, sw_ptype};
pub use queue_info::{
    BurstMode, MacList, McastList, PtypeRow, QueueInfoFailure, QueueState, RxQueueInfo, TxQueueInfo,
};
pub use refusals::{Notice, Refusal};
pub use replies::{CsumShow, GroShow, GsoShow, Reply, RssChanged, ValidPorts};
pub use rxtx_config::{PortRxTx, QueueConf, RxTxConfig, Thresholds};
pub use show_refusals::ShowRefusal;
pub use verbose::{
    BurstHead, Destination, PacketDump, RX_NO_OFFLOAD, TX_NO_OFFLOAD, VlanTags, dump_destination,
};
pub use xstats::{Xstat, XstatRate, XstatRates, XstatTable, Xstats, XstatsOptions};

use std::fmt;

/// The word that testpmd prints for a switch.
fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Runs of one character, as borders are made of.
struct Run(char, usize);

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (0..self.1).try_for_each(|_| fmt::Write::write_char(f, self.0))
    }
}
