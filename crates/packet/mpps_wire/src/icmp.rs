//! ICMP (RFC 792) and ICMPv6 (RFC 4443), as far as echo needs.

use crate::{Header, checksum};
use zerocopy::byteorder::network_endian::U16;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// An ICMP or ICMPv6 header with the fields of echo, 8 bytes.
///
/// The checksum covers the message, and in ICMPv6 the pseudo header too.
///
/// ```
/// use mpps_wire::{Header, Icmp, checksum::checksum};
///
/// let mut ping = [8, 0, 0xF7, 0xFE, 0, 0, 0, 1, 0, 0];
/// let icmp = Icmp::at_mut(&mut ping, 0).expect("8 bytes");
/// assert!(icmp.is_echo_request());
/// icmp.answer(Icmp::ECHO_REPLY);
/// assert_eq!((ping[0], checksum(&ping)), (0, 0));
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
pub struct Icmp {
    /// Type of the message.
    pub kind: u8,
    /// Code within the type.
    pub code: u8,
    /// Checksum.
    pub checksum: U16,
    /// Tells conversations apart.
    pub identifier: U16,
    /// Counts the requests.
    pub sequence: U16,
}

impl Header for Icmp {}

impl Icmp {
    /// Type of an ICMP echo reply.
    pub const ECHO_REPLY: u8 = 0;
    /// Type of an ICMP echo request.
    pub const ECHO_REQUEST: u8 = 8;
    /// Type of an ICMPv6 echo request.
    pub const V6_ECHO_REQUEST: u8 = 128;
    /// Type of an ICMPv6 echo reply.
    pub const V6_ECHO_REPLY: u8 = 129;

    /// An ICMP (not ICMPv6) echo request.
    #[inline]
    pub fn is_echo_request(&self) -> bool {
        (self.kind, self.code) == (Icmp::ECHO_REQUEST, 0)
    }

    /// Changes the type and corrects the checksum by the difference.
    #[inline]
    pub fn answer(&mut self, kind: u8) {
        let (old, new) = (
            u16::from_be_bytes([self.kind, self.code]),
            u16::from_be_bytes([kind, self.code]),
        );
        self.kind = kind;
        self.checksum
            .set(checksum::update(self.checksum.get(), old, new));
    }
}

#[cfg(test)]
mod tests;
