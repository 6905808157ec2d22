//! What two cores of this machine can pass through shared memory at all: rulers to hold a virtio loop against.
//!
//! [`Ruler::virtqueues`] is a bare in-order split virtqueue pair between two threads that trust each other: all the copies
//! and all the cache lines of a vhost and a virtio-user port, none of their checks. [`Ruler::echo`] has not even rings, only
//! packets that are written, copied there and back, and read. A measurement calls one of them; it starts two threads, ends
//! them, and frees all memory before it returns. Nothing of the product runs through here, and nothing here may be used on
//! memory that somebody else writes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mpps_cpu::{AffinityError, CpuSet, pin_current_thread};
use mpps_shm::MemoryError;

mod frames;
mod pair;
mod slots;
#[cfg(test)]
mod tests;

/// Packets that one publication of an index stands for, at most.
const BURST: usize = 32;

/// Shortest and longest packet that a ruler moves, in bytes without CRC.
pub const BYTES: std::ops::RangeInclusive<usize> = 64..=1518;

/// Why a ruler can't be held.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    /// The size isn't one of an Ethernet frame.
    #[error("'{0}' is no packet size of the ruler: 64 to 1518 bytes")]
    Bytes(usize),
    /// Both ends on the same CPU measure the scheduler.
    #[error("both ends of the ruler on CPU '{0}': name two")]
    SameCpu(usize),
    /// A thread can't be where it was asked to be.
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    /// No memory for rings and buffers.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The threads ran and nothing came through: the CPUs belong to somebody else.
    #[error("no packet in {0:?}: other programs have the CPUs")]
    Starved(Duration),
}

/// A measurement to be made: packet size, the two CPUs, how long.
#[derive(Clone, Copy, Debug)]
pub struct Ruler {
    bytes: usize,
    cpus: [usize; 2],
    time: Duration,
}

impl Ruler {
    /// Packets of `bytes` between these two CPUs (the first has the driver, the second the device), counted for `time`
    /// after a quarter of it as a warm-up.
    ///
    /// # Errors
    /// A size outside [`BYTES`], or the same CPU twice.
    pub fn new(bytes: usize, cpus: [usize; 2], time: Duration) -> Result<Self, LimitError> {
        if !BYTES.contains(&bytes) {
            return Err(LimitError::Bytes(bytes));
        }
        if cpus[0] == cpus[1] {
            return Err(LimitError::SameCpu(cpus[0]));
        }
        Ok(Self { bytes, cpus, time })
    }

    /// Packets that a bare in-order split virtqueue pair takes round the loop, in millions a second.
    ///
    /// # Errors
    /// A CPU that this process may not use, no memory, or not one packet in the time.
    pub fn virtqueues(&self) -> Result<f64, LimitError> {
        let pair = pair::Pair::new(self.bytes)?;
        self.run(|run| pair.drive(run), |run| pair.serve(run))
    }

    /// Packets that are written, copied out, copied back and read, in millions a second.
    ///
    /// # Errors
    /// As [`Ruler::virtqueues`].
    pub fn echo(&self) -> Result<f64, LimitError> {
        let slots = slots::Slots::new(self.bytes)?;
        self.run(|run| slots.write(run), |run| slots.answer(run))
    }

    /// Both ends on their CPUs until the time is over.
    fn run(
        &self,
        first: impl FnOnce(&Progress) + Send,
        second: impl FnOnce(&Progress) + Send,
    ) -> Result<f64, LimitError> {
        let progress = Progress::default();
        // The threads end by themselves once `stop` is set, whichever way this closure is left.
        thread::scope(|scope| {
            let _stop = StopAtEnd(&progress);
            let (one, two) = (
                scope.spawn(|| on_cpu(self.cpus[0], || first(&progress))),
                scope.spawn(|| on_cpu(self.cpus[1], || second(&progress))),
            );
            thread::sleep(self.time / 4);
            let (before, clock) = (progress.packets(), Instant::now());
            thread::sleep(self.time);
            let (packets, seconds) = (progress.packets() - before, clock.elapsed().as_secs_f64());
            progress.end();
            for end in [one, two] {
                end.join()
                    .unwrap_or_else(|cause| std::panic::resume_unwind(cause))?;
            }
            if packets == 0 {
                return Err(LimitError::Starved(self.time));
            }
            Ok(packets as f64 / seconds / 1e6)
        })
    }
}

fn on_cpu(cpu: usize, end: impl FnOnce()) -> Result<(), LimitError> {
    let mut cpus = CpuSet::default();
    cpus.insert(cpu);
    pin_current_thread(&cpus)?;
    end();
    Ok(())
}

/// Whether to go on, and how far it went; on lines of their own.
#[derive(Debug, Default)]
struct Progress {
    stop: Apart<AtomicBool>,
    packets: Apart<AtomicU64>,
}

/// Two cache lines for one value: the second is what the prefetcher brings along.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

impl Progress {
    /// Relaxed, no partner: a turn more or less does no harm, and joining the threads orders the rest.
    #[inline(always)]
    fn goes_on(&self) -> bool {
        !self.stop.0.load(Ordering::Relaxed)
    }

    fn end(&self) {
        // Relaxed, partner of `goes_on`.
        self.stop.0.store(true, Ordering::Relaxed);
    }

    /// Relaxed, partner of `packets`: one writer, and nothing is published by the number.
    #[inline(always)]
    fn count(&self, packets: u64) {
        self.packets.0.store(packets, Ordering::Relaxed);
    }

    fn packets(&self) -> u64 {
        // Relaxed, partner of `count`.
        self.packets.0.load(Ordering::Relaxed)
    }
}

struct StopAtEnd<'a>(&'a Progress);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}
