//! The atomics of the standard library, or loom's under `--cfg loom`, so that the same code is run and modelled.

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

#[cfg(loom)]
pub(crate) use loom::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

/// Waiting for another thread that is nearly done: spins first, then gives the CPU away, since that thread may have
/// been preempted on this very CPU.
#[cfg(not(loom))]
pub(crate) struct Wait(crossbeam_utils::Backoff);

#[cfg(not(loom))]
impl Wait {
    pub(crate) fn new() -> Self {
        Self(crossbeam_utils::Backoff::new())
    }

    pub(crate) fn pause(&self) {
        self.0.snooze();
    }
}

#[cfg(loom)]
pub(crate) struct Wait;

#[cfg(loom)]
impl Wait {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn pause(&self) {
        loom::thread::yield_now();
    }
}
