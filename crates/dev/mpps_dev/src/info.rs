//! What a port can do ([`DevInfo`]) and what it is asked to do ([`DevConfig`]); plain data.

use mpps_mbuf::Pool;
use mpps_wire::MacAddr;

use crate::{OutOfRange, QueueSize};

bitflags::bitflags! {
    /// Receive offloads; names and bit numbers are those of DPDK, as scripts see both.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct RxOffloads: u64 {
        /// Take the VLAN tag out of the data.
        const VLAN_STRIP = 1 << 0;
        /// Check IPv4 header checksums.
        const IPV4_CKSUM = 1 << 1;
        /// Check UDP checksums.
        const UDP_CKSUM = 1 << 2;
        /// Check TCP checksums.
        const TCP_CKSUM = 1 << 3;
        /// Coalesce TCP segments.
        const TCP_LRO = 1 << 4;
        /// Take both VLAN tags out of the data.
        const QINQ_STRIP = 1 << 5;
        /// Check outer IPv4 header checksums.
        const OUTER_IPV4_CKSUM = 1 << 6;
        /// Decrypt MACsec.
        const MACSEC_STRIP = 1 << 7;
        /// Pass only chosen VLANs.
        const VLAN_FILTER = 1 << 9;
        /// Extended VLAN handling.
        const VLAN_EXTEND = 1 << 10;
        /// Receive into chains of mbufs.
        const SCATTER = 1 << 13;
        /// Stamp packets with their time of arrival.
        const TIMESTAMP = 1 << 14;
        /// Inline IPsec and the like.
        const SECURITY = 1 << 15;
        /// Leave the FCS on.
        const KEEP_CRC = 1 << 16;
        /// Check SCTP checksums.
        const SCTP_CKSUM = 1 << 17;
        /// Check outer UDP checksums.
        const OUTER_UDP_CKSUM = 1 << 18;
        /// Deliver the RSS hash.
        const RSS_HASH = 1 << 19;
        /// Split packets over pools.
        const BUFFER_SPLIT = 1 << 20;
    }

    /// Transmit offloads; names and bit numbers are those of DPDK.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct TxOffloads: u64 {
        /// Insert a VLAN tag.
        const VLAN_INSERT = 1 << 0;
        /// Fill in IPv4 header checksums.
        const IPV4_CKSUM = 1 << 1;
        /// Fill in UDP checksums.
        const UDP_CKSUM = 1 << 2;
        /// Fill in TCP checksums.
        const TCP_CKSUM = 1 << 3;
        /// Fill in SCTP checksums.
        const SCTP_CKSUM = 1 << 4;
        /// Segment TCP.
        const TCP_TSO = 1 << 5;
        /// Segment UDP.
        const UDP_TSO = 1 << 6;
        /// Fill in outer IPv4 header checksums.
        const OUTER_IPV4_CKSUM = 1 << 7;
        /// Insert two VLAN tags.
        const QINQ_INSERT = 1 << 8;
        /// Segment TCP in VXLAN.
        const VXLAN_TNL_TSO = 1 << 9;
        /// Segment TCP in GRE.
        const GRE_TNL_TSO = 1 << 10;
        /// Segment TCP in IP in IP.
        const IPIP_TNL_TSO = 1 << 11;
        /// Segment TCP in GENEVE.
        const GENEVE_TNL_TSO = 1 << 12;
        /// Encrypt MACsec.
        const MACSEC_INSERT = 1 << 13;
        /// Several threads may send on one queue.
        const MT_LOCKFREE = 1 << 14;
        /// Send chains of mbufs.
        const MULTI_SEGS = 1 << 15;
        /// All mbufs of a queue are plain and of one pool.
        const MBUF_FAST_FREE = 1 << 16;
        /// Inline IPsec and the like.
        const SECURITY = 1 << 17;
        /// Segment TCP in UDP tunnels.
        const UDP_TNL_TSO = 1 << 18;
        /// Segment TCP in IP tunnels.
        const IP_TNL_TSO = 1 << 19;
        /// Fill in outer UDP checksums.
        const OUTER_UDP_CKSUM = 1 << 20;
        /// Send at a given time.
        const SEND_ON_TIMESTAMP = 1 << 21;
    }
}

bitflags::bitflags! {
    /// How received packets are spread over queues (`--rx-mq-mode`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct RxMode: u32 {
        /// By hash.
        const RSS = 1;
        /// By priority.
        const DCB = 2;
        /// By VLAN or MAC pool.
        const VMDQ = 4;
    }
}

/// What a port is and what it can do. Filled in by the driver; `max_*` and offloads don't change afterwards.
#[derive(Clone, Debug)]
pub struct DevInfo {
    /// Name of the device (`net_null0`).
    pub name: String,
    /// Name of the driver (`net_null`).
    pub driver: &'static str,
    /// The arguments as given, after the name.
    pub devargs: String,
    /// NUMA node, where known.
    pub node: Option<u32>,
    /// Least size in bytes of a receive buffer.
    pub min_rx_buffer: u32,
    /// Longest packet that can be received.
    pub max_rx_pktlen: u32,
    /// Least MTU.
    pub min_mtu: u16,
    /// Largest MTU.
    pub max_mtu: u16,
    /// Most receive queues.
    pub max_rx_queues: u16,
    /// Most transmit queues.
    pub max_tx_queues: u16,
    /// Least and most descriptors of a receive queue, and the number they must be a multiple of.
    pub rx_descriptors: (u16, u16, u16),
    /// The same for transmit queues.
    pub tx_descriptors: (u16, u16, u16),
    /// Descriptors where the user names none.
    pub default_descriptors: Option<(QueueSize, QueueSize)>,
    /// Most MAC addresses.
    pub max_mac_addrs: u32,
    /// Receive offloads of the port as a whole.
    pub rx_offloads: RxOffloads,
    /// Receive offloads that each queue can have or not.
    pub rx_queue_offloads: RxOffloads,
    /// Transmit offloads of the port as a whole.
    pub tx_offloads: TxOffloads,
    /// Transmit offloads that each queue can have or not.
    pub tx_queue_offloads: TxOffloads,
    /// Entries of the redirection table, zero for none.
    pub reta_size: u16,
    /// Bytes of the hash key, zero for unknown.
    pub hash_key_size: u8,
    /// RSS types by DPDK's bit numbers.
    pub rss_types: u64,
    /// Most segments of a packet that is sent.
    pub max_tx_segments: u16,
    /// Device capabilities, DPDK's bits.
    pub capabilities: u64,
    /// Whether packet and byte counts by queue belong into the extended statistics.
    pub queue_xstats: bool,
    /// Whether packets that wait at start are to be read and thrown away. False for files, where nothing stale waits.
    pub flush_at_start: bool,
    /// Whether a peer is lent the buffers of packets that are sent and received, and may write to them at any time.
    pub lends_buffers: bool,
    /// The receive path taken, where the port has several.
    pub rx_path: Option<String>,
    /// The transmit path taken, where the port has several.
    pub tx_path: Option<String>,
}

impl DevInfo {
    /// What a software port without special abilities is; the driver changes what differs.
    pub fn software(name: &str, driver: &'static str, devargs: &str) -> Self {
        Self {
            name: name.to_owned(),
            driver,
            devargs: devargs.to_owned(),
            node: Some(0),
            min_rx_buffer: 0,
            max_rx_pktlen: u32::MAX,
            min_mtu: 0,
            max_mtu: u16::MAX,
            max_rx_queues: 1,
            max_tx_queues: 1,
            rx_descriptors: (0, u16::MAX, 1),
            tx_descriptors: (0, u16::MAX, 1),
            default_descriptors: None,
            max_mac_addrs: 1,
            rx_offloads: RxOffloads::empty(),
            rx_queue_offloads: RxOffloads::empty(),
            tx_offloads: TxOffloads::empty(),
            tx_queue_offloads: TxOffloads::empty(),
            reta_size: 0,
            hash_key_size: 0,
            rss_types: 0,
            max_tx_segments: u16::MAX,
            capabilities: 0,
            queue_xstats: true,
            flush_at_start: true,
            lends_buffers: false,
            rx_path: None,
            tx_path: None,
        }
    }
}

/// Ring threshold registers; kept and shown, of no effect on software ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Thresholds {
    /// Prefetch.
    pub prefetch: u8,
    /// Host.
    pub host: u8,
    /// Write-back.
    pub write_back: u8,
    /// Free threshold.
    pub free: u16,
    /// RS threshold (transmit).
    pub rs: u16,
}

/// What a queue of either direction is asked to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueConfig {
    /// Descriptors.
    pub size: QueueSize,
    /// Threshold registers.
    pub thresholds: Thresholds,
    /// Not started with the port.
    pub deferred_start: bool,
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self {
            size: QueueSize::DEFAULT,
            thresholds: Thresholds::default(),
            deferred_start: false,
        }
    }
}

/// A receive queue to be.
#[derive(Clone)]
pub struct RxQueueConfig {
    /// What both directions have.
    pub queue: QueueConfig,
    /// Where its packets come from.
    pub pool: Pool,
    /// Offloads of this queue.
    pub offloads: RxOffloads,
    /// Drop packets while no descriptor is free.
    pub drop_en: bool,
}

/// A transmit queue to be.
#[derive(Clone, Copy, Debug, Default)]
pub struct TxQueueConfig {
    /// What both directions have.
    pub queue: QueueConfig,
    /// Offloads of this queue.
    pub offloads: TxOffloads,
}

/// Receive-side scaling as asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RssSettings {
    /// Types by DPDK's bit numbers; zero turns it off.
    pub types: u64,
    /// The key, where one is given.
    pub key: Option<Vec<u8>>,
}

/// What a port is asked to be. Made by the plan, handed to [`crate::EthDev::configure`].
#[derive(Clone, Default)]
pub struct DevConfig {
    /// Receive queues.
    pub rx: Vec<RxQueueConfig>,
    /// Transmit queues.
    pub tx: Vec<TxQueueConfig>,
    /// Receive offloads of the port.
    pub rx_offloads: RxOffloads,
    /// Transmit offloads of the port.
    pub tx_offloads: TxOffloads,
    /// How packets are spread over queues.
    pub rx_mode: RxMode,
    /// Receive-side scaling.
    pub rss: RssSettings,
    /// MTU, where one is asked for.
    pub mtu: Option<u16>,
    /// Whether changes of the link are to be reported as they happen.
    pub link_events: bool,
    /// For a port that lends buffers ([`DevInfo::lends_buffers`]): the pools whose buffers it may lend, those of its receive
    /// queues among them. A packet of any other pool is copied into the first of these before it is sent.
    pub lendable: Vec<Pool>,
}

impl RxQueueConfig {
    /// A queue that takes its packets from `pool`, with nothing else asked for.
    pub fn of(pool: &Pool) -> Self {
        Self {
            queue: QueueConfig::default(),
            pool: pool.clone(),
            offloads: RxOffloads::empty(),
            drop_en: false,
        }
    }
}

impl DevConfig {
    /// So many plain queues in each direction, with mbufs from `pool`.
    pub fn plain(pool: &Pool, queues: usize) -> Self {
        Self {
            rx: vec![RxQueueConfig::of(pool); queues],
            tx: vec![TxQueueConfig::default(); queues],
            lendable: vec![pool.clone()],
            ..Self::default()
        }
    }

    /// Checks the numbers of queues against what the port can have.
    pub fn check_queues(&self, info: &DevInfo) -> Result<(), OutOfRange> {
        let most = |what, have: usize, max: u16| {
            if have > usize::from(max) {
                Err(OutOfRange {
                    what,
                    value: have as u64,
                    allowed: format!("at most {max}").into(),
                })
            } else {
                Ok(())
            }
        };
        most(
            "number of receive queues",
            self.rx.len(),
            info.max_rx_queues,
        )?;
        most(
            "number of transmit queues",
            self.tx.len(),
            info.max_tx_queues,
        )
    }
}

/// What a queue really is, which may differ from what it was asked to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueInfo {
    /// Descriptors.
    pub descriptors: u16,
    /// Bytes of a receive buffer, without headroom; zero where that has no meaning.
    pub buffer_size: u16,
    /// Whether packets may lie in several buffers.
    pub scattered: bool,
    /// The burst function in words, where there are several.
    pub burst_mode: Option<String>,
}

/// State of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Whether it is up.
    pub up: bool,
    /// Mbit/s; zero for none, `u32::MAX` for unknown.
    pub speed: u32,
    /// Both directions at a time.
    pub full_duplex: bool,
    /// Whether the speed was negotiated.
    pub autoneg: bool,
}

impl Link {
    /// 10 Gbit/s, full duplex, fixed: what software ports say of themselves.
    pub const SOFTWARE: Self = Self {
        up: true,
        speed: 10_000,
        full_duplex: true,
        autoneg: false,
    };
}

/// A MAC address for a port without one of its own: random, locally administered, unicast.
pub(crate) fn random_mac() -> MacAddr {
    use std::hash::{BuildHasher, Hasher};
    // The standard library's hasher keys are random; no further source of randomness is needed for an address.
    let bits = std::collections::hash_map::RandomState::new()
        .build_hasher()
        .finish();
    MacAddr::local_random(bits)
}
