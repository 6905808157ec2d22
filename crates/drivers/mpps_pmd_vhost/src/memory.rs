//! The front end's memory as it was announced, piece by piece or in one table.

use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use mpps_shm::peer::{GuestMemory, GuestMemoryError, GuestRegion, PeerMapError, PeerMapping};
use mpps_vhost_proto::MemoryRegion;

/// Why memory isn't taken; what was there before stays.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MemoryError {
    #[error("memory region at guest address {guest:#x}: {source}")]
    Map { guest: u64, source: PeerMapError },
    #[error(transparent)]
    Table(#[from] GuestMemoryError),
}

/// The memory of a connection. Rings hold the table too; it is unmapped when the last of them is closed.
#[derive(Default)]
pub(crate) struct Memory {
    regions: Vec<GuestRegion>,
    table: Option<Arc<GuestMemory>>,
}

impl Memory {
    /// The table that rings are opened with; none before the first region is there.
    pub(crate) fn table(&self) -> Option<&Arc<GuestMemory>> {
        self.table.as_ref()
    }

    /// Whether some of it was cut off under the mapping.
    pub(crate) fn is_lost(&self) -> bool {
        self.table.as_ref().is_some_and(|table| table.is_lost())
    }

    /// Takes a new table in place of what was there.
    pub(crate) fn replace(&mut self, all: &[(MemoryRegion, OwnedFd)]) -> Result<(), MemoryError> {
        let mut regions = Vec::new();
        for (region, fd) in all {
            regions.push(map(region, fd)?);
        }
        self.take(regions)
    }

    /// Adds a region, in place of the one at the same addresses if there is one: QEMU 7.2 announces each region once for
    /// every queue pair.
    pub(crate) fn add(&mut self, region: &MemoryRegion, fd: &OwnedFd) -> Result<(), MemoryError> {
        let mut regions = self.without(region);
        regions.push(map(region, fd)?);
        self.take(regions)
    }

    /// Removes a region, found by its addresses and size. One that isn't there has been removed before, for another
    /// queue pair.
    pub(crate) fn remove(&mut self, region: &MemoryRegion) -> Result<(), MemoryError> {
        let regions = self.without(region);
        self.take(regions)
    }

    fn without(&self, region: &MemoryRegion) -> Vec<GuestRegion> {
        let addresses = (region.guest, region.user, region.size);
        let others = self.regions.iter();
        others
            .filter(|have| (have.guest, have.user, have.len) != addresses)
            .cloned()
            .collect()
    }

    fn take(&mut self, regions: Vec<GuestRegion>) -> Result<(), MemoryError> {
        let table = GuestMemory::new(regions.clone())?;
        self.table = (!regions.is_empty()).then(|| Arc::new(table));
        self.regions = regions;
        Ok(())
    }
}

fn map(region: &MemoryRegion, fd: &OwnedFd) -> Result<GuestRegion, MemoryError> {
    let mapping = PeerMapping::map(fd.as_fd(), region.offset, region.size).map_err(|source| {
        MemoryError::Map {
            guest: region.guest,
            source,
        }
    })?;
    Ok(GuestRegion {
        guest: region.guest,
        user: region.user,
        len: region.size,
        mapping,
        offset: 0,
    })
}

#[cfg(test)]
mod tests;
