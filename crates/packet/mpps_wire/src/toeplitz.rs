//! The Toeplitz hash, by which receive side scaling spreads flows over queues (Microsoft, "RSS Hashing Functions").
//!
//! [`toeplitz`] is the definition, bit by bit; [`Toeplitz`] is the same with tables for one key, made by the port when it
//! is configured and read by its queues. [`FlowInput`] lays out the bytes that are hashed.

use crate::{Header, Ipv4, Ipv6, Layers, Udp, protocol};

/// Key of Microsoft's verification suite; drivers use it as their default.
pub const MICROSOFT_KEY: [u8; 40] = [
    0x6D, 0x5A, 0x56, 0xDA, 0x25, 0x5B, 0x0E, 0xC2, 0x41, 0x67, 0x25, 0x3D, 0x43, 0xA3, 0x8F, 0xB0,
    0xD0, 0xCA, 0x2B, 0xCB, 0xAE, 0x7B, 0x30, 0xB4, 0x77, 0xCB, 0x2D, 0xA3, 0x80, 0x30, 0xF2, 0x0C,
    0x6A, 0x42, 0xB7, 0x3B, 0xBE, 0xAC, 0x01, 0xFA,
];

/// A key that repeats every 16 bits, so that both directions of a flow have the same hash (Woo and Park, "Scalable
/// TCP Session Monitoring with Symmetric Receive-side Scaling"). Its price: only 16 bits of the hash differ.
pub const SYMMETRIC_KEY: [u8; 40] = {
    let mut key = [0x5A; 40];
    let mut at = 0;
    while at < key.len() {
        key[at] = 0x6D;
        at += 2;
    }
    key
};

/// Longest input in bytes: two IPv6 addresses and two ports.
pub const MAX_INPUT: usize = 36;

/// Shortest key in bytes that covers every input.
pub const MIN_KEY: usize = MAX_INPUT + 4;

/// The Toeplitz hash of `input` under `key`, bit by bit: slow and plainly right. Key bits past the end count as 0.
///
/// ```
/// use mpps_wire::toeplitz::{MICROSOFT_KEY, toeplitz};
///
/// // 66.9.149.187 -> 161.142.100.80
/// assert_eq!(toeplitz(&MICROSOFT_KEY, &[66, 9, 149, 187, 161, 142, 100, 80]), 0x323E_8FC2);
/// ```
pub fn toeplitz(key: &[u8], input: &[u8]) -> u32 {
    let mut hash = 0;
    for (at, byte) in input.iter().enumerate() {
        for bit in 0..8 {
            if byte & (0x80 >> bit) != 0 {
                hash ^= window(key, at * 8 + bit);
            }
        }
    }
    hash
}

// The 32 key bits that begin at `bit`.
fn window(key: &[u8], bit: usize) -> u32 {
    let mut bytes = [0; 8];
    for (out, byte) in bytes.iter_mut().zip(key.get(bit / 8..).unwrap_or_default()) {
        *out = *byte;
    }
    (u64::from_be_bytes(bytes) << (bit % 8) >> 32) as u32
}

/// A key that is too short to hash IPv6 with ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "an RSS key of {0} bytes is too short: at least {MIN_KEY} are needed (IPv6 addresses and ports, and 4)"
)]
pub struct ShortKey(pub usize);

/// The Toeplitz hash under one key, half a byte at a time: 4.5 KiB of tables, of which IPv4 with ports touches 1.5 KiB.
///
/// ```
/// use mpps_wire::toeplitz::{FlowInput, MICROSOFT_KEY, Symmetry, Toeplitz};
///
/// let rss = Toeplitz::new(&MICROSOFT_KEY)?;
/// let input = FlowInput::v4([66, 9, 149, 187], [161, 142, 100, 80], Symmetry::None).with_ports(2794, 1766);
/// assert_eq!(rss.hash(&input), 0x51CC_C178);
/// # Ok::<(), mpps_wire::toeplitz::ShortKey>(())
/// ```
#[derive(Clone)]
pub struct Toeplitz {
    tables: [[u32; 16]; MAX_INPUT * 2],
}

impl Toeplitz {
    /// Tables for `key`, of which the first 40 bytes count.
    pub fn new(key: &[u8]) -> Result<Toeplitz, ShortKey> {
        if key.len() < MIN_KEY {
            return Err(ShortKey(key.len()));
        }
        let mut tables = [[0; 16]; MAX_INPUT * 2];
        for (at, table) in tables.iter_mut().enumerate() {
            for (value, hash) in table.iter_mut().enumerate() {
                let bits = (0..4).filter(|bit| value & (8 >> bit) != 0);
                *hash = bits.fold(0, |hash, bit| hash ^ window(key, at * 4 + bit));
            }
        }
        Ok(Toeplitz { tables })
    }

    /// Hash of `input`; equal to [`toeplitz`] of the same bytes.
    #[inline]
    pub fn hash(&self, input: &FlowInput) -> u32 {
        match &input.bytes {
            Bytes::V4(bytes) => self.hash_array(bytes),
            Bytes::V4Ports(bytes) => self.hash_array(bytes),
            Bytes::V6(bytes) => self.hash_array(bytes),
            Bytes::V6Ports(bytes) => self.hash_array(bytes),
        }
    }

    // Of known length, so that the loop is unrolled.
    #[inline]
    fn hash_array<const N: usize>(&self, bytes: &[u8; N]) -> u32 {
        let (pairs, _) = self.tables.as_chunks::<2>();
        pairs
            .iter()
            .zip(bytes)
            .fold(0, |hash, ([high, low], byte)| {
                hash ^ high[usize::from(byte >> 4)] ^ low[usize::from(byte & 15)]
            })
    }
}

impl core::fmt::Debug for Toeplitz {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Toeplitz")
    }
}

/// How the two directions of a flow are made alike before hashing, whatever the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Symmetry {
    /// They aren't.
    #[default]
    None,
    /// Both addresses are replaced by their exclusive or, both ports likewise.
    Xor,
    /// The lesser address comes first, and the lesser port.
    Sort,
}

/// The bytes that are hashed for a packet: source and destination address, then, if asked for, both ports; all in wire
/// order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowInput {
    bytes: Bytes,
    symmetry: Symmetry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bytes {
    V4([u8; 8]),
    V4Ports([u8; 12]),
    V6([u8; 32]),
    V6Ports([u8; 36]),
}

impl FlowInput {
    /// IPv4 addresses in wire order.
    #[inline]
    pub fn v4(src: [u8; 4], dst: [u8; 4], symmetry: Symmetry) -> FlowInput {
        let (src, dst) = symmetry.apply(src, dst);
        FlowInput {
            bytes: Bytes::V4(joined(&src, &dst)),
            symmetry,
        }
    }

    /// IPv6 addresses in wire order.
    #[inline]
    pub fn v6(src: [u8; 16], dst: [u8; 16], symmetry: Symmetry) -> FlowInput {
        let (src, dst) = symmetry.apply(src, dst);
        FlowInput {
            bytes: Bytes::V6(joined(&src, &dst)),
            symmetry,
        }
    }

    /// The same with ports behind the addresses, in host order; those that were there before are replaced.
    #[inline]
    #[must_use]
    pub fn with_ports(self, src: u16, dst: u16) -> FlowInput {
        let (src, dst) = self.symmetry.apply(src.to_be_bytes(), dst.to_be_bytes());
        let ports = joined::<2, 4>(&src, &dst);
        let bytes = match self.bytes {
            Bytes::V4(addresses) => Bytes::V4Ports(joined(&addresses, &ports)),
            Bytes::V6(addresses) => Bytes::V6Ports(joined(&addresses, &ports)),
            Bytes::V4Ports([addresses @ .., _, _, _, _]) => {
                Bytes::V4Ports(joined(&addresses, &ports))
            }
            Bytes::V6Ports([addresses @ .., _, _, _, _]) => {
                Bytes::V6Ports(joined(&addresses, &ports))
            }
        };
        FlowInput { bytes, ..self }
    }

    /// What a packet's (inner) headers give; `None` unless it is IPv4 or IPv6.
    ///
    /// With `ports`, those of TCP, UDP and SCTP are taken too, except from fragments: all parts of a packet must have
    /// one hash, and only the first one knows the ports.
    #[inline]
    pub fn of_packet(
        bytes: &[u8],
        layers: &Layers,
        ports: bool,
        symmetry: Symmetry,
    ) -> Option<FlowInput> {
        let input = if layers.is_ipv4() {
            let ip = Ipv4::at(bytes, layers.l3_offset())?;
            FlowInput::v4(ip.src, ip.dst, symmetry)
        } else if layers.is_ipv6() {
            let ip = Ipv6::at(bytes, layers.l3_offset())?;
            FlowInput::v6(ip.src, ip.dst, symmetry)
        } else {
            return None;
        };
        let has_ports = matches!(
            layers.l4_proto,
            protocol::TCP | protocol::UDP | protocol::SCTP
        );
        if !ports || !has_ports || layers.l4_len == 0 || layers.is_fragment() {
            return Some(input);
        }
        // All three begin with the ports as UDP does.
        let l4 = Udp::at(bytes, layers.l4_offset())?;
        Some(input.with_ports(l4.src_port.get(), l4.dst_port.get()))
    }

    /// The bytes to hash: 8, 12, 32 or 36.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.bytes {
            Bytes::V4(bytes) => bytes,
            Bytes::V4Ports(bytes) => bytes,
            Bytes::V6(bytes) => bytes,
            Bytes::V6Ports(bytes) => bytes,
        }
    }
}

impl Symmetry {
    #[inline]
    fn apply<const N: usize>(self, src: [u8; N], dst: [u8; N]) -> ([u8; N], [u8; N]) {
        match self {
            Symmetry::Sort if src > dst => (dst, src),
            Symmetry::None | Symmetry::Sort => (src, dst),
            Symmetry::Xor => {
                let both = core::array::from_fn(|at| src[at] ^ dst[at]);
                (both, both)
            }
        }
    }
}

#[inline]
fn joined<const N: usize, const M: usize>(first: &[u8], second: &[u8; N]) -> [u8; M] {
    let mut bytes = [0; M];
    let (front, back) = bytes.split_at_mut(M - N);
    front.copy_from_slice(first);
    back.copy_from_slice(second);
    bytes
}

#[cfg(test)]
mod tests;
