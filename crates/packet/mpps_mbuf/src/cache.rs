//! The lcore's stock of free mbufs, one last-in-first-out cache a pool.
//!
//! A worker makes one [`Caches`] and owns it; dropping it returns what it holds. A pool's number is the index of its
//! cache, so neither allocating nor freeing looks anything up. What a cache lacks or has too much of moves to or from
//! the pool's ring in bulk.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::CACHE_MAX;
use crate::burst::{BURST_MAX, Burst};
use crate::header::{Header, SLOW, Slot, pool_of};
use crate::mbuf::Mbuf;
use crate::pool::{Pool, PoolId};
use crate::share;
use crate::store::PoolInner;

/// Room for one and a half times the largest cache and a whole burst on top.
const STOCK: usize = CACHE_MAX + CACHE_MAX / 2 + BURST_MAX;

/// On cache lines of its own, as its length changes with every burst.
#[repr(align(128))]
pub(crate) struct Cache {
    stock: Box<Slots>,
    /// Initialised below this index; the top was freed last.
    len: usize,
    /// What the pool was told of `len` last.
    noted: usize,
    /// What stays after a spill, and what a refill leaves beyond the request.
    keep: usize,
    /// More than this is spilled.
    limit: usize,
    /// The most bytes of data of a fresh mbuf.
    capacity: u16,
    pool: Pool,
}

/// The slots of a cache, on lines of their own as well.
#[repr(align(128))]
struct Slots([MaybeUninit<Slot>; STOCK]);

/// All caches of one lcore.
#[derive(Default)]
pub struct Caches {
    by_pool: Vec<Option<Cache>>,
}

impl Caches {
    /// Caches for the given pools. A pool that is missing here gives nothing; its mbufs are freed without a cache.
    pub fn new(pools: &[Pool]) -> Self {
        let mut caches = Self::default();
        for pool in pools {
            caches.add(pool);
        }
        caches
    }

    /// Adds a cache for `pool`, unless there is one.
    pub fn add(&mut self, pool: &Pool) {
        let index = pool.id().index();
        if self.by_pool.len() <= index {
            self.by_pool.resize_with(index + 1, || None);
        }
        self.by_pool[index].get_or_insert_with(|| Cache::new(pool.clone()));
    }

    /// Appends `n` packets of `len` bytes (content: whatever was there) to `out`; fewer when the pool runs dry or `out`
    /// has no room. `len` is cut to what a buffer holds.
    #[inline(always)]
    pub fn alloc(&mut self, pool: PoolId, n: usize, len: u16, out: &mut Burst) -> usize {
        let Some(Some(cache)) = self.by_pool.get_mut(pool.index()) else {
            return 0;
        };
        let n = cache.ensure(n.min(out.room()));
        let len = len.min(cache.capacity);
        let from = &cache.stock.0[cache.len - n..cache.len];
        let to = &mut out.slots[out.tail..][..n];
        for (slot, target) in from.iter().zip(to) {
            // SAFETY: the stock is initialised below `len`; the slot leaves the cache and becomes the packet's only owner.
            // `len` was cut to the buffer.
            unsafe {
                let header = slot.assume_init_read().0;
                Mbuf::reset(header, len);
                target.write(Mbuf(header));
            }
        }
        cache.len -= n;
        out.tail += n;
        n
    }

    /// One empty packet.
    #[inline]
    pub fn alloc_one(&mut self, pool: PoolId) -> Option<Mbuf> {
        let Some(Some(cache)) = self.by_pool.get_mut(pool.index()) else {
            return None;
        };
        if cache.ensure(1) == 0 {
            return None;
        }
        cache.len -= 1;
        // SAFETY: as in `alloc`; a length of zero fits any buffer.
        unsafe {
            let header = cache.stock.0[cache.len].assume_init_read().0;
            Mbuf::reset(header, 0);
            Some(Mbuf(header))
        }
    }

    /// Frees all packets of a burst and returns their bytes.
    #[inline(always)]
    pub fn free(&mut self, packets: &mut Burst) -> u64 {
        let (plain, bytes, tag) = survey(packets.headers());
        if plain && let Some(Some(cache)) = self.by_pool.get_mut(usize::from(pool_of(tag))) {
            cache.put(packets);
        } else {
            self.free_slowly(packets);
        }
        bytes
    }

    /// The entry of a pool.
    #[inline(always)]
    pub(crate) fn cache_mut(&mut self, pool: PoolId) -> Option<&mut Option<Cache>> {
        self.by_pool.get_mut(pool.index())
    }

    /// Frees one packet.
    #[inline]
    pub fn free_one(&mut self, packet: Mbuf) {
        let header = packet.into_raw();
        share::free_chain(header, |segment| self.give_back(segment));
    }

    #[cold]
    fn free_slowly(&mut self, packets: &mut Burst) {
        while let Some(packet) = packets.pop_front() {
            self.free_one(packet);
        }
    }

    fn give_back(&mut self, segment: NonNull<Header>) {
        // SAFETY: free_chain hands over a free header.
        let pool = pool_of(unsafe { (*segment.as_ptr()).tag });
        match self.by_pool.get_mut(usize::from(pool)) {
            Some(Some(cache)) => cache.push(Slot(segment)),
            _ => share::give_back(segment),
        }
    }
}

/// Whether all are plain packets of one pool, their bytes, and the first one's tag.
#[inline(always)]
fn survey(headers: &[NonNull<Header>]) -> (bool, u64, u32) {
    let Some(first) = headers.first() else {
        return (false, 0, 0);
    };
    // SAFETY: the burst owns these headers.
    let tag = unsafe { (*first.as_ptr()).tag };
    let (mut other, mut bytes) = (tag & SLOW, 0);
    for header in headers {
        // SAFETY: as above.
        unsafe {
            let p = header.as_ptr();
            other |= (*p).tag ^ tag;
            bytes += u64::from((*p).shape.pkt_len());
        }
    }
    (other == 0, bytes, tag)
}

impl Cache {
    fn new(pool: Pool) -> Self {
        let size = usize::from(pool.config().cache_size);
        Self {
            stock: Box::new(Slots([const { MaybeUninit::uninit() }; STOCK])),
            len: 0,
            noted: 0,
            keep: size / 2,
            limit: size + size / 2,
            capacity: pool.data_capacity(),
            pool,
        }
    }

    fn inner(&self) -> &PoolInner {
        self.pool.inner()
    }

    /// Sees to it that `n` mbufs, which are about to be taken, are in stock; says how many there are of them.
    #[inline(always)]
    pub(crate) fn ensure(&mut self, n: usize) -> usize {
        if self.len < n {
            self.refill(n);
        }
        n.min(self.len)
    }

    /// The `n` slots at the top, which [`Cache::ensure`] said are there.
    #[inline(always)]
    pub(crate) fn top(&self, n: usize) -> &[MaybeUninit<Slot>] {
        &self.stock.0[self.len - n..self.len]
    }

    /// Gives up the `n` slots at the top.
    #[inline(always)]
    pub(crate) fn give_up(&mut self, n: usize) {
        self.len -= n;
    }

    #[cold]
    fn refill(&mut self, n: usize) {
        let want = n + self.keep - self.len;
        let mut stock = Stock {
            slots: &mut self.stock.0[..],
            len: &mut self.len,
        };
        self.pool.inner().take(want, &mut stock);
        self.note(self.len.saturating_sub(n));
    }

    /// Tells the pool, for display, how many mbufs lie here. Meanwhile packets come and go without a word.
    fn note(&mut self, len: usize) {
        self.inner().note_cached(len as isize - self.noted as isize);
        self.noted = len;
    }

    /// Takes over all packets of a burst, which are plain and of this pool.
    #[inline(always)]
    fn put(&mut self, packets: &mut Burst) {
        let n = packets.len();
        // SAFETY: Slot and the packet's handle are the same pointer, and the burst gives them up below.
        unsafe { self.put_slots(packets.headers().as_ptr().cast::<Slot>(), n) };
        packets.advance(n);
    }

    /// Takes over `n` free mbufs, at most [`BURST_MAX`].
    ///
    /// # Safety
    /// `from` has `n` slots, all of this cache's pool, which the caller owns and gives up.
    #[inline(always)]
    pub(crate) unsafe fn put_slots(&mut self, from: *const Slot, n: usize) {
        // `limit + BURST_MAX` fits the stock, so that there is room before the spill.
        let to = &mut self.stock.0[self.len..][..n];
        // SAFETY: `n` handles on both sides.
        unsafe { std::ptr::copy_nonoverlapping(from, to.as_mut_ptr().cast::<Slot>(), n) };
        self.len += n;
        if self.len > self.limit {
            self.spill();
        }
    }

    fn push(&mut self, slot: Slot) {
        self.stock.0[self.len].write(slot);
        self.len += 1;
        if self.len > self.limit {
            self.spill();
        }
    }

    /// Returns the coldest mbufs to the pool and keeps the `keep` hottest.
    #[cold]
    fn spill(&mut self) {
        let n = self.len - self.keep;
        self.inner().put(&mut Coldest {
            slots: &self.stock.0[..n],
            given: 0,
        });
        self.stock.0.copy_within(n..self.len, 0);
        self.len = self.keep;
        self.note(self.keep);
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        self.keep = 0;
        self.spill();
    }
}

/// The free end of a cache's stock.
struct Stock<'a> {
    slots: &'a mut [MaybeUninit<Slot>],
    len: &'a mut usize,
}

// SAFETY: `put` stores every slot and counts it.
unsafe impl mpps_ring::Sink<Slot> for Stock<'_> {
    fn room(&self) -> usize {
        self.slots.len() - *self.len
    }

    unsafe fn put(&mut self, src: &[MaybeUninit<Slot>]) {
        self.slots[*self.len..][..src.len()].copy_from_slice(src);
        *self.len += src.len();
    }
}

/// The oldest slots of a cache's stock.
struct Coldest<'a> {
    slots: &'a [MaybeUninit<Slot>],
    given: usize,
}

// SAFETY: `take` copies initialised slots, each once; the cache forgets them afterwards.
unsafe impl mpps_ring::Source<Slot> for Coldest<'_> {
    fn available(&self) -> usize {
        self.slots.len() - self.given
    }

    fn take(&mut self, dst: &mut [MaybeUninit<Slot>]) {
        dst.copy_from_slice(&self.slots[self.given..][..dst.len()]);
        self.given += dst.len();
    }
}

#[cfg(test)]
mod tests;
