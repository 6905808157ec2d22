//! The driver's half against the device's half: whatever sizes, segments, bursts and features, each packet arrives once, in
//! order, with its contents, and every mbuf comes home.

use std::collections::VecDeque;

use mpps_mbuf::{Burst, Caches};
use mpps_virtq::{DeviceRx, DeviceTx, DriverRx, DriverTx, Features};
use proptest::prelude::*;

use crate::rig::{CAPACITY, Odd, Rig, Spec, check, kinds, make, on_every_kind};

/// Packets on their way, by number.
#[derive(Default)]
struct Flow {
    specs: Vec<Spec>,
    sent: usize,
    underway: VecDeque<usize>,
    arrived: usize,
}

impl Flow {
    fn of(specs: Vec<Spec>) -> Self {
        Self {
            specs,
            ..Self::default()
        }
    }

    /// Fills a burst up with the next packets.
    fn load(&mut self, burst: &mut Burst, rig: &Rig, from_front: bool, caches: &mut Caches) {
        let lent = if from_front { &rig.front } else { &rig.back };
        while burst.room() > 0 && self.sent < self.specs.len() {
            let packet = make(
                caches,
                lent,
                &rig.unlent,
                self.specs[self.sent],
                self.sent as u32,
            );
            assert!(burst.push(packet).is_ok());
            self.underway.push_back(self.sent);
            self.sent += 1;
        }
    }

    /// Checks what arrived, and frees it.
    fn unload(&mut self, burst: &mut Burst, caches: &mut Caches) {
        for packet in burst.as_slice() {
            let number = self.underway.pop_front().expect("one that was sent");
            check(packet, self.specs[number], number as u32);
            self.arrived += 1;
        }
        caches.free(burst);
    }

    fn done(&self) -> bool {
        self.arrived == self.specs.len()
    }
}

/// Turns without progress after which a flow counts as stuck.
const PATIENCE: usize = 100;

/// Sends all through a transmit ring; the device side starts anew every `restart` turns where its base says.
fn to_device(rig: &Rig, specs: Vec<Spec>, bursts: (usize, usize), restart: usize) {
    let mut caches = rig.caches();
    let mut driver = DriverTx::open(&rig.driver(None)).expect("a ring");
    driver.bound(rig.bound);
    let mut setup = rig.device(driver.addresses(), None);
    let mut device = DeviceRx::open(&setup, &rig.back).expect("a ring");
    let (mut out, mut into) = (Burst::new(bursts.0), Burst::new(bursts.1));
    let mut flow = Flow::of(specs);
    let (mut turn, mut idle) = (0, 0);
    while !flow.done() {
        flow.load(&mut out, rig, true, &mut caches);
        driver.burst(&mut caches, &mut out);
        let before = flow.arrived;
        let moved = device.burst(&mut caches, &mut into);
        assert_eq!(moved.packets, into.len());
        flow.unload(&mut into, &mut caches);
        idle = if flow.arrived == before { idle + 1 } else { 0 };
        assert!(idle < PATIENCE, "stuck after {} packets", flow.arrived);
        assert_eq!((device.fault(), driver.fault()), (None, None));
        turn += 1;
        if turn % restart == 0 {
            setup.base = device.base();
            device = DeviceRx::open(&setup, &rig.back).expect("a ring");
        }
    }
    assert_eq!((out.len(), flow.underway.len()), (0, 0));
    driver.burst(&mut caches, &mut out);
}

/// Sends all through a receive ring.
fn to_driver(rig: &Rig, specs: Vec<Spec>, bursts: (usize, usize), restart: usize) {
    let mut caches = rig.caches();
    let mut driver = DriverRx::open(&rig.driver(None)).expect("a ring");
    driver.bound(rig.bound);
    driver.fill(&mut caches);
    let mut setup = rig.device(driver.addresses(), None);
    let mut device = DeviceTx::open(&setup).expect("a ring");
    let (mut out, mut into) = (Burst::new(bursts.0), Burst::new(bursts.1));
    let mut flow = Flow::of(specs);
    let (mut turn, mut idle) = (0, 0);
    while !flow.done() {
        flow.load(&mut out, rig, false, &mut caches);
        device.burst(&mut caches, &mut out);
        let before = flow.arrived;
        let moved = driver.burst(&mut caches, &mut into);
        assert_eq!(moved.packets, into.len());
        flow.unload(&mut into, &mut caches);
        // A ring with few free descriptors waits with its refill.
        driver.fill(&mut caches);
        idle = if flow.arrived == before { idle + 1 } else { 0 };
        assert!(idle < PATIENCE, "stuck after {} packets", flow.arrived);
        assert_eq!((device.fault(), driver.fault()), (None, None));
        turn += 1;
        if turn % restart == 0 {
            setup.base = device.base();
            device = DeviceTx::open(&setup).expect("a ring");
        }
    }
    assert_eq!((out.len(), flow.underway.len()), (0, 0));
}

fn features() -> impl Strategy<Value = Features> {
    let bits = [
        Features::RING_PACKED,
        Features::MRG_RXBUF,
        Features::IN_ORDER,
        Features::RING_INDIRECT_DESC,
        Features::RING_EVENT_IDX,
        Features::CSUM.union(Features::GUEST_CSUM),
        Features::VERSION_1,
    ];
    any::<[bool; 7]>().prop_map(move |chosen| {
        let on = bits.iter().zip(chosen).filter(|(_, on)| *on);
        on.map(|(bit, _)| *bit).collect()
    })
}

fn size(packed: bool) -> impl Strategy<Value = u32> {
    if packed {
        prop::sample::select(vec![1, 2, 3, 4, 31, 33, 100, 255, 256, 1000])
    } else {
        prop::sample::select(vec![2, 4, 8, 16, 32, 64, 256, 512])
    }
}

fn specs() -> impl Strategy<Value = Vec<Spec>> {
    let len = prop_oneof![4 => 1_u16..=CAPACITY, 1 => 1_u16..2000];
    let segments = prop_oneof![4 => Just(1_u16), 1 => 1_u16..20];
    let odd = prop_oneof![
        8 => Just(Odd::Plain),
        1 => Just(Odd::NoHeadroom),
        1 => Just(Odd::Unlent),
        1 => Just(Odd::Partial),
    ];
    let spec = (len, segments, odd).prop_map(|(len, segments, odd)| Spec { len, segments, odd });
    prop::collection::vec(spec, 0..600)
}

/// Cuts what a ring can't carry: a packet that fits no chain of it, a debt that wasn't negotiated.
fn trim(specs: &mut [Spec], most: u16, debts: bool) {
    for spec in specs {
        spec.len = spec.len.min(most);
        if spec.odd == Odd::Partial {
            spec.len = spec.len.max(64);
            if !debts {
                spec.odd = Odd::Plain;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(72))]

    #[test]
    fn transmit_rings_carry_everything(
        (features, size) in features().prop_flat_map(|features| {
            (Just(features), size(features.contains(Features::RING_PACKED)))
        }),
        mut specs in specs(),
        bursts in (1_usize..=64, 1_usize..=64),
        restart in 1_usize..20,
        vector in prop::sample::select(kinds()),
    ) {
        let segments = size.saturating_sub(1).clamp(1, 64) as u16;
        trim(&mut specs, segments * CAPACITY, features.contains(Features::CSUM));
        // A ring of one descriptor has no room for a header that isn't in the packet's headroom.
        let (one, indirect) = (size == 1, features.contains(Features::RING_INDIRECT_DESC));
        specs.retain(|spec| !(one && !indirect && spec.odd == Odd::Partial));
        let mut rig = Rig::new(size, features);
        rig.vector = vector;
        to_device(&rig, specs, bursts, restart);
        rig.all_home();
    }

    #[test]
    fn receive_rings_carry_everything(
        (features, size) in features().prop_flat_map(|features| {
            (Just(features), size(features.contains(Features::RING_PACKED)))
        }),
        mut specs in specs(),
        bursts in (1_usize..=64, 1_usize..=64),
        restart in 1_usize..20,
        vector in prop::sample::select(kinds()),
    ) {
        let mergeable = features.contains(Features::MRG_RXBUF);
        let buffers = if mergeable { size.min(64) as u16 } else { 1 };
        trim(&mut specs, buffers * CAPACITY, features.contains(Features::GUEST_CSUM));
        for spec in &mut specs {
            // What the device sends comes from a pool of its own.
            spec.odd = if spec.odd == Odd::Unlent { Odd::Plain } else { spec.odd };
        }
        let mut rig = Rig::new(size, features);
        rig.vector = vector;
        to_driver(&rig, specs, bursts, restart);
        rig.all_home();
    }
}

/// W-09: indirect tables and chains in the ring, each count of segments up to more than a table holds.
#[test]
fn w09_every_count_of_segments() {
    for packed in [Features::RING_PACKED, Features::empty()] {
        for indirect in [Features::RING_INDIRECT_DESC, Features::empty()] {
            let features = Features::VERSION_1 | packed | indirect;
            let rig = Rig::new(64, features);
            let specs = (1..=63)
                .map(|segments| Spec {
                    len: segments * 20,
                    segments,
                    odd: Odd::Plain,
                })
                .collect();
            to_device(&rig, specs, (32, 32), 7);
            rig.all_home();
        }
    }
}

/// A ring may have more descriptors than are posted at a time, and these go round all of it: a port that was asked for
/// fewer than `queue_size` (W-15).
#[test]
fn w15_fewer_buffers_than_descriptors() {
    let kinds = [Features::RING_PACKED, Features::empty()]
        .into_iter()
        .flat_map(|packed| [packed, packed | Features::IN_ORDER])
        .flat_map(|kind| [kind, kind | Features::MRG_RXBUF]);
    for kind in on_every_kind(kinds) {
        let mut rig = Rig::new(256, Features::VERSION_1 | kind);
        rig.bound = 64;
        let spec = |n: u16| Spec {
            len: 40 + n % 200,
            segments: 1 + u16::from(n.is_multiple_of(7)) * 20,
            odd: Odd::Plain,
        };
        to_device(&rig, (0..2000).map(spec).collect(), (32, 32), 7);
        to_driver(&rig, (0..2000).map(spec).collect(), (32, 32), 7);
        let mut caches = rig.caches();
        let mut driver = DriverRx::open(&rig.driver(None)).expect("a ring");
        driver.bound(rig.bound);
        driver.fill(&mut caches);
        let setup = rig.device(driver.addresses(), None);
        let mut device = DeviceTx::open(&setup).expect("a ring");
        for _ in 0..3 {
            let mut burst = Burst::new(256);
            caches.alloc(rig.back.id(), 256, 60, &mut burst);
            assert_eq!(
                device.burst(&mut caches, &mut burst).packets,
                64,
                "{kind:?}"
            );
            caches.free(&mut burst);
            assert_eq!(
                driver.burst(&mut caches, &mut burst).packets,
                64,
                "{kind:?}"
            );
            caches.free(&mut burst);
        }
        drop((driver, caches));
        rig.all_home();
    }
}

/// A chain that takes every descriptor of the ring is legal.
#[test]
fn x04_a_chain_as_long_as_the_ring() {
    for (size, packed) in [
        (255, Features::RING_PACKED),
        (64, Features::RING_PACKED),
        (64, Features::empty()),
    ] {
        let rig = Rig::new(size, Features::VERSION_1 | packed);
        let segments = size as u16 - 1;
        let spec = Spec {
            len: segments * 3,
            segments,
            odd: Odd::Plain,
        };
        to_device(&rig, vec![spec; 5], (2, 2), 3);
        rig.all_home();
    }
}

/// The largest ring, over its end.
#[test]
fn the_largest_ring_wraps() {
    for packed in on_every_kind([Features::RING_PACKED, Features::empty()]) {
        let features = Features::VERSION_1 | Features::IN_ORDER | packed;
        let rig = Rig::new(32_768, features);
        let spec = Spec {
            len: 60,
            segments: 1,
            odd: Odd::Plain,
        };
        to_device(&rig, vec![spec; 70_000], (32, 32), 999);
        to_driver(&rig, vec![spec; 70_000], (32, 32), 999);
        rig.all_home();
    }
}

/// A ring that is dropped with packets in it frees them.
#[test]
fn dropped_rings_free_what_they_hold() {
    for packed in [Features::RING_PACKED, Features::empty()] {
        let rig = Rig::new(64, Features::VERSION_1 | packed);
        let mut caches = rig.caches();
        let mut driver = DriverTx::open(&rig.driver(None)).expect("a ring");
        let mut burst = Burst::new(32);
        caches.alloc(rig.front.id(), 32, 60, &mut burst);
        assert_eq!(driver.burst(&mut caches, &mut burst).packets, 32);
        drop(driver);
        let mut driver = DriverRx::open(&rig.driver(None)).expect("a ring");
        driver.fill(&mut caches);
        drop((driver, caches));
        rig.all_home();
    }
}
