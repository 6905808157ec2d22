//! The atomics of the standard library, or loom's under `--cfg loom`, so that the same code is run and modelled.

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering},
};

#[cfg(loom)]
pub(crate) use loom::sync::{
    Arc,
    atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering},
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

/// Waiting asleep for a thread that may need this very CPU to go on: naps that grow from 20 microseconds to 1 ms.
#[cfg(not(loom))]
pub(crate) struct Nap(std::time::Duration);

#[cfg(not(loom))]
impl Nap {
    const FIRST: std::time::Duration = std::time::Duration::from_micros(20);
    const LONGEST: std::time::Duration = std::time::Duration::from_millis(1);

    pub(crate) fn new() -> Self {
        Self(Self::FIRST)
    }

    pub(crate) fn sleep(&mut self) {
        std::thread::sleep(self.0);
        self.0 = (self.0 * 2).min(Self::LONGEST);
    }
}

#[cfg(loom)]
pub(crate) struct Nap;

#[cfg(loom)]
impl Nap {
    pub(crate) fn new() -> Self {
        Self
    }

    pub(crate) fn sleep(&mut self) {
        loom::thread::yield_now();
    }
}
