//! net_null: a port that receives packets out of nothing and frees what it sends.
//!
//! It measures what everything but the device costs: the engine, the mbuf pool, the loop. Receive takes mbufs from the
//! queue's pool and gives them a length; their bytes are whatever the buffers held, unless `copy=1` asks for a copy from
//! a page of zeroes, as a device with a copying receive path would do. Transmit frees in bulk, or with `copy=1` copies
//! each segment out first.
#![forbid(unsafe_code)]

use std::sync::Arc;

use mpps_dev::{
    ArgKind, ArgSpec, ConfigError, DevArgs, DevConfig, DevInfo, Driver, EthDev, Lcore, Link,
    Mailbox, Port, ProbeContext, ProbeError, QueueStats, Queues, Rss, RxQueue, SoftRss, StartError,
    TxOffloads, TxQueue, Unsupported,
};
use mpps_kernels::Copier;
use mpps_mbuf::{Burst, PoolId};

/// The driver.
pub struct Null;

const NAME: &str = "net_null";

/// The hash types that DPDK's null port states: bits 2 to 21, and 33, which is MPLS.
const RSS_TYPES: u64 = 0x2_003f_fffc;

const ARGS: &[ArgSpec] = &[
    ArgSpec {
        key: "size",
        kind: ArgKind::Number(0, 65535),
        repeats: false,
        help: "bytes of a received packet [64]",
    },
    ArgSpec {
        key: "copy",
        kind: ArgKind::Flag,
        repeats: false,
        help: "copy the data of every packet [0]",
    },
    ArgSpec {
        key: "no-rx",
        kind: ArgKind::Flag,
        repeats: false,
        help: "never receive; not with copy [0]",
    },
];

impl Driver for Null {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["eth_null"]
    }

    fn args(&self) -> &'static [ArgSpec] {
        ARGS
    }

    fn probe(&self, args: &DevArgs, context: &ProbeContext) -> Result<Box<dyn EthDev>, ProbeError> {
        let checked = args.check(NAME, ARGS)?;
        let mode = match (checked.flag("copy"), checked.flag("no-rx")) {
            (true, true) => {
                return Err(args
                    .conflict("copy=1 and no-rx=1 exclude each other")
                    .into());
            }
            (true, false) => Mode::Copy(context.copier),
            (false, true) => Mode::NoRx,
            (false, false) => Mode::Plain,
        };
        let mut info = DevInfo::software(args.name(), NAME, args.text());
        info.min_mtu = 46;
        info.max_rx_queues = 1024;
        info.max_tx_queues = 1024;
        info.tx_offloads = TxOffloads::MULTI_SEGS | TxOffloads::MT_LOCKFREE;
        // Nothing stale waits in a port that makes its packets up, and it never runs empty.
        info.flush_at_start = false;
        info.reta_size = 128;
        info.hash_key_size = 40;
        info.rss_types = RSS_TYPES;
        let size = checked.number("size").unwrap_or(64) as u16;
        let mut port = Port::new(info, None, Link::SOFTWARE);
        port.set_promiscuous(true);
        port.set_allmulticast(true);
        Ok(Box::new(NullDev {
            port,
            size,
            mode,
            rss: SoftRss::new(RSS_TYPES, 128),
        }))
    }
}

#[derive(Clone, Copy)]
enum Mode {
    Plain,
    Copy(Copier),
    NoRx,
}

struct NullDev {
    port: Port,
    size: u16,
    mode: Mode,
    rss: SoftRss,
}

impl EthDev for NullDev {
    fn port(&self) -> &Port {
        &self.port
    }

    fn port_mut(&mut self) -> &mut Port {
        &mut self.port
    }

    fn configure(&mut self, config: &DevConfig) -> Result<(), ConfigError> {
        for queue in &config.rx {
            if !matches!(self.mode, Mode::NoRx) && self.size > queue.pool.data_capacity() {
                return Err(self.too_small(queue.pool.data_capacity()));
            }
        }
        // On a copy, so that a refusal by either leaves both as they were.
        let mut rss = self.rss.clone();
        rss.configure(
            config.rss.types,
            config.rss.key.as_deref(),
            config.rx.len() as u16,
        )
        .map_err(|error| ConfigError::Other {
            device: self.port.info().name.clone(),
            reason: error.to_string(),
        })?;
        self.port.configure(config)?;
        self.rss = rss;
        Ok(())
    }

    fn start(&mut self) -> Result<Queues, StartError> {
        let pools: Vec<PoolId> = self
            .port
            .config()
            .rx
            .iter()
            .map(|queue| queue.pool.id())
            .collect();
        let tx = self.port.config().tx.len();
        let rx = pools
            .into_iter()
            .enumerate()
            .map(|(n, pool)| self.rx_queue(n, pool))
            .collect();
        let tx = (0..tx).map(|n| self.tx_queue(n)).collect();
        Ok(Queues::new(rx, tx))
    }

    fn stop(&mut self, queues: Queues) {
        drop(queues);
        self.port.close_queues();
    }

    fn set_link(&mut self, _: bool) -> Result<(), Unsupported> {
        Err(Unsupported {
            what: "setting the link",
            driver: NAME,
        })
    }

    fn set_promiscuous(&mut self, on: bool) -> Result<(), Unsupported> {
        if on {
            Ok(())
        } else {
            Err(Unsupported {
                what: "leaving promiscuous mode",
                driver: NAME,
            })
        }
    }

    fn set_allmulticast(&mut self, on: bool) -> Result<(), Unsupported> {
        if on {
            Ok(())
        } else {
            Err(Unsupported {
                what: "leaving allmulticast mode",
                driver: NAME,
            })
        }
    }

    fn rss(&mut self) -> Option<&mut dyn Rss> {
        Some(&mut self.rss)
    }
}

impl NullDev {
    fn too_small(&self, capacity: u16) -> ConfigError {
        ConfigError::Other {
            device: self.port.info().name.clone(),
            reason: format!(
                "size={} doesn't fit the mbufs, which hold {capacity} bytes; lower size or raise --mbuf-size to {}",
                self.size,
                u32::from(self.size) + u32::from(mpps_mbuf::HEADROOM)
            ),
        }
    }

    fn rx_queue(&mut self, n: usize, pool: PoolId) -> Box<dyn RxQueue> {
        let (stats, mailbox) = self.port.rx_queue(n);
        match self.mode {
            Mode::Plain => Box::new(NullRx {
                pool,
                size: self.size,
                stats,
                mailbox,
            }),
            Mode::Copy(copier) => Box::new(CopyRx {
                copier,
                zeroes: vec![0; usize::from(self.size)].into(),
                pool,
                stats,
                mailbox,
            }),
            Mode::NoRx => Box::new(NoRx),
        }
    }

    fn tx_queue(&mut self, n: usize) -> Box<dyn TxQueue> {
        let (stats, mailbox) = self.port.tx_queue(n);
        match self.mode {
            Mode::Copy(copier) => Box::new(CopyTx {
                copier,
                sink: vec![0; usize::from(u16::MAX)].into(),
                stats,
                mailbox,
            }),
            Mode::Plain | Mode::NoRx => Box::new(NullTx { stats, mailbox }),
        }
    }
}

// Queues are on cache lines of their own: what one core writes must not lie beside what another reads.

/// Hands out mbufs as they come.
#[repr(align(128))]
struct NullRx {
    pool: PoolId,
    size: u16,
    stats: Arc<QueueStats>,
    mailbox: Arc<Mailbox>,
}

impl RxQueue for NullRx {
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize {
        if self.mailbox.stopped() {
            return 0;
        }
        let n = lcore.alloc(self.pool, out.room(), self.size, out);
        self.stats.count(n as u64, n as u64 * u64::from(self.size));
        n
    }
}

/// Copies zeroes into every packet.
#[repr(align(128))]
struct CopyRx {
    copier: Copier,
    zeroes: Box<[u8]>,
    pool: PoolId,
    stats: Arc<QueueStats>,
    mailbox: Arc<Mailbox>,
}

impl RxQueue for CopyRx {
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize {
        if self.mailbox.stopped() {
            return 0;
        }
        let before = out.len();
        let n = lcore.alloc(self.pool, out.room(), self.zeroes.len() as u16, out);
        self.copier
            .fill(&mut out.as_mut_slice()[before..], &self.zeroes);
        self.stats
            .count(n as u64, n as u64 * self.zeroes.len() as u64);
        n
    }
}

/// Never receives.
struct NoRx;

impl RxQueue for NoRx {
    fn rx_burst(&mut self, _: &mut Lcore, _: &mut Burst) -> usize {
        0
    }
}

/// Frees in bulk. No byte leaves, so what packets still owe (`mpps_mbuf::OffloadFlags::UNFINISHED`) is forgotten with them.
#[repr(align(128))]
struct NullTx {
    stats: Arc<QueueStats>,
    mailbox: Arc<Mailbox>,
}

impl TxQueue for NullTx {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        if self.mailbox.stopped() {
            return 0;
        }
        let n = pkts.len();
        let bytes = lcore.free(pkts);
        self.stats.count(n as u64, bytes);
        n
    }
}

/// Copies every segment out, then frees.
#[repr(align(128))]
struct CopyTx {
    copier: Copier,
    /// As long as the longest segment.
    sink: Box<[u8]>,
    stats: Arc<QueueStats>,
    mailbox: Arc<Mailbox>,
}

impl TxQueue for CopyTx {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        if self.mailbox.stopped() {
            return 0;
        }
        self.copier.drain(pkts.as_slice(), &mut self.sink);
        // The copy is the point of this mode, though nobody reads it.
        std::hint::black_box(&self.sink);
        let n = pkts.len();
        let bytes = lcore.free(pkts);
        self.stats.count(n as u64, bytes);
        n
    }
}

#[cfg(test)]
mod tests;
