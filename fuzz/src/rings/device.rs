//! The device's half of both rings over memory that a hostile driver writes.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mpps_kernels::CopyKind;
use mpps_mbuf::{Burst, Caches, Pool};
use mpps_shm::peer::DirtyLog;
use mpps_virtq::{DeviceRx, DeviceSetup, DeviceTx, Moved, Notifier, RingFault, first_base};

use super::arena::Arena;
use super::front::{FILE, Front, Place, places, table};
use super::hook::{Change, Hook};
use super::packets::{Sums, features, make};
use super::pools;
use crate::input::Input;

/// Few, so that they run out.
const MBUFS: u32 = 96;
/// Bytes of data of an mbuf.
const CAPACITY: u16 = 256;
/// The most that a ring takes over for one packet.
const LONGEST: u32 = 65_536 + 1024;
/// Bytes of the dirty log's file, and the two lengths that logs have.
const LOG: usize = 0x1000;
const LOGS: [usize; 2] = [LOG, 3];

/// What outlives an input.
struct Machine {
    arena: Rc<Arena>,
    logs: [Arena; 2],
    pool: Pool,
}

impl Machine {
    fn new() -> Self {
        Self {
            arena: Rc::new(Arena::new(FILE, FILE)),
            logs: LOGS.map(|len| Arena::new(LOG, len)),
            pool: pools::pool("device", MBUFS, CAPACITY),
        }
    }
}

/// Any split ring in any memory.
pub fn split_device(data: &[u8]) {
    device(data, false);
}

/// Any packed ring in any memory.
pub fn packed_device(data: &[u8]) {
    device(data, true);
}

/// The device's half gets what a front end may set up, and bursts are made while the front end writes. Nothing is read or
/// written outside of the regions, every page that was written is in the log, each burst ends, packets and counters agree,
/// and all mbufs come home.
fn device(data: &[u8], packed: bool) {
    thread_local! {
        static MACHINE: Machine = Machine::new();
    }
    MACHINE.with(|machine| {
        let mut input = Input::new(data);
        let changes = Change::read(&mut input);
        let places = places(&mut input);
        let ranges: Vec<_> = places.iter().map(Place::range).collect();
        machine.arena.reset(0xa5, &ranges);
        let caches = Caches::new(std::slice::from_ref(&machine.pool));
        let told = Arc::new(AtomicU64::new(0));
        let mut session = Session::new(machine, &mut input, places, packed, caches, &told);
        let hook = hook(machine, &session.front.places, &changes);
        if session.open().is_ok() {
            session.run(&mut input, &hook);
        }
        hook.lift();
        // Relaxed: one thread.
        session.sums.told = told.load(Ordering::Relaxed);
        session.end();
    });
}

/// Changes memory between loads, within the regions, and sees that no load is outside of them.
fn hook(machine: &Machine, places: &[Place], changes: &[Change]) -> Hook {
    let base = machine.arena.address();
    let ranges: Rc<[_]> = places.iter().map(Place::range).collect();
    let (arena, writable) = (Rc::clone(&machine.arena), Rc::clone(&ranges));
    let inside = move |at: usize, len: usize| {
        let at = at.wrapping_sub(base);
        ranges
            .iter()
            .any(|range| at >= range.start && at.saturating_add(len) <= range.end)
    };
    let write = move |at: usize, bytes: &[u8]| {
        let at = at.wrapping_sub(base);
        if let Some(range) = writable.iter().find(|range| range.contains(&at)) {
            arena.write(at, &bytes[..bytes.len().min(range.end - at)]);
        }
    };
    Hook::set(changes, inside, write)
}

/// One queue pair's worth of rings on the same memory.
struct Session<'a> {
    machine: &'a Machine,
    front: Front<'a>,
    setup: DeviceSetup,
    /// Which log, and whether the front end told where the used ring is for it.
    log: Option<(usize, bool)>,
    caches: Caches,
    out: Box<Burst>,
    rx: Option<DeviceRx>,
    tx: Option<DeviceTx>,
    sums: Sums,
}

/// How a notifier counts.
fn notifier(told: &Arc<AtomicU64>) -> Notifier {
    let told = Arc::clone(told);
    Arc::new(move || {
        // Relaxed: one thread.
        told.fetch_add(1, Ordering::Relaxed);
        true
    })
}

fn size(input: &mut Input<'_>, packed: bool) -> u32 {
    match input.u8() {
        byte @ 0..200 if packed => 1 + u32::from(byte),
        200..216 if packed => 255,
        byte @ 0..248 => 1 << (byte % 9),
        _ => input.u32(),
    }
}

impl<'a> Session<'a> {
    fn new(
        machine: &'a Machine,
        input: &mut Input<'_>,
        places: Vec<Place>,
        packed: bool,
        caches: Caches,
        told: &Arc<AtomicU64>,
    ) -> Self {
        let (size, features) = (size(input, packed), features(input, packed));
        let index = if input.once_in(3) {
            input.u16()
        } else {
            0x8000 & first_base(features) as u16
        };
        let memory = Arc::new(table(&places, &machine.arena));
        let front = Front::new(&machine.arena, places, packed, size, index);
        let (mut rings, mut base) = (front.rings(), front.base());
        let kind = input.u8();
        // Rarely anything at all in the place of a number.
        let mut log_known = true;
        match kind & 0xf0 {
            0x10 => rings.desc = rings.desc.wrapping_add(input.u64()),
            0x20 => rings.avail = rings.avail.wrapping_add(input.u64()),
            0x30 => rings.used = rings.used.wrapping_add(input.u64()),
            0x40 => (rings.log, log_known) = (input.u64(), false),
            0x50 => base = input.u32(),
            _ => {}
        }
        log_known &= kind & 0xf0 != 0x30;
        let log = (kind & 4 != 0).then_some((usize::from(kind >> 3 & 1), log_known));
        if let Some((number, _)) = log {
            machine.logs[number].reset(0, &[]);
        }
        let copy = CopyKind::NAMES[usize::from(input.u8()) % CopyKind::NAMES.len()].1;
        let setup = DeviceSetup {
            size,
            rings,
            base,
            features,
            memory,
            call: (kind & 1 != 0).then(|| notifier(told)),
            log: log
                .map(|(number, _)| Arc::new(DirtyLog::new(machine.logs[number].mapping.clone()))),
            copy,
            tally: Arc::default(),
            linear: kind & 2 != 0,
        };
        Self {
            machine,
            front,
            setup,
            log,
            caches,
            out: Burst::new(64),
            rx: None,
            tx: None,
            sums: Sums::default(),
        }
    }

    fn open(&mut self) -> Result<(), RingFault> {
        let opened = DeviceRx::open(&self.setup, &self.machine.pool)
            .and_then(|rx| Ok((rx, DeviceTx::open(&self.setup)?)));
        let (rx, tx) = opened.inspect_err(one_line)?;
        (self.rx, self.tx) = (Some(rx), Some(tx));
        Ok(())
    }

    fn run(&mut self, input: &mut Input<'_>, hook: &Hook) {
        let direction = input.u8();
        let write = direction & 1 != 0;
        for _ in 0..64 {
            if input.is_empty() {
                break;
            }
            hook.restart();
            match input.below(16) {
                0..=5 => self.front.offer(input, write ^ (direction & 0xf0 == 0xf0)),
                6 => self.front.scribble(input),
                7 => self.front.advance(input.u16()),
                8..=13 if write => self.send(input),
                8..=13 => self.receive(input),
                14 if direction & 2 != 0 => self.send(input),
                14 => self.receive(input),
                _ => self.reopen(),
            }
        }
        hook.restart();
        self.receive(input);
        hook.restart();
        self.send(input);
    }

    fn receive(&mut self, input: &mut Input<'_>) {
        let Some(rx) = &mut self.rx else { return };
        let kind = input.u8();
        self.out.set_limit(1 + usize::from(kind & 0x3f));
        let (before, fault) = (self.out.len(), rx.fault());
        let moved = rx.burst(&mut self.caches, &mut self.out);
        stays_so(fault, rx.fault(), moved);
        let room = if self.setup.linear {
            u32::from(CAPACITY)
        } else {
            LONGEST
        };
        let packets = &self.out.as_slice()[before..];
        self.sums.received(packets, moved, CAPACITY, room);
        // Sometimes kept, so that burst and pool are full.
        if kind & 0x40 == 0 {
            self.caches.free(&mut self.out);
        }
    }

    fn send(&mut self, input: &mut Input<'_>) {
        let Some(tx) = &mut self.tx else { return };
        let mut burst = Burst::new(64);
        make(
            input,
            &[self.machine.pool.id()],
            &mut self.caches,
            &mut burst,
        );
        let (before, fault) = (burst.len(), tx.fault());
        let lost = self.setup.tally.too_long.get();
        let moved = tx.burst(&mut self.caches, &mut burst);
        stays_so(fault, tx.fault(), moved);
        let lost = self.setup.tally.too_long.get() - lost;
        let taken = (before - burst.len()) as u64;
        assert_eq!(taken, moved.packets as u64 + lost, "packets vanished");
        self.sums.packets += taken;
        self.caches.free(&mut burst);
    }

    /// As a port does when the queue is disabled and enabled again: where the ring says that it stands, one can go on.
    fn reopen(&mut self) {
        let base = self.rx.as_ref().map_or(0, DeviceRx::base);
        (self.rx, self.tx) = (None, None);
        self.setup.base = base;
        let opened = self.open();
        assert_eq!(opened, Ok(()), "base {base:#x} can't be gone on from");
    }

    fn end(mut self) {
        (self.rx, self.tx) = (None, None);
        self.caches.free(&mut self.out);
        drop(self.caches);
        let free = self.machine.pool.free_count();
        assert_eq!(free, MBUFS as usize, "mbufs were lost");
        self.sums.compare(&self.setup.tally);
        let log = self
            .log
            .map(|(number, known)| (&self.machine.logs[number], LOGS[number], known));
        written(&self.machine.arena, &self.front.places, log);
    }
}

/// A ring that has retired moves nothing, and keeps to what it said.
fn stays_so(before: Option<RingFault>, after: Option<RingFault>, moved: Moved) {
    if let Some(fault) = before {
        assert_eq!(after, Some(fault));
        assert_eq!(moved, Moved::default(), "after {fault}");
    }
    after.iter().for_each(one_line);
}

fn one_line(fault: &RingFault) {
    let line = fault.to_string();
    assert!(!line.is_empty() && !line.contains(['\n', '\r']), "{line:?}");
}

/// Every byte that the device wrote is in a region, and its page in the log as far as that reaches.
fn written(arena: &Arena, places: &[Place], log: Option<(&Arena, usize, bool)>) {
    let mut pages = BTreeSet::new();
    for at in arena.changed() {
        let place = places.iter().find(|place| place.range().contains(&at));
        let place =
            place.unwrap_or_else(|| panic!("byte {at:#x} outside of {places:x?} was written"));
        pages.insert(place.guest.wrapping_add((at - place.file) as u64) >> 12);
    }
    let Some((log, len, known)) = log else { return };
    let marked = Cell::new(false);
    for page in pages.into_iter().filter(|_| known) {
        let byte = page >> 3;
        if byte < len as u64 {
            let [bits] = log.read::<1>(byte as usize);
            marked.set(bits >> (page & 7) & 1 != 0);
            assert!(marked.get(), "page {page:#x} was written and not marked");
        }
    }
    assert!(log.changed().iter().all(|at| *at < len), "beyond the log");
}
