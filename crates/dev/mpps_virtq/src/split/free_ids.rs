//! Which descriptors of a split ring are free: private to the driver, the device never sees it.

use crate::vector::WRITTEN;

/// Four numbers that follow one another, as they lie in memory.
#[inline(always)]
pub(crate) const fn ids_from(first: u16) -> u64 {
    let [a, b] = first.to_le_bytes();
    let all = u64::from_le_bytes([a, b, a, b, a, b, a, b]);
    // No number of a ring is so large that a place is carried over.
    u64::from_le(all.wrapping_add(0x0003_0002_0001_0000))
}

/// The numbers of free descriptors, first in first out: a device that uses buffers in order thus sees the same entries in
/// the available ring all the time.
pub(crate) struct FreeIds {
    ids: Box<[u16]>,
    head: u16,
    tail: u16,
    /// How many are never taken at the same time as the others.
    held_back: u16,
}

impl FreeIds {
    /// All numbers below `size`, a power of two.
    pub(crate) fn all(size: u16) -> Self {
        Self {
            ids: (0..size).collect(),
            head: 0,
            tail: size,
            held_back: 0,
        }
    }

    /// Lets at most `most` be taken at a time; they go round all numbers nevertheless. Before any was taken.
    pub(crate) fn bound(&mut self, most: u16) {
        self.held_back = self.tail.saturating_sub(most);
    }

    /// The most that can be taken at a time.
    pub(crate) fn most(&self) -> usize {
        self.ids.len() - usize::from(self.held_back)
    }

    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        usize::from(
            self.tail
                .wrapping_sub(self.head)
                .wrapping_sub(self.held_back),
        )
    }

    /// Takes the next number; the caller looked at [`FreeIds::len`].
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> u16 {
        let id = self.peek(0);
        self.advance(1);
        id
    }

    /// The number that comes `ahead` of the next one.
    #[inline(always)]
    pub(crate) fn peek(&self, ahead: u16) -> u16 {
        let at = usize::from(self.head.wrapping_add(ahead)) & (self.ids.len() - 1);
        // SAFETY: reduced to the length, a power of two.
        unsafe { *self.ids.get_unchecked(at) }
    }

    /// The first of the [`WRITTEN`] numbers that come `ahead` of the next one, if they follow one another.
    #[inline(always)]
    pub(crate) fn peek_run(&self, ahead: u16) -> Option<u16> {
        let at = usize::from(self.head.wrapping_add(ahead)) & (self.ids.len() - 1);
        let run = self.ids.get(at..at + WRITTEN)?;
        let first = run[0];
        // SAFETY: four numbers are eight bytes.
        let word = unsafe { run.as_ptr().cast::<u64>().read_unaligned() };
        (word == ids_from(first)).then_some(first)
    }

    /// Takes the next `n` numbers.
    #[inline(always)]
    pub(crate) fn advance(&mut self, n: u16) {
        self.head = self.head.wrapping_add(n);
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, id: u16) {
        self.put(0, id);
        self.commit(1);
    }

    /// Writes a number `ahead` places behind the last one, without giving it back yet.
    #[inline(always)]
    pub(crate) fn put(&mut self, ahead: u16, id: u16) {
        let at = usize::from(self.tail.wrapping_add(ahead)) & (self.ids.len() - 1);
        // SAFETY: reduced to the length, a power of two.
        unsafe { *self.ids.get_unchecked_mut(at) = id };
    }

    /// Gives back the `n` numbers that were written.
    #[inline(always)]
    pub(crate) fn commit(&mut self, n: u16) {
        self.tail = self.tail.wrapping_add(n);
    }
}
