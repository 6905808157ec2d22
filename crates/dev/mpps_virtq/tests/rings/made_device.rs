//! The driver's half against a device written by hand, which uses buffers in an order and at times of its own.

use mpps_mbuf::{Burst, Caches, Mbuf};
use mpps_virtq::{DriverRx, DriverTx, Features, RingAddresses};

use crate::rig::{CAPACITY, Rig, on_every_kind};
use crate::stranger::{NEXT, WRITE, layouts};

const HEADER: usize = 12;
const AVAIL: u16 = 1 << 7;
const USED: u16 = 1 << 15;

/// A chain that the driver made available.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) id: u16,
    /// Address, length and flags.
    pub(crate) parts: Vec<(u64, u32, u16)>,
}

/// The device: where it reads and where it writes next.
pub(crate) struct Device {
    packed: bool,
    size: u16,
    at: RingAddresses,
    /// Split: indices. Packed: slots, each with the number of rounds.
    read: (u16, u16),
    written: (u16, u16),
}

impl Device {
    pub(crate) fn new(rig: &Rig, at: RingAddresses) -> Self {
        Self {
            packed: rig.features.contains(Features::RING_PACKED),
            size: rig.size as u16,
            at,
            read: (0, 0),
            written: (0, 0),
        }
    }

    fn go_on((slot, round): (u16, u16), by: u16, size: u16) -> (u16, u16) {
        let next = slot + by;
        if next < size {
            (next, round)
        } else {
            (next - size, round + 1)
        }
    }

    fn descriptor(&self, slot: u16) -> (u64, u32, u16, u16) {
        let at = self.at.desc + 16 * u64::from(slot);
        (get(at), get(at + 8), get(at + 12), get(at + 14))
    }

    /// The next chain, if there is one.
    pub(crate) fn next(&mut self) -> Option<Chain> {
        if self.packed {
            self.next_packed()
        } else {
            self.next_split()
        }
    }

    fn next_split(&mut self) -> Option<Chain> {
        let index = self.read.0;
        if get::<u16>(self.at.avail + 2) == index {
            return None;
        }
        let entry = u64::from(index % self.size);
        let id: u16 = get(self.at.avail + 4 + 2 * entry);
        let (mut parts, mut slot) = (Vec::new(), id);
        loop {
            let (address, len, flags, next) = self.descriptor(slot);
            parts.push((address, len, flags));
            if flags & NEXT == 0 {
                break;
            }
            slot = next;
        }
        self.read.0 = index.wrapping_add(1);
        Some(Chain { id, parts })
    }

    fn next_packed(&mut self) -> Option<Chain> {
        let mut parts = Vec::new();
        loop {
            let (address, len, id, flags) = self.descriptor(self.read.0);
            let own = if self.read.1.is_multiple_of(2) {
                AVAIL
            } else {
                USED
            };
            if flags & (AVAIL | USED) != own {
                assert!(parts.is_empty(), "half a chain was made available");
                return None;
            }
            parts.push((address, len, flags & !(AVAIL | USED)));
            self.read = Self::go_on(self.read, 1, self.size);
            if flags & NEXT == 0 {
                return Some(Chain { id, parts });
            }
        }
    }

    /// Says that a chain is used, with so many bytes written.
    pub(crate) fn finish(&mut self, chain: &Chain, len: usize) {
        let len = len as u32;
        if self.packed {
            let (slot, round) = self.written;
            let at = self.at.desc + 16 * u64::from(slot);
            put(at + 8, len);
            put(at + 12, chain.id);
            put(
                at + 14,
                if round.is_multiple_of(2) {
                    AVAIL | USED
                } else {
                    0
                },
            );
            self.written = Self::go_on(self.written, chain.parts.len() as u16, self.size);
        } else {
            let index = self.written.0;
            let at = self.at.used + 4 + 8 * u64::from(index % self.size);
            put(at, u32::from(chain.id));
            put(at + 4, len);
            self.written.0 = index.wrapping_add(1);
            put(self.at.used + 2, self.written.0);
        }
    }

    /// Uses a receive buffer: a header that says how many the packet takes, where this is the first, then bytes.
    pub(crate) fn fill(&mut self, chain: &Chain, buffers: Option<u16>, bytes: &[u8]) {
        assert_eq!(chain.parts.len(), 1);
        let (address, room, flags) = chain.parts[0];
        assert!(room as usize == usize::from(CAPACITY) + HEADER && flags == WRITE);
        let mut whole = Vec::new();
        if let Some(buffers) = buffers {
            whole.extend_from_slice(&[0; HEADER - 2]);
            whole.extend_from_slice(&buffers.to_le_bytes());
        }
        whole.extend_from_slice(bytes);
        for (at, byte) in (address..).zip(&whole) {
            put(at, *byte);
        }
        self.finish(chain, whole.len());
    }
}

pub(crate) fn get<T: Copy>(at: u64) -> T {
    // SAFETY: an address in a ring or a posted buffer of the rig, which is mapped as long as the rig; one thread.
    unsafe { std::ptr::with_exposed_provenance::<T>(at as usize).read_volatile() }
}

pub(crate) fn put<T: Copy>(at: u64, value: T) {
    // SAFETY: as in `get`; the driver has lent the memory to the device.
    unsafe { std::ptr::with_exposed_provenance_mut::<T>(at as usize).write_volatile(value) };
}

/// Something that looks like chance: the same each time.
fn chance(seed: &mut u64) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
    (*seed >> 33) as usize
}

fn receive(driver: &mut DriverRx, caches: &mut Caches) -> Vec<Vec<Vec<u8>>> {
    let mut burst = Burst::new(64);
    driver.burst(caches, &mut burst);
    assert_eq!(driver.fault(), None);
    let parts = |packet: &Mbuf| packet.segments_data().map(<[u8]>::to_vec).collect();
    let packets = burst.as_slice().iter().map(parts).collect();
    caches.free(&mut burst);
    packets
}

#[test]
fn w12_receive_buffers_come_back_in_any_order() {
    for features in on_every_kind(layouts(Features::MRG_RXBUF)) {
        for size in [
            64,
            if features.contains(Features::RING_PACKED) {
                50
            } else {
                128
            },
        ] {
            let rig = Rig::new(size, features);
            let mut caches = rig.caches();
            let mut driver = DriverRx::open(&rig.driver(None)).expect("a ring");
            driver.fill(&mut caches);
            let mut device = Device::new(&rig, driver.addresses());
            let (mut held, mut seed): (Vec<Chain>, u64) = (Vec::new(), 1);
            for round in 0..500_u32 {
                while let Some(chain) = device.next() {
                    let place = chain.parts[0].0;
                    let twice = |other: &Chain| other.id == chain.id || other.parts[0].0 == place;
                    assert!(!held.iter().any(twice), "{chain:?} is out twice");
                    held.push(chain);
                }
                let n = chance(&mut seed) % held.len().min(60);
                let mut sent = Vec::new();
                for k in 0..n {
                    let chain = held.swap_remove(chance(&mut seed) % held.len());
                    let bytes = vec![(round as usize + k) as u8; 20 + k];
                    device.fill(&chain, Some(1), &bytes);
                    sent.push(vec![bytes]);
                }
                assert_eq!(receive(&mut driver, &mut caches), sent);
            }
            drop((driver, caches));
            rig.all_home();
        }
    }
}

#[test]
fn w12_transmitted_packets_come_back_in_any_order() {
    for features in on_every_kind(layouts(Features::empty())) {
        let rig = Rig::new(64, features);
        let mut caches = rig.caches();
        let mut driver = DriverTx::open(&rig.driver(None)).expect("a ring");
        let mut device = Device::new(&rig, driver.addresses());
        let (mut held, mut seed): (Vec<(Chain, u8)>, u64) = (Vec::new(), 7);
        let (mut sent, mut seen) = (0_u8, 0_u8);
        for _ in 0..500 {
            let mut burst = Burst::new(20);
            caches.alloc(rig.front.id(), 20, 60, &mut burst);
            for (k, packet) in (0..).zip(burst.as_mut_slice()) {
                packet.data_mut().expect("own").fill(sent.wrapping_add(k));
            }
            sent = sent.wrapping_add(driver.burst(&mut caches, &mut burst).packets as u8);
            assert_eq!(driver.fault(), None);
            caches.free(&mut burst);
            while let Some(chain) = device.next() {
                held.push((chain, seen));
                seen = seen.wrapping_add(1);
            }
            assert_eq!(seen, sent);
            for _ in 0..chance(&mut seed) % held.len() {
                let (chain, number) = held.swap_remove(chance(&mut seed) % held.len());
                // As long as it isn't used, nobody else may have the buffer.
                let &(address, len, _) = chain.parts.last().expect("a part");
                let data = address + u64::from(len) - 60;
                assert!((data..data + 60).all(|at| get::<u8>(at) == number));
                device.finish(&chain, 0);
            }
        }
        drop((driver, caches));
        rig.all_home();
    }
}

#[test]
fn w10_a_header_of_its_own_has_a_successor() {
    for features in on_every_kind(layouts(Features::empty())) {
        let rig = Rig::new(64, features);
        let mut caches = rig.caches();
        let mut driver = DriverTx::open(&rig.driver(None)).expect("a ring");
        let mut device = Device::new(&rig, driver.addresses());
        for round in 0..100 {
            let mut packet = caches.alloc_one(rig.front.id()).expect("an mbuf");
            packet.prepend(128).expect("headroom");
            assert!(packet.resize(100 + round));
            let mut burst = Burst::new(1);
            burst.push(packet).expect("room");
            assert_eq!(driver.burst(&mut caches, &mut burst).packets, 1);
            let chain = device.next().expect("a chain");
            let (last, front) = chain.parts.split_last().expect("parts");
            assert!(!front.is_empty() && front.iter().all(|part| part.2 == NEXT));
            assert_eq!((front[0].1, last.2), (HEADER as u32, 0));
            let len: u32 = chain.parts.iter().map(|part| part.1).sum();
            assert_eq!(len, HEADER as u32 + u32::from(100 + round));
            device.finish(&chain, 0);
        }
        drop((driver, caches));
        rig.all_home();
    }
}

#[test]
fn w13_a_packet_whose_buffers_come_in_two_bursts() {
    for features in on_every_kind(layouts(Features::MRG_RXBUF)) {
        let rig = Rig::new(64, features);
        let mut caches = rig.caches();
        let mut driver = DriverRx::open(&rig.driver(None)).expect("a ring");
        driver.fill(&mut caches);
        let mut device = Device::new(&rig, driver.addresses());
        let full = |byte| vec![byte; usize::from(CAPACITY)];
        // The first buffer has the header, the others so much more of the packet.
        let more = |byte| vec![byte; usize::from(CAPACITY) + HEADER];
        for round in 0..200_u64 {
            let chains: Vec<Chain> = (0..3).map(|_| device.next().expect("posted")).collect();
            let parts = [full(1), more(2), vec![3; 5]];
            for (k, (chain, part)) in chains.iter().zip(&parts).enumerate() {
                assert!(receive(&mut driver, &mut caches).is_empty(), "{k} of 3");
                device.fill(chain, (k == 0).then_some(3), part);
            }
            assert_eq!(receive(&mut driver, &mut caches), [parts.to_vec()]);
            // One whose middle is empty is dropped as a whole, and the next one is sound.
            let chains: Vec<Chain> = (0..4).map(|_| device.next().expect("posted")).collect();
            device.fill(&chains[0], Some(3), &full(1));
            assert!(receive(&mut driver, &mut caches).is_empty());
            device.fill(&chains[1], None, &[]);
            device.fill(&chains[2], None, &[4; 9]);
            device.fill(&chains[3], Some(1), &[5; 60]);
            assert_eq!(receive(&mut driver, &mut caches), [vec![vec![5; 60]]]);
            assert_eq!(rig.front_tally.bad.get(), round + 1);
        }
        drop((driver, caches));
        rig.all_home();
    }
}
