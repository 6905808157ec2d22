//! The gate under real threads: membarrier instead of loom's fences, preemption instead of loom's choice.
#![cfg(not(loom))]

use mpps_ring::{Poller, gate};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const ROUNDS: u64 = 10_000;

/// Two words that a burst keeps equal, and that are scrubbed when freed.
struct State {
    first: Box<u64>,
    second: u64,
    alive: Arc<AtomicUsize>,
}

impl State {
    fn new(alive: &Arc<AtomicUsize>) -> Box<State> {
        alive.fetch_add(1, Ordering::Relaxed);
        Box::new(State {
            first: Box::new(0),
            second: 0,
            alive: Arc::clone(alive),
        })
    }

    fn step(&mut self) {
        assert_eq!(*self.first, self.second);
        for _ in 0..64 {
            *self.first += 1;
            std::hint::black_box(&mut self.first);
        }
        self.second += 64;
    }
}

impl Drop for State {
    fn drop(&mut self) {
        assert_eq!(*self.first, self.second);
        *self.first = u64::MAX;
        self.alive.fetch_sub(1, Ordering::Relaxed);
    }
}

fn poll_until(stop: &AtomicBool, poller: &mut Poller<State>) -> u64 {
    let mut found = 0;
    while !stop.load(Ordering::Relaxed) {
        if let Some(mut state) = poller.enter() {
            state.step();
            found += 1;
        }
    }
    found
}

/// Opens, visits and closes while the other thread polls; every burst is found in the state it ran on.
fn churn(cpu: Option<usize>) {
    let alive = Arc::new(AtomicUsize::new(0));
    let stop = AtomicBool::new(false);
    let mut keeper = gate::<State>();
    let mut poller = keeper.poller().unwrap();
    let mut counted = 0;
    let found = thread::scope(|scope| {
        let (stop, poller) = (&stop, &mut poller);
        let polling = scope.spawn(move || {
            pin(cpu);
            poll_until(stop, poller)
        });
        scope.spawn(|| {
            pin(cpu);
            for round in 0..ROUNDS {
                keeper.open(State::new(&alive));
                if round % 3 == 0 {
                    keeper.with(State::step).unwrap();
                    counted -= 1;
                }
                if round % 4 != 0 {
                    // Ends in the middle of a burst of the other thread's, also where that is on this CPU.
                    thread::sleep(Duration::from_micros(1));
                }
                let state = keeper.close().unwrap();
                counted += i64::try_from(state.second / 64).unwrap();
                drop(state);
                assert_eq!(alive.load(Ordering::Relaxed), 0);
            }
            stop.store(true, Ordering::Relaxed);
        });
        polling.join().unwrap()
    });
    assert_eq!(i64::try_from(found).unwrap(), counted);
    assert!(found > ROUNDS, "{found} bursts");
}

fn pin(cpu: Option<usize>) {
    if let Some(cpu) = cpu {
        let mut only = CpuSet::new();
        only.set(cpu);
        sched_setaffinity(None, &only).unwrap();
    }
}

#[test]
fn ten_thousand_states_under_a_polling_thread() {
    churn(None);
}

/// The keeper runs only when the poller is off the CPU, often in the middle of a burst. A keeper that spun would need a
/// scheduler tick for each round.
#[test]
fn ten_thousand_states_with_both_threads_on_one_cpu() {
    let allowed = sched_getaffinity(None).unwrap();
    let cpu = (0..CpuSet::MAX_CPU)
        .find(|cpu| allowed.is_set(*cpu))
        .unwrap();
    churn(Some(cpu));
}

#[test]
fn nobody_polls() {
    let mut keeper = gate::<u32>();
    assert!(!keeper.is_open());
    assert!(keeper.close().is_none());
    assert!(keeper.with(|_| ()).is_none());
    keeper.open(Box::new(1));
    keeper.open(Box::new(2));
    assert_eq!(keeper.with(|state| std::mem::replace(state, 3)), Some(2));
    assert_eq!(keeper.close(), Some(Box::new(3)));
}

#[test]
fn one_poller_at_a_time() {
    let mut keeper = gate::<u32>();
    let mut first = keeper.poller().unwrap();
    assert!(keeper.poller().is_none());
    keeper.open(Box::new(1));
    assert_eq!(first.enter().as_deref(), Some(&1));
    drop(first);
    let mut second = keeper.poller().unwrap();
    assert_eq!(second.enter().as_deref(), Some(&1));
    assert!(keeper.is_open());
    drop(keeper);
    assert!(second.enter().is_none());
}

#[test]
fn a_burst_that_panics_has_ended() {
    let mut keeper = gate::<u32>();
    let mut poller = keeper.poller().unwrap();
    keeper.open(Box::new(1));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        let mut state = poller.enter().unwrap();
        *state = 2;
        panic!("on purpose");
    }));
    assert!(panicked.is_err());
    assert_eq!(keeper.close(), Some(Box::new(2)));
}

#[test]
fn a_visit_that_panics_closes() {
    let mut keeper = gate::<u32>();
    keeper.open(Box::new(1));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        keeper.with(|_| panic!("on purpose"));
    }));
    assert!(panicked.is_err());
    assert!(!keeper.is_open());
    keeper.open(Box::new(2));
    assert!(keeper.is_open());
}

/// A burst that is forgotten can no longer reach the state; the keeper waits for the poller's next step or its end.
#[test]
fn a_burst_that_is_forgotten_ends_at_the_next_step() {
    let mut keeper = gate::<u32>();
    let mut poller = keeper.poller().unwrap();
    keeper.open(Box::new(1));
    std::mem::forget(poller.enter().unwrap());
    std::mem::forget(poller.enter().unwrap());
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(5));
            drop(poller);
        });
        assert_eq!(keeper.close(), Some(Box::new(1)));
    });
    let mut poller = keeper.poller().unwrap();
    keeper.open(Box::new(2));
    assert_eq!(poller.enter().as_deref(), Some(&2));
}

#[test]
fn closing_waits_for_the_burst_asleep() {
    let mut keeper = gate::<u32>();
    let mut poller = keeper.poller().unwrap();
    keeper.open(Box::new(1));
    let began = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut state = poller.enter().unwrap();
            began.store(true, Ordering::Release);
            thread::sleep(Duration::from_millis(100));
            *state = 2;
        });
        while !began.load(Ordering::Acquire) {
            thread::yield_now();
        }
        let (start, cpu) = (Instant::now(), cpu_time());
        assert_eq!(keeper.close(), Some(Box::new(2)));
        assert!(start.elapsed() > Duration::from_millis(50));
        let spent = cpu_time() - cpu;
        assert!(spent < Duration::from_millis(25), "{spent:?}");
    });
}

/// CPU time of this thread.
fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(now).unwrap()
}
