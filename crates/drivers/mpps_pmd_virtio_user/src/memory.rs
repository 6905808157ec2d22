//! What a back end is lent: one mapping with all rings, and the buffers of pools.
//!
//! Made at a start of the port, or taken over from the last one where nothing changed, and held by every ring and by the
//! control thread: it goes when the last ring has gone. Addresses told to the back end, guest's and user's alike, are the
//! virtual addresses of this process.

use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicUsize, Ordering};

use mpps_mbuf::Pool;
use mpps_shm::{Mapping, MemoryError, PageSource, Region};
use mpps_vhost_proto::{MAX_TABLE_REGIONS, MemoryRegion};
use mpps_virtq::{Lent, driver_memory};

/// The most pools whose buffers are lent; one region of the table is that of the rings.
pub(crate) const MAX_LENT: usize = MAX_TABLE_REGIONS - 1;

/// Memory of a running port that its back end maps.
pub(crate) struct Memory {
    rings: Mapping,
    /// Where in `rings` the first ring begins.
    colour: usize,
    /// Descriptors of each ring, by the ring's number.
    sizes: Vec<u32>,
    lent: Lent,
}

impl Memory {
    /// Gets memory for rings of these sizes.
    pub(crate) fn new(
        device: &str,
        sizes: Vec<u32>,
        lent: Vec<Pool>,
        pages: &PageSource,
    ) -> Result<Self, MemoryError> {
        let colour = next_colour();
        let len = colour + sizes.iter().map(|&size| driver_memory(size)).sum::<usize>();
        let rings = pages.reserve(&format!("{device}_rings"), len.max(1), None)?;
        rings.commit(0, rings.len())?;
        Ok(Self {
            rings,
            colour,
            sizes,
            lent: Lent::new(lent),
        })
    }

    /// Whether it is what a start with these would get.
    pub(crate) fn serves(&self, sizes: &[u32], lent: &[Pool]) -> bool {
        let ids = |pools: &[Pool]| pools.iter().map(Pool::id).collect::<Vec<_>>();
        self.sizes == sizes && ids(self.lent.pools()) == ids(lent)
    }

    /// Pairs of a receive and a transmit ring.
    pub(crate) fn pairs(&self) -> usize {
        self.sizes.len() / 2
    }

    /// Descriptors of a ring.
    pub(crate) fn size(&self, ring: usize) -> u32 {
        self.sizes.get(ring).copied().unwrap_or(0)
    }

    /// The place of a ring.
    pub(crate) fn ring(&self, ring: usize) -> Option<Region> {
        let before = self.sizes.get(..ring)?;
        let before = before
            .iter()
            .map(|&size| driver_memory(size))
            .sum::<usize>();
        let size = *self.sizes.get(ring)?;
        let offset = self.colour + before;
        self.rings.region().part(offset, driver_memory(size))
    }

    /// The pools whose buffers are lent.
    pub(crate) fn lent(&self) -> &Lent {
        &self.lent
    }

    /// The table that the back end is told.
    pub(crate) fn regions(&self) -> Vec<(MemoryRegion, BorrowedFd<'_>)> {
        let pools = self.lent.pools().iter().map(Pool::buffers);
        // A mapping of the page source that can be shared always has a file.
        std::iter::once(&self.rings)
            .chain(pools)
            .filter_map(|mapping| Some((region(mapping), mapping.fd()?)))
            .collect()
    }
}

/// Colours that are handed out in turn.
const COLOURS: usize = 64;

/// Bytes from a colour to the next: an odd number of the 128 bytes that rings are aligned to, so that 32 colours in a row
/// meet every pair of lines of a page of 4 KiB, which is what the sets of a first-level cache are chosen by.
const COLOUR_STEP: usize = 9 * 128;

/// How far into its mapping the next port's first ring lies.
///
/// Mappings begin with a page. Were rings to begin there as well, the lines that an idle ring is polled at would be in the
/// same few sets of the cache for all ports, and with more ports than a set has ways each look would be a miss.
fn next_colour() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    // Relaxed: any distribution will do; nothing is ordered by it.
    NEXT.fetch_add(1, Ordering::Relaxed) % COLOURS * COLOUR_STEP
}

fn region(mapping: &Mapping) -> MemoryRegion {
    let address = mapping.as_ptr().addr().get() as u64;
    MemoryRegion {
        guest: address,
        size: mapping.len() as u64,
        user: address,
        offset: mapping.fd_offset(),
    }
}

/// Each pool once, in the order of their first appearance.
pub(crate) fn distinct<'a>(pools: impl Iterator<Item = &'a Pool>) -> Vec<Pool> {
    let mut all: Vec<Pool> = Vec::new();
    for pool in pools {
        if all.iter().all(|have| have.id() != pool.id()) {
            all.push(pool.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests;
