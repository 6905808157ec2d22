//! Chains of descriptors: collected with bounds, then read or written as if they were one stretch.
//!
//! The general way, taken for what the fast loops don't handle: several descriptors, indirect tables, buffers across
//! regions. Bounded by the ring's size (a chain of exactly that many descriptors is legal) and, in an indirect table, by
//! the table's.

mod table;

use std::cell::Cell;
use std::ops::Range;

use mpps_shm::peer::{GuestMemory, PeerRange};

use crate::RingFault;
use crate::foreign::{copy_from, copy_to};
use crate::split::{Descriptor, INDIRECT, NEXT, WRITE};

pub(crate) use table::Table;

/// Descriptors that one burst looks at on the general way, pieces of buffers across regions included: what is left of a
/// longer chain is walked by the next burst. A peer with the longest of chains thus holds up the other ports of its core
/// no longer than one with a full burst of ordinary packets.
pub(crate) const WALK: u32 = 2048;

/// A chain's buffers are collected until they hold so many bytes: more than any packet has.
const ENOUGH: u64 = 1 << 17;

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
    /// Descriptors that this burst may still look at.
    budget: u32,
    /// How far the chain has been walked that a burst had to leave.
    begun: Option<Begun>,
    /// The part where the last copy ended, and the bytes of its half before it.
    reached: Cell<(usize, usize)>,
}

/// A split ring's chain that isn't collected to its end.
#[derive(Clone, Copy)]
struct Begun {
    /// Which entry of the available ring it is.
    entry: u16,
    head: u16,
    table: Table,
    /// The next descriptor.
    number: u32,
    /// Descriptors that it may still have.
    left: u32,
}

impl Begun {
    /// A descriptor points to one that doesn't exist.
    fn missing(&self) -> RingFault {
        match self.table {
            Table::Ring { size, .. } => RingFault::Descriptor {
                number: self.number,
                size,
            },
            Table::Indirect { .. } => self.table.refuse("a descriptor points past its end"),
        }
    }

    /// The chain has more descriptors than there are.
    fn endless(&self) -> RingFault {
        match self.table {
            Table::Ring { .. } => RingFault::Endless { head: self.head },
            Table::Indirect { .. } => self.table.refuse("its chain doesn't end"),
        }
    }
}

impl Chain {
    fn clear(&mut self) {
        *self = Self {
            parts: std::mem::take(&mut self.parts),
            budget: self.budget,
            ..Self::default()
        };
        self.parts.clear();
    }

    /// Another burst begins.
    pub(crate) fn allow(&mut self) {
        self.budget = WALK;
    }

    /// Whether this burst has looked at no descriptor on the general way yet.
    pub(crate) fn is_fresh(&self) -> bool {
        self.budget == WALK
    }

    /// Whether this burst may look at no more of them.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget == 0
    }

    /// Counts a descriptor that is about to be read; false when the next burst must do that.
    pub(crate) fn spend(&mut self) -> bool {
        let left = self.budget.checked_sub(1);
        self.budget = left.unwrap_or(0);
        left.is_some()
    }

    /// Makes the split ring's chain that begins with descriptor `head`, at this entry of the available ring, the one to be
    /// walked; unless it is already.
    pub(crate) fn begin_at(&mut self, entry: u16, head: impl FnOnce() -> u16, table: Table) {
        if self.begun.is_some_and(|begun| begun.entry == entry) {
            return;
        }
        self.clear();
        let head = head();
        self.begun = Some(Begun {
            entry,
            head,
            table,
            number: u32::from(head),
            left: table.size(),
        });
    }

    /// Walks on to the end of the chain; its head, none when the rest must wait for the next burst.
    pub(crate) fn walk(
        &mut self,
        indirect: bool,
        memory: &GuestMemory,
    ) -> Result<Option<u16>, RingFault> {
        let Some(mut at) = self.begun.take() else {
            return Ok(None);
        };
        while at.left > 0 {
            if !self.spend() {
                self.begun = Some(at);
                return Ok(None);
            }
            at.left -= 1;
            let descriptor = at.table.get(at.number).ok_or(at.missing())?;
            let in_table = matches!(at.table, Table::Indirect { .. });
            self.descriptors += u16::from(!in_table);
            if descriptor.flags() & INDIRECT != 0 {
                if in_table {
                    return Err(at.table.refuse("a table inside a table"));
                }
                at.table = self.table(descriptor, indirect, memory)?;
                (at.number, at.left) = (0, at.table.size());
                continue;
            }
            self.add(descriptor, memory);
            if descriptor.flags() & NEXT == 0 {
                return Ok(Some(at.head));
            }
            at.number = u32::from(descriptor.next());
        }
        Err(at.endless())
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
        Ok(Table::Indirect {
            address,
            range,
            entries,
        })
    }

    /// Takes over a buffer. One that the device reads behind one that it writes is against the rules (virtio 1.3, section
    /// 2.7.4.2) and counted as unmapped, so that the chain is given back as it is.
    pub(crate) fn add(&mut self, descriptor: Descriptor, memory: &GuestMemory) {
        let write = descriptor.flags() & WRITE != 0;
        if !write && self.writable_len > 0 {
            self.unmapped = true;
            return;
        }
        if self.readable_len + self.writable_len >= ENOUGH {
            return;
        }
        let mut guest = descriptor.address();
        for (number, piece) in (0..).zip(memory.pieces(guest, u64::from(descriptor.len()))) {
            let Some(range) = piece else {
                self.unmapped = true;
                return;
            };
            // The first one was counted with its descriptor.
            self.budget = self.budget.saturating_sub(u32::from(number > 0_u32));
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

    /// Takes over buffers of a packed ring's indirect table, from this number on; says where the next burst must go on, the
    /// end if it needn't. Of the descriptors' flags only the write flag counts (virtio 1.3, section 2.8.8), and that only
    /// where the device writes. DPDK's driver leaves it set on buffers of packets to be sent.
    pub(crate) fn add_table(
        &mut self,
        table: Table,
        first: u32,
        writes: bool,
        memory: &GuestMemory,
    ) -> Result<u32, RingFault> {
        let writable = if writes { WRITE } else { 0 };
        for number in first..table.size() {
            if !self.spend() {
                return Ok(number);
            }
            // Flags are the last two bytes here, where the split ring has the number of the next descriptor.
            let Some(entry) = table.get(number) else {
                break;
            };
            if entry.next() & INDIRECT != 0 {
                return Err(table.refuse("a table inside a table"));
            }
            let flags = entry.next() & writable;
            let buffer = Descriptor::new(entry.address(), entry.len(), flags, 0);
            self.add(buffer, memory);
        }
        Ok(table.size())
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
        self.stretches(0..self.readable, offset, to.len(), |range, at| {
            copy_to(range, &mut to[at..at + range.len()]);
        })
    }

    /// Copies into the writable part, beginning `offset` bytes into it, as much as there is room; says how much that was.
    pub(crate) fn write(&self, offset: usize, from: &[u8]) -> usize {
        let half = self.readable..self.parts.len();
        self.stretches(half, offset, from.len(), |range, at| {
            copy_from(range, &from[at..at + range.len()]);
        })
    }

    /// Calls `f` with each stretch of the `len` bytes `offset` bytes into a half, and how many came before it; says how many
    /// bytes there are. Begins where the last call ended, if that isn't beyond, so that a chain of many parts that is
    /// copied bit by bit is gone through once.
    fn stretches(
        &self,
        half: Range<usize>,
        offset: usize,
        len: usize,
        mut f: impl FnMut(PeerRange, usize),
    ) -> usize {
        let (mut number, mut before) = self.reached.get();
        if !half.contains(&number) || before > offset {
            (number, before) = (half.start, 0);
        }
        let mut done = 0;
        while done < len
            && half.contains(&number)
            && let Some(part) = self.parts.get(number)
        {
            let (size, skip) = (part.range.len(), offset + done - before);
            let n = size.saturating_sub(skip).min(len - done);
            if n > 0
                && let Some(range) = part.range.at(skip, n)
            {
                f(range, done);
                done += n;
            }
            if skip + n < size {
                break;
            }
            (number, before) = (number + 1, before + size);
        }
        self.reached.set((number, before));
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
