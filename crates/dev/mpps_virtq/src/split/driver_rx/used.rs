//! What a device says of a receive buffer.

/// A used entry, checked, as the device wrote it.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct Used(pub(super) u64);

impl Used {
    pub(super) const NONE: Self = Self(0);

    #[inline(always)]
    pub(super) const fn id(self) -> u16 {
        self.0 as u16
    }

    /// Bytes that the device wrote, header included.
    #[inline(always)]
    pub(super) const fn len(self) -> u32 {
        (self.0 >> 32) as u32
    }
}
