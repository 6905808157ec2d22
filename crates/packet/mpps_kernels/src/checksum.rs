//! Summing the payload of a packet for the Internet checksum (RFC 1071).
//!
//! [`Checksum`] is a kernel, chosen once when streams are set up; it is `Copy` and holds no state. Few bytes are summed
//! faster where they are, without a call: [`few`].
//!
//! Sums are of 16-bit words in little-endian order, which one's complement arithmetic allows (RFC 1071, 2.B): a folded
//! sum is stored little-endian too, and then stands in the packet as it must.

use crate::{Unavailable, by_name};

/// Which kernel sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChecksumKind {
    /// The fastest one measured that the CPU has.
    Auto,
    /// Words of 32 bits in lanes of 64, any CPU; the oracle of the others.
    Scalar,
    /// 128 bytes a step in vectors of 256 bits.
    Avx2,
}

impl ChecksumKind {
    /// Names of the kernels.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("scalar", Self::Scalar),
        ("avx2", Self::Avx2),
    ];

    /// The kernel of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        by_name(Self::NAMES, name)
    }
}

/// A chosen kernel.
#[derive(Clone, Copy)]
pub struct Checksum {
    name: &'static str,
    run: fn(&[u8]) -> u64,
}

impl Checksum {
    /// Chooses a kernel; an error when it is one that this CPU can't run.
    pub fn choose(kind: ChecksumKind) -> Result<Self, Unavailable> {
        match kind {
            ChecksumKind::Auto => Ok(vector::avx2().unwrap_or(SCALAR)),
            ChecksumKind::Scalar => Ok(SCALAR),
            ChecksumKind::Avx2 => vector::avx2().ok_or(Unavailable {
                kernel: "avx2",
                needs: "AVX2",
            }),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The sum of `bytes` as little-endian words, an odd byte followed by a zero; below 2^48, for [`fold`].
    ///
    /// Any alignment; at most 2^32 bytes.
    #[inline(always)]
    pub fn words(&self, bytes: &[u8]) -> u64 {
        (self.run)(bytes)
    }

    /// The one's complement sum of `bytes` as big-endian words of 16 bits, an odd byte followed by a zero. Not inverted.
    #[inline(always)]
    pub fn sum(&self, bytes: &[u8]) -> u16 {
        fold(self.words(bytes)).swap_bytes()
    }
}

const SCALAR: Checksum = Checksum {
    name: "scalar",
    run: scalar,
};

#[inline(never)]
fn scalar(bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let mut lanes = [0u64; 4];
    for block in blocks {
        let (words, _) = block.as_chunks::<4>();
        for (lane, word) in lanes.iter_mut().zip(words) {
            *lane += u64::from(u32::from_le_bytes(*word));
        }
    }
    folded(lanes) + few(rest)
}

/// As [`Checksum::words`], without a call and without vectors: for up to some 60 bytes.
#[inline(always)]
pub fn few(bytes: &[u8]) -> u64 {
    let halves = |word: u64| (word & 0xffff_ffff) + (word >> 32);
    let (words, rest) = bytes.as_chunks::<8>();
    let mut sum = 0;
    for word in words {
        sum += halves(u64::from_le_bytes(*word));
    }
    let (fours, rest) = rest.as_chunks::<4>();
    let (twos, rest) = rest.as_chunks::<2>();
    if let [word] = fours {
        sum += u64::from(u32::from_le_bytes(*word));
    }
    if let [word] = twos {
        sum += u64::from(u16::from_le_bytes(*word));
    }
    if let [byte] = rest {
        sum += u64::from(*byte);
    }
    sum
}

/// A sum in 16 bits, each carry added at the other end.
#[inline(always)]
pub fn fold(sum: u64) -> u16 {
    let sum = (sum & 0xffff_ffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16 & 0xffff) + (sum >> 32);
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    sum as u16
}

/// Lanes may be full: each is folded before they are added.
#[inline(always)]
fn folded(lanes: [u64; 4]) -> u64 {
    lanes.iter().map(|lane| u64::from(fold(*lane))).sum()
}

#[cfg(not(target_arch = "x86_64"))]
mod vector {
    //! No vector kernels for this CPU yet.

    use super::Checksum;

    pub(super) fn avx2() -> Option<Checksum> {
        None
    }
}

#[cfg(target_arch = "x86_64")]
mod vector {
    //! Four vectors a step, their 32-bit halves added into 64-bit lanes.

    use std::arch::x86_64::{
        __m256i, _mm256_add_epi64, _mm256_and_si256, _mm256_loadu_si256, _mm256_set1_epi64x,
        _mm256_setzero_si256, _mm256_srli_epi64, _mm256_storeu_si256,
    };

    use mpps_cpu::Avx2;

    use super::{Checksum, few, folded};

    /// Bytes of a vector.
    const WIDTH: usize = 32;

    pub(super) fn avx2() -> Option<Checksum> {
        Avx2::detect().map(|_| Checksum {
            name: "avx2",
            // SAFETY: the token proves AVX2.
            run: |bytes| unsafe { avx2_sum(bytes) },
        })
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(bytes: &[u8; WIDTH]) -> __m256i {
        // SAFETY: 32 readable bytes, no alignment needed.
        unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn lanes(sum: __m256i) -> [u64; 4] {
        let mut lanes = [0; 4];
        // SAFETY: 32 writable bytes, no alignment needed.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sum) };
        lanes
    }

    #[target_feature(enable = "avx2")]
    fn avx2_sum(bytes: &[u8]) -> u64 {
        let low = _mm256_set1_epi64x(0xffff_ffff);
        // Two sums, so that additions don't wait for each other.
        let (mut even, mut odd) = (_mm256_setzero_si256(), _mm256_setzero_si256());
        let (vectors, rest) = bytes.as_chunks::<WIDTH>();
        let (steps, singles) = vectors.as_chunks::<4>();
        for step in steps {
            for vector in step {
                let value = load(vector);
                even = _mm256_add_epi64(even, _mm256_and_si256(value, low));
                odd = _mm256_add_epi64(odd, _mm256_srli_epi64::<32>(value));
            }
        }
        for vector in singles {
            let value = load(vector);
            even = _mm256_add_epi64(even, _mm256_and_si256(value, low));
            odd = _mm256_add_epi64(odd, _mm256_srli_epi64::<32>(value));
        }
        folded(lanes(_mm256_add_epi64(even, odd))) + few(rest)
    }
}

#[cfg(test)]
mod tests;
