//! GTP-U, the user plane of mobile networks (3GPP TS 29.281).

use super::Inner;
use crate::Header;
use zerocopy::byteorder::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The mandatory part of a GTP-U header, 8 bytes; 4 optional ones and extension headers may follow.
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
pub struct Gtp {
    /// Version (3 bits, 1), protocol type (1 bit), a reserved bit, then the flags E, S and PN.
    pub flags: u8,
    /// Type of the message; [`Gtp::G_PDU`] carries a packet.
    pub message: u8,
    /// Everything behind these 8 bytes, in bytes.
    pub length: U16,
    /// Tunnel endpoint identifier.
    pub teid: U32,
}

impl Header for Gtp {}

/// Extension headers that a walk follows at most.
const MAX_GTP_EXTENSIONS: usize = 4;

impl Gtp {
    /// Message type of a packet of the user.
    pub const G_PDU: u8 = 255;
    /// Flag: extension headers follow.
    pub const EXTENSION: u8 = 0x04;

    /// Length of the header at `offset` in bytes, and what follows it by the IP version there; `None` for messages that
    /// carry no IP packet.
    pub fn walk(bytes: &[u8], offset: usize) -> Option<(usize, Inner)> {
        let gtp = Gtp::at(bytes, offset)?;
        // Version 1 and protocol type GTP (not GTP').
        if gtp.flags & 0xF0 != 0x30 || gtp.message != Gtp::G_PDU {
            return None;
        }
        let len = match gtp.flags & 0x07 {
            0 => Gtp::LEN,
            flags if flags & Gtp::EXTENSION == 0 => Gtp::LEN + 4,
            _ => extensions(bytes, offset, Gtp::LEN + 4)?,
        };
        Some((len, Inner::by_version(bytes, offset + len)?))
    }
}

// The byte before each extension header says its type, 0 for none; its own first byte its length in 32-bit words.
fn extensions(bytes: &[u8], offset: usize, mut len: usize) -> Option<usize> {
    for _ in 0..=MAX_GTP_EXTENSIONS {
        if *bytes.get(offset + len - 1)? == 0 {
            return Some(len);
        }
        let words = usize::from(*bytes.get(offset + len)?);
        len += (words != 0).then_some(words * 4)?;
    }
    None
}
