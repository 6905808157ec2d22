//! The owned handle to a packet.
//!
//! Made by [`crate::Caches`] (the data path) or [`crate::Pool::alloc`] (control path, tests), ended by a bulk free of
//! the burst that holds it, or by `Drop`, which is the slow, correct path.

use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use crate::HEADROOM;
use crate::header::{CHAINED, CLONE, Header, SHARED, SLOW, Shape, field, pool_of};
use crate::pool::PoolId;
use crate::share;

/// A packet: one segment, or the head of a chain. Owns its segments; `Send`, not `Sync`, not `Clone`; 8 bytes.
#[repr(transparent)]
pub struct Mbuf(pub(crate) NonNull<Header>);

// SAFETY: an Mbuf is the only handle to its header, and what clones share (the data and the count in `Cold`) is
// read-only or atomic.
unsafe impl Send for Mbuf {}

const _: () = assert!(size_of::<Option<Mbuf>>() == 8);

impl Mbuf {
    #[inline(always)]
    fn shape(&self) -> Shape {
        field!(self.shape)
    }

    #[inline(always)]
    fn set_shape(&mut self, shape: Shape) {
        field!(self.shape = shape);
    }

    #[inline(always)]
    pub(crate) fn tag(&self) -> u32 {
        field!(self.tag)
    }

    /// The pool this mbuf returns to.
    #[inline(always)]
    pub fn pool(&self) -> PoolId {
        PoolId(pool_of(self.tag()))
    }

    /// Bytes in all segments.
    #[inline(always)]
    pub fn pkt_len(&self) -> u32 {
        self.shape().pkt_len()
    }

    /// Bytes in the first segment.
    #[inline(always)]
    pub fn data_len(&self) -> u16 {
        self.shape().data_len()
    }

    /// Number of segments.
    #[inline(always)]
    pub fn segments(&self) -> u16 {
        field!(self.segs)
    }

    /// The data of the first segment.
    #[inline(always)]
    pub fn data(&self) -> &[u8] {
        let (buf, shape) = (field!(self.buf), self.shape());
        // SAFETY: `data_off + data_len <= buf_len` holds in every header (what changes one of them here checks it, and
        // a clone takes over all three), and the buffer stays mapped while the mbuf is out.
        unsafe {
            std::slice::from_raw_parts(
                buf.as_ptr().add(usize::from(shape.data_off())),
                usize::from(shape.data_len()),
            )
        }
    }

    /// The data of the first segment for writing; `None` when clones share it.
    #[inline(always)]
    pub fn data_mut(&mut self) -> Option<&mut [u8]> {
        if self.tag() & SLOW & !CHAINED != 0 && !self.reclaim_exclusive() {
            return None;
        }
        let (buf, shape) = (field!(self.buf), self.shape());
        // SAFETY: as in `data`; no clone shares the buffer, and `&mut self` is the only handle.
        Some(unsafe {
            std::slice::from_raw_parts_mut(
                buf.as_ptr().add(usize::from(shape.data_off())),
                usize::from(shape.data_len()),
            )
        })
    }

    /// The first `N` bytes of the data for writing: `None` when the packet is shorter or clones share it.
    #[inline(always)]
    pub fn front_mut<const N: usize>(&mut self) -> Option<&mut [u8; N]> {
        self.data_mut()?.first_chunk_mut()
    }

    /// Whether only this handle can reach the data; forgets clones that have all been freed.
    #[cold]
    fn reclaim_exclusive(&mut self) -> bool {
        let tag = self.tag();
        if tag & CLONE != 0 {
            return false;
        }
        // Acquire: pairs with the Release decrement of a freed clone, whose reads of the data come before our writes.
        if share::owners_of(self.0).load(Ordering::Acquire) > 1 {
            return false;
        }
        field!(self.tag = tag & !SHARED);
        true
    }

    /// Bytes free before the data of the first segment.
    pub fn headroom(&self) -> u16 {
        self.shape().data_off()
    }

    /// Bytes free behind the data of the first segment.
    pub fn tailroom(&self) -> u16 {
        let shape = self.shape();
        field!(self.buf_len) - shape.data_off() - shape.data_len()
    }

    /// Size of the buffer of the first segment, headroom included.
    pub fn buffer_len(&self) -> u16 {
        field!(self.buf_len)
    }

    /// Makes `len` bytes before the data part of it and returns them; `None` when there is no room or the data is shared.
    pub fn prepend(&mut self, len: u16) -> Option<&mut [u8]> {
        let shape = self.shape();
        if len > shape.data_off() || shape.data_len().checked_add(len).is_none() {
            return None;
        }
        self.data_mut()?;
        field!(self.header_by = 0);
        self.set_shape(shape.grow_front(len));
        self.data_mut().map(|data| &mut data[..usize::from(len)])
    }

    /// Takes `len` bytes off the front of the first segment; false, and nothing changed, when it is shorter.
    pub fn trim_front(&mut self, len: u16) -> bool {
        let shape = self.shape();
        if len > shape.data_len() {
            return false;
        }
        self.set_shape(shape.trim_front(len));
        true
    }

    /// Appends `bytes` to a packet of one segment; false, and nothing changed, when they do not fit or the data is shared.
    pub fn append(&mut self, bytes: &[u8]) -> bool {
        if self.segments() != 1 || bytes.len() > usize::from(self.tailroom()) {
            return false;
        }
        if self.data_mut().is_none() {
            return false;
        }
        let shape = self.shape();
        let old = usize::from(shape.data_len());
        // `bytes` fits the tailroom, a u16.
        self.set_shape(shape.grow_back(bytes.len() as u16));
        if let Some(data) = self.data_mut() {
            data[old..].copy_from_slice(bytes);
        }
        true
    }

    /// Sets the length of a packet of one segment; the bytes gained are whatever the buffer held. False when there is no
    /// room, or the packet is a chain or shared.
    #[inline]
    pub fn resize(&mut self, len: u16) -> bool {
        let shape = self.shape();
        if self.tag() & SLOW != 0 && (self.tag() & CHAINED != 0 || !self.reclaim_exclusive()) {
            return false;
        }
        if len > field!(self.buf_len) - shape.data_off() {
            return false;
        }
        self.set_shape(Shape::new(shape.data_off(), len, u32::from(len)));
        true
    }

    /// The segments' data, first to last.
    pub fn segments_data(&self) -> Segments<'_> {
        Segments {
            next: Some(self.0),
            packet: std::marker::PhantomData,
        }
    }

    /// Copies up to `out.len()` bytes of the packet from `offset` on; returns how many there were.
    pub fn copy_out(&self, offset: usize, out: &mut [u8]) -> usize {
        let (mut skip, mut done) = (offset, 0);
        for data in self.segments_data() {
            if skip >= data.len() {
                skip -= data.len();
                continue;
            }
            let n = (data.len() - skip).min(out.len() - done);
            out[done..done + n].copy_from_slice(&data[skip..skip + n]);
            done += n;
            skip = 0;
            if done == out.len() {
                break;
            }
        }
        done
    }

    /// Appends another packet's segments; gives `tail` back when the chain would pass 65,535 segments or 4 GiB.
    pub fn chain(&mut self, tail: Mbuf) -> Result<(), Mbuf> {
        let segments = self.segments().checked_add(tail.segments());
        let length = self.pkt_len().checked_add(tail.pkt_len());
        let (Some(segments), Some(length)) = (segments, length) else {
            return Err(tail);
        };
        let mut last = self.0;
        // SAFETY: this handle owns every segment of its chain, and a chain ends (`segs` counts it).
        while let Some(next) = unsafe { (*last.as_ptr()).next } {
            last = next;
        }
        let tail = std::mem::ManuallyDrop::new(tail);
        // SAFETY: as above; `tail`'s segments now belong to this chain.
        unsafe { (&raw mut (*last.as_ptr()).next).write(Some(tail.0)) };
        // The tail's head is now a segment in the middle: its tag keeps its own bits, the head says "chained".
        field!(self.tag = self.tag() | CHAINED);
        field!(self.segs = segments);
        self.set_shape(self.shape().with_pkt_len(length));
        Ok(())
    }

    /// Makes the length of the first segment that of the packet, and its only segment.
    pub(crate) fn only_this_segment(&mut self) {
        let shape = self.shape();
        self.set_shape(shape.with_pkt_len(u32::from(shape.data_len())));
    }

    /// Gives up the handle without freeing.
    #[inline(always)]
    pub(crate) fn into_raw(self) -> NonNull<Header> {
        let raw = self.0;
        std::mem::forget(self);
        raw
    }

    /// Resets a header that was just taken from its pool to an empty packet of `len` bytes behind the headroom.
    ///
    /// # Safety
    /// The caller owns `header`, which is free, and `HEADROOM + len` fits its buffer.
    #[inline(always)]
    pub(crate) unsafe fn reset(header: NonNull<Header>, len: u16) {
        let p = header.as_ptr();
        // SAFETY: the caller's promise.
        unsafe {
            (&raw mut (*p).shape).write(Shape::new(HEADROOM, len, len as u32));
            (&raw mut (*p).ol_flags).write(0);
            (&raw mut (*p).tx_offload).write(0);
        }
    }
}

impl Drop for Mbuf {
    #[cold]
    fn drop(&mut self) {
        share::free_chain(self.0, share::give_back);
    }
}

impl std::fmt::Debug for Mbuf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mbuf")
            .field("pkt_len", &self.pkt_len())
            .field("segments", &self.segments())
            .field("pool", &self.pool())
            .finish()
    }
}

/// Iterator over the data of a packet's segments.
pub struct Segments<'a> {
    next: Option<NonNull<Header>>,
    packet: std::marker::PhantomData<&'a Mbuf>,
}

impl<'a> Iterator for Segments<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let header = self.next?;
        // SAFETY: the packet that `'a` borrows owns its whole chain.
        let (next, buf, shape) = unsafe {
            let p = header.as_ptr();
            ((*p).next, (*p).buf, (*p).shape)
        };
        self.next = next;
        // SAFETY: as in `Mbuf::data`.
        Some(unsafe {
            std::slice::from_raw_parts(
                buf.as_ptr().add(usize::from(shape.data_off())),
                usize::from(shape.data_len()),
            )
        })
    }
}

#[cfg(test)]
mod tests;
