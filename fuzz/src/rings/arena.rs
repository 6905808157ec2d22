//! Memory that is mapped by the code under test and written by the fuzzer through its file, as another process would.
//!
//! A copy of what the fuzzer wrote is kept: where memory differs from it, the code under test has written last.

use std::cell::RefCell;
use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};

use mpps_shm::peer::PeerMapping;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::io::{pread, pwrite};

const PAGE: usize = 4096;

/// A memory file, mapped as a peer's.
pub(crate) struct Arena {
    fd: OwnedFd,
    pub(crate) mapping: PeerMapping,
    shadow: RefCell<Vec<u8>>,
}

impl Arena {
    /// Of `len` bytes, whole pages, of which the first `mapped` can be reached.
    pub(crate) fn new(len: usize, mapped: usize) -> Self {
        let fd = memfd_create("fuzz", MemfdFlags::CLOEXEC).expect("a memfd");
        ftruncate(&fd, len as u64).expect("room");
        let mapping = PeerMapping::map(fd.as_fd(), 0, mapped as u64).expect("a mapping");
        Self {
            fd,
            mapping,
            shadow: RefCell::new(vec![0; len]),
        }
    }

    /// The first byte's address here.
    pub(crate) fn address(&self) -> usize {
        self.mapping.region().as_ptr().addr().get()
    }

    /// Starts anew: all bytes are `fill`, those of `zeroed` zero.
    pub(crate) fn reset(&self, fill: u8, zeroed: &[Range<usize>]) {
        let mut shadow = self.shadow.borrow_mut();
        shadow.fill(fill);
        for range in zeroed {
            shadow[range.clone()].fill(0);
        }
        let written = pwrite(&self.fd, &shadow, 0);
        assert_eq!(written, Ok(shadow.len()));
    }

    /// Writes as a peer would; what goes beyond the end is cut off.
    pub(crate) fn write(&self, at: usize, bytes: &[u8]) {
        let mut shadow = self.shadow.borrow_mut();
        let Some(room) = shadow.len().checked_sub(at) else {
            return;
        };
        let bytes = &bytes[..bytes.len().min(room)];
        shadow[at..at + bytes.len()].copy_from_slice(bytes);
        let written = pwrite(&self.fd, bytes, at as u64);
        assert_eq!(written, Ok(bytes.len()));
    }

    /// Reads as a peer would; zeros beyond the end.
    pub(crate) fn read<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut out = [0; N];
        let _ = pread(&self.fd, &mut out, at as u64).expect("readable");
        out
    }

    /// Offsets of the bytes that aren't what the fuzzer wrote last.
    pub(crate) fn changed(&self) -> Vec<usize> {
        let shadow = self.shadow.borrow();
        let mut now = vec![0; shadow.len()];
        assert_eq!(pread(&self.fd, &mut now, 0), Ok(now.len()));
        let pages = now.chunks(PAGE).zip(shadow.chunks(PAGE)).enumerate();
        let mut changed = Vec::new();
        for (page, (now, was)) in pages.filter(|(_, (now, was))| now != was) {
            let bytes = now.iter().zip(was).enumerate();
            let differ = bytes.filter(|(_, (now, was))| now != was);
            changed.extend(differ.map(|(at, _)| page * PAGE + at));
        }
        changed
    }
}
