//! Chains of descriptors: collected with bounds, then read or written as if they were one stretch.
//!
//! The general way, taken for what the fast loops don't handle: several descriptors, indirect tables, buffers across
//! regions. Bounded by the ring's size (a chain of exactly that many descriptors is legal) and, in an indirect table, by
//! the table's.

use std::ptr::NonNull;

use mpps_shm::peer::{self, GuestMemory, PeerRange};

use crate::RingFault;
use crate::foreign::{copy_from, copy_to, load_unaligned};
use crate::split::{Descriptor, INDIRECT, NEXT, WRITE};

/// One stretch of a chain.
#[derive(Clone, Copy)]
struct Part {
    guest: u64,
    range: PeerRange,
}

/// A chain's buffers: those the device reads, then those it writes.
#[derive(Default)]
pub(crate) struct Chain {
    parts: Vec<Part>,
    readable: usize,
    readable_len: u64,
    writable_len: u64,
    /// Descriptors of the ring that it takes, an indirect table counting as one.
    pub(crate) descriptors: u16,
    /// Part of it isn't in the peer's memory.
    pub(crate) unmapped: bool,
}

/// Where descriptors are read from.
#[derive(Clone, Copy)]
pub(crate) enum Table {
    /// The ring's own table: `size` descriptors, mapped.
    Ring { first: NonNull<[u64; 2]>, size: u32 },
    /// An indirect one.
    Indirect { range: PeerRange, entries: u32 },
}

impl Table {
    fn size(self) -> u32 {
        match self {
            Self::Ring { size, .. } => size,
            Self::Indirect { entries, .. } => entries,
        }
    }

    fn get(self, number: u32) -> Option<Descriptor> {
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
}

impl Chain {
    fn clear(&mut self) {
        *self = Self {
            parts: std::mem::take(&mut self.parts),
            ..Self::default()
        };
        self.parts.clear();
    }

    /// Collects the split ring's chain that begins with descriptor `head`.
    pub(crate) fn walk(
        &mut self,
        table: Table,
        head: u16,
        indirect: bool,
        memory: &GuestMemory,
    ) -> Result<(), RingFault> {
        self.clear();
        let mut number = u32::from(head);
        for _ in 0..table.size() {
            let missing = RingFault::Descriptor {
                number,
                size: table.size(),
            };
            let descriptor = table.get(number).ok_or(missing)?;
            if let Table::Ring { .. } = table {
                self.descriptors += 1;
            }
            if descriptor.flags() & INDIRECT != 0 {
                self.follow(descriptor, indirect, memory)?;
                return Ok(());
            }
            self.add(descriptor, memory);
            if descriptor.flags() & NEXT == 0 {
                return Ok(());
            }
            number = u32::from(descriptor.next());
        }
        Err(RingFault::Endless { head })
    }

    fn follow(
        &mut self,
        descriptor: Descriptor,
        indirect: bool,
        memory: &GuestMemory,
    ) -> Result<(), RingFault> {
        let refuse = |why| RingFault::Indirect {
            address: descriptor.address(),
            len: descriptor.len(),
            why,
        };
        let table = self.table(descriptor, indirect, memory)?;
        let mut number = 0;
        for _ in 0..table.size() {
            let entry = table
                .get(number)
                .ok_or(refuse("a descriptor points past its end"))?;
            if entry.flags() & INDIRECT != 0 {
                return Err(refuse("a table inside a table"));
            }
            self.add(entry, memory);
            if entry.flags() & NEXT == 0 {
                return Ok(());
            }
            number = u32::from(entry.next());
        }
        Err(refuse("its chain doesn't end"))
    }

    /// The table that a descriptor points to, checked as a whole.
    pub(crate) fn table(
        &self,
        descriptor: Descriptor,
        indirect: bool,
        memory: &GuestMemory,
    ) -> Result<Table, RingFault> {
        let (address, len) = (descriptor.address(), descriptor.len());
        let refuse = |why| RingFault::Indirect { address, len, why };
        if !indirect {
            return Err(refuse("indirect descriptors were not negotiated"));
        }
        if descriptor.flags() & NEXT != 0 {
            return Err(refuse("it has a successor"));
        }
        if len == 0 || len % 16 != 0 {
            return Err(refuse("its length is no multiple of 16"));
        }
        let entries = len / 16;
        if entries > 32768 {
            return Err(refuse("more descriptors than a ring can have"));
        }
        let range = memory
            .resolve(address, len, &mut 0)
            .ok_or(refuse("it isn't in memory that the peer shares"))?;
        Ok(Table::Indirect { range, entries })
    }

    /// Takes over a buffer. One that the device reads behind one that it writes is against the rules (virtio 1.3, section
    /// 2.7.4.2) and counted as unmapped, so that the chain is given back as it is.
    pub(crate) fn add(&mut self, descriptor: Descriptor, memory: &GuestMemory) {
        let write = descriptor.flags() & WRITE != 0;
        if !write && self.readable < self.parts.len() {
            self.unmapped = true;
            return;
        }
        let mut guest = descriptor.address();
        for piece in memory.pieces(guest, u64::from(descriptor.len())) {
            let Some(range) = piece else {
                self.unmapped = true;
                return;
            };
            self.parts.push(Part { guest, range });
            guest = guest.wrapping_add(range.len() as u64);
            if write {
                self.writable_len += range.len() as u64;
            } else {
                self.readable += 1;
                self.readable_len += range.len() as u64;
            }
        }
    }

    /// Starts a chain that is collected descriptor by descriptor (packed ring).
    pub(crate) fn begin(&mut self) {
        self.clear();
    }

    /// Takes over all buffers of a packed ring's indirect table: of its descriptors only the write flag counts (virtio 1.3,
    /// section 2.8.8), and that only where the device writes. DPDK's driver leaves it set on buffers of packets to be sent.
    pub(crate) fn add_table(
        &mut self,
        descriptor: Descriptor,
        (indirect, writes): (bool, bool),
        memory: &GuestMemory,
    ) -> Result<(), RingFault> {
        let table = self.table(descriptor, indirect, memory)?;
        let writable = if writes { WRITE } else { 0 };
        for number in 0..table.size() {
            // Flags are the last two bytes here, where the split ring has the number of the next descriptor.
            let Some(entry) = table.get(number) else {
                break;
            };
            if entry.next() & INDIRECT != 0 {
                return Err(RingFault::Indirect {
                    address: descriptor.address(),
                    len: descriptor.len(),
                    why: "a table inside a table",
                });
            }
            let flags = entry.next() & writable;
            let buffer = Descriptor::new(entry.address(), entry.len(), flags, 0);
            self.add(buffer, memory);
        }
        Ok(())
    }

    /// Bytes that the device may read.
    pub(crate) fn readable(&self) -> u64 {
        self.readable_len
    }

    /// Bytes that the device may write.
    pub(crate) fn writable(&self) -> u64 {
        self.writable_len
    }

    /// Copies from the readable part, beginning `offset` bytes into it, as much as `to` takes; says how much that was.
    pub(crate) fn read(&self, offset: usize, to: &mut [u8]) -> usize {
        let (mut skip, mut done) = (offset, 0);
        for part in &self.parts[..self.readable] {
            let len = part.range.len();
            if skip >= len {
                skip -= len;
                continue;
            }
            let n = (len - skip).min(to.len() - done);
            if n == 0 {
                break;
            }
            if let Some(from) = part.range.at(skip, n) {
                copy_to(from, &mut to[done..done + n]);
            }
            (skip, done) = (0, done + n);
        }
        done
    }

    /// Copies into the writable part, beginning `offset` bytes into it, as much as there is room; says how much that was.
    pub(crate) fn write(&self, offset: usize, from: &[u8]) -> usize {
        let (mut skip, mut done) = (offset, 0);
        for part in &self.parts[self.readable..] {
            let len = part.range.len();
            if skip >= len {
                skip -= len;
                continue;
            }
            let n = (len - skip).min(from.len() - done);
            if n == 0 {
                break;
            }
            if let Some(to) = part.range.at(skip, n) {
                copy_from(to, &from[done..done + n]);
            }
            (skip, done) = (0, done + n);
        }
        done
    }

    /// Where the writable bytes `offset` to `offset + len` are, if they lie in one piece.
    pub(crate) fn place(&self, offset: usize, len: usize) -> Option<PeerRange> {
        let mut skip = offset;
        for part in &self.parts[self.readable..] {
            if skip < part.range.len() {
                return part.range.at(skip, len);
            }
            skip -= part.range.len();
        }
        None
    }

    /// Calls `f` with guest address and length of each stretch of the first `len` writable bytes.
    pub(crate) fn each_written(&self, len: usize, mut f: impl FnMut(u64, u64)) {
        let mut left = len;
        for part in &self.parts[self.readable..] {
            let n = part.range.len().min(left);
            if n > 0 {
                f(part.guest, n as u64);
            }
            left -= n;
        }
    }
}
