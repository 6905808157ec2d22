//! The ruler `echo`: packets written into shared slots by one core, copied out and copied back by another, then read. No
//! descriptors, no buffers to find: only the cache lines that must cross.

use std::sync::atomic::{AtomicU64, Ordering};

use mpps_kernels::movers::{self, Mover};
use mpps_shm::{Mapping, MemoryError};

use super::frames::memory;
use super::{Apart, BURST, Progress};

/// Slots each way; dense, so that the hardware's prefetcher sees a stream.
const SLOTS: usize = 1024;

/// Both ways, and the answering core's own copy.
pub(super) struct Slots {
    bytes: usize,
    stride: usize,
    there: Mapping,
    back: Mapping,
    private: Mapping,
    written: Apart<AtomicU64>,
    answered: Apart<AtomicU64>,
}

impl Slots {
    pub(super) fn new(bytes: usize) -> Result<Self, MemoryError> {
        let stride = bytes.next_multiple_of(128);
        let area = |name| memory(name, SLOTS * stride);
        Ok(Self {
            bytes,
            stride,
            there: area("limit_there")?,
            back: area("limit_back")?,
            private: area("limit_private")?,
            written: Apart::default(),
            answered: Apart::default(),
        })
    }

    /// The address of a packet in one of the areas.
    #[inline(always)]
    fn slot(&self, area: &Mapping, packet: u64) -> *mut u8 {
        let slot = packet as usize % SLOTS;
        area.as_ptr().as_ptr().wrapping_add(slot * self.stride)
    }

    /// The core that writes and reads, until the run is over.
    pub(super) fn write(&self, run: &Progress) {
        #[cfg(target_arch = "x86_64")]
        if mpps_cpu::Avx2::detect().is_some() {
            // SAFETY: the CPU has AVX2.
            unsafe { write_avx2(self, run) };
            return;
        }
        // SAFETY: plain moves need no instructions of their own.
        unsafe { self.write_with::<movers::Inline>(run) };
    }

    /// The core that copies there and back, until the run is over.
    pub(super) fn answer(&self, run: &Progress) {
        #[cfg(target_arch = "x86_64")]
        if mpps_cpu::Avx2::detect().is_some() {
            // SAFETY: the CPU has AVX2.
            unsafe { answer_avx2(self, run) };
            return;
        }
        // SAFETY: plain moves need no instructions of their own.
        unsafe { self.answer_with::<movers::Inline>(run) };
    }

    /// # Safety
    /// The CPU has the instructions of `M`.
    #[inline(always)]
    unsafe fn write_with<M: Mover>(&self, run: &Progress) {
        let packet = [7u8; 2048];
        let (mut written, mut seen, mut sum) = (0u64, 0u64, 0u64);
        while run.goes_on() {
            // Acquire, partner of the release in `answer_with`: the packets are back, and their slots free again.
            let back = self.answered.0.load(Ordering::Acquire) - seen;
            for _ in 0..back.min(BURST as u64) {
                // SAFETY: a slot has 64 bytes at least, and it is this core's until `written` says otherwise.
                sum ^= unsafe { self.slot(&self.back, seen).cast::<u64>().read_volatile() };
                seen += 1;
            }
            let room = SLOTS as u64 - (written - seen);
            for _ in 0..room.min(BURST as u64) {
                // SAFETY: `bytes` are at most 1518; the slot is free; M's instructions by the caller's promise.
                unsafe {
                    M::move_bytes(self.slot(&self.there, written), packet.as_ptr(), self.bytes)
                };
                written += 1;
            }
            // Release, partner of the acquire in `answer_with`.
            self.written.0.store(written, Ordering::Release);
            run.count(seen);
        }
        std::hint::black_box(sum);
    }

    /// # Safety
    /// The CPU has the instructions of `M`.
    #[inline(always)]
    unsafe fn answer_with<M: Mover>(&self, run: &Progress) {
        let mut answered = 0u64;
        while run.goes_on() {
            // Acquire, partner of the release in `write_with`: the packets are there, and the slots back are free.
            let there = self.written.0.load(Ordering::Acquire) - answered;
            let until = answered + there.min(BURST as u64);
            for packet in answered..until {
                // SAFETY: slots of all areas have `bytes` at least; these are this core's until `answered` says otherwise.
                unsafe {
                    M::move_bytes(
                        self.slot(&self.private, packet),
                        self.slot(&self.there, packet),
                        self.bytes,
                    );
                }
            }
            for packet in answered..until {
                // SAFETY: as above.
                unsafe {
                    M::move_bytes(
                        self.slot(&self.back, packet),
                        self.slot(&self.private, packet),
                        self.bytes,
                    );
                }
            }
            answered = until;
            // Release, partner of the acquire in `write_with`.
            self.answered.0.store(answered, Ordering::Release);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn write_avx2(slots: &Slots, run: &Progress) {
    // SAFETY: the caller's promise is this function's feature.
    unsafe { slots.write_with::<movers::Bytes32>(run) };
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn answer_avx2(slots: &Slots, run: &Progress) {
    // SAFETY: the caller's promise is this function's feature.
    unsafe { slots.answer_with::<movers::Bytes32>(run) };
}
