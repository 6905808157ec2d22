//! The queues that are polled: shells around rings that the control thread opens and takes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use mpps_dev::{Lcore, Mailbox, QueueStats, RxQueue, TxQueue};
use mpps_mbuf::{Burst, Caches, OffloadFlags, Pool};
use mpps_os::Waker;
use mpps_ring::{Inside, Poller};
use mpps_shm::peer::GuestMemory;
use mpps_soft::{Finisher, strip_tags};
use mpps_virtq::{DeviceRx, DeviceTx};

/// How a poller tells the control thread that a ring moves nothing any more.
#[derive(Clone)]
pub(crate) struct Alarm {
    pub(crate) raised: Arc<AtomicBool>,
    pub(crate) waker: Waker,
}

impl Alarm {
    #[cold]
    fn raise(&self) {
        // Relaxed: what is wrong is read through the gate; the waker's system call orders the rest.
        if !self.raised.swap(true, Ordering::Relaxed) {
            self.waker.wake();
        }
    }
}

/// What a receive queue's gate holds.
pub(crate) struct RxState {
    pub(crate) ring: DeviceRx,
    /// A RARP packet to be received, by its source.
    pub(crate) announce: Option<[u8; 6]>,
    pub(crate) pool: Pool,
    memory: Arc<GuestMemory>,
    /// The fault was told.
    told: bool,
}

impl RxState {
    pub(crate) fn new(ring: DeviceRx, pool: Pool, memory: Arc<GuestMemory>) -> Self {
        Self {
            ring,
            announce: None,
            pool,
            memory,
            told: false,
        }
    }

    /// Appends the packet that tells switches where a guest has moved to (RFC 903, as Linux sends it).
    #[cold]
    fn announce(&mut self, lcore: &mut Lcore, out: &mut Burst) {
        let Some(mac) = self.announce.take() else {
            return;
        };
        if out.room() == 0 {
            self.announce = Some(mac);
            return;
        }
        let Some(mut packet) = lcore.alloc_one(self.pool.id()) else {
            return;
        };
        if packet.append(&rarp(mac)) {
            // There is room.
            let _ = out.push(packet);
        }
    }
}

/// Destination everyone, type RARP, "request reverse" of and by `mac`; padded to 60 bytes.
pub(crate) fn rarp(mac: [u8; 6]) -> [u8; 60] {
    let mut frame = [0; 60];
    let fields: [&[u8]; 7] = [
        &[0xff; 6],
        &mac,
        &[0x80, 0x35],
        &[0, 1, 8, 0, 6, 4, 0, 3],
        &mac,
        &[0; 4],
        &mac,
    ];
    for (to, from) in frame.iter_mut().zip(fields.into_iter().flatten()) {
        *to = *from;
    }
    frame
}

/// On cache lines of its own.
#[repr(align(128))]
pub(crate) struct Rx {
    pub(crate) poller: Poller<RxState>,
    /// Take VLAN tags out.
    pub(crate) strip: bool,
    pub(crate) stats: Arc<QueueStats>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) alarm: Alarm,
}

impl RxQueue for Rx {
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize {
        if self.mailbox.stopped() {
            return 0;
        }
        let Some(mut state) = self.poller.enter() else {
            return 0;
        };
        let before = out.len();
        let mut moved = state.ring.burst(lcore.caches(), out);
        if state.memory.is_lost() {
            lost(&mut state.told, &self.alarm);
        }
        if moved.packets == 0 {
            return idle(&mut state, lcore, out, &self.alarm, &self.stats);
        }
        if self.strip {
            moved.bytes -= stripped(out, before);
        }
        self.stats.count(moved.packets as u64, moved.bytes);
        moved.packets
    }
}

/// Takes the tags out of what came behind `before`; how many bytes they were.
#[cold]
fn stripped(out: &mut Burst, before: usize) -> u64 {
    let new = out.as_mut_slice().get_mut(before..);
    4 * new.map_or(0, strip_tags) as u64
}

/// Zero pages stand where the peer's memory was. What moved meanwhile is whatever bytes there were, as ever with a peer.
#[cold]
fn lost(told: &mut bool, alarm: &Alarm) {
    if !*told {
        *told = true;
        alarm.raise();
    }
}

#[inline]
fn idle(
    state: &mut Inside<'_, RxState>,
    lcore: &mut Lcore,
    out: &mut Burst,
    alarm: &Alarm,
    stats: &QueueStats,
) -> usize {
    if state.ring.fault().is_some() && !state.told {
        state.told = true;
        alarm.raise();
    }
    if state.announce.is_none() {
        return 0;
    }
    let before = out.len();
    state.announce(lcore, out);
    let packets = out.len() - before;
    stats.count(packets as u64, 60 * packets as u64);
    packets
}

/// What a transmit queue's gate holds.
pub(crate) struct TxState {
    pub(crate) ring: DeviceTx,
    /// Does in software what the front end doesn't take over.
    finisher: Finisher,
    unfinished: OffloadFlags,
    memory: Arc<GuestMemory>,
    told: bool,
}

impl TxState {
    pub(crate) fn new(ring: DeviceTx, memory: Arc<GuestMemory>) -> Self {
        let unfinished = ring.unfinished();
        Self {
            finisher: Finisher::new(OffloadFlags::DEBT - unfinished),
            unfinished,
            ring,
            memory,
            told: false,
        }
    }

    #[cold]
    fn unfinished(&mut self, lcore: &mut Lcore, pkts: &mut Burst, stats: &QueueStats) -> usize {
        let ring = &mut self.ring;
        let send = |caches: &mut Caches, staged: &mut Burst, more: usize| {
            let moved = ring.burst(caches, staged);
            stats.count(moved.packets as u64, moved.bytes);
            ring.has_room(more)
        };
        let sent = self.finisher.send_fitting(lcore.caches(), pkts, send);
        stats.errors.add(sent.dropped);
        sent.taken
    }

    /// After a burst that moved nothing: has the ring retired?
    fn look(&mut self, alarm: &Alarm) {
        if self.ring.fault().is_some() && !self.told {
            self.told = true;
            alarm.raise();
        }
    }
}

impl Drop for TxState {
    /// What is held goes with the ring.
    fn drop(&mut self) {
        self.ring.lose(self.finisher.held());
    }
}

/// On cache lines of its own.
#[repr(align(128))]
pub(crate) struct Tx {
    pub(crate) poller: Poller<TxState>,
    pub(crate) stats: Arc<QueueStats>,
    pub(crate) mailbox: Arc<Mailbox>,
    pub(crate) alarm: Alarm,
}

impl TxQueue for Tx {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        if self.mailbox.stopped() {
            return 0;
        }
        let Some(mut state) = self.poller.enter() else {
            return 0;
        };
        if pkts.flags_union().intersects(state.unfinished) || state.finisher.is_holding() {
            let taken = state.unfinished(lcore, pkts, &self.stats);
            // Some may have been taken without having been sent.
            state.look(&self.alarm);
            return taken;
        }
        let before = pkts.len();
        let moved = state.ring.burst(lcore.caches(), pkts);
        if moved.packets == 0 {
            state.look(&self.alarm);
        }
        if state.memory.is_lost() {
            lost(&mut state.told, &self.alarm);
        }
        self.stats.count(moved.packets as u64, moved.bytes);
        // What fits no buffer of the front end is taken too: lost, and counted so.
        before - pkts.len()
    }
}
