//! Files of a make-believe peer, shared by the tests of each part.

mod access;
mod mapping;
mod memory;
mod sigbus;

use super::{GuestRegion, PeerMapping, load, store};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::os::fd::{AsFd, OwnedFd};

pub(super) const MIB: u64 = 1 << 20;

/// A memfd of `len` bytes, as a peer would send one.
pub(super) fn file(len: u64) -> OwnedFd {
    let fd = memfd_create("peer", MemfdFlags::CLOEXEC).unwrap();
    ftruncate(&fd, len).unwrap();
    fd
}

/// A mapping of all of a new file, and the file.
pub(super) fn mapped(len: u64) -> (PeerMapping, OwnedFd) {
    let fd = file(len);
    (PeerMapping::map(fd.as_fd(), 0, len).unwrap(), fd)
}

/// The whole of a mapping as a region of the guest's.
pub(super) fn region(guest: u64, user: u64, mapping: &PeerMapping) -> GuestRegion {
    GuestRegion {
        guest,
        user,
        len: mapping.region().len() as u64,
        mapping: mapping.clone(),
        offset: 0,
    }
}

pub(super) fn get(mapping: &PeerMapping, offset: usize) -> u8 {
    let at = mapping.region().at(offset, 1).unwrap();
    // SAFETY: one byte, inside the mapping.
    unsafe { load(at.as_ptr()) }
}

pub(super) fn put(mapping: &PeerMapping, offset: usize, byte: u8) {
    let at = mapping.region().at(offset, 1).unwrap();
    // SAFETY: one byte, inside the mapping.
    unsafe { store(at.as_ptr(), byte) };
}
