//! A queue that remembers its calls.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use mpps_mbuf::Burst;

use crate::{Lcore, RxQueue, TxQueue};

/// One call of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// Room in the burst to receive into, or packets in the burst to send.
    pub offered: usize,
    /// Packets moved.
    pub moved: usize,
}

/// The last calls of a queue and the sums over all. The queue writes it, anyone reads it.
///
/// Behind a lock: it is for tests and diagnosis, where a reader is rare.
#[derive(Debug)]
pub struct Trace {
    inner: Mutex<Inner>,
    keep: usize,
}

#[derive(Debug, Default)]
struct Inner {
    calls: VecDeque<Call>,
    count: u64,
    moved: u64,
}

impl Trace {
    fn add(&self, call: Call) {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.count += 1;
        inner.moved += call.moved as u64;
        if inner.calls.len() >= self.keep {
            inner.calls.pop_front();
        }
        if self.keep > 0 {
            inner.calls.push_back(call);
        }
    }

    /// The last calls, oldest first.
    pub fn calls(&self) -> Vec<Call> {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.calls.iter().copied().collect()
    }

    /// All calls so far, and the packets they moved.
    pub fn totals(&self) -> (u64, u64) {
        let inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        (inner.count, inner.moved)
    }
}

/// A queue whose calls are recorded.
#[repr(align(128))]
pub struct Traced<Q> {
    queue: Q,
    trace: Arc<Trace>,
}

impl<Q> Traced<Q> {
    /// Wraps a queue and keeps its last `keep` calls.
    pub fn new(queue: Q, keep: usize) -> Self {
        Self {
            queue,
            trace: Arc::new(Trace {
                inner: Mutex::default(),
                keep,
            }),
        }
    }

    /// The record, to be read while the queue runs and afterwards.
    pub fn trace(&self) -> Arc<Trace> {
        self.trace.clone()
    }
}

impl<Q: RxQueue> RxQueue for Traced<Q> {
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize {
        let offered = out.room();
        let moved = self.queue.rx_burst(lcore, out);
        self.trace.add(Call { offered, moved });
        moved
    }
}

impl<Q: TxQueue> TxQueue for Traced<Q> {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        let offered = pkts.len();
        let moved = self.queue.tx_burst(lcore, pkts);
        self.trace.add(Call { offered, moved });
        moved
    }
}
