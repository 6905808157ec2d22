//! A stretch of a peer's memory whose bounds have been checked.
//!
//! Made by [`GuestMemory`](super::GuestMemory) from an address and a length of the peer's; a value on the data path,
//! used up within the burst that resolved it. It owns nothing: the table keeps the memory mapped.

use std::ptr::NonNull;

/// Pointer and length inside one mapping of a peer. May be read and written through the access functions only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeerRange {
    ptr: NonNull<u8>,
    len: usize,
}

// SAFETY: an address and a number; whoever uses the address says why the memory is still mapped.
unsafe impl Send for PeerRange {}
// SAFETY: as above; it has no interior state.
unsafe impl Sync for PeerRange {}

impl PeerRange {
    /// `ptr` and `len` lie inside one mapping.
    #[inline(always)]
    pub(crate) const fn new(ptr: NonNull<u8>, len: usize) -> PeerRange {
        PeerRange { ptr, len }
    }

    /// The first byte. Valid for reads and writes of [`len`](PeerRange::len) bytes by the functions of
    /// [`peer`](super), as long as the table that made this lives.
    #[inline(always)]
    pub const fn as_ptr(self) -> *mut u8 {
        self.ptr.as_ptr()
    }

    /// Length in bytes.
    #[inline(always)]
    pub const fn len(self) -> usize {
        self.len
    }

    /// True when there is no byte in it.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The part of `len` bytes at `offset`; `None` when it isn't all inside.
    #[inline(always)]
    pub fn at(self, offset: usize, len: usize) -> Option<PeerRange> {
        if offset > self.len || len > self.len - offset {
            return None;
        }
        // SAFETY: offset <= self.len, so the result is inside the mapping or at the end of this range.
        let ptr = unsafe { self.ptr.add(offset) };
        Some(PeerRange { ptr, len })
    }
}
