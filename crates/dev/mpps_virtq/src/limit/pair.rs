//! The ruler `loop`: a driver's and a device's half of a split virtqueue pair (virtio 1.3, section 2.7), in order, reduced
//! to what moves a packet. The driver turns each received buffer round into a transmit buffer; the device copies out of the
//! transmit ring and into the receive ring.
//!
//! In order, a slot of the descriptor table is its own place in the available ring, so that ring isn't there; a batch of
//! transmitted buffers is given back by the index alone, while a received one has a used entry, for its length.

use std::cell::UnsafeCell;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU16, Ordering};

use mpps_cpu::prefetch::{prefetch, prefetch_for_write};
use mpps_kernels::movers::{self, Mover};
use mpps_shm::{Mapping, MemoryError};

use super::frames::{self, Frames, HEADROOM};
use super::{Apart, BURST, Progress};

/// Slots of a ring.
const RING: usize = 256;
/// Packets going round: fewer than the two rings hold, so that neither end ever waits for the other to make room.
const IN_FLIGHT: usize = 384;
/// `struct virtio_net_hdr_mrg_rxbuf`, which precedes each packet (section 5.1.6).
const HEADER: usize = 12;
/// What a posted buffer can take, header included.
const POSTED: u32 = 2048;
/// VIRTQ_DESC_F_WRITE
const WRITE: u16 = 2;

const _: () = assert!(HEADER <= HEADROOM && IN_FLIGHT + BURST <= 2 * RING);

/// One entry of a descriptor table.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Descriptor {
    at: u64,
    len: u32,
    flags: u16,
    next: u16,
}

const NONE: Descriptor = Descriptor {
    at: 0,
    len: 0,
    flags: 0,
    next: 0,
};

/// One ring. What different cores write lies on different lines.
struct Ring {
    descriptors: Apart<UnsafeCell<[Descriptor; RING]>>,
    /// Written by the driver.
    offered: Apart<AtomicU16>,
    used: Apart<UnsafeCell<[u32; 2 * RING]>>,
    /// Written by the device.
    done: Apart<AtomicU16>,
}

// SAFETY: a slot has one owner at a time, which changes with `offered` (driver to device) and `done` (device to driver),
// each stored with release and loaded with acquire.
unsafe impl Sync for Ring {}

impl Ring {
    fn new() -> Self {
        Self {
            descriptors: Apart(UnsafeCell::new([NONE; RING])),
            offered: Apart(AtomicU16::new(0)),
            used: Apart(UnsafeCell::new([0; 2 * RING])),
            done: Apart(AtomicU16::new(0)),
        }
    }

    #[inline(always)]
    fn descriptor(&self, at: u16) -> *mut Descriptor {
        // SAFETY: below RING.
        unsafe {
            self.descriptors
                .0
                .get()
                .cast::<Descriptor>()
                .add(usize::from(at) % RING)
        }
    }

    /// Slot and length of a used entry.
    #[inline(always)]
    fn used(&self, at: u16) -> *mut [u32; 2] {
        // SAFETY: below RING pairs.
        unsafe {
            self.used
                .0
                .get()
                .cast::<[u32; 2]>()
                .add(usize::from(at) % RING)
        }
    }

    /// Descriptors that wait for a device that took `taken` so far.
    #[inline(always)]
    fn waiting(&self, taken: u16) -> usize {
        // Acquire, partner of `offer`: the descriptors are there.
        usize::from(self.offered.0.load(Ordering::Acquire).wrapping_sub(taken))
    }

    #[inline(always)]
    fn offer(&self, index: u16) {
        // Release, partner of `waiting`.
        self.offered.0.store(index, Ordering::Release);
    }

    #[inline(always)]
    fn done(&self) -> u16 {
        // Acquire, partner of `give_back`: used entries and packets are there, and the device reads the slots no more.
        self.done.0.load(Ordering::Acquire)
    }

    #[inline(always)]
    fn give_back(&self, index: u16) {
        // Release, partner of `done`.
        self.done.0.store(index, Ordering::Release);
    }
}

/// Both rings and the memory of both ends; outlives their threads.
pub(super) struct Pair {
    bytes: usize,
    /// Driver to device.
    transmit: Ring,
    /// Device to driver.
    receive: Ring,
    driver: Mapping,
    device: Mapping,
}

impl Pair {
    pub(super) fn new(bytes: usize) -> Result<Self, MemoryError> {
        Ok(Self {
            bytes,
            transmit: Ring::new(),
            receive: Ring::new(),
            driver: frames::buffers("limit_driver")?,
            device: frames::buffers("limit_device")?,
        })
    }

    /// The driver's end, until the run is over.
    pub(super) fn drive(&self, run: &Progress) {
        let mut driver = Driver::new(self, Frames::of(&self.driver));
        while run.goes_on() {
            driver.turn();
        }
    }

    /// The device's end, until the run is over.
    pub(super) fn serve(&self, run: &Progress) {
        let mut device = Device::new(self, Frames::of(&self.device));
        #[cfg(target_arch = "x86_64")]
        if mpps_cpu::Avx2::detect().is_some() {
            // SAFETY: the CPU has AVX2.
            unsafe { serve_avx2(&mut device, run) };
            return;
        }
        // SAFETY: plain moves need no instructions of their own.
        unsafe { device.serve::<movers::Inline>(run) };
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn serve_avx2(device: &mut Device<'_>, run: &Progress) {
    // SAFETY: the caller's promise is this function's feature.
    unsafe { device.serve::<movers::Bytes32>(run) };
}

/// The driver: owns every buffer that the rings name.
struct Driver<'a> {
    receive: &'a Ring,
    transmit: &'a Ring,
    frames: Frames,
    posted: [NonNull<u8>; RING],
    sent: [NonNull<u8>; RING],
    received: u16,
    offered: u16,
    reclaimed: u16,
}

impl<'a> Driver<'a> {
    fn new(pair: &'a Pair, mut frames: Frames) -> Self {
        let posted = std::array::from_fn(|_| frames.take());
        let driver = Self {
            receive: &pair.receive,
            transmit: &pair.transmit,
            frames,
            posted,
            sent: [NonNull::dangling(); RING],
            received: 0,
            offered: 0,
            reclaimed: 0,
        };
        for (slot, packet) in (0u16..).zip(posted) {
            driver.post(slot, packet);
        }
        driver.receive.offer(RING as u16);
        driver
    }

    #[inline(always)]
    fn post(&self, slot: u16, packet: NonNull<u8>) {
        let descriptor = Descriptor {
            at: header_of(packet).expose_provenance() as u64,
            len: POSTED,
            flags: WRITE,
            next: 0,
        };
        // SAFETY: the slot is the driver's: never offered yet, or given back.
        unsafe { self.receive.descriptor(slot).write(descriptor) };
    }

    #[inline(always)]
    fn turn(&mut self) {
        let there = usize::from(self.receive.done().wrapping_sub(self.received)).min(BURST);
        let done = self.transmit.done();
        while self.reclaimed != done {
            self.frames
                .put(self.sent[usize::from(self.reclaimed) % RING]);
            self.reclaimed = self.reclaimed.wrapping_add(1);
        }
        let room = RING - usize::from(self.offered.wrapping_sub(self.reclaimed));
        let count = there.min(room);
        for _ in 0..count {
            self.turn_round();
        }
        self.receive.offer(self.received.wrapping_add(RING as u16));
        self.transmit.offer(self.offered);
    }

    /// The next received buffer goes out again, and a fresh one takes its place.
    #[inline(always)]
    fn turn_round(&mut self) {
        let fresh = self.frames.take();
        // SAFETY: the entry was given back with `done`, so it is the driver's.
        let [slot, len] = unsafe { self.receive.used(self.received).read() };
        let slot = slot as u16;
        let packet = std::mem::replace(&mut self.posted[usize::from(slot) % RING], fresh);
        self.post(slot, fresh);
        let header = header_of(packet);
        // SAFETY: HEADROOM bytes precede the packet, and the buffer is the driver's again.
        unsafe { header.cast::<[u8; HEADER]>().write([0; HEADER]) };
        let descriptor = Descriptor {
            at: header.expose_provenance() as u64,
            len,
            flags: 0,
            next: 0,
        };
        // SAFETY: there is room, so the slot is the driver's.
        unsafe { self.transmit.descriptor(self.offered).write(descriptor) };
        self.sent[usize::from(self.offered) % RING] = packet;
        self.received = self.received.wrapping_add(1);
        self.offered = self.offered.wrapping_add(1);
    }
}

#[inline(always)]
fn header_of(packet: NonNull<u8>) -> *mut u8 {
    packet.as_ptr().wrapping_sub(HEADER)
}

/// The device: a burst out of the transmit ring, the same burst into the receive ring.
struct Device<'a> {
    transmit: &'a Ring,
    receive: &'a Ring,
    frames: Frames,
    bytes: usize,
    injected: usize,
    taken: u16,
    given: u16,
}

impl<'a> Device<'a> {
    fn new(pair: &'a Pair, frames: Frames) -> Self {
        Self {
            transmit: &pair.transmit,
            receive: &pair.receive,
            frames,
            bytes: pair.bytes,
            injected: 0,
            taken: 0,
            given: 0,
        }
    }

    /// # Safety
    /// The CPU has the instructions of `M`.
    #[inline(always)]
    unsafe fn serve<M: Mover>(&mut self, run: &Progress) {
        let (mut total, mut burst) = (0, [(NonNull::dangling(), 0); BURST]);
        while run.goes_on() {
            // SAFETY: the caller's promise.
            let mut full = unsafe { self.copy_out::<M>(&mut burst) };
            while full < BURST && self.injected < IN_FLIGHT {
                burst[full] = (self.frames.take(), self.bytes);
                full += 1;
                self.injected += 1;
            }
            let mut at = 0;
            while at < full && run.goes_on() {
                // SAFETY: the caller's promise.
                at += unsafe { self.copy_in::<M>(&burst[at..full]) };
            }
            total += full as u64;
            run.count(total);
        }
    }

    /// # Safety
    /// As [`Device::serve`].
    #[inline(always)]
    unsafe fn copy_out<M: Mover>(&mut self, burst: &mut [(NonNull<u8>, usize); BURST]) -> usize {
        let count = self.transmit.waiting(self.taken).min(BURST);
        let mut seen = [NONE; BURST];
        for (k, seen) in (0u16..).zip(&mut seen[..count]) {
            // SAFETY: offered, so it is the device's.
            *seen = unsafe { self.transmit.descriptor(self.taken.wrapping_add(k)).read() };
            prefetch(packet_of(seen));
        }
        for (seen, out) in seen[..count].iter().zip(&mut *burst) {
            let (packet, len) = (self.frames.take(), seen.len as usize - HEADER);
            // SAFETY: the driver's buffer holds `len` bytes behind its header, and ours is as large; M's by the caller.
            unsafe { M::move_bytes(packet.as_ptr(), packet_of(seen), len) };
            *out = (packet, len);
        }
        self.taken = self.taken.wrapping_add(count as u16);
        self.transmit.give_back(self.taken);
        count
    }

    /// # Safety
    /// As [`Device::serve`].
    #[inline(always)]
    unsafe fn copy_in<M: Mover>(&mut self, burst: &[(NonNull<u8>, usize)]) -> usize {
        let count = self.receive.waiting(self.given).min(burst.len());
        let mut seen = [NONE; BURST];
        for (k, seen) in (0u16..).zip(&mut seen[..count]) {
            // SAFETY: offered, so it is the device's.
            *seen = unsafe { self.receive.descriptor(self.given.wrapping_add(k)).read() };
            prefetch_for_write(packet_of(seen));
        }
        for (seen, &(packet, len)) in seen[..count].iter().zip(burst) {
            let header = std::ptr::with_exposed_provenance_mut::<u8>(seen.at as usize);
            // SAFETY: a posted buffer takes POSTED bytes, more than the longest packet and its header.
            unsafe {
                header
                    .cast::<[u8; HEADER]>()
                    .write([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
                M::move_bytes(header.add(HEADER), packet.as_ptr(), len);
            }
            let slot = u32::from(self.given) % RING as u32;
            // SAFETY: the entry is the device's until it is given back.
            unsafe {
                self.receive
                    .used(self.given)
                    .write([slot, (len + HEADER) as u32]);
            }
            self.given = self.given.wrapping_add(1);
            self.frames.put(packet);
        }
        self.receive.give_back(self.given);
        count
    }
}

#[inline(always)]
fn packet_of(descriptor: &Descriptor) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut::<u8>(descriptor.at as usize + HEADER)
}
