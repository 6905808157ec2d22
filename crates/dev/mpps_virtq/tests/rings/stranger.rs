//! A driver written by hand, which may break every rule: descriptors go into memory as the test has them.

use std::sync::Arc;

use mpps_kernels::CopyKind;
use mpps_mbuf::{Burst, Caches};
use mpps_shm::peer::{GuestMemory, GuestRegion};
use mpps_virtq::{
    DeviceRx, DeviceSetup, DeviceTx, Features, RingAddresses, RingFault, Tally, first_base,
};

use crate::rig::{Rig, region};

pub(crate) const NEXT: u16 = 1;
pub(crate) const WRITE: u16 = 2;
pub(crate) const INDIRECT: u16 = 4;
const AVAIL: u16 = 1 << 7;
const USED: u16 = 1 << 15;

/// Where the guest has its first region; the second one is adjacent for the guest, and lies before it in the file.
pub(crate) const GUEST: u64 = 0x1000_0000;
/// Bytes of each region.
pub(crate) const REGION: u64 = 0x2_0000;
/// Where the front end has them.
const USER: u64 = 0x7000_0000_0000;
/// Offsets in the first region.
const DESC: u64 = 0;
pub(crate) const DRIVER: u64 = 0x8000;
pub(crate) const DEVICE: u64 = 0xc000;
/// Offset of what tests put there.
pub(crate) const DATA: u64 = 0x1_0000;
/// First address behind all memory.
pub(crate) const END: u64 = GUEST + 2 * REGION;

/// A driver that writes what it is told.
pub(crate) struct Stranger {
    pub(crate) rig: Rig,
    pub(crate) setup: DeviceSetup,
    pub(crate) packed: bool,
    pub(crate) caches: Caches,
    /// Where the next chain goes, and the number of rounds.
    slot: u32,
    round: u32,
    /// First slot, round and length of each chain.
    chains: Vec<(u32, u32, u32)>,
}

impl Stranger {
    pub(crate) fn new(size: u32, features: Features) -> Self {
        let rig = Rig::new(size, features);
        let whole = region(&rig.rings);
        let part = |number: u64, offset: u64| GuestRegion {
            guest: GUEST + number * REGION,
            user: USER + number * 0x100_0000,
            len: REGION,
            mapping: whole.mapping.clone(),
            offset: offset as usize,
        };
        // The second region lies first in the file, so that what goes over the border goes elsewhere.
        let memory = GuestMemory::new(vec![part(0, REGION), part(1, 0)]).expect("a table");
        let rings = RingAddresses {
            desc: USER + DESC,
            avail: USER + DRIVER,
            used: USER + DEVICE,
            log: GUEST + DEVICE,
        };
        let setup = DeviceSetup {
            size,
            rings,
            base: first_base(features),
            features,
            memory: Arc::new(memory),
            call: None,
            log: None,
            copy: CopyKind::Auto,
            tally: Arc::new(Tally::default()),
            linear: false,
        };
        let caches = rig.caches();
        Self {
            rig,
            setup,
            packed: features.contains(Features::RING_PACKED),
            caches,
            slot: 0,
            round: 0,
            chains: Vec::new(),
        }
    }

    pub(crate) fn rx(&self) -> DeviceRx {
        DeviceRx::open(&self.setup, &self.rig.back).expect("a ring")
    }

    pub(crate) fn tx(&self) -> DeviceTx {
        DeviceTx::open(&self.setup).expect("a ring")
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.setup.tally
    }

    fn place(&self, guest: u64, len: usize) -> *mut u8 {
        let (number, offset) = ((guest - GUEST) / REGION, (guest - GUEST) % REGION);
        let at = if number == 0 { REGION } else { 0 } + offset;
        let region = self.rig.rings.region();
        region.at(at as usize, len).expect("inside").as_ptr()
    }

    /// Writes a value at a guest address.
    pub(crate) fn put<T: Copy>(&self, guest: u64, value: T) {
        // SAFETY: inside the rig's memory, which only this thread touches.
        unsafe {
            self.place(guest, size_of::<T>())
                .cast::<T>()
                .write_unaligned(value)
        };
    }

    /// Reads a value at a guest address.
    pub(crate) fn get<T: Copy>(&self, guest: u64) -> T {
        // SAFETY: as in `put`; tests read integers and arrays of them.
        unsafe {
            self.place(guest, size_of::<T>())
                .cast::<T>()
                .read_unaligned()
        }
    }

    /// Writes a descriptor by its number, as the layout has it.
    pub(crate) fn descriptor(&self, at: u64, address: u64, len: u32, flags: u16, other: u16) {
        self.put(at, address);
        self.put(at + 8, len);
        // Split: flags, next. Packed: id, flags.
        let (first, second) = if self.packed {
            (other, flags)
        } else {
            (flags, other)
        };
        self.put(at + 12, first);
        self.put(at + 14, second);
    }

    /// The guest address of a descriptor of the ring.
    pub(crate) fn slot_address(slot: u32) -> u64 {
        GUEST + DESC + 16 * u64::from(slot)
    }

    /// Makes a chain available: address, length and flags of each part; successors are added.
    pub(crate) fn offer(&mut self, parts: &[(u64, u32, u16)]) {
        let size = self.setup.size;
        let (head, round) = (self.slot, self.round);
        for (k, &(address, len, flags)) in parts.iter().enumerate() {
            let more = if k + 1 < parts.len() { NEXT } else { 0 };
            let (slot, next) = (self.slot, (self.slot + 1) % size);
            let own = if !self.packed {
                0
            } else if self.round.is_multiple_of(2) {
                AVAIL
            } else {
                USED
            };
            let other = if self.packed { head } else { next } as u16;
            let flags = flags | more | own;
            self.descriptor(Self::slot_address(slot), address, len, flags, other);
            self.slot = next;
            self.round += u32::from(next == 0);
        }
        if !self.packed {
            let index: u16 = self.get(GUEST + DRIVER + 2);
            let entry = u64::from(u32::from(index) % size);
            self.put(GUEST + DRIVER + 4 + 2 * entry, head as u16);
            self.put(GUEST + DRIVER + 2, index.wrapping_add(1));
        }
        self.chains.push((head, round, parts.len() as u32));
    }

    /// Sets the available index of a split ring.
    pub(crate) fn set_avail(&self, index: u16) {
        self.put(GUEST + DRIVER + 2, index);
    }

    /// What came back so far: id and length each, in order; of what is not overwritten yet.
    pub(crate) fn used(&self) -> Vec<(u32, u32)> {
        let size = self.setup.size;
        if !self.packed {
            let count: u16 = self.get(GUEST + DEVICE + 2);
            let entry = |k: u16| GUEST + DEVICE + 4 + 8 * u64::from(u32::from(k) % size);
            return (0..count)
                .map(|k| (self.get(entry(k)), self.get(entry(k) + 4)))
                .collect();
        }
        let mut used = Vec::new();
        for &(head, round, _) in &self.chains {
            let at = Self::slot_address(head);
            let flags: u16 = self.get(at + 14);
            let mine = if round.is_multiple_of(2) {
                AVAIL | USED
            } else {
                0
            };
            if flags & (AVAIL | USED) != mine {
                break;
            }
            used.push((u32::from(self.get::<u16>(at + 12)), self.get(at + 8)));
        }
        used
    }

    /// A packet's bytes with an empty header before them, at a guest address.
    pub(crate) fn frame(&self, at: u64, header: u32, len: u32) {
        for k in 0..u64::from(header) {
            self.put(at + k, 0_u8);
        }
        for k in 0..u64::from(len) {
            self.put(at + u64::from(header) + k, (k as u8) | 2);
        }
    }

    /// Receives one burst; the packets' bytes.
    pub(crate) fn receive(&mut self, rx: &mut DeviceRx) -> Vec<Vec<u8>> {
        let mut burst = Burst::new(32);
        rx.burst(&mut self.caches, &mut burst);
        let packets = burst.as_slice().iter().map(|packet| {
            let mut bytes = vec![0; packet.pkt_len() as usize];
            packet.copy_out(0, &mut bytes);
            bytes
        });
        let packets = packets.collect();
        self.caches.free(&mut burst);
        packets
    }

    /// Sends packets of these lengths; says how many were taken.
    pub(crate) fn send(&mut self, tx: &mut DeviceTx, lens: &[u16]) -> usize {
        let mut burst = Burst::new(32);
        for &len in lens {
            let before = burst.len();
            self.caches.alloc(self.rig.back.id(), 1, len, &mut burst);
            let packet = &mut burst.as_mut_slice()[before];
            packet.data_mut().expect("own").fill(2);
        }
        tx.burst(&mut self.caches, &mut burst);
        let taken = lens.len() - burst.len();
        self.caches.free(&mut burst);
        taken
    }

    /// The fault that opening the receiving side meets.
    pub(crate) fn refused(&self) -> RingFault {
        match DeviceRx::open(&self.setup, &self.rig.back) {
            Ok(_) => panic!("the ring was opened"),
            Err(fault) => fault,
        }
    }

    /// That all mbufs are free in the end.
    pub(crate) fn end(self) {
        drop(self.caches);
        self.rig.all_home();
    }
}

/// Both layouts with more features.
pub(crate) fn layouts(more: Features) -> [Features; 2] {
    let features = Features::VERSION_1 | more;
    [features, features | Features::RING_PACKED]
}
