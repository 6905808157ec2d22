//! Ethernet II headers and the VLAN tags behind them (IEEE 802.3, 802.1Q, 802.1ad).

use crate::{Header, MacAddr};
use zerocopy::byteorder::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Values of the EtherType field (IANA, "IEEE 802 Numbers"), in host order.
pub mod ethertype {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// ARP.
    pub const ARP: u16 = 0x0806;
    /// Transparent Ethernet bridging: an Ethernet frame inside GRE or Geneve.
    pub const TRANSPARENT_ETHERNET: u16 = 0x6558;
    /// A customer VLAN tag (802.1Q).
    pub const VLAN: u16 = 0x8100;
    /// IPv6.
    pub const IPV6: u16 = 0x86DD;
    /// MPLS.
    pub const MPLS: u16 = 0x8847;
    /// MPLS with upstream-assigned labels.
    pub const MPLS_UPSTREAM: u16 = 0x8848;
    /// A service VLAN tag (802.1ad).
    pub const QINQ: u16 = 0x88A8;
    /// LLDP.
    pub const LLDP: u16 = 0x88CC;
    /// Precision time protocol (IEEE 1588).
    pub const PTP: u16 = 0x88F7;
    /// A service VLAN tag as some switches sent it before 802.1ad.
    pub const QINQ_OLD: u16 = 0x9100;

    /// The value says that a VLAN tag follows.
    #[inline(always)]
    pub const fn is_vlan(value: u16) -> bool {
        matches!(value, VLAN | QINQ | QINQ_OLD)
    }
}

/// An Ethernet header, 14 bytes.
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
pub struct Ethernet {
    dst: [u8; 6],
    src: [u8; 6],
    /// EtherType, or up to 1500 the length of an 802.3 frame.
    pub ethertype: U16,
}

impl Header for Ethernet {}

impl Ethernet {
    /// A header from its three fields.
    #[inline]
    pub fn new(dst: MacAddr, src: MacAddr, ethertype: u16) -> Ethernet {
        Ethernet {
            dst: dst.bytes(),
            src: src.bytes(),
            ethertype: U16::new(ethertype),
        }
    }

    /// Destination address.
    #[inline]
    pub fn dst(&self) -> MacAddr {
        MacAddr(self.dst)
    }

    /// Source address.
    #[inline]
    pub fn src(&self) -> MacAddr {
        MacAddr(self.src)
    }

    /// Writes the destination address.
    #[inline]
    pub fn set_dst(&mut self, mac: MacAddr) {
        self.dst = mac.bytes();
    }

    /// Writes the source address.
    #[inline]
    pub fn set_src(&mut self, mac: MacAddr) {
        self.src = mac.bytes();
    }

    /// Swaps destination and source.
    #[inline]
    pub fn swap_addresses(&mut self) {
        core::mem::swap(&mut self.dst, &mut self.src);
    }
}

/// What follows a VLAN EtherType, 4 bytes: tag control information and the next EtherType.
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
pub struct Vlan {
    /// Priority (3 bits), drop eligible (1 bit), VLAN identifier (12 bits).
    pub tci: U16,
    /// EtherType of what is tagged.
    pub ethertype: U16,
}

impl Header for Vlan {}

impl Vlan {
    /// VLAN identifier, 0 to 4095.
    #[inline]
    pub fn id(&self) -> u16 {
        self.tci.get() & 0xFFF
    }

    /// Priority code point, 0 to 7.
    #[inline]
    pub fn priority(&self) -> u8 {
        (self.tci.get() >> 13) as u8
    }
}

/// Tags that a walk follows at most; a ninth is left as payload.
pub const MAX_VLAN_TAGS: u8 = 8;

/// The VLAN tags of a frame: how many, and the control information of the outermost and the innermost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VlanTags {
    /// Number of tags, 0 to 8.
    pub count: u8,
    /// Tag control information nearest to the MAC addresses; 0 without tags.
    pub outer_tci: u16,
    /// Tag control information nearest to the payload; the outer one where there is one tag.
    pub inner_tci: u16,
}

/// Length of an Ethernet header with its tags, the EtherType behind them, and the tags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LinkLayer {
    /// Header and tags, in bytes.
    pub len: u16,
    /// EtherType of the payload, in host order; that of the next tag where the walk ended early.
    pub ethertype: u16,
    /// The tags.
    pub vlan: VlanTags,
}

/// Walks an Ethernet header at `offset` and up to 8 VLAN tags behind it; `None` if the header doesn't fit.
///
/// A tag that is cut off ends the walk: it isn't counted, and `ethertype` is its own.
pub fn walk_ethernet(bytes: &[u8], offset: usize) -> Option<LinkLayer> {
    let mut link = LinkLayer {
        len: 14,
        ethertype: Ethernet::at(bytes, offset)?.ethertype.get(),
        vlan: VlanTags::default(),
    };
    while ethertype::is_vlan(link.ethertype) && link.vlan.count < MAX_VLAN_TAGS {
        let Some(tag) = Vlan::at(bytes, offset + usize::from(link.len)) else {
            break;
        };
        link.len += Vlan::LEN as u16;
        link.ethertype = tag.ethertype.get();
        link.vlan.inner_tci = tag.tci.get();
        if link.vlan.count == 0 {
            link.vlan.outer_tci = tag.tci.get();
        }
        link.vlan.count += 1;
    }
    Some(link)
}

#[cfg(test)]
mod tests;
