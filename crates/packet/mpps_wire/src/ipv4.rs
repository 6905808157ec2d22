//! IPv4 (RFC 791).

use crate::Header;
use crate::checksum::{self, Sum};
use core::net::Ipv4Addr;
use zerocopy::byteorder::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// Protocol numbers (IANA, "Protocol Numbers"), as IPv4's protocol and IPv6's next header carry them.
pub mod protocol {
    /// IPv6 hop-by-hop options.
    pub const HOP_BY_HOP: u8 = 0;
    /// ICMP for IPv4.
    pub const ICMP: u8 = 1;
    /// IGMP.
    pub const IGMP: u8 = 2;
    /// IPv4 in IP.
    pub const IPIP: u8 = 4;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// IPv6 in IP.
    pub const IPV6: u8 = 41;
    /// IPv6 routing header.
    pub const ROUTING: u8 = 43;
    /// IPv6 fragment header.
    pub const FRAGMENT: u8 = 44;
    /// GRE.
    pub const GRE: u8 = 47;
    /// IPsec encapsulating security payload: nothing behind it can be read.
    pub const ESP: u8 = 50;
    /// IPsec authentication header.
    pub const AH: u8 = 51;
    /// ICMPv6.
    pub const ICMPV6: u8 = 58;
    /// Nothing follows.
    pub const NO_NEXT: u8 = 59;
    /// IPv6 destination options.
    pub const DESTINATION_OPTIONS: u8 = 60;
    /// SCTP.
    pub const SCTP: u8 = 132;
    /// MPLS in IP.
    pub const MPLS: u8 = 137;
}

/// The fixed part of an IPv4 header, 20 bytes; options follow it.
///
/// ```
/// use mpps_wire::{Header, Ipv4, protocol};
///
/// let mut frame = vec![0u8; 64];
/// let ip = Ipv4::at_mut(&mut frame, 14).expect("20 bytes from 14");
/// *ip = Ipv4::new([198, 18, 0, 1].into(), [198, 18, 0, 2].into(), protocol::UDP, 30);
/// Ipv4::fill_checksum(&mut frame, 14);
/// assert!(Ipv4::checksum_is_good(&frame, 14));
/// assert_eq!(Ipv4::checked_at(&frame, 14).map(|ip| ip.total_len.get()), Some(50));
/// ```
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
pub struct Ipv4 {
    /// Version (4) in the upper four bits, header length in 32-bit words in the lower.
    pub version_ihl: u8,
    /// DSCP in the upper six bits, ECN in the lower two.
    pub tos: u8,
    /// Header and payload, in bytes; padding of the Ethernet frame isn't part of it.
    pub total_len: U16,
    /// Tells fragments of different packets apart.
    pub identification: U16,
    /// Three flags, then the fragment's offset in units of 8 bytes.
    pub flags_offset: U16,
    /// Time to live.
    pub ttl: u8,
    /// Number of the protocol inside, see [`protocol`].
    pub protocol: u8,
    /// Checksum of the header and its options.
    pub checksum: U16,
    /// Source address in wire order.
    pub src: [u8; 4],
    /// Destination address in wire order.
    pub dst: [u8; 4],
}

impl Header for Ipv4 {}

impl Ipv4 {
    /// Bit of `flags_offset`: this packet may not be cut.
    pub const DONT_FRAGMENT: u16 = 0x4000;
    /// Bit of `flags_offset`: this isn't the last fragment.
    pub const MORE_FRAGMENTS: u16 = 0x2000;
    /// Bits of `flags_offset` with the offset.
    pub const OFFSET_MASK: u16 = 0x1FFF;

    /// A header without options: TTL 64, everything that isn't named 0, checksum included.
    ///
    /// `payload_len` is in bytes; above 65,515 the total length wraps.
    #[inline]
    pub fn new(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, payload_len: u16) -> Ipv4 {
        Ipv4 {
            version_ihl: 0x45,
            total_len: U16::new(payload_len.wrapping_add(20)),
            ttl: 64,
            protocol,
            src: src.octets(),
            dst: dst.octets(),
            ..Ipv4::default()
        }
    }

    /// As [`Header::at`], and `None` too unless the version is 4 and the header with its options lies within `bytes`.
    #[inline]
    pub fn checked_at(bytes: &[u8], offset: usize) -> Option<&Ipv4> {
        let ip = Ipv4::at(bytes, offset)?;
        (ip.is_sound() && bytes.len() - offset >= ip.header_len()).then_some(ip)
    }

    // Version 4, and a length that holds at least the fixed part.
    #[inline]
    fn is_sound(&self) -> bool {
        matches!(self.version_ihl, 0x45..=0x4F)
    }

    /// Header and options, in bytes: 0 to 60; below 20 the header is broken.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.version_ihl & 0xF) * 4
    }

    /// More fragments follow, or this one doesn't begin at 0.
    #[inline]
    pub fn is_fragment(&self) -> bool {
        self.flags_offset.get() & (Ipv4::MORE_FRAGMENTS | Ipv4::OFFSET_MASK) != 0
    }

    /// Where the payload belongs in the whole packet's, in bytes.
    #[inline]
    pub fn fragment_offset(&self) -> usize {
        usize::from(self.flags_offset.get() & Ipv4::OFFSET_MASK) * 8
    }

    /// Bytes of payload by the total length; `None` if that is shorter than the header.
    #[inline]
    pub fn payload_len(&self) -> Option<u16> {
        self.total_len.get().checked_sub(self.header_len() as u16)
    }

    /// Source address.
    #[inline]
    pub fn source(&self) -> Ipv4Addr {
        self.src.into()
    }

    /// Destination address.
    #[inline]
    pub fn destination(&self) -> Ipv4Addr {
        self.dst.into()
    }

    /// Swaps the addresses; no checksum changes by that.
    #[inline]
    pub fn swap_addresses(&mut self) {
        core::mem::swap(&mut self.src, &mut self.dst);
    }

    /// The pseudo header for the checksum of a payload of `l4_total` bytes.
    #[inline]
    pub fn pseudo(&self, l4_total: u16) -> Sum {
        checksum::pseudo_v4(self.src, self.dst, self.protocol, l4_total)
    }

    /// Takes one from the time to live and corrects the checksum; false, and nothing changed, where it is 0 already.
    #[inline]
    pub fn decrement_ttl(&mut self) -> bool {
        let Some(ttl) = self.ttl.checked_sub(1) else {
            return false;
        };
        let (old, new) = (
            u16::from_be_bytes([self.ttl, 0]),
            u16::from_be_bytes([ttl, 0]),
        );
        self.ttl = ttl;
        self.checksum
            .set(checksum::update(self.checksum.get(), old, new));
        true
    }

    /// Computes the checksum of the header at `offset`, options included, and writes it; false, and nothing changed,
    /// where there is no sound header.
    #[inline]
    pub fn fill_checksum(bytes: &mut [u8], offset: usize) -> bool {
        let Some(len) = Ipv4::checked_at(bytes, offset).map(Ipv4::header_len) else {
            return false;
        };
        let Some(header) = bytes.get_mut(offset..offset + len) else {
            return false;
        };
        let sum = match <&[u8; Ipv4::LEN]>::try_from(&*header) {
            Ok(plain) => checksum::plain_ipv4(plain),
            Err(_) => Sum::new()
                .plus(&header[..10])
                .plus(&header[12..])
                .checksum(),
        };
        header[10..12].copy_from_slice(&sum.to_be_bytes());
        true
    }

    /// There is a sound header at `offset` and its checksum is right.
    #[inline]
    pub fn checksum_is_good(bytes: &[u8], offset: usize) -> bool {
        Ipv4::checked_at(bytes, offset)
            .and_then(|ip| bytes.get(offset..offset + ip.header_len()))
            .is_some_and(|header| checksum::checksum(header) == 0)
    }

    /// The option bytes of the header at `offset`, empty mostly.
    #[inline]
    pub fn options(bytes: &[u8], offset: usize) -> Option<&[u8]> {
        let ip = Ipv4::checked_at(bytes, offset)?;
        bytes.get(offset + Ipv4::LEN..offset + ip.header_len())
    }
}

#[cfg(test)]
mod tests;
