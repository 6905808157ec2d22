//! UDP (RFC 768).

use crate::Header;
use zerocopy::byteorder::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A UDP header, 8 bytes.
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
pub struct Udp {
    /// Source port.
    pub src_port: U16,
    /// Destination port.
    pub dst_port: U16,
    /// Header and payload, in bytes.
    pub length: U16,
    /// Checksum; 0 says that there is none.
    pub checksum: U16,
}

impl Header for Udp {}

impl Udp {
    /// Swaps source and destination port.
    #[inline]
    pub fn swap_ports(&mut self) {
        core::mem::swap(&mut self.src_port, &mut self.dst_port);
    }
}

#[cfg(test)]
mod tests;
