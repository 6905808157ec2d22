//! GRE (RFC 2784, RFC 2890), and NVGRE as its use with a key and Ethernet inside (RFC 7637).

use super::Inner;
use crate::Header;
use zerocopy::byteorder::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The fixed part of a GRE header, 4 bytes; checksum, key and sequence number follow as the flags say, 4 bytes each.
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
pub struct Gre {
    /// Flags, and the version in the lowest three bits.
    pub flags_version: U16,
    /// EtherType of the packet inside.
    pub protocol: U16,
}

impl Header for Gre {}

impl Gre {
    /// Flag: a checksum follows.
    pub const CHECKSUM: u16 = 0x8000;
    /// Flag: source routes follow (RFC 1701), which nobody has used for decades; such a header isn't read.
    pub const ROUTING: u16 = 0x4000;
    /// Flag: a key follows.
    pub const KEY: u16 = 0x2000;
    /// Flag: a sequence number follows.
    pub const SEQUENCE: u16 = 0x1000;

    /// Header with its optional fields, in bytes; `None` for versions other than 0 and for source routes.
    #[inline]
    pub fn header_len(&self) -> Option<usize> {
        let flags = self.flags_version.get();
        let optional = flags & (Gre::CHECKSUM | Gre::KEY | Gre::SEQUENCE);
        (flags & (Gre::ROUTING | 0x7) == 0).then_some(4 + 4 * optional.count_ones() as usize)
    }

    /// Length of the header at `offset` in bytes, and what follows it.
    pub fn walk(bytes: &[u8], offset: usize) -> Option<(usize, Inner)> {
        let gre = Gre::at(bytes, offset)?;
        let len = gre.header_len()?;
        bytes.get(offset..offset + len)?;
        Some((len, Inner::of_ethertype(gre.protocol.get())))
    }
}
