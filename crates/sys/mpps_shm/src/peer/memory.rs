//! The table that turns a peer's addresses into pointers.
//!
//! Made by the control thread at a memory table message and never changed; a new table takes its place. Rings hold it as
//! `Arc<GuestMemory>`; the last one to drop it gives its handles of the mappings back.

use super::error::GuestMemoryError;
use super::mapping::PeerMapping;
use super::range::PeerRange;
use super::sigbus;
use crate::region::Region;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Most regions of a table. QEMU's front end sends up to 32 one by one, and at most 8 in one message.
pub const MOST_REGIONS: usize = 64;

/// One region of a peer's memory table.
#[derive(Debug, Clone)]
pub struct GuestRegion {
    /// First address, as the guest's descriptors have it.
    pub guest: u64,
    /// First address in the front end's process, as ring addresses have it.
    pub user: u64,
    /// Length in bytes.
    pub len: u64,
    /// The mapping it lies in.
    pub mapping: PeerMapping,
    /// Where in the mapping's [region](PeerMapping::region) it starts; 0 when the mapping was made for it.
    pub offset: usize,
}

/// What [`GuestMemory::resolve`] looks at: half a cache line a region.
#[derive(Debug, Clone, Copy)]
struct Entry {
    guest: u64,
    user: u64,
    memory: Region,
}

/// A peer's memory: at most [`MOST_REGIONS`] regions in ascending order of guest addresses.
#[derive(Debug)]
pub struct GuestMemory {
    entries: Box<[Entry]>,
    regions: Box<[GuestRegion]>,
    /// How many mappings the program had lost when these were last known to be well.
    well: AtomicUsize,
}

impl GuestMemory {
    /// Makes a table. The order of the regions doesn't matter; none at all is a table that resolves nothing.
    ///
    /// User addresses may overlap: a front end may show the guest the same memory at two places.
    ///
    /// # Errors
    /// More than [`MOST_REGIONS`], a length of 0, a region that goes beyond the last address or the end of its mapping,
    /// or two that overlap for the guest; each names the region.
    pub fn new(mut regions: Vec<GuestRegion>) -> Result<GuestMemory, GuestMemoryError> {
        if let Some(beyond) = regions.get(MOST_REGIONS) {
            return Err(GuestMemoryError::TooMany {
                count: regions.len(),
                guest: beyond.guest,
                most: MOST_REGIONS,
            });
        }
        regions.sort_by_key(|region| region.guest);
        let entries = regions
            .iter()
            .map(Entry::of)
            .collect::<Result<Box<[_]>, _>>()?;
        for (low, high) in entries.iter().zip(entries.iter().skip(1)) {
            // At least 0, as they are sorted.
            if high.guest - low.guest < low.memory.len() as u64 {
                return Err(GuestMemoryError::Overlap {
                    low: low.guest,
                    len: low.memory.len() as u64,
                    high: high.guest,
                });
            }
        }
        Ok(GuestMemory {
            entries,
            regions: regions.into(),
            well: AtomicUsize::new(0),
        })
    }

    /// The `len` bytes at the guest's `address`; `None` when they don't lie inside one region (then
    /// [`pieces`](GuestMemory::pieces) says more). `last` remembers where the last one was; any number is right.
    #[inline(always)]
    pub fn resolve(&self, address: u64, len: u32, last: &mut usize) -> Option<PeerRange> {
        if let Some(entry) = self.entries.get(*last)
            && let Some(range) = entry.resolve(address, u64::from(len))
        {
            return Some(range);
        }
        self.search(address, len, last)
    }

    #[cold]
    fn search(&self, address: u64, len: u32, last: &mut usize) -> Option<PeerRange> {
        let at = self.find(address)?;
        let range = self.entries.get(at)?.resolve(address, u64::from(len))?;
        *last = at;
        Some(range)
    }

    /// The region that `address` would be in: the last one that starts at or before it.
    fn find(&self, address: u64) -> Option<usize> {
        self.entries
            .partition_point(|entry| entry.guest <= address)
            .checked_sub(1)
    }

    /// The `len` bytes at the guest's `address`, region by region, for ranges that go over a border between regions.
    /// `None` stands for a part that is in no region, and is the last item then. No item when `len` is 0.
    #[cold]
    pub fn pieces(&self, address: u64, len: u64) -> impl Iterator<Item = Option<PeerRange>> {
        // Where the next piece begins; `None` beyond the last address.
        let mut next = Some(address);
        let mut left = len;
        std::iter::from_fn(move || {
            if left == 0 {
                return None;
            }
            let piece = next.and_then(|address| self.piece(address, left));
            match piece {
                Some(piece) => {
                    left -= piece.len() as u64;
                    next = next.and_then(|address| address.checked_add(piece.len() as u64));
                }
                None => left = 0,
            }
            Some(piece)
        })
    }

    /// As much of the `len` (not 0) bytes at `address` as one region has; never empty.
    fn piece(&self, address: u64, len: u64) -> Option<PeerRange> {
        let entry = self.entries.get(self.find(address)?)?;
        let room = (entry.memory.len() as u64).checked_sub(address.checked_sub(entry.guest)?)?;
        entry.resolve(address, len.min(room))
    }

    /// The `len` bytes at an address of the front end's process (rings: SET_VRING_ADDR); `None` when they don't lie
    /// inside one region.
    pub fn resolve_user(&self, user: u64, len: usize) -> Option<PeerRange> {
        self.entries
            .iter()
            .find_map(|entry| within(entry.memory, user.wrapping_sub(entry.user), len as u64))
    }

    /// The regions, in ascending order of guest addresses; for a table that differs from this one by a region.
    pub fn regions(&self) -> &[GuestRegion] {
        &self.regions
    }

    /// Whether a mapping of this table was [lost](PeerMapping::is_lost). Costs a relaxed load of a line that nobody
    /// writes in ordinary times; to be asked once a burst, after the peer's memory has been read.
    #[inline(always)]
    pub fn is_lost(&self) -> bool {
        // Relaxed, both: a loss that this misses is found at the next burst; what was read of zero pages is bounded as
        // any bytes of a peer's are.
        sigbus::losses().load(Ordering::Relaxed) != self.well.load(Ordering::Relaxed)
            && self.look_for_losses()
    }

    #[cold]
    fn look_for_losses(&self) -> bool {
        // Acquire: partner is the release in the handler, which marks the mapping before it counts it.
        let losses = sigbus::losses().load(Ordering::Acquire);
        let lost = self.regions.iter().any(|region| region.mapping.is_lost());
        if !lost {
            // Relaxed: a number to compare with; it was another table's.
            self.well.store(losses, Ordering::Relaxed);
        }
        lost
    }
}

impl Entry {
    fn of(region: &GuestRegion) -> Result<Entry, GuestMemoryError> {
        let &GuestRegion {
            guest, user, len, ..
        } = region;
        if len == 0 {
            return Err(GuestMemoryError::Empty { guest });
        }
        if guest.checked_add(len).is_none() || user.checked_add(len).is_none() {
            return Err(GuestMemoryError::Overflow { guest, user, len });
        }
        let mapped = region.mapping.region();
        let memory = usize::try_from(len)
            .ok()
            .and_then(|len| mapped.part(region.offset, len))
            .ok_or(GuestMemoryError::Outside {
                guest,
                len,
                offset: region.offset,
                size: mapped.len(),
            })?;
        Ok(Entry {
            guest,
            user,
            memory,
        })
    }

    #[inline(always)]
    fn resolve(&self, address: u64, len: u64) -> Option<PeerRange> {
        within(self.memory, address.wrapping_sub(self.guest), len)
    }
}

/// The `len` bytes at `offset` of a region. An offset that wrapped, as the address is below the region, is beyond
/// its end: no region goes beyond the last address.
#[inline(always)]
fn within(memory: Region, offset: u64, len: u64) -> Option<PeerRange> {
    let size = memory.len() as u64;
    if offset >= size || len > size - offset {
        return None;
    }
    // SAFETY: the offset is inside the region, which is mapped: the table holds its mapping.
    let ptr = unsafe { memory.as_ptr().add(offset as usize) };
    Some(PeerRange::new(ptr, len as usize))
}
