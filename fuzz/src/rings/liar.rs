//! A back end that gives back what it likes: the driver's ring and buffers, written through their files.

use std::os::fd::OwnedFd;

use mpps_shm::Mapping;
use mpps_virtq::RingAddresses;
use rustix::io::{pread, pwrite};

use crate::input::Input;

/// Buffers that are taken at a time.
const MOST_TAKEN: u32 = 33;

const NEXT: u16 = 1;
const WRITE: u16 = 2;
const AVAIL: u16 = 1 << 7;
const USED: u16 = 1 << 15;

/// Memory of the front end's as the back end has it: a file, and where the front end has it mapped.
pub(super) struct Window {
    address: usize,
    len: usize,
    fd: OwnedFd,
    offset: u64,
}

impl Window {
    /// The first `len` bytes of a mapping.
    pub(super) fn of(mapping: &Mapping, len: usize) -> Self {
        let fd = mapping.fd().expect("shareable memory");
        Self {
            address: mapping.as_ptr().addr().get(),
            len: len.min(mapping.len()),
            fd: fd.try_clone_to_owned().expect("a descriptor"),
            offset: mapping.fd_offset(),
        }
    }

    pub(super) fn has(&self, address: usize, len: usize) -> bool {
        let at = address.wrapping_sub(self.address);
        at < self.len && len <= self.len - at
    }

    /// Writes at an address of the front end's; what lies outside is left out.
    pub(super) fn write(&self, address: usize, bytes: &[u8]) {
        let at = address.wrapping_sub(self.address);
        if at < self.len {
            let bytes = &bytes[..bytes.len().min(self.len - at)];
            let written = pwrite(&self.fd, bytes, self.offset + at as u64);
            assert_eq!(written, Ok(bytes.len()));
        }
    }

    /// `len` bytes at an address, fewer where memory ends.
    fn read_all(&self, address: usize, len: usize) -> Vec<u8> {
        let at = address.wrapping_sub(self.address);
        let mut out = vec![0; len.min(self.len.saturating_sub(at))];
        let read = pread(&self.fd, &mut out, self.offset + at as u64);
        assert_eq!(read, Ok(out.len()));
        out
    }

    pub(super) fn read<const N: usize>(&self, address: usize) -> [u8; N] {
        let mut out = [0; N];
        if self.has(address, N) {
            let at = address.wrapping_sub(self.address);
            let _ = pread(&self.fd, &mut out, self.offset + at as u64).expect("readable");
        }
        out
    }
}

/// A buffer that the device has taken: its number, the descriptors of the ring that it takes, address and length of its
/// first part.
#[derive(Clone, Copy)]
struct Taken {
    id: u32,
    descriptors: u32,
    address: usize,
    len: u32,
}

/// The device.
pub(super) struct Liar {
    ring: Window,
    buffers: Window,
    packed: bool,
    size: u32,
    at: RingAddresses,
    taken: Vec<Taken>,
    /// What was given back last.
    given: Option<Taken>,
    /// Where it reads, and where it writes, next.
    read: Cursor,
    write: Cursor,
}

#[derive(Clone, Copy, Default)]
struct Cursor {
    /// Split: entries so far. Packed: place in the ring.
    slot: u32,
    /// Packed: odd rounds.
    odd: bool,
}

impl Cursor {
    fn advance(&mut self, by: u32, size: u32) {
        self.slot += by;
        while self.slot >= size {
            self.slot -= size;
            self.odd = !self.odd;
        }
    }
}

impl Liar {
    pub(super) fn new(
        ring: Window,
        buffers: Window,
        packed: bool,
        size: u32,
        at: RingAddresses,
    ) -> Self {
        Self {
            ring,
            buffers,
            packed,
            size,
            at,
            taken: Vec::new(),
            given: None,
            read: Cursor::default(),
            write: Cursor::default(),
        }
    }

    fn number16(&self, seen: &[u8], address: u64) -> u16 {
        let at = (address - self.at.desc) as usize;
        let bytes = seen.get(at..at + 2).and_then(|bytes| bytes.try_into().ok());
        u16::from_le_bytes(bytes.unwrap_or_default())
    }

    fn descriptor(seen: &[u8], slot: u32) -> (usize, u32, u16, u16) {
        let at = 16 * slot as usize;
        let bytes = seen
            .get(at..at + 16)
            .and_then(|bytes| bytes.try_into().ok());
        let bytes: [u8; 16] = bytes.unwrap_or_default();
        let [a @ .., _, _, _, _, _, _, _, _] = bytes;
        let [_, _, _, _, _, _, _, _, l0, l1, l2, l3, f0, f1, s0, s1] = bytes;
        (
            u64::from_le_bytes(a) as usize,
            u32::from_le_bytes([l0, l1, l2, l3]),
            u16::from_le_bytes([f0, f1]),
            u16::from_le_bytes([s0, s1]),
        )
    }

    /// Takes what is available, as an honest device does.
    pub(super) fn take(&mut self) {
        // Descriptors and, in the split ring, the available ring behind them, as they are now.
        let len = self.size as usize * 18 + 256;
        let seen = self.ring.read_all(self.at.desc as usize, len);
        for _ in 0..self.size.min(MOST_TAKEN) {
            let next = if self.packed {
                self.next_packed(&seen)
            } else {
                self.next_split(&seen)
            };
            let Some(taken) = next else { return };
            self.taken.push(taken);
        }
    }

    fn next_split(&mut self, seen: &[u8]) -> Option<Taken> {
        let index = self.number16(seen, self.at.avail + 2);
        if index == self.read.slot as u16 {
            return None;
        }
        let entry = u64::from(self.read.slot & (self.size - 1));
        let head = u32::from(self.number16(seen, self.at.avail + 4 + 2 * entry));
        self.read.slot = self.read.slot.wrapping_add(1);
        let (address, len, _, _) = Self::descriptor(seen, head % self.size);
        Some(Taken {
            id: head,
            descriptors: 1,
            address,
            len,
        })
    }

    fn next_packed(&mut self, seen: &[u8]) -> Option<Taken> {
        let (address, len, _, _) = Self::descriptor(seen, self.read.slot);
        for descriptors in 1..=self.size {
            let (_, _, id, flags) = Self::descriptor(seen, self.read.slot);
            let available = if self.read.odd { USED } else { AVAIL };
            if flags & (AVAIL | USED) != available {
                return None;
            }
            self.read.advance(1, self.size);
            if flags & NEXT == 0 {
                return Some(Taken {
                    id: u32::from(id),
                    descriptors,
                    address,
                    len,
                });
            }
        }
        None
    }

    /// Gives some of it back: right, or with another number, another length, out of order, twice, in the wrong round, or
    /// with a header that says what the input has it say. What is wrong is mostly next to what is right: that is where
    /// checks are.
    pub(super) fn give_back(&mut self, input: &mut Input<'_>) {
        for _ in 0..=input.below(33) {
            if self.taken.is_empty() {
                return;
            }
            let kind = input.u8();
            let at = match kind & 0xc0 {
                0x40 => usize::from(input.u8()) % self.taken.len(),
                _ => 0,
            };
            let mut buffer = if kind & 0x3f == 0x3f {
                self.taken[at]
            } else {
                self.taken.remove(at)
            };
            let mut len = 13 + u32::from(kind);
            match kind & 0x1f {
                0..=3 => len = u32::from(input.u16()) % buffer.len.saturating_add(4).max(1),
                4 => len = input.u32(),
                5 => buffer.id = self.size + u32::from(input.u8() & 3),
                6 => buffer.id = input.u32(),
                28 => buffer.id = self.given.map_or(buffer.id, |given| given.id),
                29 => {
                    buffer.id = u32::from(input.u8()) % self.size;
                    buffer.descriptors = 1 + u32::from(input.u8() & 3);
                }
                7..=12 => self.buffers.write(buffer.address, &input.array::<12>()),
                13..=15 => self
                    .buffers
                    .write(buffer.address, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]),
                16..=27 => self
                    .buffers
                    .write(buffer.address, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]),
                _ => {}
            }
            self.given = Some(buffer);
            self.write.odd ^= kind & 0x1f == 30;
            self.used(buffer, len);
            self.write.odd ^= kind & 0x1f == 30;
        }
    }

    fn used(&mut self, buffer: Taken, len: u32) {
        if self.packed {
            let odd = if self.write.odd { 0 } else { AVAIL | USED };
            let mut bytes = [0; 8];
            bytes[..4].copy_from_slice(&len.to_le_bytes());
            bytes[4..6].copy_from_slice(&(buffer.id as u16).to_le_bytes());
            bytes[6..].copy_from_slice(&(odd | WRITE).to_le_bytes());
            let place = self.at.desc as usize + 16 * self.write.slot as usize + 8;
            self.ring.write(place, &bytes);
            self.write.advance(buffer.descriptors, self.size);
            return;
        }
        let entry = self.write.slot & (self.size - 1);
        let place = self.at.used as usize + 4 + 8 * entry as usize;
        self.ring.write(place, &buffer.id.to_le_bytes());
        self.ring.write(place + 4, &len.to_le_bytes());
        self.advance(1);
    }

    /// Moves a split ring's index, a packed one's place, whatever there is.
    pub(super) fn advance(&mut self, by: u16) {
        if self.packed {
            self.write.advance(u32::from(by), self.size);
            return;
        }
        self.write.slot = self.write.slot.wrapping_add(u32::from(by));
        let index = self.write.slot as u16;
        self.ring
            .write(self.at.used as usize + 2, &index.to_le_bytes());
    }

    /// Writes bytes anywhere in what it has mapped.
    pub(super) fn scribble(&self, input: &mut Input<'_>) {
        let (kind, at) = (input.u8(), usize::from(input.u16()));
        let bytes = input.bytes(1 + usize::from(kind >> 3));
        let size = self.size as usize;
        let (window, start, room) = match kind & 7 {
            0 | 1 => (&self.ring, self.at.desc as usize, size * 16),
            2 => (&self.ring, self.at.avail as usize, size * 2 + 6),
            3 | 4 => (&self.ring, self.at.used as usize, size * 8 + 6),
            5 => (&self.ring, self.ring.address, self.ring.len),
            _ => (&self.buffers, self.buffers.address, self.buffers.len),
        };
        window.write(start + at % room.max(1), bytes);
    }
}
