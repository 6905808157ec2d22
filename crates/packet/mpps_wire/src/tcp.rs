//! TCP (RFC 9293).

use crate::Header;
use zerocopy::byteorder::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The fixed part of a TCP header, 20 bytes; options follow it.
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
pub struct Tcp {
    /// Source port.
    pub src_port: U16,
    /// Destination port.
    pub dst_port: U16,
    /// Number of the first byte.
    pub sequence: U32,
    /// Number of the byte expected next.
    pub acknowledgment: U32,
    /// Header length in 32-bit words in the upper four bits.
    pub data_offset: u8,
    /// Flags, see [`Tcp::FIN`] and its neighbours.
    pub flags: u8,
    /// Window.
    pub window: U16,
    /// Checksum over pseudo header, header and payload.
    pub checksum: U16,
    /// End of urgent data.
    pub urgent: U16,
}

impl Header for Tcp {}

impl Tcp {
    /// No more data from the sender.
    pub const FIN: u8 = 0x01;
    /// Synchronise sequence numbers.
    pub const SYN: u8 = 0x02;
    /// Reset the connection.
    pub const RST: u8 = 0x04;
    /// Push.
    pub const PSH: u8 = 0x08;
    /// The acknowledgment field counts.
    pub const ACK: u8 = 0x10;
    /// The urgent pointer counts.
    pub const URG: u8 = 0x20;
    /// Congestion was echoed.
    pub const ECE: u8 = 0x40;
    /// Congestion window reduced.
    pub const CWR: u8 = 0x80;

    /// Header and options, in bytes: 0 to 60; below 20 the header is broken.
    #[inline]
    pub fn header_len(&self) -> usize {
        usize::from(self.data_offset >> 4) * 4
    }

    /// As [`Header::at`], and `None` too unless the header with its options is at least 20 bytes and within `bytes`.
    #[inline]
    pub fn checked_at(bytes: &[u8], offset: usize) -> Option<&Tcp> {
        let tcp = Tcp::at(bytes, offset)?;
        let len = tcp.header_len();
        (len >= Tcp::LEN && bytes.len() - offset >= len).then_some(tcp)
    }

    /// Swaps source and destination port.
    #[inline]
    pub fn swap_ports(&mut self) {
        core::mem::swap(&mut self.src_port, &mut self.dst_port);
    }
}

#[cfg(test)]
mod tests;
