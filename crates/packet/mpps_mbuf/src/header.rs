//! The mbuf header: one cache line of private memory.
//!
//! Carved by [`crate::pool`], owned by whoever owns the [`crate::Mbuf`] that points to it, or by the pool and its
//! caches while the mbuf is free. Fields are reached one by one through the raw pointer, never as `&mut Header`: a
//! clone's holder may read the parent's fields while the parent's owner holds the parent.

use std::ptr::NonNull;
use std::sync::atomic::AtomicU32;

/// The segment has a successor, or its segment count isn't one.
pub(crate) const CHAINED: u32 = 1;
/// The data belongs to another mbuf, the parent, which is kept alive until this one is freed.
pub(crate) const CLONE: u32 = 2;
/// Clones of this mbuf were made; the count in [`Cold`] says whether any still lives.
pub(crate) const SHARED: u32 = 4;
/// Any of the bits that make an mbuf leave the fast paths.
pub(crate) const SLOW: u32 = 0xff;

/// What a receive path writes for every packet: one word, so that it is one store, and a load of any part of it right
/// behind is forwarded from that store.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Shape(u64);

impl Shape {
    /// Bytes from the start of the buffer to the data, bytes of data in this segment, bytes in all segments (meaningful
    /// in the first one).
    #[inline(always)]
    pub(crate) const fn new(data_off: u16, data_len: u16, pkt_len: u32) -> Self {
        Self(data_off as u64 | (data_len as u64) << 16 | (pkt_len as u64) << 32)
    }

    #[inline(always)]
    pub(crate) const fn data_off(self) -> u16 {
        self.0 as u16
    }

    #[inline(always)]
    pub(crate) const fn data_len(self) -> u16 {
        (self.0 >> 16) as u16
    }

    #[inline(always)]
    pub(crate) const fn pkt_len(self) -> u32 {
        (self.0 >> 32) as u32
    }

    /// The same with `by` bytes more before the data.
    pub(crate) const fn grow_front(self, by: u16) -> Self {
        Self::new(
            self.data_off() - by,
            self.data_len() + by,
            self.pkt_len() + by as u32,
        )
    }

    /// The same with `by` bytes fewer at the front.
    pub(crate) const fn trim_front(self, by: u16) -> Self {
        Self::new(
            self.data_off() + by,
            self.data_len() - by,
            self.pkt_len() - by as u32,
        )
    }

    /// The same with `by` bytes more at the end of this segment.
    pub(crate) const fn grow_back(self, by: u16) -> Self {
        Self::new(
            self.data_off(),
            self.data_len() + by,
            self.pkt_len() + by as u32,
        )
    }

    /// The same with another length of the packet.
    pub(crate) const fn with_pkt_len(self, pkt_len: u32) -> Self {
        Self::new(self.data_off(), self.data_len(), pkt_len)
    }
}

/// One cache line. Invariants of a free mbuf: `tag` has no [`SLOW`] bit, `next` is null, `segs` is one.
#[repr(C, align(64))]
pub(crate) struct Header {
    /// Start of the buffer (of the parent's buffer in a clone).
    pub(crate) buf: NonNull<u8>,
    pub(crate) shape: Shape,
    pub(crate) ol_flags: u64,
    pub(crate) tx_offload: u64,
    /// Pool number in the upper half, [`SLOW`] bits below: bulk free compares this one word.
    pub(crate) tag: u32,
    pub(crate) segs: u16,
    pub(crate) buf_len: u16,
    pub(crate) next: Option<NonNull<Header>>,
    pub(crate) packet_type: u32,
    pub(crate) hash: u32,
    pub(crate) vlan: u16,
    pub(crate) vlan_outer: u16,
    pub(crate) port: u16,
    /// Whose header lies in the last bytes of the standard headroom ([`crate::Mbuf::header_by`]); zero for nobody's.
    pub(crate) header_by: u16,
}

const _: () = assert!(size_of::<Header>() == 64 && align_of::<Header>() == 64);

/// What few packets need, kept beside the headers so that it costs no line of those that don't.
///
/// Reached field by field through the raw pointer, as a header is: `owners` is the one field that others than the owner
/// of the mbuf touch. All zeros is a valid value.
#[repr(C)]
pub(crate) struct Cold {
    /// Owners of the data: the mbuf itself (while somebody owns it) and its clones. Zero and one mean "not shared".
    pub(crate) owners: AtomicU32,
    /// In a clone: whose data it shows, and the count of its owners. The parent's header belongs to whoever owns the
    /// parent, so a clone must not look into it, not even for the number of its pool.
    pub(crate) parent: Option<NonNull<Header>>,
    pub(crate) parent_owners: Option<NonNull<AtomicU32>>,
    pub(crate) timestamp: u64,
}

/// A header pointer that may change threads: it stands for ownership of a free mbuf.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Slot(pub(crate) NonNull<Header>);

// SAFETY: a Slot is in exactly one ring or cache at a time (kept by store.rs and cache.rs), and whoever takes it out is
// the only one to touch the header.
unsafe impl Send for Slot {}

pub(crate) const fn tag_of(pool: u16) -> u32 {
    (pool as u32) << 16
}

pub(crate) const fn pool_of(tag: u32) -> u16 {
    (tag >> 16) as u16
}

/// Reads or writes one field of the header that a handle (`self.0`) owns.
macro_rules! field {
    ($self:ident . $field:ident) => {
        // SAFETY: the handle owns the header, which its pool keeps mapped while an mbuf is out (pool.rs).
        unsafe { (&raw const (*$self.0.as_ptr()).$field).read() }
    };
    ($self:ident . $field:ident = $value:expr) => {
        // SAFETY: as above; `&mut self` makes this the only access.
        unsafe { (&raw mut (*$self.0.as_ptr()).$field).write($value) }
    };
}

pub(crate) use field;
