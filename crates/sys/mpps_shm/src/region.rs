//! A stretch of memory as pointer and length.
//!
//! Why not a slice: a peer may write there at any time, so no reference to it may exist. Made by
//! [`Mapping::region`](crate::Mapping::region), or from a peer's own mapping; owns nothing, whoever maps the memory
//! ends it.

use std::ptr::NonNull;

/// Pointer and length of mapped memory, without ownership and without access: offsets are checked, nothing is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    ptr: NonNull<u8>,
    len: usize,
}

// SAFETY: a Region is an address and a number; it gives no access by itself, whoever dereferences says why they may.
unsafe impl Send for Region {}
// SAFETY: as above; it has no interior state.
unsafe impl Sync for Region {}

impl Region {
    /// Describes `len` bytes at `ptr`.
    ///
    /// # Safety
    /// All `len` bytes are one mapping, and stay mapped as long as this value or a copy of it is used for access.
    pub const unsafe fn new(ptr: NonNull<u8>, len: usize) -> Region {
        Region { ptr, len }
    }

    /// The first byte.
    pub const fn as_ptr(self) -> NonNull<u8> {
        self.ptr
    }

    /// Length in bytes.
    pub const fn len(self) -> usize {
        self.len
    }

    /// True when there is no byte in it.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The address of `len` bytes at `offset`; `None` when they aren't all inside.
    pub fn at(self, offset: usize, len: usize) -> Option<NonNull<u8>> {
        let end = offset.checked_add(len)?;
        if end > self.len {
            return None;
        }
        // SAFETY: offset <= self.len, so the result is inside or one past the end of the mapping that the maker of this
        // Region vouched for.
        Some(unsafe { self.ptr.add(offset) })
    }

    /// The part of `len` bytes at `offset`; `None` when it isn't all inside.
    pub fn part(self, offset: usize, len: usize) -> Option<Region> {
        self.at(offset, len).map(|ptr| Region { ptr, len })
    }

    /// How far `ptr` is from the first byte; `None` when it points outside.
    pub fn offset_of(self, ptr: NonNull<u8>) -> Option<usize> {
        let offset = ptr.addr().get().checked_sub(self.ptr.addr().get())?;
        (offset < self.len).then_some(offset)
    }
}

#[cfg(test)]
mod tests;
