//! Pools of mbufs: carved when first needed, shared through a ring, never unmapped while an mbuf is out.
//!
//! A pool reserves address space for all its mbufs and touches only what is asked for: `PoolInner` (store.rs) makes
//! headers and buffers real in the order in which they are first wanted, so that resident memory follows use. Free
//! mbufs wait in a ring, from which the lcores' caches refill in bulk ([`crate::Caches`]).
//!
//! Pools are numbered; a header carries its pool's number, and [`REGISTRY`] leads from the number to the pool for the
//! slow paths (a lone drop, clones). A number is used again once its pool has been released.

use std::collections::TryReserveError;
use std::io::Write as _;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpps_ring::MpmcRing;
use mpps_shm::{Mapping, MemoryError, PageSource};

use crate::header::{Cold, Header, pool_of};
use crate::mbuf::Mbuf;
use crate::store::PoolInner;
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
    /// No memory for the list of free mbufs.
    #[error("mbuf pool {name}: no memory to keep track of {size} mbufs, ask for fewer")]
    Ring {
        /// The pool's name.
        name: String,
        /// Mbufs asked for.
        size: usize,
        /// What the allocator says.
        source: TryReserveError,
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
    /// There are 4,096 pools already.
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
        let free = MpmcRing::try_new(size).map_err(|source| PoolError::Ring {
            name: config.name.clone(),
            size,
            source,
        })?;
        let inner = Box::new(PoolInner {
            free,
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

    /// The buffers' memory, for ports whose back end maps it.
    pub fn buffers(&self) -> &Mapping {
        &self.inner().buffers
    }

    pub(crate) fn inner(&self) -> &PoolInner {
        // SAFETY: a handle keeps the pool alive.
        unsafe { self.0.as_ref() }
    }
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

/// Calls `f` with the numbers of every pool there is, in the order of their numbers. `f` may make and drop pools.
pub fn for_each_pool(f: impl FnMut(&PoolInfo)) {
    snapshot().iter().for_each(f);
}

/// A handle to every pool there is, in the order of their numbers: for ports that lend the buffers of all of them.
pub fn pools() -> Vec<Pool> {
    let _guard = lock(&NUMBERS);
    let mut handles = Vec::new();
    for entry in &REGISTRY {
        // Acquire: pairs with the Release store in `register`.
        let Some(pool) = NonNull::new(entry.load(Ordering::Acquire)) else {
            continue;
        };
        // SAFETY: an entry is cleared under NUMBERS before its pool is freed.
        let count = unsafe { &pool.as_ref().handles };
        // A pool without handles is about to be released, or its memory is kept for an mbuf that is out.
        // Relaxed: as in `clone`; NUMBERS keeps the release away until we are done.
        let alive = |n: usize| (n > 0).then_some(n + 1);
        if count
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, alive)
            .is_ok()
        {
            handles.push(Pool(pool));
        }
    }
    handles
}

fn snapshot() -> Vec<PoolInfo> {
    let _guard = lock(&NUMBERS);
    // Acquire: pairs with the Release store in `register`.
    let pools = REGISTRY.iter().map(|entry| entry.load(Ordering::Acquire));
    pools
        .filter(|pool| !pool.is_null())
        // SAFETY: an entry is cleared under NUMBERS before its pool is freed.
        .map(|pool| unsafe { &*pool }.info())
        .collect()
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
        // Nobody may be reading, and the end of a pool is no place to panic.
        let _ = writeln!(
            std::io::stderr(),
            "mpps: mbuf pool {}: {out} mbufs are still in use, its memory is kept",
            inner.config.name
        );
        return;
    }
    let _guard = lock(&NUMBERS);
    // Relaxed: NUMBERS orders all writers, and no mbuf is out to look the number up.
    REGISTRY[usize::from(inner.id)].store(ptr::null_mut(), Ordering::Relaxed);
    // SAFETY: no handle, no mbuf and no registry entry leads here any more. All pushes are over and come before this:
    // their values were in the ring's length, which is read with Acquire, and whoever pushes touches nothing afterwards.
    drop(unsafe { Box::from_raw(pool.as_ptr()) });
}

/// The pool of a header whose mbuf is out, or whose handle the caller holds.
pub(crate) fn inner_of(header: NonNull<Header>) -> &'static PoolInner {
    // SAFETY: the caller owns the header.
    let number = pool_of(unsafe { (*header.as_ptr()).tag });
    // Acquire: pairs with the Release store in `register`.
    let pool = REGISTRY[usize::from(number)].load(Ordering::Acquire);
    // SAFETY: a pool is registered and alive as long as one of its mbufs is out.
    unsafe { &*pool }
}

pub(crate) fn lock(mutex: &Mutex<()>) -> MutexGuard<'_, ()> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
