//! MPLS label stacks (RFC 3032).

use super::Inner;
use crate::Header;
use zerocopy::byteorder::network_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// One entry of a label stack, 4 bytes.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    Default,
    FromBytes,
    IntoBytes,
    KnownLayout,
    Immutable,
    Unaligned,
)]
#[repr(C)]
pub struct MplsLabel(
    /// Label (20 bits), traffic class (3 bits), bottom of stack (1 bit), time to live (8 bits).
    pub U32,
);

impl Header for MplsLabel {}

impl MplsLabel {
    /// The label, 20 bits.
    #[inline]
    pub fn label(self) -> u32 {
        self.0.get() >> 12
    }

    /// No label lies below this one.
    #[inline]
    pub fn is_bottom(self) -> bool {
        self.0.get() & 0x100 != 0
    }

    /// Time to live.
    #[inline]
    pub fn ttl(self) -> u8 {
        self.0.get() as u8
    }
}

/// Labels that a walk follows at most.
pub const MAX_MPLS_LABELS: usize = 8;

/// Length of the label stack at `offset` in bytes, and what follows it by the IP version there; `None` where the stack
/// is cut off or deeper than 8 labels, or no IP packet follows.
pub fn walk_mpls(bytes: &[u8], offset: usize) -> Option<(usize, Inner)> {
    for depth in 0..MAX_MPLS_LABELS {
        if MplsLabel::at(bytes, offset + 4 * depth)?.is_bottom() {
            let len = 4 * (depth + 1);
            return Some((len, Inner::by_version(bytes, offset + len)?));
        }
    }
    None
}
