//! testpmd's options as plain data, defaults included: what packets move through.

use super::offload_table::{rss, tx};

/// `--burst`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Burst {
    /// 1 to 512 packets.
    Packets(u16),
    /// 0: what port 0 recommends.
    OfPort,
}

/// Queues, rings, bursts. Thresholds are shown by `show config rxtx` and change nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueArgs {
    /// `--rxq`, 0 to 1024; `None`: 1. The ports at hand may allow fewer.
    pub rxq: Option<u16>,
    /// `--txq`, likewise.
    pub txq: Option<u16>,
    /// `--rxd`: descriptors; `None`: what the port prefers.
    pub rxd: Option<u16>,
    /// `--txd`, likewise.
    pub txd: Option<u16>,
    /// `--burst`.
    pub burst: Burst,
    /// `--rxpt`.
    pub rxpt: Option<u8>,
    /// `--rxht`.
    pub rxht: Option<u8>,
    /// `--rxwt`.
    pub rxwt: Option<u8>,
    /// `--txpt`.
    pub txpt: Option<u8>,
    /// `--txht`.
    pub txht: Option<u8>,
    /// `--txwt`.
    pub txwt: Option<u8>,
    /// `--rxfreet`.
    pub rxfreet: Option<u16>,
    /// `--txfreet`.
    pub txfreet: Option<u16>,
    /// `--txrst`.
    pub txrst: Option<u16>,
    /// Drain queues before forwarding, unless `--no-flush-rx`.
    pub flush_rx: bool,
}

impl Default for QueueArgs {
    fn default() -> QueueArgs {
        QueueArgs {
            rxq: None,
            txq: None,
            rxd: None,
            txd: None,
            burst: Burst::Packets(32),
            rxpt: None,
            rxht: None,
            rxwt: None,
            txpt: None,
            txht: None,
            txwt: None,
            rxfreet: None,
            txfreet: None,
            txrst: None,
            flush_rx: true,
        }
    }
}

/// `--ring-numa-config`: one group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RingNuma {
    /// The port.
    pub port: u16,
    /// Its receive rings.
    pub rx: bool,
    /// Its transmit rings.
    pub tx: bool,
    /// The node.
    pub socket: u8,
}

/// `--mp-alloc`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MempoolKind {
    /// `native`
    #[default]
    Native,
    /// `anon`
    Anon,
    /// `xmem`
    Xmem,
    /// `xmemhuge`
    XmemHuge,
    /// `xbuf`
    Xbuf,
}

/// Pools and NUMA.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolArgs {
    /// `--numa` (the default) or `--no-numa`.
    pub numa: bool,
    /// `--socket-num`; matters with `--no-numa` only.
    pub socket: Option<u8>,
    /// `--port-numa-config`: port and node.
    pub port_numa: Vec<(u16, u8)>,
    /// `--ring-numa-config`.
    pub ring_numa: Vec<RingNuma>,
    /// `--mbuf-size`: data room of each pool in bytes, headroom of 128 included; 1 to 8 of them.
    pub mbuf_sizes: Vec<u16>,
    /// `--total-num-mbufs`: mbufs of each pool.
    pub total_num_mbufs: Option<u32>,
    /// `--mbcache`: mbufs in the cache of an lcore.
    pub mbcache: u16,
    /// `--max-pkt-len`, in bytes.
    pub max_pkt_len: Option<u32>,
    /// `--max-lro-pkt-size`, in bytes.
    pub max_lro_pkt_size: u32,
    /// `--mp-alloc`.
    pub kind: MempoolKind,
}

impl Default for PoolArgs {
    fn default() -> PoolArgs {
        PoolArgs {
            numa: true,
            socket: None,
            port_numa: Vec::new(),
            ring_numa: Vec::new(),
            mbuf_sizes: vec![2176],
            total_num_mbufs: None,
            mbcache: 250,
            max_pkt_len: None,
            max_lro_pkt_size: 0,
            kind: MempoolKind::default(),
        }
    }
}

/// Offloads and RSS. The masks are DPDK's bits: [`super::rx`], [`super::tx`], [`super::rss`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffloadArgs {
    /// Receive offloads asked for.
    pub rx: u64,
    /// Transmit offloads asked for.
    pub tx: u64,
    /// RSS hash types asked for.
    pub rss: u64,
    /// `--enable-rss`: RSS with a single queue too.
    pub rss_always: bool,
    /// `--rx-mq-mode`: bit 0 RSS, bit 1 DCB, bit 2 VMDq.
    pub rx_mq_mode: u8,
    /// `--enable-drop-en`.
    pub drop_en: bool,
    /// `--vxlan-gpe-port`.
    pub vxlan_gpe_port: u16,
    /// `--geneve-parsed-port`.
    pub geneve_port: u16,
}

impl Default for OffloadArgs {
    fn default() -> OffloadArgs {
        OffloadArgs {
            rx: 0,
            tx: tx::MBUF_FAST_FREE,
            rss: rss::IP,
            rss_always: false,
            rx_mq_mode: 7,
            drop_en: false,
            vxlan_gpe_port: 4790,
            geneve_port: 6081,
        }
    }
}

/// Traffic generation and engines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrafficArgs {
    /// `--txpkts`: length of each segment; 42 bytes or more in all.
    pub txpkts: Vec<u16>,
    /// `--txonly-multi-flow`.
    pub multi_flow: bool,
    /// `--txonly-flows`, 1 to 64.
    pub flows: u8,
    /// `--tx-ip`: source and destination.
    pub ip: (std::net::Ipv4Addr, std::net::Ipv4Addr),
    /// `--tx-udp`: source and destination.
    pub udp: (u16, u16),
    /// `--flowgen-clones`.
    pub flowgen_clones: u16,
    /// `--flowgen-flows`.
    pub flowgen_flows: u32,
    /// `--eth-link-speed`, in Mbit/s.
    pub link_speed: Option<u32>,
}

impl Default for TrafficArgs {
    fn default() -> TrafficArgs {
        TrafficArgs {
            txpkts: vec![64],
            multi_flow: false,
            flows: 64,
            ip: ([198, 18, 0, 1].into(), [198, 18, 0, 2].into()),
            udp: (9, 9),
            flowgen_clones: 0,
            flowgen_flows: 1024,
            link_speed: None,
        }
    }
}

/// `--noisy-forward-mode`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NoisyMode {
    /// `io`
    #[default]
    Io,
    /// `mac`
    Mac,
    /// `macswap`
    Macswap,
    /// `5tswap`
    FiveTupleSwap,
}

/// The noisy engine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NoisyArgs {
    /// `--noisy-tx-sw-buffer-size`, in packets.
    pub buffer_size: u16,
    /// `--noisy-tx-sw-buffer-flushtime`, in ms.
    pub flush_ms: u16,
    /// `--noisy-lkup-memory`, in MiB.
    pub memory_mb: u32,
    /// `--noisy-lkup-num-writes`, for each packet.
    pub writes: u32,
    /// `--noisy-lkup-num-reads`, for each packet.
    pub reads: u32,
    /// `--noisy-lkup-num-reads-writes`, for each packet.
    pub reads_writes: u32,
    /// `--noisy-forward-mode`.
    pub mode: NoisyMode,
}

/// Options that DPDK's testpmd doesn't have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnArgs {
    /// `--macswap`: kernel; `None`: the best one of the machine.
    pub macswap: Option<String>,
    /// `--copy`: kind of copy; `None`: the best one of the machine.
    pub copy: Option<String>,
    /// `--isolate-pools`.
    pub isolate_pools: bool,
}
