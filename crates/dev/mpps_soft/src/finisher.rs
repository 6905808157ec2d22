//! The stage before a transmit queue: bursts in which something is unfinished go through it.
//!
//! The queue owns its [`Finisher`], makes it with the port and drops it with the port; packets that it still holds then
//! are freed.

use std::collections::VecDeque;

use mpps_mbuf::{BURST_MAX, Burst, Caches, Mbuf, OffloadFlags};

use crate::fault::Drops;
use crate::finish::finish_but;

/// Finishes the packets of bursts and stages them for sending. A large packet becomes many, more than may fit a burst or
/// a peer's ring: what was taken and can't be sent yet is sent first the next time.
pub struct Finisher {
    passed_on: OffloadFlags,
    staged: Box<Burst>,
    /// Pieces for which there was no room in `staged`.
    waiting: VecDeque<Mbuf>,
    drops: Drops,
}

/// What became of a burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Packets taken off the front of the burst: sent, staged or dropped. What is left is still the caller's.
    pub taken: usize,
    /// Of these, the ones that couldn't be finished, to be counted as errors of the queue; [`Finisher::drops`] says why.
    pub dropped: u64,
}

impl Finisher {
    /// A finisher of a queue that takes over the debts in `passed_on`, empty for a port that takes over none.
    pub fn new(passed_on: OffloadFlags) -> Self {
        Self {
            passed_on: passed_on & OffloadFlags::DEBT,
            staged: Burst::new(BURST_MAX),
            waiting: VecDeque::new(),
            drops: Drops::default(),
        }
    }

    /// Whether packets wait here, so that the next burst must come through [`Finisher::send`] whatever its flags.
    #[inline(always)]
    pub fn is_holding(&self) -> bool {
        !self.staged.is_empty()
    }

    /// Packets dropped since the finisher was made.
    pub fn drops(&self) -> Drops {
        self.drops
    }

    /// Finishes the packets of `pkts` and has `send` send them, and before them what waited: it takes packets off the
    /// front of the burst it gets, and frees them, or leaves them.
    ///
    /// Mbufs for copies and pieces come from the pool of the packet that needs them.
    #[cold]
    #[inline(never)]
    pub fn send(
        &mut self,
        caches: &mut Caches,
        pkts: &mut Burst,
        mut send: impl FnMut(&mut Caches, &mut Burst),
    ) -> Sent {
        let mut sent = Sent::default();
        let dropped = self.drops.total();
        self.staged.set_source(pkts.source());
        while self.flush(caches, &mut send) && !pkts.is_empty() {
            while self.staged.room() > 0
                && let Some(packet) = pkts.pop_front()
            {
                sent.taken += 1;
                self.take(caches, packet);
            }
        }
        sent.dropped = self.drops.total().wrapping_sub(dropped);
        sent
    }

    /// Sends what is here; false when some of it must stay.
    fn flush(
        &mut self,
        caches: &mut Caches,
        send: &mut impl FnMut(&mut Caches, &mut Burst),
    ) -> bool {
        loop {
            while self.staged.room() > 0
                && let Some(packet) = self.waiting.pop_front()
            {
                if let Err(packet) = self.staged.push(packet) {
                    self.waiting.push_front(packet);
                    break;
                }
            }
            if self.staged.is_empty() {
                return true;
            }
            send(caches, &mut self.staged);
            if !self.staged.is_empty() {
                return false;
            }
        }
    }

    /// Finishes one packet and puts what comes of it behind the others.
    fn take(&mut self, caches: &mut Caches, packet: Mbuf) {
        let (staged, waiting) = (&mut self.staged, &mut self.waiting);
        let mut put = |packet| {
            if !waiting.is_empty() {
                waiting.push_back(packet);
            } else if let Err(packet) = staged.push(packet) {
                waiting.push_back(packet);
            }
        };
        if !packet.flags().intersects(OffloadFlags::UNFINISHED) {
            put(packet);
            return;
        }
        let pool = packet.pool();
        if let Err(fault) = finish_but(packet, caches, pool, self.passed_on, &mut put) {
            self.drops.count(fault);
        }
    }
}
