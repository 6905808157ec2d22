//! The packet that most are, summed in one go: untagged IPv4 without options, whole, UDP or TCP, in one segment, with
//! nothing left to the port. All else is none of this module's business, and takes the long way.

use mpps_kernels::checksum::{few, fold};
use mpps_mbuf::TxOffload;
use mpps_wire::{Ipv4, protocol};

use super::Csum;
use super::headers::LONG;

/// Offset of the IP header, which is 20 bytes long, and of what follows it.
const IP: usize = 14;
const L4: usize = 34;

/// Bytes that every frame has which comes this way: the headers, or padding.
const FRONT: usize = 54;

/// What to sum and where the sum goes, by the L4 header.
struct Transport {
    is_udp: bool,
    header: u16,
    len: usize,
    field: usize,
}

#[inline(always)]
fn word(front: &[u8; FRONT], at: usize) -> u16 {
    u16::from_be_bytes([front[at], front[at + 1]])
}

/// Sums of the fields of a header, as little-endian words.
#[inline(always)]
fn low(front: &[u8; FRONT], at: usize) -> u64 {
    u64::from(u16::from_le_bytes([front[at], front[at + 1]]))
}

#[inline(always)]
fn double(front: &[u8; FRONT], at: usize) -> u64 {
    u64::from(u32::from_le_bytes([
        front[at],
        front[at + 1],
        front[at + 2],
        front[at + 3],
    ]))
}

/// What an L4 header in `total` bytes says; none where the lengths contradict each other, or for other protocols.
#[inline(always)]
fn transport(front: &[u8; FRONT], total: usize) -> Option<Transport> {
    match front[23] {
        protocol::UDP => {
            let len = usize::from(word(front, L4 + 4));
            (8..=total).contains(&len).then_some(Transport {
                is_udp: true,
                header: 8,
                len,
                field: L4 + 6,
            })
        }
        protocol::TCP => {
            let header = u16::from(front[L4 + 12] >> 4) * 4;
            (header >= 20 && usize::from(header) <= total).then_some(Transport {
                is_udp: false,
                header,
                len: total,
                field: L4 + 16,
            })
        }
        _ => None,
    }
}

impl Csum {
    /// Sums a frame and returns its header lengths; none, and nothing changed, where it isn't of this kind.
    #[inline(always)]
    pub(super) fn quick(&self, data: &mut [u8]) -> Option<TxOffload> {
        let front = data.first_chunk::<FRONT>()?;
        let is_plain = front[12..15] == [8, 0, 0x45]
            && word(front, IP + 6) & (Ipv4::MORE_FRAGMENTS | Ipv4::OFFSET_MASK) == 0;
        if !is_plain {
            return None;
        }
        let total = usize::from(word(front, IP + 2)).checked_sub(20)?;
        let found = transport(front, total)?;
        let is_tunnel = found.is_udp
            && self
                .tunnels
                .is_some_and(|ports| ports.has(word(front, L4 + 2)));
        if is_tunnel || L4 + total > data.len() {
            return None;
        }
        let addresses = double(front, IP + 12) + double(front, IP + 16);
        let ip = addresses + double(front, IP) + double(front, IP + 4) + low(front, IP + 8);
        let old = low(front, found.field);
        let l4 = if found.is_udp && old == 0 {
            0
        } else {
            let protocol = u64::from(front[23]) << 8;
            let fields = protocol + u64::from((found.len as u16).swap_bytes());
            let covered = data.get(L4..L4 + found.len)?;
            // With its complement beside it the old checksum is nought.
            let sum = addresses + fields + (old ^ 0xffff) + self.words(covered);
            let sum = !fold(sum);
            // Zero would say "none" (RFC 768).
            if found.is_udp && sum == 0 {
                0xffff
            } else {
                sum
            }
        };
        let front = data.first_chunk_mut::<FRONT>()?;
        front[IP + 10..IP + 12].copy_from_slice(&(!fold(ip)).to_le_bytes());
        front[found.field..found.field + 2].copy_from_slice(&l4.to_le_bytes());
        Some(TxOffload::new(14, 20, found.header))
    }

    #[inline(always)]
    fn words(&self, bytes: &[u8]) -> u64 {
        if bytes.len() < LONG {
            few(bytes)
        } else {
            self.checksum.words(bytes)
        }
    }
}
