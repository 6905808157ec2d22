//! Geneve (RFC 8926).

use super::Inner;
use crate::Header;
use zerocopy::byteorder::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The fixed part of a Geneve header, 8 bytes; options follow it.
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
pub struct Geneve {
    /// Version (2 bits), length of the options in 32-bit words (6 bits).
    pub version_options: u8,
    /// Control and critical-option flags.
    pub flags: u8,
    /// EtherType of what is inside.
    pub protocol: U16,
    /// Network identifier in the upper 24 bits.
    pub vni_reserved: U32,
}

impl Header for Geneve {}

impl Geneve {
    /// Header and options, in bytes: 8 to 260.
    #[inline]
    pub fn header_len(&self) -> usize {
        8 + 4 * usize::from(self.version_options & 0x3F)
    }

    /// Network identifier, 24 bits.
    #[inline]
    pub fn vni(&self) -> u32 {
        self.vni_reserved.get() >> 8
    }

    /// Length of the header at `offset` in bytes, and what follows it; `None` for versions other than 0.
    pub fn walk(bytes: &[u8], offset: usize) -> Option<(usize, Inner)> {
        let geneve = Geneve::at(bytes, offset)?;
        let len = geneve.header_len();
        bytes.get(offset..offset + len)?;
        (geneve.version_options >> 6 == 0)
            .then_some((len, Inner::of_ethertype(geneve.protocol.get())))
    }
}
