//! Kinds that need instructions of newer CPUs. A kernel leaves this module only with the token for its instructions.

use std::arch::x86_64::{
    _mm256_loadu_si256, _mm256_storeu_si256, _mm512_loadu_si512, _mm512_storeu_si512,
};

use mpps_cpu::{Avx2, Avx512};
use mpps_mbuf::Mbuf;

use super::{Copier, CopyKind, Mover, copy_with, drain_with, fill_with, small, stride};

/// See [`CopyKind::Erms`]; needs its instructions.
#[derive(Debug)]
pub struct Erms;

impl Mover for Erms {
    const KIND: CopyKind = CopyKind::Erms;

    #[inline(always)]
    unsafe fn move_bytes(to: *mut u8, from: *const u8, len: usize) {
        // SAFETY: the caller's promise; the direction flag is clear by the ABI.
        unsafe {
            std::arch::asm!(
                "rep movsb",
                inout("rcx") len => _,
                inout("rdi") to => _,
                inout("rsi") from => _,
                options(nostack, preserves_flags)
            );
        }
    }
}

/// See [`CopyKind::Avx2`]; needs its instructions.
#[derive(Debug)]
pub struct Bytes32;

impl Mover for Bytes32 {
    const KIND: CopyKind = CopyKind::Avx2;

    #[inline(always)]
    unsafe fn move_bytes(to: *mut u8, from: *const u8, len: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if len <= 32 {
                small(to, from, len);
            } else {
                stride::<32>(to, from, len, |to, from| {
                    _mm256_storeu_si256(to.cast(), _mm256_loadu_si256(from.cast()))
                });
            }
        }
    }
}

/// See [`CopyKind::Avx512`]; needs its instructions.
#[derive(Debug)]
pub struct Bytes64;

impl Mover for Bytes64 {
    const KIND: CopyKind = CopyKind::Avx512;

    #[inline(always)]
    unsafe fn move_bytes(to: *mut u8, from: *const u8, len: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if len < 64 {
                Bytes32::move_bytes(to, from, len);
            } else {
                stride::<64>(to, from, len, |to, from| {
                    _mm512_storeu_si512(to.cast(), _mm512_loadu_si512(from.cast()))
                });
            }
        }
    }
}

/// The three loops of a kind, compiled for its instructions.
macro_rules! compiled {
    ($kind:ty, $features:literal, $one:ident, $fill:ident, $drain:ident) => {
        #[target_feature(enable = $features)]
        fn $one(to: &mut [u8], from: &[u8]) {
            copy_with::<$kind>(to, from);
        }

        #[target_feature(enable = $features)]
        fn $fill(packets: &mut [Mbuf], from: &[u8]) {
            fill_with::<$kind>(packets, from);
        }

        #[target_feature(enable = $features)]
        fn $drain(packets: &[Mbuf], to: &mut [u8]) {
            drain_with::<$kind>(packets, to);
        }
    };
}

compiled!(Bytes32, "avx2", avx2_one, avx2_fill, avx2_drain);
compiled!(
    Bytes64,
    "avx512f,avx512bw,avx512vl,avx2",
    avx512_one,
    avx512_fill,
    avx512_drain
);

fn erms_one(to: &mut [u8], from: &[u8]) {
    copy_with::<Erms>(to, from);
}

fn erms_fill(packets: &mut [Mbuf], from: &[u8]) {
    fill_with::<Erms>(packets, from);
}

fn erms_drain(packets: &[Mbuf], to: &mut [u8]) {
    drain_with::<Erms>(packets, to);
}

/// Any x86-64 CPU runs `rep movsb`; those that state ERMS run it fast, and only there it is offered.
pub(super) fn erms() -> Option<Copier> {
    is_fast().then_some(Copier {
        name: "erms",
        one: erms_one,
        fill: erms_fill,
        drain: erms_drain,
    })
}

fn is_fast() -> bool {
    // Leaf 7, EBX bit 9: enhanced rep movsb.
    std::arch::x86_64::__get_cpuid_max(0).0 >= 7
        && std::arch::x86_64::__cpuid_count(7, 0).ebx & 1 << 9 != 0
}

pub(super) fn avx2() -> Option<Copier> {
    Avx2::detect().map(|_| Copier {
        name: "avx2",
        // SAFETY: the token proves the instructions.
        one: |to, from| unsafe { avx2_one(to, from) },
        // SAFETY: as above.
        fill: |packets, from| unsafe { avx2_fill(packets, from) },
        // SAFETY: as above.
        drain: |packets, to| unsafe { avx2_drain(packets, to) },
    })
}

pub(super) fn avx512() -> Option<Copier> {
    Avx512::detect().map(|_| Copier {
        name: "avx512",
        // SAFETY: the token proves the instructions.
        one: |to, from| unsafe { avx512_one(to, from) },
        // SAFETY: as above.
        fill: |packets, from| unsafe { avx512_fill(packets, from) },
        // SAFETY: as above.
        drain: |packets, to| unsafe { avx512_drain(packets, to) },
    })
}
