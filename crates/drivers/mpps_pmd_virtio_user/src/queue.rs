//! The queues that are polled: shells round rings that the control thread opens and closes.

use std::sync::Arc;

use mpps_dev::{Lcore, Mailbox, QueueStats, RxQueue, TxQueue};
use mpps_mbuf::{Burst, Caches, OffloadFlags};
use mpps_os::Waker;
use mpps_ring::Poller;
use mpps_soft::{Finisher, strip_tags};
use mpps_virtq::{DriverRx, DriverTx};

use crate::memory::Memory;
use crate::published::Published;

/// Tells the control thread that a ring has retired.
#[derive(Clone)]
pub(crate) struct Alarm {
    pub(crate) published: Arc<Published>,
    pub(crate) waker: Waker,
}

impl Alarm {
    #[cold]
    fn raise(&self) {
        self.published.raise_alarm();
        self.waker.wake();
    }
}

/// An open receive ring. Fields are dropped in this order: the ring before its memory.
pub(crate) struct RxState {
    pub(crate) ring: DriverRx,
    told: bool,
    alarm: Alarm,
    _memory: Arc<Memory>,
}

/// An open transmit ring.
pub(crate) struct TxState {
    pub(crate) ring: DriverTx,
    finisher: Finisher,
    told: bool,
    alarm: Alarm,
    _memory: Arc<Memory>,
}

impl RxState {
    pub(crate) fn new(ring: DriverRx, alarm: Alarm, memory: Arc<Memory>) -> Self {
        Self {
            ring,
            told: false,
            alarm,
            _memory: memory,
        }
    }

    #[cold]
    fn look(&mut self) {
        if !self.told && self.ring.fault().is_some() {
            self.told = true;
            self.alarm.raise();
        }
    }
}

impl TxState {
    pub(crate) fn new(ring: DriverTx, alarm: Alarm, memory: Arc<Memory>) -> Self {
        let passed_on = OffloadFlags::DEBT.difference(ring.unfinished());
        Self {
            ring,
            finisher: Finisher::new(passed_on),
            told: false,
            alarm,
            _memory: memory,
        }
    }

    #[inline(always)]
    fn burst(&mut self, caches: &mut Caches, pkts: &mut Burst, stats: &QueueStats) {
        if self.finisher.is_holding() {
            self.finish(caches, pkts, stats);
            return;
        }
        let moved = self.ring.burst(caches, pkts);
        stats.count(moved.packets as u64, moved.bytes);
        if let Some(first) = pkts.as_slice().first() {
            if first.flags().intersects(self.ring.unfinished()) {
                self.finish(caches, pkts, stats);
            } else {
                self.look();
            }
        }
    }

    /// Sends what the ring doesn't take as it is.
    #[cold]
    fn finish(&mut self, caches: &mut Caches, pkts: &mut Burst, stats: &QueueStats) {
        let Self { finisher, ring, .. } = self;
        let sent = finisher.send_fitting(caches, pkts, |caches, staged, more| {
            let moved = ring.burst(caches, staged);
            stats.count(moved.packets as u64, moved.bytes);
            ring.has_room(more)
        });
        stats.errors.add(sent.dropped);
        self.look();
    }

    fn look(&mut self) {
        if !self.told && self.ring.fault().is_some() {
            self.told = true;
            self.alarm.raise();
        }
    }
}

impl Drop for TxState {
    /// What is held goes with the ring.
    fn drop(&mut self) {
        self.ring.lose(self.finisher.held());
    }
}

/// A receive queue, on cache lines of its own.
#[repr(align(128))]
pub(crate) struct UserRx {
    pub(crate) poller: Poller<RxState>,
    /// Take VLAN tags out.
    pub(crate) strip: bool,
    pub(crate) stats: Arc<QueueStats>,
    pub(crate) mailbox: Arc<Mailbox>,
}

impl RxQueue for UserRx {
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize {
        if self.mailbox.stopped() {
            return 0;
        }
        let Some(mut state) = self.poller.enter() else {
            return 0;
        };
        let before = out.len();
        let mut moved = state.ring.burst(lcore.caches(), out);
        if moved.packets == 0 {
            state.look();
        } else {
            if self.strip {
                moved.bytes -= stripped(out, before);
            }
            self.stats.count(moved.packets as u64, moved.bytes);
        }
        moved.packets
    }
}

/// Takes the tags out of what came behind `before`; how many bytes they were.
#[cold]
fn stripped(out: &mut Burst, before: usize) -> u64 {
    let new = out.as_mut_slice().get_mut(before..);
    4 * new.map_or(0, strip_tags) as u64
}

/// A transmit queue, on cache lines of its own.
#[repr(align(128))]
pub(crate) struct UserTx {
    pub(crate) poller: Poller<TxState>,
    pub(crate) stats: Arc<QueueStats>,
    pub(crate) mailbox: Arc<Mailbox>,
}

impl TxQueue for UserTx {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        if self.mailbox.stopped() {
            return 0;
        }
        let Some(mut state) = self.poller.enter() else {
            return 0;
        };
        let before = pkts.len();
        state.burst(lcore.caches(), pkts, &self.stats);
        before - pkts.len()
    }
}
