//! Queues: the data side of a port, owned by whoever polls it.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use mpps_mbuf::Burst;

use crate::Lcore;

/// A receive queue. Polled by one thread, never blocks, never fails: trouble is counted.
pub trait RxQueue: Send {
    /// Appends at most `out.room()` packets and returns how many.
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize;
}

/// A transmit queue. Polled by one thread, never blocks, never fails.
pub trait TxQueue: Send {
    /// Takes packets off the front and returns how many. What is left was not sent and is still the caller's.
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize;
}

/// The queues that a port hands out at start and takes back at stop. A lent queue leaves `None` in its place.
#[derive(Default)]
pub struct Queues {
    /// Receive queues by number.
    pub rx: Vec<Option<Box<dyn RxQueue>>>,
    /// Transmit queues by number.
    pub tx: Vec<Option<Box<dyn TxQueue>>>,
}

impl Queues {
    /// Queues from what a driver made.
    pub fn new(rx: Vec<Box<dyn RxQueue>>, tx: Vec<Box<dyn TxQueue>>) -> Self {
        Self {
            rx: rx.into_iter().map(Some).collect(),
            tx: tx.into_iter().map(Some).collect(),
        }
    }

    /// Whether every queue is here.
    pub fn complete(&self) -> bool {
        self.rx.iter().all(Option::is_some) && self.tx.iter().all(Option::is_some)
    }
}

/// What the control thread tells a queue while it is being polled: read with one load a burst.
///
/// On cache lines of its own: nothing that is written often lies beside it, so that the load stays in the reader's cache.
#[derive(Debug)]
#[repr(align(128))]
pub struct Mailbox {
    stopped: AtomicBool,
    mtu: AtomicU32,
}

impl Mailbox {
    /// A mailbox of a queue that runs with this MTU.
    pub fn new(mtu: u32) -> Self {
        Self {
            stopped: AtomicBool::new(false),
            mtu: AtomicU32::new(mtu),
        }
    }

    /// Whether the queue was told to stop: it then moves nothing.
    #[inline(always)]
    pub fn stopped(&self) -> bool {
        // Relaxed: the flag carries no data with it; it is seen at one of the next bursts.
        self.stopped.load(Ordering::Relaxed)
    }

    /// Stops or starts the queue.
    pub fn set_stopped(&self, stopped: bool) {
        // Relaxed: see `stopped`.
        self.stopped.store(stopped, Ordering::Relaxed);
    }

    /// The MTU in bytes, without Ethernet header.
    #[inline(always)]
    pub fn mtu(&self) -> u32 {
        // Relaxed: a lone number.
        self.mtu.load(Ordering::Relaxed)
    }

    /// Changes the MTU.
    pub fn set_mtu(&self, mtu: u32) {
        // Relaxed: see `mtu`.
        self.mtu.store(mtu, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
