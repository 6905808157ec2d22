//! Sharing data between packets, and undoing packets: the slow paths behind [`Mbuf::data_mut`] and free.
//!
//! A clone's header points into its parent's buffer. The parent counts the owners of its data in [`Cold`]; whoever gives
//! up the last share frees the parent, also when its own handle is long gone.

use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use crate::header::{CHAINED, CLONE, Cold, Header, SHARED, Slot};
use crate::mbuf::Mbuf;
use crate::pool::{Pool, inner_of};

impl Pool {
    /// A read-only packet that shares `packet`'s data, segment by segment; `None` when the pool has run dry.
    ///
    /// Until the last clone is gone neither side can write the data ([`Mbuf::data_mut`] says `None`).
    pub fn share(&self, packet: &mut Mbuf) -> Option<Mbuf> {
        let mut head: Option<Mbuf> = None;
        let mut segment = Some(packet.0);
        while let Some(parent) = segment {
            let clone = self.alloc()?;
            share_segment(parent, clone.0);
            // SAFETY: `packet` owns the chain.
            segment = unsafe { (*parent.as_ptr()).next };
            match &mut head {
                None => head = Some(single(clone)),
                Some(head) => head.chain(single(clone)).ok()?,
            }
        }
        head
    }
}

/// Makes a clone's first segment a packet of its own: its length is that of its data.
fn single(mut clone: Mbuf) -> Mbuf {
    clone.only_this_segment();
    clone
}

/// Makes this free mbuf's header `clone` share the first segment of `self`. The caller owns `clone`.
fn share_segment(parent: NonNull<Header>, clone: NonNull<Header>) {
    // SAFETY: both headers are owned by the caller for the time of the call; `root` is kept alive by the count
    // that is taken here.
    unsafe {
        let parent_tag = (*parent.as_ptr()).tag;
        let root = if parent_tag & CLONE != 0 {
            cold_of(parent).parent.unwrap_or(parent)
        } else {
            parent
        };
        let owners = &cold_of(root).owners;
        if root == parent && parent_tag & SHARED == 0 {
            // Relaxed: no clone exists yet, so nobody else looks; the clone is handed on by other means.
            owners.store(2, Ordering::Relaxed);
            (&raw mut (*parent.as_ptr()).tag).write(parent_tag | SHARED);
        } else {
            // Relaxed: taking one more share from a live one orders nothing, as in `Arc`.
            owners.fetch_add(1, Ordering::Relaxed);
        }
        let (p, c) = (parent.as_ptr(), clone.as_ptr());
        (*c).buf = (*p).buf;
        (*c).buf_len = (*p).buf_len;
        (*c).shape = (*p).shape;
        (*c).ol_flags = (*p).ol_flags;
        (*c).tx_offload = (*p).tx_offload;
        (*c).packet_type = (*p).packet_type;
        (*c).hash = (*p).hash;
        (*c).vlan = (*p).vlan;
        (*c).vlan_outer = (*p).vlan_outer;
        (*c).port = (*p).port;
        (*c).tag |= CLONE;
        (&raw mut (*cold_ptr(clone)).parent).write(Some(root));
    }
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
