//! The storage of a ring: a power of two of slots, addressed by indices that count on for ever.
//!
//! The slots know nothing of who owns which: a ring calls [`Slots::fill`] and [`Slots::drain`] on ranges that its
//! indices have given to the calling thread. Made and dropped with the ring.

use crate::batch::{Sink, Source};
use std::collections::TryReserveError;
use std::mem::MaybeUninit;

#[cfg(not(loom))]
use std::cell::UnsafeCell;

/// How many slots a ring of this capacity has: the next power of two, at least one.
fn size_for(capacity: usize) -> usize {
    // Unchecked, a capacity near the end of the numbers would get no slots at all in a release build.
    capacity
        .checked_next_power_of_two()
        .expect("a ring fits into the address space")
}

#[cfg(not(loom))]
pub(crate) struct Slots<T> {
    slots: Box<[UnsafeCell<MaybeUninit<T>>]>,
}

#[cfg(not(loom))]
impl<T> Slots<T> {
    /// At least `capacity` slots. Not written to: pages become resident when values come.
    pub(crate) fn new(capacity: usize) -> Self {
        let slots: Box<[MaybeUninit<UnsafeCell<MaybeUninit<T>>>]> =
            Box::new_uninit_slice(size_for(capacity));
        Self {
            // SAFETY: a cell round a MaybeUninit is valid without a value.
            slots: unsafe { slots.assume_init() },
        }
    }

    /// The same, with an error where `new` ends the program.
    pub(crate) fn try_new(capacity: usize) -> Result<Self, TryReserveError> {
        let size = size_for(capacity);
        let mut slots = Vec::new();
        slots.try_reserve_exact(size)?;
        // SAFETY: reserved, and a cell round a MaybeUninit is valid without a value.
        unsafe { slots.set_len(size) };
        let slots = slots.into_boxed_slice();
        Ok(Self { slots })
    }

    /// The `n` slots from index `start` on, as the two straight pieces that they lie in.
    #[inline]
    fn pieces(&self, start: usize, n: usize) -> [(*mut MaybeUninit<T>, usize); 2] {
        debug_assert!(n <= self.slots.len());
        let base = UnsafeCell::raw_get(self.slots.as_ptr());
        let first = start & (self.slots.len() - 1);
        let straight = n.min(self.slots.len() - first);
        [(base.wrapping_add(first), straight), (base, n - straight)]
    }

    /// Moves `n` values from `src` into the slots from index `start` on.
    ///
    /// # Safety
    /// The slots are empty and the calling thread's alone; `n` is at most their number and `src.available()`.
    #[inline]
    pub(crate) unsafe fn fill<S: Source<T> + ?Sized>(&self, start: usize, n: usize, src: &mut S) {
        let [(first, straight), (second, wrapped)] = self.pieces(start, n);
        // SAFETY: the piece lies inside the storage, and the caller answers for nobody else touching it.
        src.take(unsafe { std::slice::from_raw_parts_mut(first, straight) });
        if wrapped != 0 {
            // SAFETY: as above; the pieces don't overlap.
            src.take(unsafe { std::slice::from_raw_parts_mut(second, wrapped) });
        }
    }

    /// Moves `n` values out of the slots from index `start` on into `dst`.
    ///
    /// # Safety
    /// The slots hold values and are the calling thread's alone; `n` is at most their number and `dst.room()`. They count
    /// as empty afterwards.
    #[inline]
    pub(crate) unsafe fn drain<S: Sink<T> + ?Sized>(&self, start: usize, n: usize, dst: &mut S) {
        let [(first, straight), (second, wrapped)] = self.pieces(start, n);
        // SAFETY: the piece lies inside the storage, holds values, and the caller answers for nobody else touching it.
        unsafe { dst.put(std::slice::from_raw_parts(first, straight)) };
        if wrapped != 0 {
            // SAFETY: as above.
            unsafe { dst.put(std::slice::from_raw_parts(second, wrapped)) };
        }
    }

    /// Drops the values in the slots from index `start` to before index `end`.
    ///
    /// # Safety
    /// These slots hold values, and they count as empty afterwards.
    pub(crate) unsafe fn drop_values(&mut self, start: usize, end: usize) {
        let [(first, straight), (second, wrapped)] = self.pieces(start, end.wrapping_sub(start));
        // SAFETY: exclusive access, and the caller says that the values are there.
        unsafe {
            std::ptr::slice_from_raw_parts_mut(first.cast::<T>(), straight).drop_in_place();
            std::ptr::slice_from_raw_parts_mut(second.cast::<T>(), wrapped).drop_in_place();
        }
    }
}

/// The same under loom: a checked cell a slot, so that an access without happens-before is reported.
#[cfg(loom)]
pub(crate) struct Slots<T> {
    slots: Box<[loom::cell::UnsafeCell<MaybeUninit<T>>]>,
}

#[cfg(loom)]
impl<T> Slots<T> {
    pub(crate) fn new(capacity: usize) -> Self {
        Self {
            slots: (0..size_for(capacity))
                .map(|_| loom::cell::UnsafeCell::new(MaybeUninit::uninit()))
                .collect(),
        }
    }

    pub(crate) fn try_new(capacity: usize) -> Result<Self, TryReserveError> {
        Ok(Self::new(capacity))
    }

    fn slot(&self, index: usize) -> &loom::cell::UnsafeCell<MaybeUninit<T>> {
        &self.slots[index & (self.slots.len() - 1)]
    }

    pub(crate) unsafe fn fill<S: Source<T> + ?Sized>(&self, start: usize, n: usize, src: &mut S) {
        assert!(n <= self.slots.len());
        let mut values: Vec<MaybeUninit<T>> = (0..n).map(|_| MaybeUninit::uninit()).collect();
        src.take(&mut values);
        for (i, value) in values.into_iter().enumerate() {
            // SAFETY: the caller answers for nobody else touching the slot, and loom checks it.
            self.slot(start.wrapping_add(i))
                .with_mut(|slot| unsafe { slot.write(value) });
        }
    }

    pub(crate) unsafe fn drain<S: Sink<T> + ?Sized>(&self, start: usize, n: usize, dst: &mut S) {
        assert!(n <= self.slots.len());
        let read = |i| {
            // SAFETY: the caller answers for nobody else touching the slot, and loom checks it.
            self.slot(start.wrapping_add(i))
                .with_mut(|slot| unsafe { std::mem::replace(&mut *slot, MaybeUninit::uninit()) })
        };
        let values: Vec<MaybeUninit<T>> = (0..n).map(read).collect();
        // SAFETY: the caller says that the slots held values.
        unsafe { dst.put(&values) };
    }

    pub(crate) unsafe fn drop_values(&mut self, start: usize, end: usize) {
        for i in 0..end.wrapping_sub(start) {
            // SAFETY: the caller says that the slot holds a value; access is exclusive.
            self.slot(start.wrapping_add(i))
                .with_mut(|slot| unsafe { (*slot).assume_init_drop() });
        }
    }
}
