//! Many producers, many consumers: a batched ring with two indices a side.
//!
//! A thread reserves a range by moving its side's `reserved` index, copies, waits until those who reserved before it
//! are done, and then moves `done` past its range, which is what the other side looks at:
//!
//! ```text
//!            consumers                      producers
//!   ... done <= reserved  <=  values  <=  done <= reserved ... (<= consumers' done + capacity)
//! ```
//!
//! The waiting makes it not lock-free: a thread that is preempted between the two holds up its own side for that
//! long, so waiters spin shortly and then yield. Used where many threads meet rarely: the common stock of a pool.

use crate::batch::{One, Sink, Source};
use crate::slots::Slots;
use crate::sync::{AtomicUsize, Ordering, Wait};
use crossbeam_utils::CachePadded;
use std::collections::TryReserveError;
use std::fmt;

/// One side's indices, on a line (pair) of their own.
struct Side {
    reserved: AtomicUsize,
    done: AtomicUsize,
}

impl Side {
    fn new() -> CachePadded<Self> {
        CachePadded::new(Self {
            reserved: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
        })
    }

    /// Reserves up to `wanted` slots of this side, which may run ahead of `other.done` by `lead` (the capacity for
    /// producers, nothing for consumers). The start and the number.
    #[inline]
    fn reserve(&self, other: &Self, lead: usize, wanted: usize, capacity: usize) -> (usize, usize) {
        // Acquire: who reserved up to here has seen an `other.done` at least that far, and so do we; else a ring with
        // values would look empty, or lapped and be looked at again. Partner: the Release of the exchange below.
        let mut start = self.reserved.load(Ordering::Acquire);
        loop {
            // Acquire: the other side's work on these slots is complete. Partner: the Release store in `publish`.
            let limit = other.done.load(Ordering::Acquire).wrapping_add(lead);
            let free = limit.wrapping_sub(start);
            if free > capacity {
                // `start` is older than `limit`: others have been round meanwhile, and the exchange would fail. This
                // check is also what the safety of the range rests on: it lies before a `limit` that was true once.
                start = self.reserved.load(Ordering::Acquire);
                continue;
            }
            let n = wanted.min(free);
            if n == 0 {
                return (start, 0);
            }
            let end = start.wrapping_add(n);
            // Release on success and Acquire on failure: partners of each other and of the load above.
            match self.reserved.compare_exchange_weak(
                start,
                end,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return (start, n),
                Err(now) => start = now,
            }
        }
    }

    /// Says that the slots from `start` to before `start + n` are dealt with, once all before them are.
    #[inline]
    fn publish(&self, start: usize, n: usize) {
        // Acquire: our store takes the work of those before us along to the other side. Partner: their Release below.
        if self.done.load(Ordering::Acquire) != start {
            self.wait_for(start);
        }
        // Release: the copies before the index. Partner: the Acquire load of `done` in `reserve` and here.
        self.done.store(start.wrapping_add(n), Ordering::Release);
    }

    #[cold]
    fn wait_for(&self, start: usize) {
        let wait = Wait::new();
        // Acquire: as in `publish`.
        while self.done.load(Ordering::Acquire) != start {
            wait.pause();
        }
    }
}

/// A ring that any number of threads push to and pop from, by reference.
pub struct MpmcRing<T> {
    producers: CachePadded<Side>,
    consumers: CachePadded<Side>,
    capacity: usize,
    slots: Slots<T>,
}

// SAFETY: a slot is touched only by the one thread that has reserved it; values cross threads, hence `Send`.
unsafe impl<T: Send> Sync for MpmcRing<T> {}
// SAFETY: the ring owns its values; `UnsafeCell` takes nothing from `Send`.
unsafe impl<T: Send> Send for MpmcRing<T> {}

impl<T> MpmcRing<T> {
    /// A ring that holds at most `capacity` values (none at all for 0).
    ///
    /// # Panics
    /// When `capacity` slots, rounded up to a power of two, exceed the address space.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self::of(capacity, Slots::new(capacity))
    }

    /// The same, for a capacity that a user may choose.
    ///
    /// # Errors
    /// There is no memory for so many slots.
    ///
    /// # Panics
    /// When no power of two is as large as `capacity`.
    pub fn try_new(capacity: usize) -> Result<Self, TryReserveError> {
        Slots::try_new(capacity).map(|slots| Self::of(capacity, slots))
    }

    fn of(capacity: usize, slots: Slots<T>) -> Self {
        Self {
            producers: Side::new(),
            consumers: Side::new(),
            capacity,
            slots,
        }
    }

    /// Moves as many values from `src` as fit, in order and next to each other; says how many.
    #[inline]
    pub fn push<S: Source<T> + ?Sized>(&self, src: &mut S) -> usize {
        let wanted = src.available();
        let (start, n) =
            self.producers
                .reserve(&self.consumers, self.capacity, wanted, self.capacity);
        if n != 0 {
            // SAFETY: reserved by this thread alone, and read by the consumers before; n is at most `available`.
            unsafe { self.slots.fill(start, n, src) };
            self.producers.publish(start, n);
        }
        n
    }

    /// Moves as many values into `dst` as there are and as it has room for, oldest first; says how many.
    #[inline]
    pub fn pop<S: Sink<T> + ?Sized>(&self, dst: &mut S) -> usize {
        let (start, n) = self
            .consumers
            .reserve(&self.producers, 0, dst.room(), self.capacity);
        if n != 0 {
            // SAFETY: reserved by this thread alone, and filled by the producers before; n is at most `room`.
            unsafe { self.slots.drain(start, n, dst) };
            self.consumers.publish(start, n);
        }
        n
    }

    /// Moves one value in, or gives it back when the ring is full.
    #[inline]
    pub fn push_one(&self, value: T) -> Result<(), T> {
        let mut one = One(Some(value));
        self.push(&mut one);
        one.0.map_or(Ok(()), Err)
    }

    /// Moves one value out.
    #[inline]
    pub fn pop_one(&self) -> Option<T> {
        let mut one = One(None);
        self.pop(&mut one);
        one.0
    }

    /// How many values are in the ring; exact when no one pushes or pops meanwhile, never more than the capacity.
    ///
    /// Whatever was done before the values were pushed that are counted happens before the return.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        // Acquire: who popped so many had seen that many pushed, and so does the load below. Partner: the Release store
        // in `publish`.
        let popped = self.consumers.done.load(Ordering::Acquire);
        // Acquire: who sees all its values back may take the ring apart. Partner: the Release store in `publish`.
        let pushed = self.producers.done.load(Ordering::Acquire);
        pushed.wrapping_sub(popped).min(self.capacity)
    }

    /// Whether there is nothing to pop now.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values the ring holds at most.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }
}

impl<T> Drop for MpmcRing<T> {
    fn drop(&mut self) {
        // Relaxed: nobody else has the ring any more, and whoever handed it over has ordered their writes before this.
        let (head, tail) = (
            self.consumers.done.load(Ordering::Relaxed),
            self.producers.done.load(Ordering::Relaxed),
        );
        // SAFETY: exclusive access, so nothing is reserved and not done; between the two are the values not popped.
        unsafe { self.slots.drop_values(head, tail) };
    }
}

impl<T> fmt::Debug for MpmcRing<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MpmcRing")
            .field("len", &self.len())
            .field("capacity", &self.capacity)
            .finish()
    }
}
