//! The driver's vector paths against its scalar path: the same traffic, honest or not, through each kind of driver makes the
//! same packets, counters, free descriptors and faults.

use mpps_mbuf::Burst;
use mpps_virtq::{DriverRx, DriverTx, Features, Isa, Moved};
use proptest::prelude::*;

use crate::made_device::{Chain, Device};
use crate::rig::{CAPACITY, Odd, Rig, Spec, kinds, make, on_every_kind};

/// What the device or the driver's user does next.
#[derive(Clone, Debug)]
enum Step {
    /// Uses so many buffers, each for a packet of this length or the next ones.
    Use(usize, usize),
    /// The same, the newest buffer first.
    Backwards(usize, usize),
    /// Uses so many buffers for one packet; where the ring has them.
    Merge(usize),
    /// Says that a buffer is used which may not be there, and how long it is.
    Lie(u16, u32),
    /// A burst of so many at most.
    Burst(usize),
}

/// All that can be seen of a driver from outside.
#[derive(Debug, Default, PartialEq)]
struct Trace {
    /// Length and bytes of what was received.
    packets: Vec<(u32, Vec<u8>)>,
    moved: Vec<Moved>,
    /// The numbers of buffers in the order in which they were made available.
    posted: Vec<u16>,
    counters: Vec<u64>,
    fault: Option<String>,
}

struct Session {
    device: Device,
    held: Vec<Chain>,
    trace: Trace,
    number: usize,
}

impl Session {
    fn new(device: Device) -> Self {
        Self {
            device,
            held: Vec::new(),
            trace: Trace::default(),
            number: 0,
        }
    }

    /// Looks at what was made available.
    fn look(&mut self) {
        while let Some(chain) = self.device.next() {
            self.trace.posted.push(chain.id);
            self.held.push(chain);
        }
    }

    fn fill(&mut self, chain: &Chain, buffers: Option<u16>, len: usize) {
        self.number += 1;
        let bytes: Vec<u8> = (0..len).map(|k| (self.number * 7 + k) as u8).collect();
        self.device.fill(chain, buffers, &bytes);
    }

    fn receive(&mut self, step: &Step, merge: bool) {
        match *step {
            Step::Use(n, len) => {
                for k in 0..n.min(self.held.len()) {
                    let chain = self.held.remove(0);
                    // Never full: that needs a look at the header, which is another step's.
                    self.fill(&chain, Some(1), 1 + (len + k / 3) % 200);
                }
            }
            Step::Backwards(n, len) => {
                for _ in 0..n {
                    let Some(chain) = self.held.pop() else {
                        break;
                    };
                    self.fill(&chain, Some(1), 1 + len % 200);
                }
            }
            Step::Merge(n) if merge && n <= self.held.len() => {
                for k in 0..n {
                    let chain = self.held.remove(0);
                    let head = (k == 0).then_some(n as u16);
                    let room = usize::from(CAPACITY) + if k == 0 { 0 } else { 12 };
                    self.fill(&chain, head, if k + 1 < n { room } else { 9 });
                }
            }
            Step::Merge(_) => {}
            Step::Lie(id, len) => {
                // A packed device has but as many places as are available.
                if let Some(chain) = self.held.pop() {
                    self.device.finish(&Chain { id, ..chain }, len as usize);
                }
            }
            Step::Burst(_) => unreachable!("the driver's"),
        }
    }

    fn end(mut self, rig: &Rig, fault: Option<mpps_virtq::RingFault>) -> Trace {
        let tally = &rig.front_tally;
        self.trace.counters = tally.sizes.iter().map(|size| size.get()).collect();
        let others = [
            &tally.multicast,
            &tally.broadcast,
            &tally.bad,
            &tally.no_mbuf,
            &tally.too_long,
        ];
        let others = others.into_iter().map(|counter| counter.get());
        self.trace.counters.extend(others);
        self.trace.fault = fault.map(|fault| fault.to_string());
        self.trace
    }
}

fn name(kind: Option<Isa>) -> Option<String> {
    kind.map(|isa| isa.to_string())
}

fn receive(kind: Option<Isa>, size: u32, features: Features, steps: &[Step]) -> Trace {
    let mut rig = Rig::new(size, features);
    rig.vector = kind;
    let mut caches = rig.caches();
    let mut driver = DriverRx::open(&rig.driver(None)).expect("a ring");
    if size >= 8 {
        assert_eq!(driver.path().vector.map(str::to_owned), name(kind));
    }
    driver.fill(&mut caches);
    let mut session = Session::new(Device::new(&rig, driver.addresses()));
    let merge = features.contains(Features::MRG_RXBUF);
    for step in steps {
        session.look();
        let Step::Burst(most) = *step else {
            session.receive(step, merge);
            continue;
        };
        let mut burst = Burst::new(most);
        let moved = driver.burst(&mut caches, &mut burst);
        session.trace.moved.push(moved);
        for packet in burst.as_slice() {
            let mut bytes = vec![0; packet.pkt_len() as usize];
            packet.copy_out(0, &mut bytes);
            session.trace.packets.push((packet.pkt_len(), bytes));
        }
        caches.free(&mut burst);
    }
    session.look();
    let trace = session.end(&rig, driver.fault());
    drop((driver, caches));
    rig.all_home();
    trace
}

/// What is sent between two looks of the device: so many packets, each `odd`th of which isn't simple.
fn transmit(kind: Option<Isa>, size: u32, features: Features, steps: &[Step], odd: usize) -> Trace {
    let mut rig = Rig::new(size, features);
    rig.vector = kind;
    let mut caches = rig.caches();
    let mut driver = DriverTx::open(&rig.driver(None)).expect("a ring");
    if size >= 8 {
        assert_eq!(driver.path().vector.map(str::to_owned), name(kind));
    }
    let mut session = Session::new(Device::new(&rig, driver.addresses()));
    let in_order = features.contains(Features::IN_ORDER);
    for step in steps {
        session.look();
        match *step {
            Step::Backwards(n, _) if !in_order => {
                for chain in session
                    .held
                    .drain(session.held.len().saturating_sub(n)..)
                    .rev()
                {
                    session.device.finish(&chain, 0);
                }
            }
            Step::Use(n, _) | Step::Backwards(n, _) => {
                for chain in session.held.drain(..n.min(session.held.len())) {
                    session.device.finish(&chain, 0);
                }
            }
            Step::Lie(id, len) => {
                if let Some(chain) = session.held.pop() {
                    session.device.finish(&Chain { id, ..chain }, len as usize);
                }
            }
            Step::Merge(_) => {}
            Step::Burst(most) => {
                let mut burst = Burst::new(most);
                for _ in 0..most {
                    session.number += 1;
                    let strange = session.number.is_multiple_of(odd);
                    let spec = Spec {
                        len: 20 + (session.number / 5 % 90) as u16,
                        segments: 1,
                        odd: if strange { Odd::NoHeadroom } else { Odd::Plain },
                    };
                    let number = session.number as u32;
                    let packet = make(&mut caches, &rig.front, &rig.unlent, spec, number);
                    assert!(burst.push(packet).is_ok());
                }
                let moved = driver.burst(&mut caches, &mut burst);
                session.trace.moved.push(moved);
                caches.free(&mut burst);
                session.look();
                let posted = session.held.iter().rev().take(moved.packets);
                let lens = posted.map(|chain| chain.parts.iter().map(|part| part.1).sum());
                let lens: Vec<u32> = lens.collect();
                let lens = lens.into_iter().map(|len| (len, Vec::new()));
                session.trace.packets.extend(lens);
            }
        }
    }
    session.look();
    let trace = session.end(&rig, driver.fault());
    drop((driver, caches));
    rig.all_home();
    trace
}

/// Steps; one in `lies` is a lie.
fn steps(lies: u32) -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        40 => (1_usize..40, 0_usize..200).prop_map(|(n, len)| Step::Use(n, len)),
        10 => (1_usize..20, 0_usize..200).prop_map(|(n, len)| Step::Backwards(n, len)),
        20 => (2_usize..5).prop_map(Step::Merge),
        lies => (
            prop_oneof![0_u16..300, any::<u16>()],
            prop_oneof![0_u32..600, any::<u32>()],
        ).prop_map(|(id, len)| Step::Lie(id, len)),
        60 => (1_usize..=64).prop_map(Step::Burst),
    ];
    prop::collection::vec(step, 1..80)
}

fn shapes() -> impl Strategy<Value = (u32, Features)> {
    let split = prop::sample::select(vec![4_u32, 8, 16, 64, 256]);
    let packed = prop::sample::select(vec![7_u32, 9, 33, 100, 255, 1000]);
    let split = split.prop_map(|size| (size, Features::VERSION_1));
    let packed = packed.prop_map(|size| (size, Features::VERSION_1 | Features::RING_PACKED));
    (prop_oneof![split, packed], any::<[bool; 2]>()).prop_map(|((size, mut features), on)| {
        features.set(Features::MRG_RXBUF, on[0]);
        features.set(Features::IN_ORDER, on[1]);
        (size, features)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(120))]

    #[test]
    fn vector_paths_receive_as_the_scalar_path_does(
        (size, features) in shapes(),
        steps in prop_oneof![2 => steps(0), 1 => steps(3)],
    ) {
        let oracle = receive(None, size, features, &steps);
        for kind in kinds().into_iter().skip(1) {
            prop_assert_eq!(&receive(kind, size, features, &steps), &oracle, "{:?}", kind);
        }
    }

    #[test]
    fn vector_paths_transmit_as_the_scalar_path_does(
        (size, features) in shapes(),
        steps in prop_oneof![2 => steps(0), 1 => steps(3)],
        odd in prop_oneof![Just(usize::MAX), 2_usize..40],
    ) {
        let oracle = transmit(None, size, features, &steps, odd);
        for kind in kinds().into_iter().skip(1) {
            let trace = transmit(kind, size, features, &steps, odd);
            prop_assert_eq!(&trace, &oracle, "{:?}", kind);
        }
    }
}

/// A packet of several buffers anywhere in a group, in rings that go over their end in the middle of one.
#[test]
fn a_packet_of_several_buffers_anywhere_in_a_group() {
    let shapes = [
        (64, Features::empty()),
        (255, Features::RING_PACKED),
        (1000, Features::RING_PACKED),
    ];
    for place in 0..9 {
        let round = [
            Step::Use(place, 40),
            Step::Merge(3),
            Step::Use(11, 60),
            Step::Burst(64),
        ];
        let steps: Vec<Step> = round.into_iter().cycle().take(4 * 100).collect();
        for (size, layout) in shapes {
            let features = Features::VERSION_1 | Features::MRG_RXBUF | layout;
            let oracle = receive(None, size, features, &steps);
            assert_eq!(oracle.packets.len(), 100 * (place + 12), "{size}");
            assert_eq!(oracle.fault, None);
            for kind in kinds() {
                assert_eq!(receive(kind, size, features, &steps), oracle, "{kind:?}");
            }
        }
    }
}

/// W-16: every counter moves with every packet, and nothing that is there is left in the ring, whatever the number of
/// packets is a multiple of.
#[test]
fn w16_all_counters_move_and_the_ring_is_drained() {
    for layout in on_every_kind([Features::empty(), Features::RING_PACKED]) {
        let rig = Rig::new(64, Features::VERSION_1 | layout);
        let mut caches = rig.caches();
        let mut driver = DriverRx::open(&rig.driver(None)).expect("a ring");
        driver.fill(&mut caches);
        let mut device = Device::new(&rig, driver.addresses());
        let (mut packets, mut bytes) = (0, 0);
        for n in (1..=32).cycle().take(320) {
            for k in 0..n {
                let chain = device.next().expect("posted");
                device.fill(&chain, Some(1), &[1; 60][..60 - k % 2]);
                bytes += 60 - k as u64 % 2;
            }
            packets += n as u64;
            let mut burst = Burst::new(64);
            let moved = driver.burst(&mut caches, &mut burst);
            assert_eq!((moved.packets, burst.len()), (n, n), "of {n}");
            bytes -= moved.bytes;
            caches.free(&mut burst);
            driver.fill(&mut caches);
        }
        assert_eq!(bytes, 0);
        assert_eq!(rig.front_tally.sizes[0].get(), packets);
        assert_eq!(rig.front_tally.multicast.get(), packets);
        drop((driver, caches));
        rig.all_home();
    }
}
