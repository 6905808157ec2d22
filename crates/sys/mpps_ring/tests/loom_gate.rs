//! The gate in every interleaving and reordering that the memory model allows:
//! `RUSTFLAGS="--cfg loom" cargo test -p mpps_ring --release --test loom_gate`.
//!
//! The state is a checked cell, so that use from both sides without happens-before fails, and holds a loom `Arc`, so
//! that a state that leaks or is freed twice does. The membarrier that stands behind the keeper's barrier on a real
//! machine is a full fence on both sides here, which is also the way taken where the kernel has none.
#![cfg(loom)]

use loom::cell::Cell;
use loom::sync::Arc;
use loom::thread;
use mpps_ring::{Poller, gate};

/// Counts its uses.
struct State {
    uses: Cell<u32>,
    freed_once: Arc<()>,
}

impl State {
    fn new(witness: &Arc<()>) -> Box<State> {
        Box::new(State {
            uses: Cell::new(0),
            freed_once: Arc::clone(witness),
        })
    }

    fn touch(&mut self) {
        self.uses.set(self.uses.get() + 1);
    }

    fn uses(&self) -> u32 {
        assert!(Arc::strong_count(&self.freed_once) > 0);
        self.uses.get()
    }
}

fn model(preemptions: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(body);
}

/// How many of `bursts` found the gate open.
fn poll(poller: &mut Poller<State>, bursts: u32) -> u32 {
    (0..bursts)
        .filter(|_| {
            let inside = poller.enter();
            inside.map(|mut state| state.touch()).is_some()
        })
        .count() as u32
}

#[test]
fn what_is_closed_is_the_keepers_alone() {
    model(4, || {
        let witness = Arc::new(());
        let mut keeper = gate::<State>();
        let mut poller = keeper.poller().unwrap();
        keeper.open(State::new(&witness));
        let polling = thread::spawn(move || poll(&mut poller, 2));
        let mut state = keeper.close().unwrap();
        state.touch();
        let uses = state.uses() - 1;
        assert!(!keeper.is_open());
        assert!(keeper.close().is_none());
        drop(state);
        assert_eq!(polling.join().unwrap(), uses);
        assert_eq!(Arc::strong_count(&witness), 1);
    });
}

#[test]
fn a_state_in_the_place_of_another_never_mixes_with_it() {
    model(3, || {
        let witness = Arc::new(());
        let mut keeper = gate::<State>();
        let mut poller = keeper.poller().unwrap();
        keeper.open(State::new(&witness));
        let polling = thread::spawn(move || poll(&mut poller, 2));
        let first = keeper.close().unwrap();
        keeper.open(State::new(&witness));
        let second = keeper.close().unwrap();
        let uses = first.uses() + second.uses();
        drop((first, second));
        assert_eq!(polling.join().unwrap(), uses);
    });
}

#[test]
fn exclusive_access_falls_between_two_bursts() {
    model(3, || {
        let witness = Arc::new(());
        let mut keeper = gate::<State>();
        let mut poller = keeper.poller().unwrap();
        keeper.open(State::new(&witness));
        let polling = thread::spawn(move || poll(&mut poller, 2));
        keeper.with(State::touch).unwrap();
        assert!(keeper.is_open());
        let found = polling.join().unwrap();
        // The poller is gone: nobody is waited for.
        assert_eq!(keeper.with(|state| state.uses()), Some(found + 1));
        drop(keeper);
        assert_eq!(Arc::strong_count(&witness), 1);
    });
}

#[test]
fn a_keeper_may_go_first() {
    model(4, || {
        let witness = Arc::new(());
        let mut keeper = gate::<State>();
        let mut poller = keeper.poller().unwrap();
        assert!(keeper.poller().is_none());
        keeper.open(State::new(&witness));
        let polling = thread::spawn(move || {
            poll(&mut poller, 1);
            poller
        });
        drop(keeper);
        assert_eq!(Arc::strong_count(&witness), 1);
        let mut poller = polling.join().unwrap();
        assert_eq!(poll(&mut poller, 1), 0);
    });
}

#[test]
fn a_poller_hands_its_count_to_the_next() {
    model(3, || {
        let witness = Arc::new(());
        let mut keeper = gate::<State>();
        let mut poller = keeper.poller().unwrap();
        keeper.open(State::new(&witness));
        let polling = thread::spawn(move || poll(&mut poller, 1));
        let next = keeper.poller();
        if let Some(mut next) = next {
            // The first one's burst is over when its poller is.
            assert_eq!(poll(&mut next, 1), 1);
            assert_eq!(keeper.close().unwrap().uses(), 2);
        }
        assert_eq!(polling.join().unwrap(), 1);
    });
}
