//! The log of pages that we wrote, for a front end that moves its guest to another machine (vhost-user, "Migration").
//!
//! Made by the control thread when the front end shares its log (`VHOST_USER_SET_LOG_BASE`), shared as `Arc<DirtyLog>`
//! with the rings, which mark what they have written. The last one to drop it unmaps it.

use super::mapping::PeerMapping;
use std::sync::atomic::{AtomicU8, Ordering};

/// A bit stands for this many bytes (`VHOST_LOG_PAGE`), whatever the guest's page size.
const PAGE_BITS: u32 = 12;

/// One bit for each 4 KiB of guest memory, least significant bit of the first byte first.
#[derive(Debug)]
pub struct DirtyLog {
    mapping: PeerMapping,
}

impl DirtyLog {
    /// The log is the mapping's whole region: `mmap_size` bytes at `mmap_offset` of the file that came with the message.
    pub fn new(mapping: PeerMapping) -> DirtyLog {
        DirtyLog { mapping }
    }

    /// Marks the pages of `len` bytes at a guest address as written; to be called after they were written, and before
    /// the buffer is handed back. False when the log ends before them: what it has room for is marked.
    ///
    /// Costs a locked instruction for each 8 pages; in the order of the pages.
    #[must_use]
    pub fn mark(&self, address: u64, len: u64) -> bool {
        let Some(beyond) = len.checked_sub(1) else {
            return true;
        };
        let first = address >> PAGE_BITS;
        let wanted = address.saturating_add(beyond) >> PAGE_BITS;
        let pages = (self.mapping.region().len() as u64).saturating_mul(8);
        let Some(last) = pages.checked_sub(1).map(|end| end.min(wanted)) else {
            return false;
        };
        let mut page = first;
        while page <= last {
            let byte_end = page | 7;
            let bits = 0xff_u8 << (page & 7);
            let bits = bits & (0xff >> byte_end.saturating_sub(last));
            self.set((page >> 3) as usize, bits);
            page = byte_end + 1;
        }
        wanted <= last && address.checked_add(beyond).is_some()
    }

    /// Whether the log's memory was taken away; marks go nowhere then.
    pub fn is_lost(&self) -> bool {
        self.mapping.is_lost()
    }

    fn set(&self, byte: usize, bits: u8) {
        let Some(at) = self.mapping.region().at(byte, 1) else {
            return;
        };
        // SAFETY: inside the mapping, which we hold; the front end's accesses to it are atomic too.
        let byte = unsafe { AtomicU8::from_ptr(at.as_ptr()) };
        // Release: partner is the front end's exchange of the word; whoever finds the bit finds what we wrote. Always a
        // locked instruction, also where the bit seems to be set: the front end may be clearing it.
        byte.fetch_or(bits, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
