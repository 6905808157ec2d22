//! The hand-over of a wake-up between the two sides of a ring, in every interleaving and reordering that the memory model
//! allows: `RUSTFLAGS="--cfg loom" cargo test -p mpps_virtq --release --test loom_wakeup`.
//!
//! One side publishes an index and then reads what the other one wishes (a flag, or an event index); the other one writes
//! its wish and then reads the index before it goes to sleep. Between the store and the load on either side stands a full
//! fence (virtio 1.3, sections 2.7.13.4.1 and 2.8.21.3.1), as in `tell` of all four halves: without both of them, each side
//! may read what was there before the other one's store, and the sleeper sleeps for ever.
//!
//! A model of the protocol: the rings' own accesses are to memory of another process, which loom can't see into.
#![cfg(loom)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use loom::sync::Arc;
use loom::sync::atomic::{AtomicU16, Ordering, fence};
use loom::thread;

/// How the sleeper says that it wants to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    /// A flag, which is 1 as long as it is awake.
    Flag,
    /// The index behind which it wants to be told.
    Event,
}

/// Where fences stand; both, but for planted faults.
#[derive(Clone, Copy, Debug)]
struct Fences {
    publisher: bool,
    sleeper: bool,
}

const BOTH: Fences = Fences {
    publisher: true,
    sleeper: true,
};

/// Memory of the ring.
struct Ring {
    index: AtomicU16,
    flag: AtomicU16,
    event: AtomicU16,
    /// The eventfd: how often it was signalled.
    bell: AtomicU16,
}

/// Where the index begins: it goes over the end of 16 bits.
const START: u16 = 0xffff;

/// As `mpps_virtq` has it: whether an index that moved from `old` to `new` has passed the `event`.
fn passed(event: u16, new: u16, old: u16) -> bool {
    new.wrapping_sub(event).wrapping_sub(1) < new.wrapping_sub(old)
}

fn full_fence(stands: bool) {
    if stands {
        // Full: pairs with the one of the other side.
        fence(Ordering::SeqCst);
    }
}

/// Publishes `entries` one by one, and signals where that is wished.
fn publish(ring: &Ring, wish: Wish, entries: u16, fences: Fences) {
    for old in (0..entries).map(|n| START.wrapping_add(n)) {
        let new = old.wrapping_add(1);
        // Release: pairs with the sleeper's acquire of the index.
        ring.index.store(new, Ordering::Release);
        full_fence(fences.publisher);
        let wanted = match wish {
            // Relaxed, both: the fence orders them behind the index.
            Wish::Flag => ring.flag.load(Ordering::Relaxed) == 0,
            Wish::Event => passed(ring.event.load(Ordering::Relaxed), new, old),
        };
        if wanted {
            // Release: an eventfd orders what was written before.
            ring.bell.fetch_add(1, Ordering::Release);
        }
    }
}

/// Takes what there is, says that it wants to be told of more, looks once more; where it stands when it goes to sleep.
fn doze(ring: &Ring, wish: Wish, fences: Fences) -> u16 {
    let mut next = START;
    loop {
        match wish {
            // Relaxed, both: the fence orders the load of the index behind them.
            Wish::Flag => ring.flag.store(0, Ordering::Relaxed),
            Wish::Event => ring.event.store(next, Ordering::Relaxed),
        }
        full_fence(fences.sleeper);
        // Acquire: pairs with the publisher's release.
        let index = ring.index.load(Ordering::Acquire);
        if index == next {
            return next;
        }
        next = index;
    }
}

/// Whoever sleeps in front of something new has been told of it.
fn model(wish: Wish, fences: Fences) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(4);
    builder.check(move || {
        let ring = Arc::new(Ring {
            index: AtomicU16::new(START),
            flag: AtomicU16::new(1),
            // Long gone.
            event: AtomicU16::new(START.wrapping_sub(100)),
            bell: AtomicU16::new(0),
        });
        let theirs = Arc::clone(&ring);
        let publisher = thread::spawn(move || publish(&theirs, wish, 2, fences));
        let asleep_at = doze(&ring, wish, fences);
        publisher.join().unwrap();
        // Relaxed, both: the thread is joined.
        let index = ring.index.load(Ordering::Relaxed);
        let told = ring.bell.load(Ordering::Relaxed);
        assert!(
            asleep_at == index || told > 0,
            "asleep at {asleep_at} in front of {index}"
        );
    });
}

#[test]
fn a_sleeper_by_flag_is_woken() {
    model(Wish::Flag, BOTH);
}

#[test]
fn a_sleeper_by_event_index_is_woken() {
    model(Wish::Event, BOTH);
}

/// The model is itself tried: without either fence it finds the sleeper that nobody wakes.
#[test]
fn without_either_fence_a_wake_up_is_lost() {
    for wish in [Wish::Flag, Wish::Event] {
        for (publisher, sleeper) in [(false, true), (true, false), (false, false)] {
            let fences = Fences { publisher, sleeper };
            let found = catch_unwind(AssertUnwindSafe(|| model(wish, fences)));
            assert!(found.is_err(), "{wish:?} with {fences:?} loses nothing");
        }
    }
}
