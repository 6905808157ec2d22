//! The driver's half of both rings against a device that lies.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mpps_kernels::CopyKind;
use mpps_mbuf::{Burst, Caches, Pool};
use mpps_shm::Mapping;
use mpps_virtq::{
    DriverRx, DriverSetup, DriverTx, HeaderMark, Isa, Lent, Moved, RingAddresses, RingFault, Tally,
    driver_memory,
};

use super::hook::{Change, Hook};
use super::liar::{Liar, Window};
use super::packets::{Sums, features, make};
use super::pools;
use crate::input::Input;

/// Mbufs of each pool: sometimes fewer than a ring takes.
const MBUFS: u32 = 160;
/// Bytes of data of an mbuf.
const CAPACITY: u16 = 256;
/// The largest ring.
const MOST: u32 = 256;
/// Behind each ring's memory; must stay as it is.
const CANARY: usize = 4096;
const FILL: u8 = 0xa5;

/// What outlives an input.
struct Machine {
    ring: Mapping,
    lent: Pool,
    unlent: Pool,
}

impl Machine {
    fn new() -> Self {
        let pages = pools::pages();
        let len = driver_memory(MOST) + CANARY;
        let ring = pages.reserve("ring", len, None).expect("ring memory");
        ring.commit(0, ring.len()).expect("ring memory");
        Self {
            ring,
            lent: pools::pool("lent", MBUFS, CAPACITY),
            unlent: pools::pool("unlent", MBUFS, CAPACITY),
        }
    }

    fn canary(&self, size: u32) -> (Window, usize) {
        let start = self.ring.as_ptr().addr().get() + driver_memory(size);
        (Window::of(&self.ring, usize::MAX), start)
    }
}

/// A split ring in the hands of any device.
pub fn split_driver(data: &[u8]) {
    driver(data, false);
}

/// A packed ring in the hands of any device.
pub fn packed_driver(data: &[u8]) {
    driver(data, true);
}

/// A ring is made, filled and used while the device writes. Nothing is read or written outside of the ring's memory and
/// the buffers that were lent, no packet is longer than its buffer or comes twice, packets and counters agree, and all mbufs
/// come home.
fn driver(data: &[u8], packed: bool) {
    thread_local! {
        static MACHINE: RefCell<Machine> = RefCell::new(Machine::new());
    }
    MACHINE.with_borrow(|machine| {
        let mut input = Input::new(data);
        let changes = Change::read(&mut input);
        let told = Arc::new(AtomicU64::new(0));
        let mut session = Session::new(machine, &mut input, packed, &told);
        let (window, at) = machine.canary(session.setup.size);
        window.write(at, &[FILL; CANARY]);
        let hook = hook(machine, session.setup.size, &changes);
        if session.open().is_ok() {
            session.run(&mut input, &hook);
        }
        hook.lift();
        // Relaxed: one thread.
        session.sums.told = told.load(Ordering::Relaxed);
        session.end();
        assert_eq!(window.read::<CANARY>(at), [FILL; CANARY], "behind the ring");
    });
}

fn hook(machine: &Machine, size: u32, changes: &[Change]) -> Hook {
    let windows = || {
        [
            Window::of(&machine.ring, driver_memory(size)),
            Window::of(machine.lent.buffers(), usize::MAX),
        ]
    };
    let (readable, writable) = (windows(), windows());
    Hook::set(
        changes,
        move |at, len| readable.iter().any(|window| window.has(at, len)),
        move |at, bytes| writable.iter().for_each(|window| window.write(at, bytes)),
    )
}

/// The widest vectors that the CPU has, or those of 256 bits.
fn instructions(narrow: bool) -> Isa {
    match Isa::best() {
        Isa::Avx512(wide) if narrow => Isa::Avx2(wide.into()),
        best => best,
    }
}

/// One of a ring's sides.
enum Side {
    Closed,
    Rx(DriverRx),
    Tx(DriverTx),
}

impl Side {
    fn fault(&self) -> Option<RingFault> {
        match self {
            Self::Closed => None,
            Self::Rx(ring) => ring.fault(),
            Self::Tx(ring) => ring.fault(),
        }
    }
}

struct Session<'a> {
    machine: &'a Machine,
    setup: DriverSetup,
    transmits: bool,
    packed: bool,
    side: Side,
    liar: Option<Liar>,
    caches: Caches,
    out: Box<Burst>,
    sums: Sums,
}

impl<'a> Session<'a> {
    fn new(
        machine: &'a Machine,
        input: &mut Input<'_>,
        packed: bool,
        told: &Arc<AtomicU64>,
    ) -> Self {
        let kind = input.u8();
        let size = if packed {
            1 + u32::from(input.u8())
        } else {
            1 << input.below(9)
        };
        let memory = machine.ring.region().part(0, driver_memory(size));
        let told = Arc::clone(told);
        let setup = DriverSetup {
            size,
            features: features(input, packed),
            memory: memory.expect("the largest ring fits"),
            pool: machine.lent.id(),
            lent: Lent::new(vec![machine.lent.clone()]),
            kick: (kind & 1 != 0).then(|| -> mpps_virtq::Notifier {
                Arc::new(move || {
                    // Relaxed: one thread.
                    told.fetch_add(1, Ordering::Relaxed);
                    true
                })
            }),
            copy: CopyKind::Auto,
            mark: HeaderMark::fresh(),
            vector: (kind & 4 != 0).then(|| instructions(kind & 8 != 0)),
            groups: true,
            tally: Arc::new(Tally::default()),
        };
        Self {
            machine,
            setup,
            transmits: kind & 2 != 0,
            packed,
            side: Side::Closed,
            liar: None,
            caches: Caches::new(&[machine.lent.clone(), machine.unlent.clone()]),
            out: Burst::new(64),
            sums: Sums::default(),
        }
    }

    fn open(&mut self) -> Result<(), RingFault> {
        self.side = Side::Closed;
        let addresses: RingAddresses;
        if self.transmits {
            let tx = DriverTx::open(&self.setup)?;
            addresses = tx.addresses();
            self.side = Side::Tx(tx);
        } else {
            let mut rx = DriverRx::open(&self.setup)?;
            addresses = rx.addresses();
            rx.fill(&mut self.caches);
            self.side = Side::Rx(rx);
        }
        let (machine, size) = (self.machine, self.setup.size);
        self.liar = Some(Liar::new(
            Window::of(&machine.ring, driver_memory(size)),
            Window::of(machine.lent.buffers(), usize::MAX),
            self.packed,
            size,
            addresses,
        ));
        Ok(())
    }

    fn run(&mut self, input: &mut Input<'_>, hook: &Hook) {
        for _ in 0..64 {
            let (false, Some(liar)) = (input.is_empty(), &mut self.liar) else {
                break;
            };
            hook.restart();
            match input.below(16) {
                0..=5 => {
                    liar.take();
                    liar.give_back(input);
                }
                6 => liar.scribble(input),
                7 if input.once_in(4) => liar.advance(input.u16()),
                8 if input.once_in(4) => assert_eq!(self.open(), Ok(()), "once more"),
                _ => self.burst(input),
            }
        }
        hook.restart();
        self.burst(input);
    }

    fn burst(&mut self, input: &mut Input<'_>) {
        let fault = self.side.fault();
        let moved = match &mut self.side {
            Side::Closed => return,
            Side::Rx(rx) => {
                let kind = input.u8();
                self.out.set_limit(1 + usize::from(kind & 0x3f));
                let before = self.out.len();
                let moved = rx.burst(&mut self.caches, &mut self.out);
                let packets = &self.out.as_slice()[before..];
                let longest = self.setup.size * u32::from(CAPACITY + 12);
                self.sums.received(packets, moved, CAPACITY + 12, longest);
                // Sometimes kept, so that burst and pool are full.
                if kind & 0x40 == 0 {
                    self.caches.free(&mut self.out);
                }
                moved
            }
            Side::Tx(tx) => {
                let pools = [self.machine.lent.id(), self.machine.unlent.id()];
                let mut burst = Burst::new(64);
                make(input, &pools, &mut self.caches, &mut burst);
                let before = burst.len();
                let lost = self.setup.tally.too_long.get();
                let moved = tx.burst(&mut self.caches, &mut burst);
                let lost = self.setup.tally.too_long.get() - lost;
                let taken = (before - burst.len()) as u64;
                assert_eq!(taken, moved.packets as u64 + lost, "packets vanished");
                self.sums.packets += taken;
                self.caches.free(&mut burst);
                moved
            }
        };
        self.judge(fault, moved);
    }

    /// A ring that has retired moves nothing, and keeps to what it said.
    fn judge(&self, before: Option<RingFault>, moved: Moved) {
        let after = self.side.fault();
        if let Some(fault) = before {
            assert_eq!(after, Some(fault));
            assert_eq!(moved, Moved::default(), "after {fault}");
        }
    }

    fn end(mut self) {
        self.side = Side::Closed;
        self.caches.free(&mut self.out);
        drop(self.caches);
        for pool in [&self.machine.lent, &self.machine.unlent] {
            let name = &pool.config().name;
            assert_eq!(
                pool.free_count(),
                MBUFS as usize,
                "mbufs of {name} were lost"
            );
        }
        self.sums.compare(&self.setup.tally);
    }
}
