//! The Internet checksum (RFC 1071) over scattered bytes, pseudo headers, and updates in place (RFC 1624).
//!
//! [`Sum`] is a value that the caller carries from segment to segment and turns into a field at the end. It sums in the
//! machine's own byte order, which one's complement arithmetic allows, and swaps once when it is read.

/// A running one's complement sum.
///
/// Segments may have any length and alignment; one of odd length shifts those after it by a byte, as if all had been
/// one slice.
///
/// ```
/// use mpps_wire::checksum::Sum;
///
/// let whole = Sum::new().plus(&[1, 2, 3, 4, 5]);
/// let parts = Sum::new().plus(&[1, 2, 3]).plus(&[4]).plus(&[5]);
/// assert_eq!(whole.folded(), 0x0102 + 0x0304 + 0x0500);
/// assert_eq!(whole.folded(), parts.folded());
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Sum {
    // Sum of 16-bit words in machine order, not yet folded.
    words: u64,
    odd: bool,
}

impl Sum {
    /// Nothing summed yet.
    #[inline]
    pub const fn new() -> Sum {
        Sum {
            words: 0,
            odd: false,
        }
    }

    /// This sum with `bytes` behind what was added before.
    #[inline]
    #[must_use]
    pub fn plus(self, bytes: &[u8]) -> Sum {
        let part = sum_words(bytes);
        let words = if self.odd {
            u64::from(fold(part).swap_bytes())
        } else {
            u64::from(fold(part))
        };
        Sum {
            words: self.words + words,
            odd: self.odd ^ (bytes.len() & 1 == 1),
        }
    }

    /// This sum with a 16-bit field behind what was added before.
    #[inline]
    #[must_use]
    pub fn plus_u16(self, value: u16) -> Sum {
        let word = if self.odd {
            value.to_be().swap_bytes()
        } else {
            value.to_be()
        };
        Sum {
            words: self.words + u64::from(word),
            odd: self.odd,
        }
    }

    /// This sum with a 32-bit field behind what was added before.
    #[inline]
    #[must_use]
    pub fn plus_u32(self, value: u32) -> Sum {
        self.plus_u16((value >> 16) as u16).plus_u16(value as u16)
    }

    /// The one's complement sum in 16 bits, not inverted: what a checksum field holds when the device is to finish it.
    #[inline]
    pub fn folded(self) -> u16 {
        u16::from_be(fold(self.words))
    }

    /// The checksum: the inverted sum. Over data that holds its own right checksum this is 0.
    #[inline]
    pub fn checksum(self) -> u16 {
        !self.folded()
    }

    /// As [`Sum::checksum`], with 0 sent as 0xffff, since 0 in UDP says that there is none (RFC 768).
    #[inline]
    pub fn udp_checksum(self) -> u16 {
        match self.checksum() {
            0 => 0xFFFF,
            sum => sum,
        }
    }
}

/// Pseudo header of IPv4 (RFC 9293, 3.1): addresses in wire order, protocol number, length of header and payload of L4
/// in bytes.
#[inline]
pub fn pseudo_v4(src: [u8; 4], dst: [u8; 4], protocol: u8, l4_total: u16) -> Sum {
    let (src, dst) = (
        u64::from(u32::from_ne_bytes(src)),
        u64::from(u32::from_ne_bytes(dst)),
    );
    let tail = u64::from(u16::from(protocol).to_be()) + u64::from(l4_total.to_be());
    Sum {
        words: src + dst + tail,
        odd: false,
    }
}

/// Pseudo header of IPv6 (RFC 8200, 8.1): addresses in wire order (`dst` is the final destination), protocol number of
/// L4 (not of an extension header), length of header and payload of L4 in bytes.
#[inline]
pub fn pseudo_v6(src: &[u8; 16], dst: &[u8; 16], protocol: u8, l4_total: u32) -> Sum {
    let tail = u64::from(u16::from(protocol).to_be()) + u64::from(l4_total.to_be());
    Sum {
        words: sum_words(src) + sum_words(dst) + tail,
        odd: false,
    }
}

/// The checksum of `bytes` as one slice.
#[inline]
pub fn checksum(bytes: &[u8]) -> u16 {
    Sum::new().plus(bytes).checksum()
}

/// A checksum field after a 16-bit field that it covers went from `old` to `new` (RFC 1624, equation 3).
///
/// Where everything that is covered becomes 0 this gives 0 and summing anew 0xffff: the difference alone can't tell.
/// For UDP the caller leaves a field of 0 alone and sends a result of 0 as 0xffff.
#[inline]
pub const fn update(checksum: u16, old: u16, new: u16) -> u16 {
    let mut sum = !checksum as u32 + !old as u32 + new as u32;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    !(sum as u16)
}

/// As [`update`], for a 32-bit field such as an IPv4 address.
#[inline]
pub const fn update_u32(checksum: u16, old: u32, new: u32) -> u16 {
    let half = update(checksum, (old >> 16) as u16, (new >> 16) as u16);
    update(half, old as u16, new as u16)
}

/// The checksum of an IPv4 header without options, taking its own checksum field as 0.
///
/// Nothing is written before it is read, so the header may come straight from a store.
#[inline]
pub(crate) fn plain_ipv4(header: &[u8; 20]) -> u16 {
    let word = |at: usize| {
        u64::from(u32::from_ne_bytes([
            header[at],
            header[at + 1],
            header[at + 2],
            header[at + 3],
        ]))
    };
    let ttl_protocol = u64::from(u16::from_ne_bytes([header[8], header[9]]));
    Sum {
        words: word(0) + word(4) + ttl_protocol + word(12) + word(16),
        odd: false,
    }
    .checksum()
}

#[inline]
fn sum_words(bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<32>();
    if blocks.is_empty() {
        sum_short(rest)
    } else {
        sum_blocks(blocks) + sum_short(rest)
    }
}

// 32-bit words in 64-bit lanes can't overflow below 2^32 words, and the compiler turns the lanes into vectors: only as
// long as they are folded one by one at the end (a plain sum of the lanes made it 9 times slower).
#[inline]
fn sum_blocks(blocks: &[[u8; 32]]) -> u64 {
    let mut lanes = [0u64; 8];
    for block in blocks {
        let (words, _) = block.as_chunks::<4>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane += u64::from(u32::from_ne_bytes(*word));
        }
    }
    lanes
        .iter()
        .fold(0u64, |sum, lane| sum + u64::from(fold(*lane)))
}

#[inline]
fn sum_short(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let sum = words
        .iter()
        .map(|word| u64::from(u32::from_ne_bytes(*word)))
        .sum::<u64>();
    sum + match *rest {
        [a] => u64::from(u16::from_ne_bytes([a, 0])),
        [a, b] => u64::from(u16::from_ne_bytes([a, b])),
        [a, b, c] => u64::from(u32::from_ne_bytes([a, b, c, 0])),
        _ => 0,
    }
}

#[inline]
const fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xFFFF_FFFF) + (sum >> 32);
    let sum = (sum & 0xFFFF) + ((sum >> 16) & 0xFFFF) + (sum >> 32);
    let sum = (sum & 0xFFFF) + (sum >> 16);
    let sum = (sum & 0xFFFF) + (sum >> 16);
    sum as u16
}

#[cfg(test)]
mod tests;
