//! What every engine has in its hands: the queues of its stream, a burst, counters, and how to receive and send.
//!
//! Made by the program when forwarding starts, owned by a worker while it runs, taken apart when it stops.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use mpps_dev::{Lcore, RxQueue, TxQueue};
use mpps_mbuf::{BURST_MAX, Burst, Mbuf};
use mpps_ring::Counter;

/// Counters of a stream. Written by its worker, read by anyone; on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct StreamStats {
    /// Packets received.
    pub rx_packets: Counter,
    /// Packets sent.
    pub tx_packets: Counter,
    /// Packets that were not sent and freed.
    pub dropped: Counter,
    /// Packets with a wrong IPv4 header checksum (csum).
    pub bad_ip_checksum: Counter,
    /// Packets with a wrong L4 checksum (csum).
    pub bad_l4_checksum: Counter,
    /// Packets with a wrong outer L4 checksum (csum).
    pub bad_outer_l4_checksum: Counter,
    /// Packets with a wrong outer IPv4 header checksum (csum).
    pub bad_outer_ip_checksum: Counter,
    /// Clock ticks of visits that had something to do, while cycles are recorded.
    pub busy_cycles: Counter,
}

/// How many bursts had which number of packets, 0 to 512.
#[derive(Debug)]
pub struct BurstHistogram {
    /// Bursts received, by size.
    pub rx: Box<[Counter]>,
    /// Bursts sent, by size.
    pub tx: Box<[Counter]>,
}

impl Default for BurstHistogram {
    fn default() -> Self {
        let counters = || (0..=BURST_MAX).map(|_| Counter::default()).collect();
        Self {
            rx: counters(),
            tx: counters(),
        }
    }
}

/// What to do with packets that a transmit queue did not take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Further calls, zero for none.
    pub times: u32,
    /// Microseconds between two calls.
    pub delay_us: u32,
}

/// Which way watched packets go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// They were received.
    Received,
    /// They are about to be sent.
    Sent,
}

/// A burst that is shown to a watcher (`set verbose`).
pub struct Seen<'a> {
    /// The port.
    pub port: u16,
    /// The queue.
    pub queue: u16,
    /// Which way.
    pub direction: Direction,
    /// The packets.
    pub packets: &'a [Mbuf],
}

/// Shows packets as they pass. The level may change at any time; zero costs one load a burst.
pub struct Watch {
    level: AtomicU32,
    show: Box<dyn Fn(&Seen<'_>) + Send + Sync>,
}

impl Watch {
    /// A watcher that is off.
    pub fn new(show: impl Fn(&Seen<'_>) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self {
            level: AtomicU32::new(0),
            show: Box::new(show),
        })
    }

    /// 0 off, 1 received packets, 2 sent packets, 3 and more both.
    #[inline(always)]
    pub fn level(&self) -> u32 {
        // Relaxed: a lone number, seen at one of the next bursts.
        self.level.load(Ordering::Relaxed)
    }

    /// Changes the level.
    pub fn set_level(&self, level: u32) {
        // Relaxed: see `level`.
        self.level.store(level, Ordering::Relaxed);
    }

    #[cold]
    fn show(&self, seen: &Seen<'_>) {
        (self.show)(seen);
    }

    /// Prints what an engine has to say of one packet, in one write: lines of two workers don't mix.
    #[cold]
    pub(crate) fn say(&self, text: &dyn std::fmt::Display) {
        let text = text.to_string();
        let mut out = std::io::stdout().lock();
        // Nobody may be reading any more; packets go on.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

/// The queues and the burst of a stream.
pub struct StreamIo {
    /// Where packets come from.
    pub rx: Option<Box<dyn RxQueue>>,
    /// Where they go to.
    pub tx: Option<Box<dyn TxQueue>>,
    /// Port and queue of `rx`.
    pub rx_at: (u16, u16),
    /// Port and queue of `tx`.
    pub tx_at: (u16, u16),
    /// The packets in hand; empty between two visits.
    pub burst: Box<Burst>,
    /// Counters.
    pub stats: Arc<StreamStats>,
    /// Burst sizes, while they are recorded.
    pub histogram: Option<Arc<BurstHistogram>>,
    /// What to do with what wasn't sent.
    pub retry: Retry,
    /// Who looks on.
    pub watch: Arc<Watch>,
    /// Set when the worker is to stop; ends a long wait between retries.
    pub stop: Arc<AtomicBool>,
}

impl StreamIo {
    /// Receives a burst and counts it; says how many packets there are in hand.
    #[inline(always)]
    pub fn receive(&mut self, lcore: &mut Lcore) -> usize {
        let Some(rx) = &mut self.rx else { return 0 };
        let n = rx.rx_burst(lcore, &mut self.burst);
        if let Some(histogram) = &self.histogram {
            histogram.rx[n].add(1);
        }
        if n != 0 {
            self.burst.set_source(self.rx_at.0);
            self.stats.rx_packets.add(n as u64);
            if self.watch.level() & 1 != 0 || self.watch.level() > 2 {
                self.show(Direction::Received);
            }
        }
        n
    }

    /// Sends the burst in hand, with retries, and frees the rest. Returns how many were sent.
    #[inline(always)]
    pub fn send(&mut self, lcore: &mut Lcore) -> usize {
        if self.watch.level() > 1 {
            self.show(Direction::Sent);
        }
        let sent = match &mut self.tx {
            Some(tx) => tx.tx_burst(lcore, &mut self.burst),
            None => 0,
        };
        let sent = if self.burst.is_empty() {
            sent
        } else {
            sent + self.rest(lcore)
        };
        self.stats.tx_packets.add(sent as u64);
        if let Some(histogram) = &self.histogram {
            histogram.tx[sent].add(1);
        }
        sent
    }

    /// Retries what a queue did not take, then drops it. Returns how many were sent after all.
    #[cold]
    fn rest(&mut self, lcore: &mut Lcore) -> usize {
        let mut sent = 0;
        // Relaxed: only ends the wait early.
        for _ in 0..self.retry.times {
            if self.burst.is_empty() || self.stop.load(Ordering::Relaxed) {
                break;
            }
            self.wait(lcore);
            if let Some(tx) = &mut self.tx {
                sent += tx.tx_burst(lcore, &mut self.burst);
            }
        }
        self.stats.dropped.add(self.burst.len() as u64);
        lcore.free(&mut self.burst);
        sent
    }

    /// Waits between two retries without sleeping, but not beyond the stop flag.
    fn wait(&self, lcore: &Lcore) {
        let clock = *lcore.clock();
        let ticks = u64::from(self.retry.delay_us) * clock.hz() / 1_000_000;
        let start = clock.ticks();
        // Relaxed: only ends the wait early.
        while clock.ticks().wrapping_sub(start) < ticks && !self.stop.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    }

    #[cold]
    fn show(&self, direction: Direction) {
        let (port, queue) = if direction == Direction::Received {
            self.rx_at
        } else {
            self.tx_at
        };
        self.watch.show(&Seen {
            port,
            queue,
            direction,
            packets: self.burst.as_slice(),
        });
    }
}
