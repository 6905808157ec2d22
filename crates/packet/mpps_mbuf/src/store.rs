//! The inside of a pool: its memory, carved when first needed, and the ring of free mbufs.
//!
//! Made by [`crate::Pool::create`], shared by all handles, freed by the last one if every mbuf is home.

use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use mpps_ring::MpmcRing;
use mpps_shm::{Mapping, MemoryError};

use crate::HEADROOM;
use crate::header::{Header, Shape, Slot, tag_of};
use crate::pool::{PoolConfig, PoolId, PoolInfo, lock};

pub(crate) struct PoolInner {
    pub(crate) config: PoolConfig,
    pub(crate) id: u16,
    pub(crate) stride: usize,
    pub(crate) headers: Mapping,
    pub(crate) buffers: Mapping,
    pub(crate) cold: Mapping,
    pub(crate) free: MpmcRing<Slot>,
    /// How many headers, from the first on, have been made; grows under `carving`.
    pub(crate) carved: AtomicUsize,
    pub(crate) carving: Mutex<()>,
    pub(crate) handles: AtomicUsize,
    /// Mbufs that lie in caches of lcores, kept up to date at refill and spill only.
    pub(crate) cached: AtomicUsize,
}

impl PoolInner {
    /// Free mbufs outside the caches: exact when nothing moves meanwhile, never more than the pool's size.
    pub(crate) fn free_count(&self) -> usize {
        // The ring first: whoever put an mbuf there came by it after `carve` had counted it, and `len` acquires that.
        let free = self.free.len();
        let size = self.config.size as usize;
        // Acquire: pairs with the Release in `carve`.
        (free + (size - self.carved.load(Ordering::Acquire))).min(size)
    }

    pub(crate) fn info(&self) -> PoolInfo {
        PoolInfo {
            config: self.config.clone(),
            id: PoolId(self.id),
            stride: self.stride,
            // Relaxed: numbers for display.
            carved: self.carved.load(Ordering::Relaxed),
            shared_free: self.free_count(),
            cached: self.cached.load(Ordering::Relaxed),
        }
    }

    /// Counts mbufs into (positive) or out of the caches; for display.
    pub(crate) fn note_cached(&self, change: isize) {
        // Relaxed: a number for display.
        self.cached.fetch_add(change as usize, Ordering::Relaxed);
    }

    /// Moves up to `n` free mbufs into `out`, from the ring first, then by carving new ones.
    pub(crate) fn take<S: mpps_ring::Sink<Slot>>(&self, n: usize, out: &mut S) {
        let mut limited = Limited { sink: out, room: n };
        let from_ring = self.free.pop(&mut limited);
        if from_ring < n {
            self.carve(n - from_ring, out);
        }
    }

    /// Gives free mbufs back. The ring holds every mbuf of the pool, so it always has room.
    pub(crate) fn put<S: mpps_ring::Source<Slot>>(&self, slots: &mut S) {
        while slots.available() > 0 {
            self.free.push(slots);
        }
    }

    /// Makes up to `n` new mbufs real.
    #[cold]
    fn carve<S: mpps_ring::Sink<Slot>>(&self, n: usize, out: &mut S) {
        let _guard = lock(&self.carving);
        // Relaxed: only written under `carving`.
        let first = self.carved.load(Ordering::Relaxed);
        let n = n.min(self.config.size as usize - first).min(out.room());
        if n == 0 || self.commit(first, n).is_err() {
            return;
        }
        for index in first..first + n {
            let header = self.header(index);
            // SAFETY: the memory was just committed, and no one else knows this header yet.
            unsafe { header.as_ptr().write(self.fresh(index)) };
            let slot = std::mem::MaybeUninit::new(Slot(header));
            // SAFETY: the slot is initialised and handed over.
            unsafe { out.put(std::slice::from_ref(&slot)) };
        }
        // Release: pairs with the Acquire in `free_count`.
        self.carved.store(first + n, Ordering::Release);
    }

    fn commit(&self, first: usize, n: usize) -> Result<(), MemoryError> {
        self.headers
            .commit(first * size_of::<Header>(), n * size_of::<Header>())?;
        self.buffers.commit(first * self.stride, n * self.stride)
    }

    fn fresh(&self, index: usize) -> Header {
        Header {
            buf: self.buffer(index),
            shape: Shape::new(HEADROOM, 0, 0),
            ol_flags: 0,
            tx_offload: 0,
            tag: tag_of(self.id),
            segs: 1,
            buf_len: self.config.data_room,
            next: None,
            packet_type: 0,
            hash: 0,
            vlan: 0,
            vlan_outer: 0,
            port: u16::MAX,
            header_by: 0,
        }
    }

    fn header(&self, index: usize) -> NonNull<Header> {
        debug_assert!(index < self.config.size as usize);
        // SAFETY: the mapping holds `size` headers, and mappings are page-aligned.
        unsafe { self.headers.as_ptr().cast::<Header>().add(index) }
    }

    pub(crate) fn buffer(&self, index: usize) -> NonNull<u8> {
        debug_assert!(index < self.config.size as usize);
        // SAFETY: the mapping holds `size` buffers of `stride` bytes.
        unsafe { self.buffers.as_ptr().add(index * self.stride) }
    }

    pub(crate) fn index_of(&self, header: NonNull<Header>) -> usize {
        (header.addr().get() - self.headers.as_ptr().addr().get()) / size_of::<Header>()
    }
}

/// A sink that takes no more than it is told to.
struct Limited<'a, S> {
    sink: &'a mut S,
    room: usize,
}

// SAFETY: passes everything on to a sink that keeps the contract.
unsafe impl<T, S: mpps_ring::Sink<T>> mpps_ring::Sink<T> for Limited<'_, S> {
    fn room(&self) -> usize {
        self.room.min(self.sink.room())
    }

    unsafe fn put(&mut self, src: &[std::mem::MaybeUninit<T>]) {
        self.room -= src.len();
        // SAFETY: the caller's promise is passed on.
        unsafe { self.sink.put(src) };
    }
}
