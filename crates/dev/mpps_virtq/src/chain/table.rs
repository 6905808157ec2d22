//! Tables of descriptors: the ring's own, or one that a descriptor points to.

use std::ptr::NonNull;

use mpps_shm::peer::{self, PeerRange};

use crate::RingFault;
use crate::foreign::load_unaligned;
use crate::split::Descriptor;

/// Where descriptors are read from.
#[derive(Clone, Copy)]
pub(crate) enum Table {
    /// The ring's own table: `size` descriptors, mapped.
    Ring { first: NonNull<[u64; 2]>, size: u32 },
    /// An indirect one, at this guest address.
    Indirect {
        address: u64,
        range: PeerRange,
        entries: u32,
    },
}

impl Table {
    pub(crate) fn size(self) -> u32 {
        match self {
            Self::Ring { size, .. } => size,
            Self::Indirect { entries, .. } => entries,
        }
    }

    pub(crate) fn get(self, number: u32) -> Option<Descriptor> {
        if number >= self.size() {
            return None;
        }
        let at = number as usize;
        match self {
            // SAFETY: one of `size` descriptors, mapped and aligned by the maker's promise.
            Self::Ring { first, .. } => Some(Descriptor(unsafe {
                peer::descriptor(first.as_ptr().add(at))
            })),
            Self::Indirect { range, .. } => {
                let entry = range.at(at * 16, 16)?.as_ptr().cast::<u64>();
                // SAFETY: 16 bytes inside the range. Tables need no alignment (virtio 1.3, section 2.7.5.3).
                Some(Descriptor(unsafe {
                    [load_unaligned(entry), load_unaligned(entry.add(1))]
                }))
            }
        }
    }

    /// What is wrong with a table.
    pub(crate) fn refuse(self, why: &'static str) -> RingFault {
        let address = match self {
            Self::Ring { .. } => 0,
            Self::Indirect { address, .. } => address,
        };
        RingFault::Indirect {
            address,
            len: self.size().saturating_mul(16),
            why,
        }
    }
}
