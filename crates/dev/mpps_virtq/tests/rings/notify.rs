//! Both halves signal when the other side asked for it, and then alone: by flags, and by event indices, over the end of the
//! ring and of 16 bits (virtio 1.3, sections 2.7.7, 2.7.10 and 2.8.10).
//!
//! What is right is worked out entry by entry, from a position that never wraps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mpps_mbuf::{Burst, Caches};
use mpps_virtq::{DeviceRx, DeviceTx, DriverRx, DriverTx, Features, Notifier, RingAddresses};

use crate::made_device::put;
use crate::rig::Rig;
use crate::stranger::{DATA, DEVICE, DRIVER, GUEST, Stranger, WRITE, layouts};

const SIZE: u32 = 64;
/// Packed: rings of a size that is no power of two as well.
const SIZES: [u32; 2] = [SIZE, 50];
/// Bursts; about three entries each, so that 16 bits wrap.
const BURSTS: u32 = 23_000;
const AT: u64 = GUEST + DATA;

/// What the other side asks for: the flags' word and the event's.
#[derive(Clone, Copy, Debug)]
struct Wish {
    flags: u16,
    event: u16,
}

/// What a side must do.
struct Model {
    packed: bool,
    event_idx: bool,
    size: u32,
    /// Entries, or descriptors, since the start.
    position: u32,
    /// Nothing was said yet; only an event index knows that.
    first: bool,
    seed: u64,
}

impl Model {
    fn new(features: Features, size: u32, position: u32) -> Self {
        Self {
            packed: features.contains(Features::RING_PACKED),
            event_idx: features.contains(Features::RING_EVENT_IDX),
            size,
            position,
            first: true,
            seed: 1,
        }
    }

    fn chance(&mut self, below: u32) -> u32 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005) + 1;
        (self.seed >> 33) as u32 % below
    }

    fn event(&self, position: u32) -> u16 {
        if self.packed {
            let wrap = (position / self.size).is_multiple_of(2);
            (position % self.size) as u16 | if wrap { 0x8000 } else { 0 }
        } else {
            position as u16
        }
    }

    /// A wish about what comes next.
    fn wish(&mut self) -> Wish {
        let near = if self.position as u16 > 0xfff8 {
            // Whichever burst goes over the end of 16 bits passes this one.
            self.position
        } else {
            (self.position + 6).saturating_sub(self.chance(12))
        };
        let flags = self.chance(if self.packed { 3 } else { 2 }) as u16;
        Wish {
            flags,
            event: self.event(near),
        }
    }

    /// Whether a run of entries is one to be told of. Goes on behind it.
    fn run(&mut self, entries: u32, wish: Wish) -> bool {
        let start = self.position;
        self.position += entries;
        let first = std::mem::take(&mut self.first);
        let passed = (start..self.position).any(|at| self.event(at) == wish.event);
        match (self.packed, self.event_idx, wish.flags) {
            (false, true, _) | (true, true, 2) => first || passed,
            (_, _, 1) => false,
            _ => true,
        }
    }

    /// Signals for `entries`, which are published at once but for the end of a packed ring.
    fn signals(&mut self, entries: u32, wish: Wish) -> u64 {
        let mut left = entries;
        let mut signals = 0;
        while left > 0 {
            let run = if self.packed {
                left.min(self.size - self.position % self.size)
            } else {
                left
            };
            signals += u64::from(self.run(run, wish));
            left -= run;
        }
        signals
    }
}

/// A notifier, and how often it was called since it was last asked.
pub(crate) struct Bell(Arc<AtomicU64>, u64);

impl Bell {
    pub(crate) fn new() -> Self {
        Self(Arc::default(), 0)
    }

    pub(crate) fn notifier(&self) -> Notifier {
        let count = Arc::clone(&self.0);
        Arc::new(move || {
            // Relaxed: one thread.
            count.fetch_add(1, Ordering::Relaxed);
            true
        })
    }

    pub(crate) fn rang(&mut self) -> u64 {
        // Relaxed: one thread.
        let now = self.0.load(Ordering::Relaxed);
        now - std::mem::replace(&mut self.1, now)
    }
}

/// Layouts with and without event indices, and the sizes that each can have.
fn kinds() -> Vec<(Features, u32)> {
    let features = [Features::empty(), Features::RING_EVENT_IDX];
    let features = features.into_iter().flat_map(layouts);
    let sizes = features.flat_map(|features| SIZES.map(|size| (features, size)));
    sizes
        .filter(|(features, size)| {
            size.is_power_of_two() || features.contains(Features::RING_PACKED)
        })
        .collect()
}

#[test]
fn the_device_signals_when_the_driver_asks_for_it() {
    for (features, size) in kinds() {
        for writes in [false, true] {
            let mut stranger = Stranger::new(size, features);
            let mut bell = Bell::new();
            stranger.setup.call = Some(bell.notifier());
            // A split ring that has been in use already.
            let start = if stranger.packed { 0 } else { 65_000 };
            if !stranger.packed {
                stranger.put(GUEST + DEVICE + 2, start as u16);
                stranger.set_avail(start as u16);
            }
            let mut model = Model::new(features, size, start);
            let (mut rx, mut tx) = (stranger.rx(), stranger.tx());
            stranger.frame(AT, 12, 60);
            for _ in 0..1000 {
                let n = 1 + model.chance(5);
                let wish = model.wish();
                ask_device(&stranger, wish);
                for _ in 0..n {
                    let flags = if writes { WRITE } else { 0 };
                    stranger.offer(&[(AT, 72, flags)]);
                }
                if writes {
                    let lens = vec![60; n as usize];
                    assert_eq!(stranger.send(&mut tx, &lens), n as usize);
                } else {
                    assert_eq!(stranger.receive(&mut rx).len(), n as usize);
                }
                let at = model.position;
                let expected = model.signals(n, wish);
                assert_eq!(
                    bell.rang(),
                    expected,
                    "{n} from {at}, {wish:x?}, {features:?}"
                );
            }
            let tally = stranger.tally();
            assert!(tally.notified.get() > 100 && tally.suppressed.get() > 100);
            stranger.end();
        }
    }
}

/// The driver's wish, in memory.
fn ask_device(stranger: &Stranger, wish: Wish) {
    if stranger.packed {
        stranger.put(GUEST + DRIVER, wish.event);
        stranger.put(GUEST + DRIVER + 2, wish.flags);
    } else {
        let event = GUEST + DRIVER + 4 + 2 * u64::from(stranger.setup.size);
        stranger.put(GUEST + DRIVER, wish.flags);
        stranger.put(event, wish.event);
    }
}

/// The device's wish, in memory.
fn ask_driver(model: &Model, at: RingAddresses, wish: Wish) {
    if model.packed {
        put(at.used, wish.event);
        put(at.used + 2, wish.flags);
    } else {
        put(at.used, wish.flags);
        put(at.used + 4 + 8 * u64::from(model.size), wish.event);
    }
}

fn fill(rig: &Rig, caches: &mut Caches, burst: &mut Burst, n: u32, front: bool) {
    let pool = if front { &rig.front } else { &rig.back };
    assert_eq!(caches.alloc(pool.id(), n as usize, 60, burst), n as usize);
}

#[test]
fn the_driver_signals_packets_when_the_device_asks_for_it() {
    for (features, size) in kinds() {
        let rig = Rig::new(size, features);
        let (mut caches, mut bell) = (rig.caches(), Bell::new());
        let setup = rig.driver(Some(bell.notifier()));
        let mut driver = DriverTx::open(&setup).expect("a ring");
        let at = driver.addresses();
        let mut device = DeviceRx::open(&rig.device(at, None), &rig.back).expect("a ring");
        let mut model = Model::new(features, size, 0);
        let mut burst = Burst::new(32);
        for _ in 0..BURSTS {
            let n = 1 + model.chance(5);
            let wish = model.wish();
            ask_driver(&model, at, wish);
            fill(&rig, &mut caches, &mut burst, n, true);
            assert_eq!(driver.burst(&mut caches, &mut burst).packets, n as usize);
            let position = model.position;
            let expected = model.signals(n, wish);
            let what = || format!("{n} from {position}, {wish:x?}, {features:?}");
            assert_eq!(bell.rang(), expected, "{}", what());
            assert_eq!(device.burst(&mut caches, &mut burst).packets, n as usize);
            caches.free(&mut burst);
        }
        assert!(model.position > 0x1_0000);
        drop((driver, device, caches));
        rig.all_home();
    }
}

#[test]
fn the_driver_signals_buffers_when_the_device_asks_for_it() {
    for (features, size) in kinds() {
        let rig = Rig::new(size, features);
        let (mut caches, mut bell) = (rig.caches(), Bell::new());
        let setup = rig.driver(Some(bell.notifier()));
        let mut driver = DriverRx::open(&setup).expect("a ring");
        driver.fill(&mut caches);
        assert!(bell.rang() > 0, "a device that asked for nothing special");
        let at = driver.addresses();
        let mut device = DeviceTx::open(&rig.device(at, None)).expect("a ring");
        let mut model = Model::new(features, size, size);
        model.first = false;
        let (mut burst, mut free) = (Burst::new(32), 0);
        for _ in 0..BURSTS {
            let n = 1 + model.chance(5);
            let wish = model.wish();
            ask_driver(&model, at, wish);
            fill(&rig, &mut caches, &mut burst, n, false);
            assert_eq!(device.burst(&mut caches, &mut burst).packets, n as usize);
            assert_eq!(driver.burst(&mut caches, &mut burst).packets, n as usize);
            caches.free(&mut burst);
            // Buffers are posted again by the batch.
            free += n;
            let (position, mut expected) = (model.position, 0);
            while free >= 32 {
                let to_end = size - model.position % size;
                let run = if model.packed { to_end.min(32) } else { 32 };
                expected += u64::from(model.run(run, wish));
                free -= run;
            }
            let what = || format!("{n} from {position}, {wish:x?}, {features:?}");
            assert_eq!(bell.rang(), expected, "{}", what());
        }
        assert!(model.position > 0x1_0000);
        drop((driver, device, caches));
        rig.all_home();
    }
}
