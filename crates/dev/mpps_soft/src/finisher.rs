//! The stage before a transmit queue: bursts in which something is unfinished go through it.
//!
//! The queue owns its [`Finisher`], makes it with the port and drops it with the port; packets that it still holds then
//! are freed, and [`Finisher::held`] says how many that are.

use std::collections::VecDeque;

use mpps_mbuf::{BURST_MAX, Burst, Caches, Mbuf, OffloadFlags};

use crate::cut::MAX_PIECES;
use crate::fault::Drops;
use crate::finish::finish_but;

/// Pieces that are made at a time where packets become more than one.
const BATCH: usize = 64;

/// Bursts that find no room for the pieces of the packet at their front, after which it is cut nevertheless: a ring may
/// never have as much room as it has descriptors.
const PATIENCE: u32 = 16;

/// Finishes the packets of bursts and stages them for sending. A large packet becomes many, more than may fit a burst or
/// a peer's ring: it is left to the caller until there is room for all of them. Only where the ring then takes fewer than
/// it had room for is something held here, and sent first the next time.
pub struct Finisher {
    passed_on: OffloadFlags,
    staged: Box<Burst>,
    /// Pieces for which there was no room in `staged`.
    waiting: VecDeque<Mbuf>,
    drops: Drops,
    /// Bursts in a row that found no room for their first packet.
    refused: u32,
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
            refused: 0,
        }
    }

    /// Whether packets wait here, so that the next burst must come through [`Finisher::send`] whatever its flags.
    #[inline(always)]
    pub fn is_holding(&self) -> bool {
        !self.staged.is_empty()
    }

    /// Packets that were taken off bursts and aren't sent: lost, if the finisher is dropped now.
    pub fn held(&self) -> usize {
        self.staged.len() + self.waiting.len()
    }

    /// Packets dropped since the finisher was made.
    pub fn drops(&self) -> Drops {
        self.drops
    }

    /// As [`Finisher::send_fitting`] for a port that takes whatever comes.
    pub fn send(
        &mut self,
        caches: &mut Caches,
        pkts: &mut Burst,
        mut send: impl FnMut(&mut Caches, &mut Burst),
    ) -> Sent {
        self.send_fitting(caches, pkts, |caches, staged, _| {
            send(caches, staged);
            true
        })
    }

    /// Finishes the packets of `pkts` and has `send` send them, and before them what waited: it takes packets off the
    /// front of the burst it gets, and frees them, or leaves them; then it says whether there is room for so many more.
    ///
    /// Mbufs for copies and pieces come from the pool of the packet that needs them.
    #[cold]
    #[inline(never)]
    pub fn send_fitting(
        &mut self,
        caches: &mut Caches,
        pkts: &mut Burst,
        mut send: impl FnMut(&mut Caches, &mut Burst, usize) -> bool,
    ) -> Sent {
        let mut sent = Sent::default();
        let dropped = self.drops.total();
        self.staged.set_source(pkts.source());
        while self.flush(caches, &mut send) && !pkts.is_empty() {
            let fit = self.fitting(caches, pkts.as_slice(), &mut send);
            if fit == 0 {
                break;
            }
            for _ in 0..fit {
                let Some(packet) = pkts.pop_front() else {
                    break;
                };
                sent.taken += 1;
                self.take(caches, packet);
            }
        }
        sent.dropped = self.drops.total().wrapping_sub(dropped);
        sent
    }

    /// How many packets off the front can be sent with all their pieces: a batch, or one.
    fn fitting(
        &mut self,
        caches: &mut Caches,
        pkts: &[Mbuf],
        send: &mut impl FnMut(&mut Caches, &mut Burst, usize) -> bool,
    ) -> usize {
        let first = pkts.first().map_or(0, |packet| self.pieces(packet));
        let (mut count, mut pieces) = (1, first);
        for packet in pkts.iter().skip(1) {
            let more = self.pieces(packet);
            if pieces + more > BATCH {
                break;
            }
            (count, pieces) = (count + 1, pieces + more);
        }
        let fit = if send(caches, &mut self.staged, pieces) {
            count
        } else {
            let one = count > 1 && send(caches, &mut self.staged, first);
            usize::from(one || self.refused >= PATIENCE)
        };
        self.refused = if fit == 0 { self.refused + 1 } else { 0 };
        fit
    }

    /// The most packets that leave in a packet's place.
    fn pieces(&self, packet: &Mbuf) -> usize {
        let requests = OffloadFlags::TX_TCP_SEG | OffloadFlags::TX_UDP_SEG;
        let size = match packet.gso() {
            Some(gso) => gso.size,
            None if packet.flags().intersects(requests) => packet.tx_offload().tso_size(),
            None => return 1,
        };
        let debt = packet.flags() & OffloadFlags::DEBT;
        if packet.gso().is_some() && self.passed_on.contains(debt) {
            return 1;
        }
        let size = usize::from(size.max(1));
        (packet.pkt_len() as usize)
            .div_ceil(size)
            .clamp(1, MAX_PIECES)
    }

    /// Sends what is here; false when some of it must stay.
    fn flush(
        &mut self,
        caches: &mut Caches,
        send: &mut impl FnMut(&mut Caches, &mut Burst, usize) -> bool,
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
            send(caches, &mut self.staged, 0);
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
