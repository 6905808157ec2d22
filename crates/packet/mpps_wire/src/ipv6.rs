//! IPv6 (RFC 8200) and the extension headers between it and the payload.

use crate::checksum::{self, Sum};
use crate::{Header, protocol};
use core::net::Ipv6Addr;
use zerocopy::byteorder::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The fixed IPv6 header, 40 bytes.
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
pub struct Ipv6 {
    /// Version (6, 4 bits), traffic class (8 bits), flow label (20 bits).
    pub version_class_flow: U32,
    /// Everything behind this header, extension headers included, in bytes; 0 in a jumbogram.
    pub payload_len: U16,
    /// Number of the next header, see [`protocol`].
    pub next_header: u8,
    /// Hops left.
    pub hop_limit: u8,
    /// Source address in wire order.
    pub src: [u8; 16],
    /// Destination address in wire order.
    pub dst: [u8; 16],
}

impl Header for Ipv6 {}

impl Ipv6 {
    /// A header: hop limit 64, class and flow label 0; `payload_len` in bytes.
    #[inline]
    pub fn new(src: Ipv6Addr, dst: Ipv6Addr, next_header: u8, payload_len: u16) -> Ipv6 {
        Ipv6 {
            version_class_flow: U32::new(6 << 28),
            payload_len: U16::new(payload_len),
            next_header,
            hop_limit: 64,
            src: src.octets(),
            dst: dst.octets(),
        }
    }

    /// As [`Header::at`], and `None` too unless the version is 6.
    #[inline]
    pub fn checked_at(bytes: &[u8], offset: usize) -> Option<&Ipv6> {
        let ip = Ipv6::at(bytes, offset)?;
        (ip.version_class_flow.get() >> 28 == 6).then_some(ip)
    }

    /// Traffic class: DSCP and ECN.
    #[inline]
    pub fn traffic_class(&self) -> u8 {
        (self.version_class_flow.get() >> 20) as u8
    }

    /// Flow label, 20 bits.
    #[inline]
    pub fn flow_label(&self) -> u32 {
        self.version_class_flow.get() & 0xF_FFFF
    }

    /// Source address.
    #[inline]
    pub fn source(&self) -> Ipv6Addr {
        self.src.into()
    }

    /// Destination address.
    #[inline]
    pub fn destination(&self) -> Ipv6Addr {
        self.dst.into()
    }

    /// Swaps the addresses; no checksum changes by that, unless a routing header has segments left.
    #[inline]
    pub fn swap_addresses(&mut self) {
        core::mem::swap(&mut self.src, &mut self.dst);
    }

    /// The pseudo header for a payload of `l4_total` bytes of `l4_protocol` without a routing header before it.
    #[inline]
    pub fn pseudo(&self, l4_protocol: u8, l4_total: u32) -> Sum {
        checksum::pseudo_v6(&self.src, &self.dst, l4_protocol, l4_total)
    }
}

/// The IPv6 fragment header (RFC 8200, 4.5), 8 bytes.
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
pub struct Ipv6Fragment {
    /// Number of the next header.
    pub next_header: u8,
    reserved: u8,
    /// Offset in units of 8 bytes (13 bits), 2 bits of nothing, more-fragments flag (1 bit).
    pub offset_more: U16,
    /// Tells fragments of different packets apart.
    pub identification: U32,
}

impl Header for Ipv6Fragment {}

impl Ipv6Fragment {
    /// Where the payload belongs in the whole packet's, in bytes.
    #[inline]
    pub fn offset(&self) -> usize {
        usize::from(self.offset_more.get() & 0xFFF8)
    }

    /// More fragments follow, or this one doesn't begin at 0: false for the "atomic fragment" of RFC 6946.
    #[inline]
    pub fn is_fragment(&self) -> bool {
        self.offset_more.get() & 0xFFF9 != 0
    }
}

/// Extension headers that a walk follows at most; what lies behind a ninth counts as unknown.
pub const MAX_EXTENSIONS: u8 = 8;

/// What a walk over extension headers found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Extensions {
    /// All extension headers together, in bytes.
    pub len: u16,
    /// Number of extension headers walked.
    pub count: u8,
    /// Number of the header behind them; that of the next extension header where the walk ended early.
    pub next_header: u8,
    /// A fragment header says that this is a part of a packet.
    pub is_fragment: bool,
    /// The part doesn't begin at 0, so no L4 header follows.
    pub is_later_fragment: bool,
    /// A routing header has segments left: checksums use an address inside it (RFC 8200, 8.1).
    pub is_routed: bool,
}

/// Walks the extension headers at `offset` (behind the fixed header), the first being of kind `next_header`.
///
/// Hop-by-hop, routing, fragment, destination options and AH are walked, 8 at most. The walk ends without a count at a
/// header that is cut off, and behind the fragment header of a later fragment.
pub fn walk_extensions(bytes: &[u8], offset: usize, next_header: u8) -> Extensions {
    let mut walk = Extensions {
        next_header,
        ..Extensions::default()
    };
    while walk.count < MAX_EXTENSIONS && !walk.is_later_fragment {
        let at = offset + usize::from(walk.len);
        let Some((len, next)) = extension(bytes, at, walk.next_header, &mut walk) else {
            break;
        };
        walk.len += len;
        walk.next_header = next;
        walk.count += 1;
    }
    walk
}

// Length and next header of the extension header at `at`, if it is one and whole; notes what it says about the packet.
fn extension(bytes: &[u8], at: usize, kind: u8, walk: &mut Extensions) -> Option<(u16, u8)> {
    let &[next, words, _, segments_left, ..] = bytes.get(at..at + 8)? else {
        return None;
    };
    let len = match kind {
        protocol::HOP_BY_HOP | protocol::ROUTING | protocol::DESTINATION_OPTIONS => {
            (u16::from(words) + 1) * 8
        }
        protocol::FRAGMENT => 8,
        // RFC 4302: in 32-bit words, minus 2.
        protocol::AH => (u16::from(words) + 2) * 4,
        _ => return None,
    };
    bytes.get(at..at + usize::from(len))?;
    if kind == protocol::FRAGMENT {
        let fragment = Ipv6Fragment::at(bytes, at)?;
        walk.is_fragment = fragment.is_fragment();
        walk.is_later_fragment = fragment.offset() != 0;
    }
    walk.is_routed |= kind == protocol::ROUTING && segments_left != 0;
    Some((len, next))
}

#[cfg(test)]
mod tests;
