//! Sharing data between packets, and undoing packets: the slow paths behind [`Mbuf::data_mut`] and free.
//!
//! A clone's header points into its parent's buffer. The parent counts the owners of its data in [`Cold`]; whoever gives
//! up the last share frees the parent, also when its own handle is long gone.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use mpps_ring::SliceSource;

use crate::header::{CHAINED, CLONE, Cold, Header, SHARED, Slot};
use crate::mbuf::Mbuf;
use crate::offload::OffloadFlags;
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

/// Makes `clone`, a fresh mbuf, share the data of the segment `parent`. The caller owns both.
fn share_segment(parent: NonNull<Header>, clone: NonNull<Header>) {
    let (root, owners) = share_of(parent);
    // SAFETY: the caller owns both headers; the count that was just taken keeps `root` and its data.
    unsafe {
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
        let cold = cold_of(clone);
        (*cold).parent = Some(root);
        (*cold).parent_owners = Some(NonNull::from(owners));
        if OffloadFlags::from_bits_retain((*p).ol_flags).contains(OffloadFlags::RX_TIMESTAMP) {
            (*cold).timestamp = (*cold_of(parent)).timestamp;
        }
    }
}

/// Takes one share more of the data that `segment` shows: the mbuf whose buffer it is, and the count of its owners. The
/// caller owns `segment`.
fn share_of<'a>(segment: NonNull<Header>) -> (NonNull<Header>, &'a AtomicU32) {
    // SAFETY: the caller owns `segment`.
    let tag = unsafe { (*segment.as_ptr()).tag };
    if let Some((root, owners)) = parent_of(segment, tag) {
        // Relaxed: taking one more share from a live one orders nothing, as in `Arc`.
        owners.fetch_add(1, Ordering::Relaxed);
        return (root, owners);
    }
    let owners = owners_of(segment);
    if tag & SHARED != 0 {
        // Relaxed: as above.
        owners.fetch_add(1, Ordering::Relaxed);
    } else {
        // Relaxed: no clone exists yet, so nobody else looks; the clone is handed on by other means.
        owners.store(2, Ordering::Relaxed);
        // SAFETY: as above.
        unsafe { (*segment.as_ptr()).tag = tag | SHARED };
    }
    (segment, owners)
}

/// A clone's parent and the count of its owners; `None` for an mbuf that isn't a clone. The caller owns `segment`.
fn parent_of<'a>(segment: NonNull<Header>, tag: u32) -> Option<(NonNull<Header>, &'a AtomicU32)> {
    if tag & CLONE == 0 {
        return None;
    }
    let cold = cold_of(segment);
    // SAFETY: the caller owns the clone, and with it a share of its parent, which therefore isn't free; and the memory of
    // the count lives as long as the parent's pool.
    unsafe { Some(((*cold).parent?, (*cold).parent_owners?.as_ref())) }
}

/// What lies beside the header of an mbuf that the caller owns.
pub(crate) fn cold_of(header: NonNull<Header>) -> *mut Cold {
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

/// The count of owners of an mbuf that the caller owns.
pub(crate) fn owners_of<'a>(header: NonNull<Header>) -> &'a AtomicU32 {
    // SAFETY: see `cold_of`; the memory lives as long as the pool, and only this one field is referred to.
    unsafe { &(*cold_of(header)).owners }
}

/// Gives one free segment back to its pool, without a cache.
pub(crate) fn give_back(segment: NonNull<Header>) {
    inner_of(segment).put(&mut SliceSource::new(&[Slot(segment)]));
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
        if let Some((parent, owners)) = parent_of(header, tag) {
            drop_share(parent, owners, &mut free);
            let pool = inner_of(header);
            // SAFETY: as above; the clone gets its own buffer back.
            unsafe {
                (*p).buf = pool.buffer(pool.index_of(header));
                (*p).buf_len = pool.config.data_room;
                (*p).tag &= !CLONE;
            }
            free(header);
        } else if tag & SHARED != 0 {
            drop_share(header, owners_of(header), &mut free);
        } else {
            free(header);
        }
    }
}

/// Gives up one share of a parent's data, which `owners` counts; the last one frees the parent.
fn drop_share(parent: NonNull<Header>, owners: &AtomicU32, free: &mut impl FnMut(NonNull<Header>)) {
    // AcqRel: all reads of the data come before the parent is used again; pairs with itself and `reclaim_exclusive`.
    if owners.fetch_sub(1, Ordering::AcqRel) == 1 {
        // SAFETY: nobody else owns a share, so this thread owns the parent.
        unsafe { (*parent.as_ptr()).tag &= !SHARED };
        free(parent);
    }
}

#[cfg(test)]
mod tests;
