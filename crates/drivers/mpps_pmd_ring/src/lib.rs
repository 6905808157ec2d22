//! net_ring: a port over rings inside this process.
//!
//! Without arguments each queue has a ring of its own and sends to itself: what goes out comes in again. With
//! `nodeaction=name:node:CREATE` the ring gets a name, and a later device with `nodeaction=name:node:ATTACH` shares it, so
//! that the two ports see the same packets. A private ring has one producer and one consumer; a shared one takes any number.
//!
//! Packets pass as handles, untouched: no byte of data or header is read, so that the byte counters stay at zero, as they
//! do in DPDK. The source port is kept once a burst by whoever polls, not stamped into each packet.
#![forbid(unsafe_code)]

mod shared;

use std::sync::Arc;

use mpps_dev::{
    ArgKind, ArgSpec, ConfigError, DevArgs, DevConfig, DevInfo, Driver, EthDev, Lcore, Link,
    Mailbox, Port, ProbeContext, ProbeError, QueueStats, Queues, RxOffloads, RxQueue, StartError,
    TxOffloads, TxQueue,
};
use mpps_mbuf::{Burst, Mbuf};
use mpps_ring::{Consumer, MpmcRing, Producer, spsc};

/// The driver.
pub struct Ring;

const NAME: &str = "net_ring";

/// Packets that a ring holds.
const ENTRIES: usize = 1024;

/// The most rings of a port.
const MAX_QUEUES: u16 = 16;

const ARGS: &[ArgSpec] = &[ArgSpec {
    key: "nodeaction",
    kind: ArgKind::Text,
    repeats: true,
    help: "NAME:NODE:CREATE makes a ring that others find by NAME, NAME:NODE:ATTACH uses it [a private loop-back]",
}];

impl Driver for Ring {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["eth_ring"]
    }

    fn args(&self) -> &'static [ArgSpec] {
        ARGS
    }

    fn probe(&self, args: &DevArgs, _: &ProbeContext) -> Result<Box<dyn EthDev>, ProbeError> {
        let checked = args.check(NAME, ARGS)?;
        let mut shared = Vec::new();
        for action in checked.texts("nodeaction") {
            shared.push(shared::open(args, action)?);
        }
        let mut info = DevInfo::software(args.name(), NAME, args.text());
        let queues = if shared.is_empty() {
            MAX_QUEUES
        } else {
            shared.len() as u16
        };
        info.max_rx_queues = queues;
        info.max_tx_queues = queues;
        // Chains pass as they are, in both directions.
        info.rx_offloads = RxOffloads::SCATTER;
        info.tx_offloads = TxOffloads::MULTI_SEGS;
        let link = Link {
            up: false,
            ..Link::SOFTWARE
        };
        let mut port = Port::new(info, None, link);
        port.set_allmulticast(true);
        Ok(Box::new(RingDev { port, shared }))
    }
}

struct RingDev {
    port: Port,
    /// The rings by name, a queue each; empty for private ones.
    shared: Vec<Arc<MpmcRing<Mbuf>>>,
}

impl EthDev for RingDev {
    fn port(&self) -> &Port {
        &self.port
    }

    fn port_mut(&mut self) -> &mut Port {
        &mut self.port
    }

    fn configure(&mut self, config: &DevConfig) -> Result<(), ConfigError> {
        if self.shared.is_empty() && config.rx.len() != config.tx.len() {
            return Err(ConfigError::Other {
                device: self.port.info().name.clone(),
                reason: format!(
                    "{} receive and {} transmit queues; a ring port loops back and needs as many of each",
                    config.rx.len(),
                    config.tx.len()
                ),
            });
        }
        self.port.configure(config)
    }

    fn start(&mut self) -> Result<Queues, StartError> {
        let (rx, tx) = (self.port.config().rx.len(), self.port.config().tx.len());
        let queues = if self.shared.is_empty() {
            self.private(rx)
        } else {
            self.by_name(rx, tx)
        };
        self.port.set_link_up(true);
        Ok(queues)
    }

    /// Packets in a private ring end with its queues.
    fn stop(&mut self, queues: Queues) {
        drop(queues);
        self.port.close_queues();
        self.port.set_link_up(false);
    }
}

impl RingDev {
    fn private(&mut self, queues: usize) -> Queues {
        let mut all = Queues::default();
        for n in 0..queues {
            let (producer, consumer) = spsc(ENTRIES);
            let (stats, mailbox) = self.port.rx_queue(n);
            all.rx.push(Some(Box::new(Rx {
                ring: consumer,
                stats,
                mailbox,
            })));
            let (stats, mailbox) = self.port.tx_queue(n);
            all.tx.push(Some(Box::new(Tx {
                ring: producer,
                stats,
                mailbox,
            })));
        }
        all
    }

    fn by_name(&mut self, rx: usize, tx: usize) -> Queues {
        let mut all = Queues::default();
        for (n, ring) in self.shared.iter().enumerate().take(rx) {
            let (stats, mailbox) = self.port.rx_queue(n);
            all.rx.push(Some(Box::new(Rx {
                ring: ring.clone(),
                stats,
                mailbox,
            })));
        }
        for (n, ring) in self.shared.iter().enumerate().take(tx) {
            let (stats, mailbox) = self.port.tx_queue(n);
            all.tx.push(Some(Box::new(Tx {
                ring: ring.clone(),
                stats,
                mailbox,
            })));
        }
        all
    }
}

/// The end of a ring that packets come out of.
trait Outlet: Send {
    fn pop(&mut self, out: &mut Burst) -> usize;
}

impl Outlet for Consumer<Mbuf> {
    #[inline(always)]
    fn pop(&mut self, out: &mut Burst) -> usize {
        Consumer::pop(self, out)
    }
}

impl Outlet for Arc<MpmcRing<Mbuf>> {
    #[inline(always)]
    fn pop(&mut self, out: &mut Burst) -> usize {
        MpmcRing::pop(self, out)
    }
}

/// The end of a ring that packets go into.
trait Inlet: Send {
    fn push(&mut self, packets: &mut Burst) -> usize;
}

impl Inlet for Producer<Mbuf> {
    #[inline(always)]
    fn push(&mut self, packets: &mut Burst) -> usize {
        Producer::push(self, packets)
    }
}

impl Inlet for Arc<MpmcRing<Mbuf>> {
    #[inline(always)]
    fn push(&mut self, packets: &mut Burst) -> usize {
        MpmcRing::push(self, packets)
    }
}

/// On cache lines of its own, as the consumer's index in it changes with every burst.
#[repr(align(128))]
struct Rx<R> {
    ring: R,
    stats: Arc<QueueStats>,
    mailbox: Arc<Mailbox>,
}

impl<R: Outlet> RxQueue for Rx<R> {
    fn rx_burst(&mut self, _: &mut Lcore, out: &mut Burst) -> usize {
        if self.mailbox.stopped() {
            return 0;
        }
        let n = self.ring.pop(out);
        self.stats.packets.add(n as u64);
        n
    }
}

/// Hands packets on as they are, with what they still owe (`mpps_mbuf::OffloadFlags::UNFINISHED`): no byte leaves here.
/// On cache lines of its own, as the producer's index in it changes with every burst.
#[repr(align(128))]
struct Tx<R> {
    ring: R,
    stats: Arc<QueueStats>,
    mailbox: Arc<Mailbox>,
}

impl<R: Inlet> TxQueue for Tx<R> {
    fn tx_burst(&mut self, _: &mut Lcore, pkts: &mut Burst) -> usize {
        if self.mailbox.stopped() {
            return 0;
        }
        let n = self.ring.push(pkts);
        self.stats.packets.add(n as u64);
        n
    }
}

#[cfg(test)]
mod tests;
