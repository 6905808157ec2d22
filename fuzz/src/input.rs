//! The fuzzer's bytes, read as choices.
//!
//! Each target takes what it needs off the front; where there is nothing left all choices are zero, so that any length of
//! input is a whole one.

/// What is left of the input.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a>(&'a [u8]);

impl<'a> Input<'a> {
    pub(crate) fn new(data: &'a [u8]) -> Self {
        Self(data)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn array<const N: usize>(&mut self) -> [u8; N] {
        let mut out = [0; N];
        let n = N.min(self.0.len());
        let (first, rest) = self.0.split_at(n);
        out[..n].copy_from_slice(first);
        self.0 = rest;
        out
    }

    pub(crate) fn u8(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.array())
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.array())
    }

    /// A number below `end`, at most 256.
    pub(crate) fn below(&mut self, end: u16) -> u16 {
        u16::from(self.u8()) % end.max(1)
    }

    /// True once in `n` values of the next byte, for zero never.
    pub(crate) fn once_in(&mut self, n: u16) -> bool {
        self.below(n) == n - 1
    }

    /// One of these.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[usize::from(self.u8()) % from.len()]
    }

    /// Up to `most` bytes.
    pub(crate) fn bytes(&mut self, most: usize) -> &'a [u8] {
        let (first, rest) = self.0.split_at(most.min(self.0.len()));
        self.0 = rest;
        first
    }

    /// All that is left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        self.bytes(usize::MAX)
    }
}
