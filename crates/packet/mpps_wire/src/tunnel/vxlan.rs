//! VXLAN (RFC 7348) and its generic protocol extension (draft-ietf-nvo3-vxlan-gpe).

use super::Inner;
use crate::{Header, ethertype};
use zerocopy::byteorder::network_endian::U32;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A VXLAN header, 8 bytes, with Ethernet behind it.
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
pub struct Vxlan {
    /// Flags; 0x08 says that the network identifier counts.
    pub flags: u8,
    reserved: [u8; 3],
    /// Network identifier in the upper 24 bits.
    pub vni_reserved: U32,
}

impl Header for Vxlan {}

impl Vxlan {
    /// Network identifier, 24 bits.
    #[inline]
    pub fn vni(&self) -> u32 {
        self.vni_reserved.get() >> 8
    }

    /// Length of the header at `offset` in bytes, and what follows it. Flags are to be ignored on receipt.
    pub fn walk(bytes: &[u8], offset: usize) -> Option<(usize, Inner)> {
        Vxlan::at(bytes, offset)?;
        Some((Vxlan::LEN, Inner::Ethernet))
    }
}

/// A VXLAN-GPE header, 8 bytes.
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
pub struct VxlanGpe {
    /// Flags; 0x04 says that the next protocol counts.
    pub flags: u8,
    reserved: [u8; 2],
    /// What follows: 1 IPv4, 2 IPv6, 3 Ethernet, 4 NSH.
    pub next_protocol: u8,
    /// Network identifier in the upper 24 bits.
    pub vni_reserved: U32,
}

impl Header for VxlanGpe {}

impl VxlanGpe {
    /// Network identifier, 24 bits.
    #[inline]
    pub fn vni(&self) -> u32 {
        self.vni_reserved.get() >> 8
    }

    /// Length of the header at `offset` in bytes, and what follows it; `None` unless that is IPv4, IPv6 or Ethernet.
    pub fn walk(bytes: &[u8], offset: usize) -> Option<(usize, Inner)> {
        let inner = match VxlanGpe::at(bytes, offset)?.next_protocol {
            1 => Inner::Network(ethertype::IPV4),
            2 => Inner::Network(ethertype::IPV6),
            3 => Inner::Ethernet,
            _ => return None,
        };
        Some((VxlanGpe::LEN, inner))
    }
}
