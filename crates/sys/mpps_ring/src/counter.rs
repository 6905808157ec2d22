//! A counter that one thread writes and any thread reads.
//!
//! Lives in the statistics that a queue shares with the control thread (an `Arc` that both hold); the queue's poller
//! is the writer. A reader who wants to count from zero again keeps the value it saw and subtracts it: a store from
//! the reader's side would race with the writer and be lost.

use crate::sync::{AtomicU64, Ordering};

/// Counts in 64 bits, wrapping. [`add`](Self::add) is a load and a store, no locked operation.
///
/// Two threads that add at once lose counts (and nothing worse): give each thread a counter of its own.
#[derive(Debug, Default)]
#[cfg_attr(not(loom), repr(transparent))]
pub struct Counter(AtomicU64);

impl Counter {
    /// A counter at zero.
    #[cfg(not(loom))]
    #[must_use]
    pub const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// A counter at zero.
    #[cfg(loom)]
    #[must_use]
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Adds `n`. For the one thread that owns the counter.
    #[inline]
    pub fn add(&self, n: u64) {
        // Relaxed, no partner: a counter publishes nothing but itself, and the load reads this thread's own store.
        let now = self.0.load(Ordering::Relaxed);
        self.0.store(now.wrapping_add(n), Ordering::Relaxed);
    }

    /// The count as seen from this thread: never torn, perhaps a little old.
    #[inline]
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
