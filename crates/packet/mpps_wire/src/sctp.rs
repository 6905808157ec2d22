//! SCTP (RFC 9260) and its checksum, CRC32c.

use crate::Header;
use zerocopy::byteorder::little_endian::U32 as LittleU32;
use zerocopy::byteorder::network_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// The SCTP header common to all chunks, 12 bytes.
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
pub struct Sctp {
    /// Source port.
    pub src_port: U16,
    /// Destination port.
    pub dst_port: U16,
    /// Verification tag.
    pub tag: U32,
    /// CRC32c of header and chunks with this field 0; least significant byte first, unlike every other field.
    pub checksum: LittleU32,
}

impl Header for Sctp {}

impl Sctp {
    /// Swaps source and destination port; unlike a sum, the CRC changes by that.
    #[inline]
    pub fn swap_ports(&mut self) {
        core::mem::swap(&mut self.src_port, &mut self.dst_port);
    }
}

/// A running CRC32c (Castagnoli, reflected polynomial 0x82f63b78) over as many slices as there are.
///
/// ```
/// use mpps_wire::Crc32c;
///
/// assert_eq!(Crc32c::new().plus(b"12345").plus(b"6789").value(), 0xE306_9283);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Crc32c(u32);

impl Default for Crc32c {
    fn default() -> Crc32c {
        Crc32c::new()
    }
}

impl Crc32c {
    /// Nothing added yet.
    #[inline]
    pub const fn new() -> Crc32c {
        Crc32c(!0)
    }

    /// The CRC with `bytes` behind what was added before.
    #[must_use]
    pub fn plus(self, bytes: &[u8]) -> Crc32c {
        let (blocks, rest) = bytes.as_chunks::<8>();
        let mut crc = self.0;
        for &[a, b, c, d, e, f, g, h] in blocks {
            let [p, q, r, s] = (crc ^ u32::from_le_bytes([a, b, c, d])).to_le_bytes();
            crc = table(7, p) ^ table(6, q) ^ table(5, r) ^ table(4, s);
            crc ^= table(3, e) ^ table(2, f) ^ table(1, g) ^ table(0, h);
        }
        for byte in rest {
            crc = (crc >> 8) ^ table(0, crc as u8 ^ byte);
        }
        Crc32c(crc)
    }

    /// The value to compare, or to write with `Sctp::checksum`.
    #[inline]
    pub const fn value(self) -> u32 {
        !self.0
    }
}

#[inline(always)]
fn table(zeros: usize, byte: u8) -> u32 {
    TABLES[zeros][usize::from(byte)]
}

// TABLES[n][b]: what byte b contributes with n zero bytes behind it, so that eight bytes take one step.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0u32; 256]; 8];
    let mut n = 0;
    while n < 8 {
        let mut byte = 0;
        while byte < 256 {
            tables[n][byte] = if n == 0 {
                single(byte as u32)
            } else {
                let before = tables[n - 1][byte];
                (before >> 8) ^ tables[0][(before & 0xFF) as usize]
            };
            byte += 1;
        }
        n += 1;
    }
    tables
}

const fn single(mut crc: u32) -> u32 {
    let mut bit = 0;
    while bit < 8 {
        crc = if crc & 1 == 1 {
            (crc >> 1) ^ 0x82F6_3B78
        } else {
            crc >> 1
        };
        bit += 1;
    }
    crc
}

#[cfg(test)]
mod tests;
