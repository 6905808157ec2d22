//! The lanes of x86-64: four words of 256 bits, eight of 512.
//!
//! Descriptors are built in registers and stored from there. A volatile store would take them over the stack, in halves, and
//! the load of the whole would wait until these are in the cache, behind every store to a line that another CPU has. The
//! stores need not be volatile: nobody reads them before the release with which a ring is published.

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_and_si256, _mm256_cmpeq_epi32, _mm256_max_epu32, _mm256_movemask_epi8,
    _mm256_permute4x64_epi64, _mm256_set_epi64x, _mm256_set1_epi64x, _mm256_storeu_si256,
    _mm256_sub_epi32, _mm256_unpackhi_epi64, _mm256_xor_si256, _mm512_and_si512,
    _mm512_cmpge_epu32_mask, _mm512_permutex2var_epi64, _mm512_set_epi64, _mm512_set1_epi64,
    _mm512_storeu_si512, _mm512_sub_epi32, _mm512_xor_si512,
};

use super::{Lanes, Pass, WRITTEN};
use crate::foreign::load_unaligned;

/// Two descriptors or four words in a register (AVX2).
pub(crate) struct By256;

/// Four descriptors or eight words in a register (AVX-512F).
pub(crate) struct By512;

impl Lanes for By256 {
    const GROUP: usize = 4;

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn words(from: *const u64, to: *mut u64, pass: &Pass) -> bool {
        // SAFETY: the caller's promise.
        unsafe { judge256(load_unaligned(from.cast::<__m256i>()), to, pass) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn second_words(from: *const [u64; 2], to: *mut u64, pass: &Pass) -> bool {
        // SAFETY: the caller's promise.
        let (low, high) = unsafe {
            (
                load_unaligned(from.cast::<__m256i>()),
                load_unaligned(from.add(2).cast::<__m256i>()),
            )
        };
        // Second words of descriptors 0, 2, 1, 3; then in order.
        let words = _mm256_unpackhi_epi64(low, high);
        let words = _mm256_permute4x64_epi64::<0b11_01_10_00>(words);
        // SAFETY: the caller's promise.
        unsafe { judge256(words, to, pass) }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn write(to: *mut [u64; 2], descriptors: [[u64; 2]; WRITTEN]) {
        let [a, b, c, d] = descriptors.map(|pair| pair.map(u64::cast_signed));
        let low = _mm256_set_epi64x(b[1], b[0], a[1], a[0]);
        let high = _mm256_set_epi64x(d[1], d[0], c[1], c[0]);
        // SAFETY: the caller's promise.
        unsafe {
            _mm256_storeu_si256(to.cast(), low);
            _mm256_storeu_si256(to.add(2).cast(), high);
        }
    }
}

/// Puts the words down and says whether all pass.
///
/// # Safety
/// Four words can be written at `to`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn judge256(words: __m256i, to: *mut u64, pass: &Pass) -> bool {
    // SAFETY: the caller's promise.
    unsafe { _mm256_storeu_si256(to.cast(), words) };
    let all = |word: u64| _mm256_set1_epi64x(word.cast_signed());
    let shape = _mm256_xor_si256(_mm256_and_si256(words, all(pass.and)), all(pass.xor));
    let above = _mm256_sub_epi32(shape, all(pass.minus));
    // There is no unsigned comparison: what is the larger one of itself and the limit isn't below it.
    let bad = _mm256_cmpeq_epi32(_mm256_max_epu32(above, all(pass.below)), above);
    _mm256_movemask_epi8(bad) == 0
}

impl Lanes for By512 {
    const GROUP: usize = 8;

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn words(from: *const u64, to: *mut u64, pass: &Pass) -> bool {
        // SAFETY: the caller's promise.
        unsafe { judge512(load_unaligned(from.cast::<__m512i>()), to, pass) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn second_words(from: *const [u64; 2], to: *mut u64, pass: &Pass) -> bool {
        // SAFETY: the caller's promise.
        let (low, high) = unsafe {
            (
                load_unaligned(from.cast::<__m512i>()),
                load_unaligned(from.add(4).cast::<__m512i>()),
            )
        };
        let odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
        let words = _mm512_permutex2var_epi64(low, odd, high);
        // SAFETY: the caller's promise.
        unsafe { judge512(words, to, pass) }
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn write(to: *mut [u64; 2], descriptors: [[u64; 2]; WRITTEN]) {
        let [a, b, c, d] = descriptors.map(|pair| pair.map(u64::cast_signed));
        let all = _mm512_set_epi64(d[1], d[0], c[1], c[0], b[1], b[0], a[1], a[0]);
        // SAFETY: the caller's promise.
        unsafe { _mm512_storeu_si512(to.cast(), all) };
    }
}

/// As [`judge256`].
///
/// # Safety
/// Eight words can be written at `to`.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn judge512(words: __m512i, to: *mut u64, pass: &Pass) -> bool {
    // SAFETY: the caller's promise.
    unsafe { _mm512_storeu_si512(to.cast(), words) };
    let all = |word: u64| _mm512_set1_epi64(word.cast_signed());
    let shape = _mm512_xor_si512(_mm512_and_si512(words, all(pass.and)), all(pass.xor));
    let above = _mm512_sub_epi32(shape, all(pass.minus));
    _mm512_cmpge_epu32_mask(above, all(pass.below)) == 0
}
