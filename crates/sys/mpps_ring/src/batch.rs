//! Where batches come from and go to: [`Source`] and [`Sink`], and both for the plain containers.

use std::mem::MaybeUninit;

/// A place that values can be moved out of in bulk, front first.
///
/// # Safety
/// A ring relies on this: [`take`](Self::take) of at most [`available`](Self::available) values initialises all of `dst`,
/// gives up the ownership of these values (they are never dropped or handed out by the source again), and doesn't unwind.
/// `available` doesn't change but by `take`.
pub unsafe trait Source<T> {
    /// How many values can be taken now.
    fn available(&self) -> usize;

    /// Moves the first `dst.len()` values into `dst`, in order.
    ///
    /// # Panics
    /// When `dst` is longer than [`available`](Self::available), which no ring asks for.
    fn take(&mut self, dst: &mut [MaybeUninit<T>]);
}

/// A place that values can be moved into in bulk.
///
/// # Safety
/// A ring relies on this: [`put`](Self::put) of at most [`room`](Self::room) values takes the ownership of every one and
/// doesn't unwind. `room` doesn't change but by `put`.
pub unsafe trait Sink<T> {
    /// How many values can be put now.
    fn room(&self) -> usize;

    /// Moves all values of `src` in, in order, behind those that are there already.
    ///
    /// # Safety
    /// Every element of `src` is initialised, its ownership passes to the sink, and `src.len()` is at most
    /// [`room`](Self::room).
    unsafe fn put(&mut self, src: &[MaybeUninit<T>]);
}

// SAFETY: the assertion keeps `take` inside the vector; the length is cut before the values are copied, so that they
// are owned once whatever happens.
unsafe impl<T> Source<T> for Vec<T> {
    #[inline]
    fn available(&self) -> usize {
        self.len()
    }

    #[inline]
    fn take(&mut self, dst: &mut [MaybeUninit<T>]) {
        let n = dst.len();
        let rest = self
            .len()
            .checked_sub(n)
            .expect("no more values are taken than there are");
        let from = self.as_mut_ptr();
        // SAFETY: nothing is exposed that wasn't initialised: n + rest was the length. `dst` is exclusively borrowed and
        // thus lies elsewhere; the rest moves to the front of the same allocation and becomes the vector again.
        unsafe {
            self.set_len(0);
            dst.as_mut_ptr()
                .cast::<T>()
                .copy_from_nonoverlapping(from, n);
            from.copy_from(from.add(n), rest);
            self.set_len(rest);
        }
    }
}

/// A vector's room is its spare capacity: a sink doesn't grow, since a pop must not allocate.
// SAFETY: `put` copies into spare capacity only and then counts the values as the vector's.
unsafe impl<T> Sink<T> for Vec<T> {
    #[inline]
    fn room(&self) -> usize {
        self.capacity() - self.len()
    }

    #[inline]
    unsafe fn put(&mut self, src: &[MaybeUninit<T>]) {
        debug_assert!(src.len() <= self.room());
        let len = self.len();
        // SAFETY: the caller keeps to `room`, so the values fit behind the last one; they are initialised and ours.
        unsafe {
            self.as_mut_ptr()
                .add(len)
                .copy_from_nonoverlapping(src.as_ptr().cast::<T>(), src.len());
            self.set_len(len + src.len());
        }
    }
}

/// A source of plain values (pointers, indices) in a slice; [`rest`](Self::rest) are those not yet taken.
#[derive(Debug)]
pub struct SliceSource<'a, T: Copy> {
    rest: &'a [T],
}

impl<'a, T: Copy> SliceSource<'a, T> {
    /// A source of all values of `values`.
    #[inline]
    #[must_use]
    pub fn new(values: &'a [T]) -> Self {
        Self { rest: values }
    }

    /// The values that have not been taken.
    #[inline]
    #[must_use]
    pub fn rest(&self) -> &'a [T] {
        self.rest
    }
}

// SAFETY: `split_at` keeps `take` inside the slice; the values are `Copy` and owned by nobody.
unsafe impl<T: Copy> Source<T> for SliceSource<'_, T> {
    #[inline]
    fn available(&self) -> usize {
        self.rest.len()
    }

    #[inline]
    fn take(&mut self, dst: &mut [MaybeUninit<T>]) {
        let (first, rest) = self.rest.split_at(dst.len());
        // SAFETY: both slices have the same length, `dst` is exclusively borrowed.
        unsafe {
            dst.as_mut_ptr()
                .cast::<T>()
                .copy_from_nonoverlapping(first.as_ptr(), first.len())
        };
        self.rest = rest;
    }
}

/// A sink of plain values (pointers, indices) into a slice that needs no value before.
#[derive(Debug)]
pub struct SliceSink<'a, T: Copy> {
    slots: &'a mut [MaybeUninit<T>],
    filled: usize,
}

impl<'a, T: Copy> SliceSink<'a, T> {
    /// A sink with room for `slots.len()` values.
    #[inline]
    #[must_use]
    pub fn new(slots: &'a mut [MaybeUninit<T>]) -> Self {
        Self { slots, filled: 0 }
    }

    /// The values that have been put, in order.
    #[inline]
    #[must_use]
    pub fn into_filled(self) -> &'a mut [T] {
        // SAFETY: `put` alone raises `filled`, past slots that it has written.
        unsafe { self.slots[..self.filled].assume_init_mut() }
    }
}

// SAFETY: `put` copies inside the slice and counts; the values are `Copy` and owned by nobody.
unsafe impl<T: Copy> Sink<T> for SliceSink<'_, T> {
    #[inline]
    fn room(&self) -> usize {
        self.slots.len() - self.filled
    }

    #[inline]
    unsafe fn put(&mut self, src: &[MaybeUninit<T>]) {
        debug_assert!(src.len() <= self.room());
        // SAFETY: the caller keeps to `room`; the slots are exclusively borrowed and so not those of `src`.
        unsafe {
            self.slots
                .as_mut_ptr()
                .add(self.filled)
                .copy_from_nonoverlapping(src.as_ptr(), src.len())
        };
        self.filled += src.len();
    }
}

/// One value as a source and a sink, for `push_one` and `pop_one`.
pub(crate) struct One<T>(pub(crate) Option<T>);

// SAFETY: there is one value or none, as `available` says, and `take` moves it out.
unsafe impl<T> Source<T> for One<T> {
    #[inline]
    fn available(&self) -> usize {
        usize::from(self.0.is_some())
    }

    #[inline]
    fn take(&mut self, dst: &mut [MaybeUninit<T>]) {
        for slot in dst {
            slot.write(
                self.0
                    .take()
                    .expect("no more values are taken than there are"),
            );
        }
    }
}

// SAFETY: room is one while the place is empty; `put` moves the value in.
unsafe impl<T> Sink<T> for One<T> {
    #[inline]
    fn room(&self) -> usize {
        usize::from(self.0.is_none())
    }

    #[inline]
    unsafe fn put(&mut self, src: &[MaybeUninit<T>]) {
        for slot in src {
            // SAFETY: the caller hands over an initialised value.
            self.0 = Some(unsafe { slot.assume_init_read() });
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
