//! A front end that makes rings by hand and keeps to no rule: memory regions, ring, chains as the input has them.

use std::ops::Range;

use mpps_shm::peer::{GuestMemory, GuestRegion};
use mpps_virtq::RingAddresses;

use super::arena::Arena;
use crate::input::Input;

/// Bytes from one region's start in the file to the next one's; the rest of it is no region's and must stay as it is.
const SPACING: usize = 0x5000;
/// Bytes of a region, at most.
const REGION: usize = 0x4000;
/// Before the first one, and behind the last.
const CANARY: usize = 0x1000;
/// Bytes of the file.
pub(crate) const FILE: usize = CANARY + 3 * SPACING;

const NEXT: u16 = 1;
const WRITE: u16 = 2;
const INDIRECT: u16 = 4;
const AVAIL: u16 = 1 << 7;
const USED: u16 = 1 << 15;

/// Where regions begin for the guest: side by side in one order or another, apart, and at the end of all addresses.
const GUEST: [[u64; 3]; 4] = [
    [0x1_0000, 0x1_4000, 0x1_8000],
    [0x1_4000, 0x1_0000, 0x0_c000],
    [0, 0x10_0000, 0x1_2340],
    [u64::MAX - 0x4000, 0x1_0000, 0xffff_0000],
];

/// Where a region lies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) file: usize,
    pub(crate) len: usize,
    pub(crate) guest: u64,
    user: u64,
}

impl Place {
    pub(crate) fn range(&self) -> Range<usize> {
        self.file..self.file + self.len
    }
}

/// The regions of an input.
pub(crate) fn places(input: &mut Input<'_>) -> Vec<Place> {
    let count = 1 + usize::from(input.below(3));
    let guests = input.pick(&GUEST);
    let odd = input.once_in(8);
    (0..count)
        .map(|number| {
            // Odd: cut, and not where a page begins.
            let (skip, cut) = if odd {
                let mask = if input.once_in(8) { 0xff } else { 0xf0 };
                (usize::from(input.u8() & mask), usize::from(input.u8()))
            } else {
                (0, 0)
            };
            Place {
                file: CANARY + number * SPACING + skip,
                len: REGION - cut,
                guest: guests[number],
                user: 0x7000_0000_0000 + number as u64 * 0x100_0000,
            }
        })
        .collect()
}

/// The table that a back end would make of them.
pub(crate) fn table(places: &[Place], arena: &Arena) -> GuestMemory {
    let regions = places.iter().map(|place| GuestRegion {
        guest: place.guest,
        user: place.user,
        len: place.len as u64,
        mapping: arena.mapping.clone(),
        offset: place.file,
    });
    GuestMemory::new(regions.collect()).expect("regions that don't overlap")
}

/// The front end, and where it stands in its ring.
pub(crate) struct Front<'a> {
    arena: &'a Arena,
    pub(crate) places: Vec<Place>,
    packed: bool,
    pub(crate) size: u32,
    /// Offsets in the file of the ring's parts.
    desc: usize,
    avail: usize,
    used: usize,
    slot: u32,
    wrap: bool,
    index: u16,
}

impl<'a> Front<'a> {
    /// A ring in the first region, at `index` already.
    pub(crate) fn new(
        arena: &'a Arena,
        places: Vec<Place>,
        packed: bool,
        size: u32,
        index: u16,
    ) -> Self {
        let start = places[0].file;
        let len = size.clamp(1, 256) as usize;
        let avail = start + len * 16;
        let used = (avail + 6 + len * 2).next_multiple_of(4);
        let front = Self {
            arena,
            places,
            packed,
            size: size.clamp(1, 256),
            desc: start,
            avail,
            used,
            slot: 0,
            wrap: index & 0x8000 != 0,
            index,
        };
        if !packed {
            arena.write(front.avail + 2, &index.to_le_bytes());
            arena.write(front.used + 2, &index.to_le_bytes());
        }
        Self {
            slot: if packed {
                u32::from(index & 0x7fff) % front.size
            } else {
                0
            },
            ..front
        }
    }

    /// As SET_VRING_ADDR would have it.
    pub(crate) fn rings(&self) -> RingAddresses {
        let place = self.places[0];
        let at = |offset: usize| (offset - place.file) as u64;
        RingAddresses {
            desc: place.user + at(self.desc),
            avail: place.user + at(self.avail),
            used: place.user + at(self.used),
            log: place.guest.wrapping_add(at(self.used)),
        }
    }

    /// As SET_VRING_BASE would have it.
    pub(crate) fn base(&self) -> u32 {
        if !self.packed {
            return u32::from(self.index);
        }
        let bits = self.slot | u32::from(self.wrap) << 15;
        bits | bits << 16
    }

    /// An address for a buffer: mostly one that there is.
    fn address(&self, input: &mut Input<'_>) -> u64 {
        let kind = input.u8();
        let place = self.places[usize::from(kind >> 4) % self.places.len()];
        match kind & 7 {
            0..=3 => place
                .guest
                .wrapping_add(0x1800 + u64::from(input.u8()) * 0x20),
            4 => place
                .guest
                .wrapping_add(u64::from(input.u16()) % place.len as u64),
            5 => place
                .guest
                .wrapping_add(place.len as u64)
                .wrapping_sub(u64::from(input.u8())),
            6 => place.guest.wrapping_sub(u64::from(input.u8())),
            _ => input.u64(),
        }
    }

    fn len(input: &mut Input<'_>) -> u32 {
        match input.u8() {
            kind @ 0..128 => 12 + u32::from(kind),
            128..160 => u32::from(input.u8()) % 16,
            160..192 => u32::from(input.u8()) * 16,
            192..240 => u32::from(input.u16()),
            _ => input.u32(),
        }
    }

    /// Writes at a guest address, if it is one.
    fn put(&self, guest: u64, bytes: &[u8]) {
        let place = self
            .places
            .iter()
            .find(|place| guest.wrapping_sub(place.guest) < place.len as u64);
        if let Some(place) = place {
            let at = guest.wrapping_sub(place.guest) as usize;
            let n = bytes.len().min(place.len - at);
            self.arena.write(place.file + at, &bytes[..n]);
        }
    }

    fn descriptor(&self, (address, len, flags): (u64, u32, u16), other: u16) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&address.to_le_bytes());
        bytes[8..12].copy_from_slice(&len.to_le_bytes());
        // Split: flags, next. Packed: id, flags.
        let (first, second) = if self.packed {
            (other, flags)
        } else {
            (flags, other)
        };
        bytes[12..14].copy_from_slice(&first.to_le_bytes());
        bytes[14..].copy_from_slice(&second.to_le_bytes());
        bytes
    }

    /// Makes a chain available, right but for what the input spoils.
    pub(crate) fn offer(&mut self, input: &mut Input<'_>, write: bool) {
        let mode = input.u8();
        let count = match mode & 15 {
            0..=9 => 1,
            10..=14 => 2 + usize::from(mode >> 6),
            _ => usize::from(input.u8()),
        };
        let own = if write { WRITE } else { 0 };
        let mut parts = Vec::new();
        for _ in 0..count.max(1) {
            let odd = if input.once_in(16) { input.u16() } else { 0 };
            let part = (self.address(input), Self::len(input), own ^ odd);
            if input.once_in(4) {
                self.put(part.0, &input.array::<12>());
            }
            parts.push(part);
        }
        if mode & 0x30 == 0x30 {
            parts = vec![self.indirect(input, &parts)];
        }
        self.publish(&parts, input.once_in(24).then(|| input.u16()));
    }

    /// A table of these parts, and the descriptor that points to it.
    fn indirect(&self, input: &mut Input<'_>, parts: &[(u64, u32, u16)]) -> (u64, u32, u16) {
        let at = self.address(input);
        for (k, &(address, len, flags)) in parts.iter().enumerate() {
            let more = if k + 1 < parts.len() { NEXT } else { 0 };
            let entry = self.descriptor((address, len, flags | more), k as u16 + 1);
            self.put(at.wrapping_add(16 * k as u64), &entry);
        }
        let odd = if input.once_in(8) { input.u16() } else { 0 };
        (at, (parts.len() as u32 * 16) ^ u32::from(odd), INDIRECT)
    }

    /// Writes the descriptors; `spoilt` stands in the place of the last number that the device sees.
    fn publish(&mut self, parts: &[(u64, u32, u16)], spoilt: Option<u16>) {
        let head = self.slot;
        for (k, &(address, len, flags)) in parts.iter().enumerate() {
            let (slot, next) = (self.slot, (self.slot + 1) % self.size);
            let more = if k + 1 < parts.len() { NEXT } else { 0 };
            let owner = match (self.packed, self.wrap) {
                (false, _) => 0,
                (true, true) => AVAIL,
                (true, false) => USED,
            };
            let other = if self.packed { head } else { next } as u16;
            let flags = flags | more | owner;
            let bytes = self.descriptor((address, len, flags), spoilt.unwrap_or(other));
            self.arena.write(self.desc + 16 * slot as usize, &bytes);
            self.slot = next;
            self.wrap ^= self.packed && next == 0;
        }
        if !self.packed {
            let entry = u32::from(self.index) & (self.size - 1);
            let number = spoilt.unwrap_or(head as u16);
            self.arena
                .write(self.avail + 4 + 2 * entry as usize, &number.to_le_bytes());
            self.advance(1);
        }
    }

    /// Moves a split ring's index, whatever there is.
    pub(crate) fn advance(&mut self, by: u16) {
        self.index = self.index.wrapping_add(by);
        self.arena.write(self.avail + 2, &self.index.to_le_bytes());
    }

    /// Writes bytes anywhere: in the ring, or in all that the back end has mapped.
    pub(crate) fn scribble(&self, input: &mut Input<'_>) {
        let (kind, at) = (input.u8(), usize::from(input.u16()));
        let n = 1 + usize::from(kind >> 3);
        let bytes = input.bytes(n);
        let place = self.places[at % self.places.len()];
        let (start, room) = match kind & 3 {
            0 => (self.desc, self.size as usize * 16),
            1 => (self.avail, self.used - self.avail),
            2 => (self.used, self.size as usize * 8 + 6),
            _ => (place.file, place.len),
        };
        // Nothing outside the region: that is where the canaries are.
        let at = start + at % room.max(1);
        let inside = self.places.iter().find(|place| place.range().contains(&at));
        if let Some(place) = inside {
            let n = bytes.len().min(place.range().end - at);
            self.arena.write(at, &bytes[..n]);
        }
    }
}
