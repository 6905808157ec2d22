//! The driver's half against devices that lie: of each kind of lie one, as it stands in the ring.

use mpps_mbuf::{Burst, Caches};
use mpps_virtq::{DriverRx, DriverTx, Features, RingAddresses, RingFault};

use crate::made_device::{get, put};
use crate::rig::{CAPACITY, Rig, on_every_kind};
use crate::stranger::layouts;

const HEADER: u32 = 12;
const AVAIL: u16 = 1 << 7;
const USED: u16 = 1 << 15;
const SIZE: u32 = 64;

/// Where the device writes its used entries.
struct Liar {
    packed: bool,
    at: RingAddresses,
    written: u32,
}

impl Liar {
    fn new(rig: &Rig, at: RingAddresses) -> Self {
        Self {
            packed: rig.features.contains(Features::RING_PACKED),
            at,
            written: 0,
        }
    }

    /// Writes the next used entry, whatever it says.
    fn used(&mut self, id: u32, len: u32) {
        let (slot, round) = (self.written % SIZE, self.written / SIZE);
        self.entry(id, len, slot, round.is_multiple_of(2));
        self.written += 1;
        if !self.packed {
            put(self.at.used + 2, self.written as u16);
        }
    }

    fn entry(&self, id: u32, len: u32, slot: u32, even: bool) {
        if self.packed {
            let at = self.at.desc + 16 * u64::from(slot);
            put(at + 8, len);
            put(at + 12, id as u16);
            put(at + 14, if even { AVAIL | USED } else { 0 });
        } else {
            let at = self.at.used + 4 + 8 * u64::from(slot);
            put(at, id);
            put(at + 4, len);
        }
    }

    /// The header's bytes in the receive buffer that was posted as number `id`.
    fn header(&self, id: u32, buffers: u16) {
        let address: u64 = get(self.at.desc + 16 * u64::from(id));
        for k in 0..10 {
            put(address + k, 0_u8);
        }
        put(address + 10, buffers);
    }
}

/// A receive ring full of buffers, and the device.
fn receiving(features: Features) -> (Rig, Caches, DriverRx, Liar) {
    let rig = Rig::new(SIZE, features);
    let mut caches = rig.caches();
    let mut driver = DriverRx::open(&rig.driver(None)).expect("a ring");
    driver.fill(&mut caches);
    let liar = Liar::new(&rig, driver.addresses());
    (rig, caches, driver, liar)
}

/// A transmit ring with packets in it.
fn transmitting(features: Features, packets: usize) -> (Rig, Caches, DriverTx, Liar) {
    let rig = Rig::new(SIZE, features);
    let mut caches = rig.caches();
    let mut driver = DriverTx::open(&rig.driver(None)).expect("a ring");
    assert_eq!(send(&rig, &mut caches, &mut driver, packets), packets);
    let liar = Liar::new(&rig, driver.addresses());
    (rig, caches, driver, liar)
}

fn send(rig: &Rig, caches: &mut Caches, driver: &mut DriverTx, packets: usize) -> usize {
    let mut burst = Burst::new(32);
    caches.alloc(rig.front.id(), packets, 60, &mut burst);
    let moved = driver.burst(caches, &mut burst);
    caches.free(&mut burst);
    moved.packets
}

/// One burst; lengths of the packets.
fn receive(caches: &mut Caches, driver: &mut DriverRx) -> Vec<u32> {
    let mut burst = Burst::new(32);
    let moved = driver.burst(caches, &mut burst);
    let lens: Vec<u32> = burst.as_slice().iter().map(|p| p.pkt_len()).collect();
    assert_eq!(moved.packets, lens.len());
    caches.free(&mut burst);
    lens
}

/// That the ring has retired for what it was given, moves nothing, and that all mbufs come home.
fn retired(fault: Option<RingFault>, again: Option<RingFault>) {
    assert!(matches!(fault, Some(RingFault::Used { .. })), "{fault:?}");
    assert_eq!(fault, again);
}

fn numbers(features: Features) -> Vec<u32> {
    let mut numbers = vec![SIZE, SIZE + 1, 0x7fff, 0xffff];
    if !features.contains(Features::RING_PACKED) {
        numbers.extend([0x1_0000, 0x1_0001, u32::MAX]);
    }
    numbers
}

#[test]
fn x05_received_numbers_that_are_none() {
    for features in on_every_kind(layouts(Features::empty())) {
        for id in numbers(features) {
            let (rig, mut caches, mut driver, mut liar) = receiving(features);
            liar.header(0, 1);
            liar.used(0, HEADER + 60);
            liar.used(id, HEADER + 60);
            liar.used(1, HEADER + 60);
            assert_eq!(receive(&mut caches, &mut driver), [60]);
            let fault = driver.fault();
            assert!(receive(&mut caches, &mut driver).is_empty());
            retired(fault, driver.fault());
            drop((driver, caches));
            rig.all_home();
        }
    }
}

#[test]
fn x05_transmitted_numbers_that_are_none() {
    for features in on_every_kind(layouts(Features::empty())) {
        // Of pairs of descriptors only the first number is one of a packet.
        for id in [1_u32, 63].into_iter().chain(numbers(features)) {
            let (rig, mut caches, mut driver, mut liar) = transmitting(features, 1);
            liar.used(id, 0);
            assert_eq!(send(&rig, &mut caches, &mut driver, 0), 0);
            let fault = driver.fault();
            assert_eq!(send(&rig, &mut caches, &mut driver, 4), 0);
            retired(fault, driver.fault());
            drop((driver, caches));
            rig.all_home();
        }
    }
}

#[test]
fn a_buffer_that_comes_back_twice() {
    for features in on_every_kind(layouts(Features::empty())) {
        let (rig, mut caches, mut driver, mut liar) = receiving(features);
        liar.used(5, HEADER + 60);
        liar.used(5, HEADER + 61);
        assert_eq!(receive(&mut caches, &mut driver), [60]);
        retired(driver.fault(), driver.fault());
        drop((driver, caches));
        rig.all_home();

        let (rig, mut caches, mut driver, mut liar) = transmitting(features, 4);
        liar.used(0, 0);
        liar.used(0, 0);
        send(&rig, &mut caches, &mut driver, 0);
        retired(driver.fault(), driver.fault());
        drop((driver, caches));
        rig.all_home();
    }
}

#[test]
fn more_comes_back_than_was_posted() {
    let features = Features::VERSION_1;
    for ahead in on_every_kind([SIZE as u16 + 1, 0x8000, 0xffff]) {
        let (rig, mut caches, mut driver, liar) = receiving(features);
        put(liar.at.used + 2, ahead);
        assert!(receive(&mut caches, &mut driver).is_empty());
        assert!(matches!(driver.fault(), Some(RingFault::Index { .. })));
        drop((driver, caches));
        rig.all_home();
    }
    for ahead in on_every_kind([5, 0x8000, 0xffff]) {
        let (rig, mut caches, mut driver, liar) = transmitting(features, 4);
        put(liar.at.used + 2, ahead as u16);
        send(&rig, &mut caches, &mut driver, 1);
        assert!(matches!(driver.fault(), Some(RingFault::Index { .. })));
        assert_eq!(send(&rig, &mut caches, &mut driver, 1), 0);
        drop((driver, caches));
        rig.all_home();
    }
    // In a packed ring there is no index: what isn't out isn't looked at, whatever its flags say.
    let features = features | Features::RING_PACKED;
    let (rig, mut caches, mut driver, mut liar) = transmitting(features, 4);
    for id in 0..8 {
        liar.used(id, 0);
    }
    send(&rig, &mut caches, &mut driver, 0);
    assert_eq!(driver.fault(), None);
    drop((driver, caches));
    rig.all_home();
}

#[test]
fn lengths_that_no_buffer_has() {
    let plain = layouts(Features::empty());
    for features in on_every_kind(plain.into_iter().chain(layouts(Features::MRG_RXBUF))) {
        let room = HEADER + u32::from(CAPACITY);
        for len in [
            0,
            1,
            HEADER - 1,
            HEADER,
            room + 1,
            0x1_0000 + room,
            u32::MAX,
        ] {
            let (rig, mut caches, mut driver, mut liar) = receiving(features);
            for (id, len) in (0..).zip([room, len, HEADER + 1]) {
                liar.header(id, 1);
                liar.used(id, len);
            }
            // The one in the middle is dropped and counted, its buffer serves again.
            let whole = u32::from(CAPACITY);
            let packets = receive(&mut caches, &mut driver);
            assert_eq!((packets, driver.fault()), (vec![whole, 1], None), "{len}");
            assert_eq!(rig.front_tally.bad.get(), 1);
            drop((driver, caches));
            rig.all_home();
        }
    }
}

#[test]
fn numbers_of_buffers_that_can_not_be() {
    for features in on_every_kind(layouts(Features::MRG_RXBUF)) {
        let full = HEADER + u32::from(CAPACITY);
        // None at all is taken for one, by the first buffer's length.
        let (rig, mut caches, mut driver, mut liar) = receiving(features);
        for id in 0..2 {
            liar.header(id, 0);
            liar.used(id, if id == 0 { full } else { HEADER + 60 });
        }
        assert_eq!(
            receive(&mut caches, &mut driver),
            [u32::from(CAPACITY), 60],
            "none"
        );
        assert_eq!(driver.fault(), None);
        drop((driver, caches));
        rig.all_home();
        // More than there are in the ring.
        for buffers in [SIZE as u16 + 1, 0xffff] {
            let (rig, mut caches, mut driver, mut liar) = receiving(features);
            liar.header(0, buffers);
            liar.used(0, full);
            assert!(receive(&mut caches, &mut driver).is_empty());
            retired(driver.fault(), driver.fault());
            drop((driver, caches));
            rig.all_home();
        }
        // More than are used: the driver waits for them, and takes nothing twice.
        let (rig, mut caches, mut driver, mut liar) = receiving(features);
        liar.header(0, 3);
        liar.used(0, full);
        liar.used(1, full);
        assert!(receive(&mut caches, &mut driver).is_empty());
        liar.used(0, 9);
        assert!(receive(&mut caches, &mut driver).is_empty());
        retired(driver.fault(), driver.fault());
        drop((driver, caches));
        rig.all_home();
    }
}

#[test]
fn flags_of_another_round() {
    for features in on_every_kind([Features::VERSION_1 | Features::RING_PACKED]) {
        let (rig, mut caches, mut driver, mut liar) = receiving(features);
        for slot in 0..SIZE {
            // Used in a round that isn't this one, or half of it.
            liar.entry(slot, HEADER + 60, slot, false);
        }
        assert!(receive(&mut caches, &mut driver).is_empty());
        for slot in 0..SIZE {
            put(liar.at.desc + 16 * u64::from(slot) + 14, USED);
        }
        assert!(receive(&mut caches, &mut driver).is_empty());
        assert_eq!(driver.fault(), None);
        // Out of place: the first one isn't used, so none is.
        for slot in 1..SIZE {
            liar.entry(slot, HEADER + 60, slot, true);
        }
        assert!(receive(&mut caches, &mut driver).is_empty());
        liar.used(0, HEADER + 60);
        assert_eq!(receive(&mut caches, &mut driver).len(), 32);
        assert_eq!(driver.fault(), None);
        drop((driver, caches));
        rig.all_home();
    }
}
