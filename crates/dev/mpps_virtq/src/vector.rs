//! Several ring entries at a time (`vectorized=1`): the few operations of which the driver half's vector paths are made.
//!
//! A burst is generic over [`Lanes`] and compiled once for each of them, in a function with these instructions
//! (`driver.rs`); with [`OneByOne`] all of it falls away and the scalar path is left, which is the oracle of the others. A
//! group whose words don't all pass isn't refused: its words, read once, are then looked at one by one. Nothing here has
//! state.
//!
//! Shared memory is read by [`mpps_shm::peer::load`], as everywhere, only with wider values. A wide load reads each word
//! once; it may not be one access for all of them, so that each word is taken for itself. On x86-64 an aligned word of eight
//! bytes is never torn, however wide the load is that it is part of.

use mpps_cpu::Isa;

use crate::Features;

#[cfg(target_arch = "x86_64")]
mod x86;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{By256, By512};

#[cfg(test)]
mod tests;

/// Descriptors that are written together.
pub(crate) const WRITTEN: usize = 4;
/// The most words that are looked at together.
pub(crate) const MOST: usize = 8;

/// What both halves of a word must be: `((half & and) ^ xor) - minus < below`, unsigned; the lower half in the lower bits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pass {
    pub(crate) and: u64,
    pub(crate) xor: u64,
    pub(crate) minus: u64,
    pub(crate) below: u64,
}

/// Two halves as one word.
pub(crate) const fn halves(low: u32, high: u32) -> u64 {
    low as u64 | (high as u64) << 32
}

/// How many ring entries are handled at a time, and with which instructions.
pub(crate) trait Lanes: 'static {
    /// Words that are looked at together; one where there are no groups.
    const GROUP: usize;

    /// Reads [`Self::GROUP`] words, each once, into `to`; says whether all pass.
    ///
    /// # Safety
    /// As [`mpps_shm::peer::load`] for that many words, which need be aligned to 4 bytes only; as many can be written at
    /// `to`, and the CPU has the instructions.
    unsafe fn words(from: *const u64, to: *mut u64, pass: &Pass) -> bool;

    /// As [`Self::words`] with the second words of as many descriptors.
    ///
    /// # Safety
    /// As [`Self::words`]; the descriptors are aligned to 16 bytes.
    unsafe fn second_words(from: *const [u64; 2], to: *mut u64, pass: &Pass) -> bool;

    /// Writes descriptors, in no order among themselves, before the next release.
    ///
    /// # Safety
    /// As [`mpps_shm::peer::store`] for that many descriptors, aligned to 16 bytes, and the CPU has the instructions.
    unsafe fn write(to: *mut [u64; 2], descriptors: [[u64; 2]; WRITTEN]);
}

/// The scalar path.
pub(crate) struct OneByOne;

impl Lanes for OneByOne {
    const GROUP: usize = 1;

    #[inline(always)]
    unsafe fn words(_: *const u64, _: *mut u64, _: &Pass) -> bool {
        false
    }

    #[inline(always)]
    unsafe fn second_words(_: *const [u64; 2], _: *mut u64, _: &Pass) -> bool {
        false
    }

    #[inline(always)]
    unsafe fn write(to: *mut [u64; 2], descriptors: [[u64; 2]; WRITTEN]) {
        for (k, descriptor) in descriptors.into_iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { mpps_shm::peer::store(to.add(k), descriptor) };
        }
    }
}

/// Which lanes a ring's bursts have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vector {
    Scalar,
    Avx2,
    Avx512,
}

/// What was chosen, and what was missing where a vector path was asked for and can't be had.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choice {
    pub(crate) vector: Vector,
    pub(crate) lacks: Option<&'static str>,
}

impl Choice {
    const NONE: Self = Self {
        vector: Vector::Scalar,
        lacks: None,
    };

    /// For receiving: besides the instructions, headers that can't say anything, as each would have to be looked at.
    pub(crate) fn to_receive(isa: Option<Isa>, size: u32, features: Features) -> Self {
        let lacks = if features.contains(Features::GUEST_CSUM) {
            Some("checksum offload was negotiated, so that each header must be read")
        } else if features.intersects(Features::TO_DRIVER_OFFLOADS) {
            Some("large receive offload was negotiated, so that each header must be read")
        } else {
            None
        };
        Self::of(isa, size, lacks)
    }

    /// For transmitting.
    pub(crate) fn to_transmit(isa: Option<Isa>, size: u32) -> Self {
        Self::of(isa, size, None)
    }

    fn of(isa: Option<Isa>, size: u32, lacks: Option<&'static str>) -> Self {
        let vector = match isa {
            None => return Self::NONE,
            Some(Isa::Scalar) => Err(if cfg!(target_arch = "x86_64") {
                "it needs AVX2, which this CPU lacks or a limit (--force-max-simd-bitwidth, MPPS_ISA) excludes"
            } else {
                "it needs AVX2, which no CPU of this kind has"
            }),
            Some(Isa::Avx2(_)) => Ok(Vector::Avx2),
            Some(Isa::Avx512(_)) => Ok(Vector::Avx512),
        };
        let vector = match (vector, lacks) {
            (Ok(_), Some(lacks)) => Err(lacks),
            (Ok(_), None) if (size as usize) < MOST => Err("the ring has fewer than 8 descriptors"),
            (vector, _) => vector,
        };
        match vector {
            Ok(vector) => Self {
                vector,
                lacks: None,
            },
            Err(lacks) => Self {
                vector: Vector::Scalar,
                lacks: Some(lacks),
            },
        }
    }

    /// Its name in the path; none for the scalar one.
    pub(crate) const fn name(self) -> Option<&'static str> {
        match self.vector {
            Vector::Scalar => None,
            Vector::Avx2 => Some("avx2"),
            Vector::Avx512 => Some("avx512"),
        }
    }
}
