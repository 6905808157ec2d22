//! Queues around queues: what a test or a diagnosis puts between an engine and a port.
//!
//! Each wraps any receive or transmit queue and is one itself, so that they can be stacked, and so that neither engine nor
//! port knows. Made by whoever has the queue in hand (between `start` and the worker), ended with it.
//!
//! | wrapper | does |
//! |---|---|
//! | [`Faulty`] | drops, refuses and cuts bursts short by a seeded pattern |
//! | [`Delay`] | holds packets for a number of calls, in order |
//! | [`Traced`] | remembers what each call was offered and did |
//! | [`Captured`] | shows each frame's bytes to a sink |
//!
//! ```
//! use mpps_dev::RxQueue;
//! use mpps_dev::middleware::{Delay, Faults, Faulty};
//!
//! fn rough(queue: Box<dyn RxQueue>) -> Box<dyn RxQueue> {
//!     let faults = Faults { seed: 1, drop: 10, refuse: 50, cut: 100 };
//!     Box::new(Delay::new(Faulty::new(queue, faults), 2))
//! }
//! ```
//!
//! A queue that was wrapped goes back to its port wrapped: what [`crate::EthDev::stop`] takes is a `Box<dyn RxQueue>`,
//! and dropping the wrapper drops the queue.

mod captured;
mod delay;
mod faulty;
mod traced;

pub use captured::Captured;
pub use delay::Delay;
pub use faulty::{FaultCounts, Faults, Faulty};
pub use traced::{Call, Trace, Traced};

use mpps_mbuf::{BURST_MAX, Burst};

use crate::{Lcore, RxQueue, TxQueue};

impl<Q: RxQueue + ?Sized> RxQueue for Box<Q> {
    #[inline(always)]
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize {
        (**self).rx_burst(lcore, out)
    }
}

impl<Q: TxQueue + ?Sized> TxQueue for Box<Q> {
    #[inline(always)]
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        (**self).tx_burst(lcore, pkts)
    }
}

/// Lets a receive queue append at most `most` packets, whatever room there is.
fn receive_at_most<Q: RxQueue>(
    queue: &mut Q,
    lcore: &mut Lcore,
    out: &mut Burst,
    most: usize,
) -> usize {
    if most.min(out.room()) == 0 {
        return 0;
    }
    let limit = out.limit();
    out.set_limit(limit.min(out.len() + most));
    let n = queue.rx_burst(lcore, out);
    out.set_limit(limit);
    n
}

/// Puts the packets of `front` before those of `burst`, through `spare`, which is empty before and after.
///
/// All of them came out of `burst`, so that it has the slots for them.
fn put_back(front: &mut Burst, burst: &mut Burst, spare: &mut Burst) {
    if front.is_empty() {
        return;
    }
    front.move_to(spare);
    burst.move_to(spare);
    // The limit is about what a receive queue may append, not about giving back what was here.
    let limit = burst.limit();
    burst.set_limit(BURST_MAX);
    spare.move_to(burst);
    burst.set_limit(limit);
}

#[cfg(test)]
mod tests;
