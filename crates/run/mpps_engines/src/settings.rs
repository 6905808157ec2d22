//! What engines are told: the settings of the program and of the two ports of a stream. Plain data.

use std::net::Ipv4Addr;

use mpps_dev::TxOffloads;
use mpps_kernels::{Checksum, ChecksumKind, MacSwap, MacSwapKind};
use mpps_mbuf::{OffloadFlags, PoolId};
use mpps_wire::MacAddr;

/// How many segments a generated packet gets (`set txsplit`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TxSplit {
    /// All that are listed.
    #[default]
    Off,
    /// All that are listed.
    On,
    /// A random number of them.
    Random,
}

/// Settings of txonly.
#[derive(Clone, Debug)]
pub struct TxonlySettings {
    /// Lengths of the segments (`--txpkts`); their sum is at least 42.
    pub lengths: Vec<u16>,
    /// Segments a packet.
    pub split: TxSplit,
    /// Whether the UDP source port changes from packet to packet.
    pub multi_flow: bool,
    /// How many source ports there are, 1 to 64.
    pub flows: u16,
    /// Source and destination address.
    pub ip: (Ipv4Addr, Ipv4Addr),
    /// Source and destination port.
    pub udp: (u16, u16),
}

impl Default for TxonlySettings {
    fn default() -> Self {
        Self {
            lengths: vec![64],
            split: TxSplit::Off,
            multi_flow: false,
            flows: 64,
            ip: (Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)),
            udp: (9, 9),
        }
    }
}

/// Settings of flowgen.
#[derive(Clone, Copy, Debug)]
pub struct FlowgenSettings {
    /// Number of destination addresses.
    pub flows: u32,
    /// Copies of each packet beside the first.
    pub clones: u32,
}

impl Default for FlowgenSettings {
    fn default() -> Self {
        Self {
            flows: 1024,
            clones: 0,
        }
    }
}

/// What noisy does beside its noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NoisyMode {
    /// Nothing.
    #[default]
    Io,
    /// As engine mac.
    Mac,
    /// As engine macswap.
    MacSwap,
    /// As engine 5tswap.
    FiveTupleSwap,
}

/// Settings of noisy.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoisySettings {
    /// What it does to packets.
    pub mode: NoisyMode,
    /// Packets that the queue in between holds; zero for none.
    pub buffer: u32,
    /// Milliseconds after which an idle queue is drained.
    pub flush_ms: u32,
    /// MiB of memory that lookups go to.
    pub memory_mib: u32,
    /// Writes a packet.
    pub writes: u32,
    /// Reads a packet.
    pub reads: u32,
    /// Reads with writes a packet.
    pub reads_writes: u32,
}

/// Settings of csum at one port.
#[derive(Clone, Copy, Debug)]
pub struct ChecksumSettings {
    /// What the transmit port does by itself; of these the checksums of IPv4, UDP, TCP, SCTP, outer IPv4 and outer UDP
    /// count.
    pub hardware: TxOffloads,
    /// Whether tunnels are parsed.
    pub parse_tunnel: bool,
    /// Whether the MAC addresses are rewritten as engine mac does.
    pub mac_swap: bool,
    /// TCP segment size, zero for none.
    pub tso: u16,
}

impl Default for ChecksumSettings {
    fn default() -> Self {
        Self {
            hardware: TxOffloads::empty(),
            parse_tunnel: false,
            mac_swap: true,
            tso: 0,
        }
    }
}

/// Settings that all streams share.
#[derive(Clone)]
pub struct EngineSettings {
    /// txonly, and the burst of `tx_first`.
    pub txonly: TxonlySettings,
    /// flowgen.
    pub flowgen: FlowgenSettings,
    /// noisy.
    pub noisy: NoisySettings,
    /// The chosen MAC swap.
    pub macswap: MacSwap,
    /// The chosen sum over payloads (csum).
    pub checksum: Checksum,
    /// UDP ports of VXLAN-GPE and GENEVE, for the csum engine's parser.
    pub tunnel_ports: (u16, u16),
}

impl Default for EngineSettings {
    fn default() -> Self {
        let macswap = match MacSwap::choose(MacSwapKind::Auto) {
            Ok(kernel) => kernel,
            Err(_) => unreachable!("auto falls back to the scalar kernel"),
        };
        let checksum = match Checksum::choose(ChecksumKind::Auto) {
            Ok(kernel) => kernel,
            Err(_) => unreachable!("auto falls back to the scalar kernel"),
        };
        Self {
            txonly: TxonlySettings::default(),
            flowgen: FlowgenSettings::default(),
            noisy: NoisySettings::default(),
            macswap,
            checksum,
            tunnel_ports: (4790, 6081),
        }
    }
}

/// One end of a stream.
#[derive(Clone, Copy, Debug)]
pub struct PortEnd {
    /// The port.
    pub port: u16,
    /// The queue.
    pub queue: u16,
    /// The port's address.
    pub mac: MacAddr,
    /// Whether the port has hardware timestamps.
    pub timestamps: bool,
    /// Checksums at this port.
    pub checksum: ChecksumSettings,
    /// Flags that packets sent by this port get: VLAN or QinQ insertion.
    pub tx_flags: OffloadFlags,
    /// The tags that go with them, inner and outer.
    pub tx_vlan: (u16, u16),
}

/// All that an engine is made from.
#[derive(Clone)]
pub struct StreamSetup {
    /// Settings that all streams share.
    pub settings: EngineSettings,
    /// Where packets come from.
    pub rx: PortEnd,
    /// Where they go to.
    pub tx: PortEnd,
    /// Whom they are sent to.
    pub peer: MacAddr,
    /// Where generated packets come from.
    pub pool: PoolId,
    /// The most bytes of data that one mbuf of it holds.
    pub pool_capacity: u16,
    /// Packets a burst.
    pub burst: usize,
    /// The lcore that will run the stream.
    pub lcore: u32,
}
