//! A queue that packets pass late.

use std::collections::VecDeque;

use mpps_mbuf::{BURST_MAX, Burst, Mbuf};

use crate::{Lcore, RxQueue, TxQueue};

/// A queue that holds each packet for a number of calls. Order is kept; what is held at the end goes back to its pool.
///
/// Received packets wait on their way out of the queue, sent ones on their way in. A call counts whether it has packets
/// or not: polling an idle transmit queue with an empty burst lets time pass for what it holds.
#[repr(align(128))]
pub struct Delay<Q> {
    queue: Q,
    calls: u64,
    now: u64,
    /// Packets with the call at which they are due, in order.
    held: VecDeque<(u64, Mbuf)>,
    most: usize,
    hand: Box<Burst>,
}

impl<Q> Delay<Q> {
    /// Wraps a queue; a packet comes out `calls` calls after the one it went in with.
    pub fn new(queue: Q, calls: u32) -> Self {
        Self {
            queue,
            calls: u64::from(calls),
            now: 0,
            held: VecDeque::new(),
            // As much as may come in while the first burst waits.
            most: (calls as usize).saturating_add(1).saturating_mul(BURST_MAX),
            hand: Burst::new(BURST_MAX),
        }
    }

    /// Packets that wait.
    pub fn held(&self) -> usize {
        self.held.len()
    }

    fn hold(&mut self, packet: Mbuf) {
        self.held.push_back((self.now + self.calls, packet));
    }

    /// The first packet, if it is due.
    fn due(&mut self) -> Option<Mbuf> {
        let due = self.held.front().is_some_and(|(at, _)| *at <= self.now);
        if due {
            self.held.pop_front().map(|(_, packet)| packet)
        } else {
            None
        }
    }

    /// Fills the hand with what is due.
    fn take_due(&mut self) {
        while self.hand.room() > 0 {
            let Some(packet) = self.due() else { break };
            if self.hand.push(packet).is_err() {
                break;
            }
        }
    }
}

impl<Q: RxQueue> RxQueue for Delay<Q> {
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize {
        let room = out.room();
        if room > 0 && self.held.len() < self.most {
            self.hand.set_limit(room);
            self.queue.rx_burst(lcore, &mut self.hand);
            while let Some(packet) = self.hand.pop_front() {
                self.hold(packet);
            }
        }
        let mut n = 0;
        while n < room {
            let Some(packet) = self.due() else { break };
            if out.push(packet).is_err() {
                break;
            }
            n += 1;
        }
        self.now += 1;
        n
    }
}

impl<Q: TxQueue> TxQueue for Delay<Q> {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        let mut n = 0;
        while self.held.len() + self.hand.len() < self.most {
            let Some(packet) = pkts.pop_front() else {
                break;
            };
            self.hold(packet);
            n += 1;
        }
        // What the queue didn't take last time is still in the hand, before all others.
        self.take_due();
        if !self.hand.is_empty() {
            self.hand.set_source(pkts.source());
            self.queue.tx_burst(lcore, &mut self.hand);
        }
        self.now += 1;
        n
    }
}
