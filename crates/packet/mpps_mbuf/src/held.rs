//! Packets that a ring holds while a device works on them: handles moved in bulk between rings, bursts and caches,
//! and the addresses that a descriptor shows.
//!
//! For crates that are licensed to handle bare memory; whoever takes handles out with these functions owns the packets
//! and gives every one back, once.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::HEADROOM;
use crate::burst::{BURST_MAX, Burst};
use crate::cache::Caches;
use crate::header::{SLOW, Shape, Slot, field, pool_of};
use crate::mbuf::Mbuf;
use crate::pool::PoolId;
use crate::share;

/// The pool of an mbuf, and whether the mbuf is a plain one (neither chained, cloned nor shared), in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag(u32);

impl Tag {
    /// Whether a packet with this tag is one segment that nobody else sees.
    #[inline(always)]
    pub fn is_plain(self) -> bool {
        self.0 & SLOW == 0
    }

    /// The pool that the packet returns to.
    #[inline(always)]
    pub fn pool(self) -> PoolId {
        PoolId(pool_of(self.0))
    }
}

impl Mbuf {
    /// Pool and plainness.
    #[inline(always)]
    pub fn kind(&self) -> Tag {
        Tag(self.tag())
    }

    /// The start of the buffer, headroom included.
    #[inline(always)]
    pub fn buffer(&self) -> NonNull<u8> {
        field!(self.buf)
    }

    /// The first byte of the data.
    #[inline(always)]
    pub fn data_ptr(&self) -> NonNull<u8> {
        let (buf, offset) = (field!(self.buf), usize::from(self.headroom()));
        // SAFETY: `data_off` is within the buffer in every header.
        unsafe { buf.add(offset) }
    }

    /// The address of the header, to be prefetched.
    #[inline(always)]
    pub fn header_ptr(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }

    /// Makes a plain packet of what a device wrote: `len` bytes, `offset` bytes from the start of the buffer, nothing
    /// known about them.
    ///
    /// # Safety
    /// `offset + len` is at most [`Mbuf::buffer_len`].
    #[inline(always)]
    pub unsafe fn set_received(&mut self, offset: u16, len: u16) {
        debug_assert!(
            offset
                .checked_add(len)
                .is_some_and(|end| end <= self.buffer_len())
        );
        field!(self.shape = Shape::new(offset, len, u32::from(len)));
        field!(self.ol_flags = 0);
        field!(self.tx_offload = 0);
    }

    /// Whose header lies in the headroom right before the data, if the data begins behind the standard headroom; zero for
    /// nobody's.
    ///
    /// A number that stands for a device, which wrote a header there or had one written for it. It belongs to the buffer
    /// and outlives the packet; who writes to a headroom says so ([`Mbuf::prepend`] does).
    #[inline(always)]
    pub fn header_by(&self) -> u16 {
        if self.headroom() == HEADROOM {
            field!(self.header_by)
        } else {
            0
        }
    }

    /// Says whose header lies at the end of the standard headroom; zero for nobody's.
    #[inline(always)]
    pub fn set_header_by(&mut self, device: u16) {
        field!(self.header_by = device);
    }
}

impl Burst {
    /// The slots of the packets, first to last.
    #[inline(always)]
    pub fn handles(&self) -> &[MaybeUninit<Mbuf>] {
        &self.slots[self.head..self.tail]
    }

    /// Gives up the first `n` packets without freeing them.
    ///
    /// # Safety
    /// `n` is at most [`Burst::len`], and the caller has copied these handles out and owns the packets from now on.
    #[inline(always)]
    pub unsafe fn forget(&mut self, n: usize) {
        self.advance(n);
    }
}

impl Caches {
    /// Fills the front of `to` with free mbufs of `pool` and says how many; fewer when the pool runs dry. Shape and flags
    /// are those of their last use: [`Mbuf::set_received`] makes packets of them.
    #[inline(always)]
    pub fn take(&mut self, pool: PoolId, to: &mut [MaybeUninit<Mbuf>]) -> usize {
        let Some(Some(cache)) = self.cache_mut(pool) else {
            return 0;
        };
        // A cache never holds more than a burst beyond its limit.
        let n = cache.ensure(to.len().min(BURST_MAX));
        let from = cache.top(n);
        // SAFETY: `n` handles on both sides; Slot and the packet's handle are the same pointer, and the cache gives them up
        // below.
        unsafe {
            std::ptr::copy_nonoverlapping(
                from.as_ptr(),
                to.as_mut_ptr().cast::<MaybeUninit<Slot>>(),
                n,
            );
        }
        cache.give_up(n);
        n
    }

    /// Appends `n` free mbufs of `pool` to `out`, shape and flags as in [`Caches::take`]; fewer when the pool runs dry or
    /// there is no room.
    #[inline(always)]
    pub fn take_to(&mut self, pool: PoolId, n: usize, out: &mut Burst) -> usize {
        let n = n.min(out.room());
        let tail = out.tail;
        let n = self.take(pool, &mut out.slots[tail..tail + n]);
        out.tail += n;
        n
    }

    /// Frees packets that all have the same plain tag.
    ///
    /// # Safety
    /// Every handle is initialised and has this tag, [`Tag::is_plain`]; the caller owns the packets and gives them up.
    #[inline(always)]
    pub unsafe fn free_same(&mut self, packets: &[MaybeUninit<Mbuf>], tag: Tag) {
        debug_assert!(tag.is_plain());
        if let Some(Some(cache)) = self.cache_mut(tag.pool()) {
            for part in packets.chunks(BURST_MAX) {
                // SAFETY: free mbufs of the cache's pool, by the caller's promise.
                unsafe { cache.put_slots(part.as_ptr().cast::<Slot>(), part.len()) };
            }
            return;
        }
        for packet in packets {
            // SAFETY: initialised and owned by the caller.
            let packet = unsafe { packet.assume_init_read() };
            share::give_back(packet.into_raw());
        }
    }
}

#[cfg(test)]
mod tests;
