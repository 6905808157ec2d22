//! A queue that misbehaves within what its trait allows, the same way every time.

use std::sync::Arc;

use mpps_mbuf::{BURST_MAX, Burst};
use mpps_ring::Counter;

use super::{put_back, receive_at_most};
use crate::{Lcore, RxQueue, TxQueue};

/// What goes wrong, and how often, in 1/1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults {
    /// Where the pattern starts: the same seed gives the same faults.
    pub seed: u64,
    /// Packets that are freed on their way, of all packets.
    pub drop: u16,
    /// Calls that move nothing, of all calls.
    pub refuse: u16,
    /// Calls that move fewer packets than they could, of all calls.
    pub cut: u16,
}

/// What went wrong so far. Written by the queue's owner, read by anyone; on cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct FaultCounts {
    /// Packets freed on their way.
    pub dropped: Counter,
    /// Calls that moved nothing.
    pub refused: Counter,
    /// Calls that were cut short.
    pub cut: Counter,
}

/// A queue around which things go wrong.
///
/// A transmit queue takes dropped packets like sent ones: an engine doesn't see them again, they go home at once.
#[repr(align(128))]
pub struct Faulty<Q> {
    queue: Q,
    faults: Faults,
    state: u64,
    counts: Arc<FaultCounts>,
    hand: Box<Burst>,
    spare: Box<Burst>,
}

impl<Q> Faulty<Q> {
    /// Wraps a queue.
    pub fn new(queue: Q, faults: Faults) -> Self {
        Self {
            queue,
            faults,
            state: faults.seed,
            counts: Arc::default(),
            hand: Burst::new(BURST_MAX),
            spare: Burst::new(BURST_MAX),
        }
    }

    /// What went wrong so far.
    pub fn counts(&self) -> Arc<FaultCounts> {
        self.counts.clone()
    }

    /// The next number of the pattern (splitmix64: a counter, well stirred).
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn strikes(&mut self, of_thousand: u16) -> bool {
        self.next() % 1000 < u64::from(of_thousand)
    }

    /// How many of `n` packets this call may move.
    fn allowed(&mut self, n: usize) -> usize {
        let (refuse, cut) = (
            self.strikes(self.faults.refuse),
            self.strikes(self.faults.cut),
        );
        let part = self.next();
        if n == 0 {
            0
        } else if refuse {
            self.counts.refused.add(1);
            0
        } else if cut {
            self.counts.cut.add(1);
            (part % n as u64) as usize
        } else {
            n
        }
    }
}

impl<Q: RxQueue> RxQueue for Faulty<Q> {
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize {
        let most = self.allowed(out.room());
        self.hand.set_limit(most.max(1));
        let n = receive_at_most(&mut self.queue, lcore, &mut self.hand, most);
        let mut given = 0;
        for _ in 0..n {
            let Some(packet) = self.hand.pop_front() else {
                break;
            };
            if self.strikes(self.faults.drop) {
                self.counts.dropped.add(1);
                lcore.free_one(packet);
            } else if let Err(packet) = out.push(packet) {
                // Can't be: no more were asked for than there was room.
                lcore.free_one(packet);
            } else {
                given += 1;
            }
        }
        given
    }
}

impl<Q: TxQueue> TxQueue for Faulty<Q> {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        let before = pkts.len();
        for _ in 0..self.allowed(before) {
            let Some(packet) = pkts.pop_front() else {
                break;
            };
            if self.strikes(self.faults.drop) {
                self.counts.dropped.add(1);
                lcore.free_one(packet);
            } else if let Err(packet) = self.hand.push(packet) {
                // Can't be: the hand is empty between calls and as large as a burst gets.
                lcore.free_one(packet);
            }
        }
        if !self.hand.is_empty() {
            self.hand.set_source(pkts.source());
            self.queue.tx_burst(lcore, &mut self.hand);
        }
        put_back(&mut self.hand, pkts, &mut self.spare);
        before - pkts.len()
    }
}
