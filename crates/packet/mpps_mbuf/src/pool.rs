//! Pools of mbufs: carved when first needed, shared through a ring, never unmapped while an mbuf is out.
//!
//! A pool reserves address space for all its mbufs and touches only what is asked for: [`PoolInner::carve`] makes
//! headers and buffers real in the order in which they are first wanted, so that resident memory follows use. Free
//! mbufs wait in a ring, from which the lcores' caches refill in bulk ([`crate::Caches`]).
//!
//! Pools are numbered; a header carries its pool's number, and [`REGISTRY`] leads from the number to the pool for the
//! slow paths (a lone drop, clones). A number is used again once its pool has been released.

use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpps_ring::MpmcRing;
use mpps_shm::{Mapping, MemoryError, PageSource};

use crate::header::{CHAINED, CLONE, Cold, Header, SHARED, Shape, Slot, pool_of, tag_of};
use crate::mbuf::Mbuf;
use crate::{CACHE_MAX, HEADROOM};

/// A pool's number: small, dense, and a key to its cache on every lcore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PoolId(pub(crate) u16);

impl PoolId {
    /// The number as an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// What a pool is made from.
#[derive(Clone, Debug)]
pub struct PoolConfig {
    /// Its name, as printed (`mb_pool_0`).
    pub name: String,
    /// Number of mbufs.
    pub size: u32,
    /// Bytes of a buffer, the headroom of 128 included (`--mbuf-size`).
    pub data_room: u16,
    /// Mbufs that a lcore may keep aside (`--mbcache`), at most [`CACHE_MAX`].
    pub cache_size: u16,
    /// NUMA node to take the memory from.
    pub node: Option<u32>,
}

/// Why a pool can't be made.
#[derive(Debug, thiserror::Error)]
pub enum PoolError {
    /// No memory, or not within the amounts that were asked for.
    #[error("mbuf pool {name}: {source}")]
    Memory {
        /// The pool's name.
        name: String,
        /// What the page source says.
        source: MemoryError,
    },
    /// A size out of range.
    #[error("mbuf pool {name}: {what} is {value}, must be {allowed}")]
    Range {
        /// The pool's name.
        name: String,
        /// The field.
        what: &'static str,
        /// What was asked for.
        value: u64,
        /// What is allowed.
        allowed: &'static str,
    },
    /// There are [`MAX_POOLS`] pools already.
    #[error(
        "mbuf pool {name}: there are {MAX_POOLS} pools already, the most that a process can have"
    )]
    TooMany {
        /// The pool's name.
        name: String,
    },
}

/// The most pools of a process.
const MAX_POOLS: usize = 4096;

/// Number -> pool. Written under [`NUMBERS`], read by anyone who owns an mbuf of the pool.
static REGISTRY: [AtomicPtr<PoolInner>; MAX_POOLS] =
    [const { AtomicPtr::new(ptr::null_mut()) }; MAX_POOLS];
static NUMBERS: Mutex<()> = Mutex::new(());

pub(crate) struct PoolInner {
    pub(crate) config: PoolConfig,
    id: u16,
    stride: usize,
    headers: Mapping,
    buffers: Mapping,
    cold: Mapping,
    free: MpmcRing<Slot>,
    /// How many headers, from the first on, have been made; grows under `carving`.
    carved: AtomicUsize,
    carving: Mutex<()>,
    handles: AtomicUsize,
    /// Mbufs that lie in caches of lcores, kept up to date at refill and spill only.
    cached: AtomicUsize,
}

/// A handle to a pool; the last one releases it.
pub struct Pool(NonNull<PoolInner>);

// SAFETY: PoolInner is shared by design: its ring, counters and mutexes are Sync, its mappings are only carved under
// `carving`.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

/// Numbers of a pool, for `dump_mempool` and telemetry.
#[derive(Clone, Debug)]
pub struct PoolInfo {
    /// What it was made from.
    pub config: PoolConfig,
    /// Its number.
    pub id: PoolId,
    /// Bytes from one buffer to the next.
    pub stride: usize,
    /// Mbufs that have been made real so far.
    pub carved: usize,
    /// Free mbufs outside the caches.
    pub shared_free: usize,
    /// Mbufs in the lcores' caches when they last refilled or spilled.
    pub cached: usize,
}

impl Pool {
    /// Reserves a pool's memory. Nothing becomes resident until mbufs are asked for.
    pub fn create(config: PoolConfig, pages: &PageSource) -> Result<Self, PoolError> {
        check(&config)?;
        let memory = |source| PoolError::Memory {
            name: config.name.clone(),
            source,
        };
        let size = config.size as usize;
        let stride = stride_of(config.data_room);
        let buffers = pages
            .reserve(&config.name, size * stride, config.node)
            .map_err(memory)?;
        let headers = pages
            .reserve_private(&config.name, size * size_of::<Header>())
            .map_err(memory)?;
        let cold = pages
            .reserve_private(&config.name, size * size_of::<Cold>())
            .map_err(memory)?;
        let inner = Box::new(PoolInner {
            free: MpmcRing::new(size),
            stride,
            headers,
            buffers,
            cold,
            id: 0,
            carved: AtomicUsize::new(0),
            carving: Mutex::new(()),
            handles: AtomicUsize::new(1),
            cached: AtomicUsize::new(0),
            config,
        });
        register(inner)
    }

    /// The pool's number.
    #[inline]
    pub fn id(&self) -> PoolId {
        PoolId(self.inner().id)
    }

    /// Its configuration.
    pub fn config(&self) -> &PoolConfig {
        &self.inner().config
    }

    /// The most bytes of data that a fresh mbuf can hold.
    pub fn data_capacity(&self) -> u16 {
        self.inner().config.data_room - HEADROOM
    }

    /// Free mbufs outside the lcores' caches, those not yet carved included. Equal to the size once everything is home.
    pub fn free_count(&self) -> usize {
        self.inner().free_count()
    }

    /// Numbers for display.
    pub fn info(&self) -> PoolInfo {
        self.inner().info()
    }

    /// Takes one empty mbuf, without a cache: for control paths and tests.
    pub fn alloc(&self) -> Option<Mbuf> {
        let mut slots = Vec::with_capacity(1);
        self.inner().take(1, &mut slots);
        let slot = slots.pop()?;
        // SAFETY: the slot was just taken, so this is its only owner; a length of zero fits any buffer.
        unsafe { Mbuf::reset(slot.0, 0) };
        Some(Mbuf(slot.0))
    }

    /// Makes `n` mbufs real ahead of need, so that the first bursts don't wait for the kernel; fewer when memory is short.
    pub fn prime(&self, n: usize) {
        let n = n.min(self.inner().config.size as usize);
        let mut slots = Vec::with_capacity(n);
        self.inner().take(n, &mut slots);
        self.inner().put(&mut slots);
    }

    /// A read-only packet that shares `packet`'s data, segment by segment; `None` when the pool has run dry.
    ///
    /// Until the last clone is gone neither side can write the data ([`Mbuf::data_mut`] says `None`).
    pub fn share(&self, packet: &mut Mbuf) -> Option<Mbuf> {
        let mut head: Option<Mbuf> = None;
        let mut segment = Some(packet.0);
        while let Some(parent) = segment {
            let clone = self.alloc()?;
            Mbuf::share_segment(parent, clone.0);
            // SAFETY: `packet` owns the chain.
            segment = unsafe { (*parent.as_ptr()).next };
            match &mut head {
                None => head = Some(single(clone)),
                Some(head) => head.chain(single(clone)).ok()?,
            }
        }
        head
    }

    /// The buffers' memory, for ports whose back end maps it.
    pub fn buffers(&self) -> &Mapping {
        &self.inner().buffers
    }

    pub(crate) fn inner(&self) -> &PoolInner {
        // SAFETY: a handle keeps the pool alive.
        unsafe { self.0.as_ref() }
    }
}

/// Makes a clone's first segment a packet of its own: its length is that of its data.
fn single(mut clone: Mbuf) -> Mbuf {
    clone.only_this_segment();
    clone
}

impl Clone for Pool {
    fn clone(&self) -> Self {
        // Relaxed: as in `Arc`, a new handle is made from a live one.
        self.inner().handles.fetch_add(1, Ordering::Relaxed);
        Self(self.0)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // AcqRel: all uses through other handles come before the release below.
        if self.inner().handles.fetch_sub(1, Ordering::AcqRel) == 1 {
            release(self.0);
        }
    }
}

/// Calls `f` with the numbers of every pool there is, in the order of their numbers.
pub fn for_each_pool(mut f: impl FnMut(&PoolInfo)) {
    let _guard = lock(&NUMBERS);
    for entry in &REGISTRY {
        // Acquire: pairs with the Release store in `register`.
        let pool = entry.load(Ordering::Acquire);
        if !pool.is_null() {
            // SAFETY: an entry is cleared under NUMBERS before its pool is freed.
            f(&unsafe { &*pool }.info());
        }
    }
}

fn check(config: &PoolConfig) -> Result<(), PoolError> {
    let range = |what, value, allowed| {
        Err(PoolError::Range {
            name: config.name.clone(),
            what,
            value,
            allowed,
        })
    };
    if config.size == 0 {
        return range("number of mbufs", 0, "at least 1");
    }
    if config.data_room <= HEADROOM {
        return range(
            "mbuf size",
            u64::from(config.data_room),
            "more than the headroom of 128 bytes",
        );
    }
    if usize::from(config.cache_size) > CACHE_MAX {
        return range("cache size", u64::from(config.cache_size), "0 to 512");
    }
    Ok(())
}

/// An odd number of cache lines: with an even one the first lines of 64-byte packets would share few sets of L1.
fn stride_of(data_room: u16) -> usize {
    (usize::from(data_room).div_ceil(64) | 1) * 64
}

fn register(mut inner: Box<PoolInner>) -> Result<Pool, PoolError> {
    let _guard = lock(&NUMBERS);
    // Relaxed: NUMBERS orders all writers.
    let Some(number) = REGISTRY
        .iter()
        .position(|entry| entry.load(Ordering::Relaxed).is_null())
    else {
        return Err(PoolError::TooMany {
            name: inner.config.name.clone(),
        });
    };
    inner.id = number as u16;
    let pool = NonNull::from(Box::leak(inner));
    // Release: pairs with the Acquire load of whoever finds the pool by its number.
    REGISTRY[number].store(pool.as_ptr(), Ordering::Release);
    Ok(Pool(pool))
}

/// Frees the pool if all its mbufs are home; leaks it, with a line, if any is still out.
fn release(pool: NonNull<PoolInner>) {
    // SAFETY: the last handle is being dropped; an mbuf that is out keeps us from freeing anything.
    let inner = unsafe { pool.as_ref() };
    let out = inner.config.size as usize - inner.free_count();
    if out != 0 {
        eprintln!(
            "mpps: mbuf pool {}: {out} mbufs are still in use, its memory is kept",
            inner.config.name
        );
        return;
    }
    let _guard = lock(&NUMBERS);
    // Relaxed: NUMBERS orders all writers, and no mbuf is out to look the number up.
    REGISTRY[usize::from(inner.id)].store(ptr::null_mut(), Ordering::Relaxed);
    // SAFETY: no handle, no mbuf and no registry entry leads here any more. The ring's length is read with Acquire, so
    // the last push is over.
    drop(unsafe { Box::from_raw(pool.as_ptr()) });
}

impl PoolInner {
    fn free_count(&self) -> usize {
        // Acquire: pairs with the Release in `carve`, so that what was carved isn't counted twice.
        self.free.len() + (self.config.size as usize - self.carved.load(Ordering::Acquire))
    }

    fn info(&self) -> PoolInfo {
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
            _spare: 0,
        }
    }

    fn header(&self, index: usize) -> NonNull<Header> {
        debug_assert!(index < self.config.size as usize);
        // SAFETY: the mapping holds `size` headers, and mappings are page-aligned.
        unsafe { self.headers.as_ptr().cast::<Header>().add(index) }
    }

    fn buffer(&self, index: usize) -> *mut u8 {
        debug_assert!(index < self.config.size as usize);
        // SAFETY: the mapping holds `size` buffers of `stride` bytes.
        unsafe { self.buffers.as_ptr().add(index * self.stride).as_ptr() }
    }

    fn index_of(&self, header: NonNull<Header>) -> usize {
        (header.addr().get() - self.headers.as_ptr().addr().get()) / size_of::<Header>()
    }
}

/// The pool of a header whose mbuf is out, or whose handle the caller holds.
fn inner_of(header: NonNull<Header>) -> &'static PoolInner {
    // SAFETY: the caller owns the header.
    let number = pool_of(unsafe { (*header.as_ptr()).tag });
    // Acquire: pairs with the Release store in `register`.
    let pool = REGISTRY[usize::from(number)].load(Ordering::Acquire);
    // SAFETY: a pool is registered and alive as long as one of its mbufs is out.
    unsafe { &*pool }
}

pub(crate) fn cold_ptr(header: NonNull<Header>) -> *mut Cold {
    let pool = inner_of(header);
    // SAFETY: the mapping holds one `Cold` a header; anonymous memory is zero, a valid `Cold`, until written.
    unsafe {
        pool.cold
            .as_ptr()
            .cast::<Cold>()
            .add(pool.index_of(header))
            .as_ptr()
    }
}

pub(crate) fn cold_of<'a>(header: NonNull<Header>) -> &'a Cold {
    // SAFETY: see `cold_ptr`; the memory lives as long as the pool. Writers of the plain fields go through `cold_ptr`
    // and own the mbuf.
    unsafe { &*cold_ptr(header) }
}

/// Gives one free segment back to its pool, without a cache.
pub(crate) fn give_back(segment: NonNull<Header>) {
    let mut one = vec![Slot(segment)];
    inner_of(segment).put(&mut one);
}

/// Undoes a packet: every segment that is free afterwards is passed on, plain again. A loop, however long the chain.
pub(crate) fn free_chain(head: NonNull<Header>, mut free: impl FnMut(NonNull<Header>)) {
    let mut segment = Some(head);
    while let Some(header) = segment {
        let p = header.as_ptr();
        // SAFETY: the caller gives up the chain, so this is the only access to its headers' fields.
        let tag = unsafe {
            segment = (*p).next;
            (*p).next = None;
            (*p).segs = 1;
            (*p).tag &= !CHAINED;
            (*p).tag
        };
        if tag & CLONE != 0 {
            drop_share(cold_of(header).parent.unwrap_or(header), &mut free);
            let pool = inner_of(header);
            // SAFETY: as above; the clone gets its own buffer back.
            unsafe {
                (*p).buf = pool.buffer(pool.index_of(header));
                (*p).buf_len = pool.config.data_room;
                (*p).tag &= !CLONE;
            }
            free(header);
        } else if tag & SHARED != 0 {
            drop_share(header, &mut free);
        } else {
            free(header);
        }
    }
}

/// Gives up one share of a parent's data; the last one frees the parent.
fn drop_share(parent: NonNull<Header>, free: &mut impl FnMut(NonNull<Header>)) {
    // AcqRel: all reads of the data come before the parent is used again; pairs with itself and `reclaim_exclusive`.
    if cold_of(parent).owners.fetch_sub(1, Ordering::AcqRel) == 1 {
        // SAFETY: nobody else owns a share, so this thread owns the parent.
        unsafe { (*parent.as_ptr()).tag &= !SHARED };
        free(parent);
    }
}

fn lock(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
