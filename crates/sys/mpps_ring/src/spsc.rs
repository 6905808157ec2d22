//! One producer, one consumer.
//!
//! Each end keeps its own index in a plain field and a copy of the other's; the shared index of the other side, a line
//! that travels between cores, is read only when the copy doesn't suffice. Both ends own the ring together; values
//! still inside are dropped with the second end.

use crate::batch::{One, Sink, Source};
use crate::slots::Slots;
use crate::sync::{Arc, AtomicUsize, Ordering};
use crossbeam_utils::CachePadded;
use std::fmt;

struct Ring<T> {
    /// Next to pop. Written by the consumer.
    head: CachePadded<AtomicUsize>,
    /// Next to push. Written by the producer.
    tail: CachePadded<AtomicUsize>,
    capacity: usize,
    slots: Slots<T>,
}

// SAFETY: a slot is touched by the producer from `head + size` to `tail`, by the consumer from `tail` to `head`, never by
// both; values cross threads, hence `Send`.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        // Relaxed: both ends are gone, and the `Arc` has ordered their last writes before this.
        let (head, tail) = (
            self.head.load(Ordering::Relaxed),
            self.tail.load(Ordering::Relaxed),
        );
        // SAFETY: exclusive access; between head and tail are exactly the values pushed and not popped.
        unsafe { self.slots.drop_values(head, tail) };
    }
}

/// A ring for one producer and one consumer that holds at most `capacity` values (none at all for 0).
///
/// # Panics
/// When `capacity` slots, rounded up to a power of two, exceed the address space.
#[must_use]
pub fn spsc<T: Send>(capacity: usize) -> (Producer<T>, Consumer<T>) {
    let ring = Arc::new(Ring {
        head: CachePadded::new(AtomicUsize::new(0)),
        tail: CachePadded::new(AtomicUsize::new(0)),
        capacity,
        slots: Slots::new(capacity),
    });
    let producer = Producer {
        ring: Arc::clone(&ring),
        tail: 0,
        seen_head: 0,
    };
    (
        producer,
        Consumer {
            ring,
            head: 0,
            seen_tail: 0,
        },
    )
}

/// The end that values go into.
pub struct Producer<T> {
    ring: Arc<Ring<T>>,
    tail: usize,
    seen_head: usize,
}

impl<T> Producer<T> {
    /// Moves as many values from `src` as fit, in order; says how many.
    #[inline]
    pub fn push<S: Source<T> + ?Sized>(&mut self, src: &mut S) -> usize {
        let wanted = src.available();
        let n = wanted.min(self.room_for(wanted));
        if n == 0 {
            return 0;
        }
        // SAFETY: `room_for` has seen these slots empty, and no one else fills any; n is at most `available`.
        unsafe { self.ring.slots.fill(self.tail, n, src) };
        self.tail = self.tail.wrapping_add(n);
        // Release: the values before the index. Partner: the Acquire load in `Consumer::filled_for`.
        self.ring.tail.store(self.tail, Ordering::Release);
        n
    }

    /// Moves one value in, or gives it back when the ring is full.
    #[inline]
    pub fn push_one(&mut self, value: T) -> Result<(), T> {
        let mut one = One(Some(value));
        self.push(&mut one);
        one.0.map_or(Ok(()), Err)
    }

    /// How many values fit now, at the least: the consumer can only make more room.
    #[inline]
    #[must_use]
    pub fn room(&self) -> usize {
        self.capacity() - self.len()
    }

    /// How many values are in the ring, at the most.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        // Relaxed: nothing is touched on the strength of this number.
        self.tail
            .wrapping_sub(self.ring.head.load(Ordering::Relaxed))
    }

    /// Whether the consumer has taken everything.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values the ring holds at most.
    #[inline]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.ring.capacity
    }

    /// The known room, refreshed only when it is less than `wanted`.
    #[inline]
    fn room_for(&mut self, wanted: usize) -> usize {
        let room = self.ring.capacity - self.tail.wrapping_sub(self.seen_head);
        if room >= wanted {
            return room;
        }
        // Acquire: the consumer has read the slots before they are filled again. Partner: the Release store in
        // `Consumer::pop`.
        self.seen_head = self.ring.head.load(Ordering::Acquire);
        self.ring.capacity - self.tail.wrapping_sub(self.seen_head)
    }
}

/// The end that values come out of.
pub struct Consumer<T> {
    ring: Arc<Ring<T>>,
    head: usize,
    seen_tail: usize,
}

impl<T> Consumer<T> {
    /// Moves as many values into `dst` as there are and as it has room for, in order; says how many.
    #[inline]
    pub fn pop<S: Sink<T> + ?Sized>(&mut self, dst: &mut S) -> usize {
        let wanted = dst.room();
        let n = wanted.min(self.filled_for(wanted));
        if n == 0 {
            return 0;
        }
        // SAFETY: `filled_for` has seen values in these slots, and no one else takes any; n is at most `room`.
        unsafe { self.ring.slots.drain(self.head, n, dst) };
        self.head = self.head.wrapping_add(n);
        // Release: the slots have been read before they count as empty. Partner: the Acquire load in
        // `Producer::room_for`.
        self.ring.head.store(self.head, Ordering::Release);
        n
    }

    /// Moves one value out.
    #[inline]
    pub fn pop_one(&mut self) -> Option<T> {
        let mut one = One(None);
        self.pop(&mut one);
        one.0
    }

    /// How many values are in the ring, at the least: the producer can only add some.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        // Relaxed: nothing is touched on the strength of this number.
        self.ring
            .tail
            .load(Ordering::Relaxed)
            .wrapping_sub(self.head)
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
        self.ring.capacity
    }

    /// The known number of values, refreshed only when it is less than `wanted`.
    #[inline]
    fn filled_for(&mut self, wanted: usize) -> usize {
        let filled = self.seen_tail.wrapping_sub(self.head);
        if filled >= wanted {
            return filled;
        }
        // Acquire: the index before the values. Partner: the Release store in `Producer::push`.
        self.seen_tail = self.ring.tail.load(Ordering::Acquire);
        self.seen_tail.wrapping_sub(self.head)
    }
}

impl<T> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .finish()
    }
}

impl<T> fmt::Debug for Consumer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .finish()
    }
}
