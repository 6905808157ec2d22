//! Both rings against a queue that is obviously right, over random batches; every value counts its drops.
#![cfg(not(loom))]

use mpps_ring::{MpmcRing, spsc};
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// A value that must be dropped exactly once; `T: Send`, and not `Copy`.
struct Tracked {
    id: usize,
    drops: Arc<[AtomicU8]>,
}

impl Drop for Tracked {
    fn drop(&mut self) {
        let before = self.drops[self.id].fetch_add(1, Ordering::Relaxed);
        assert_eq!(before, 0, "value {} is dropped twice", self.id);
    }
}

/// Makes numbered values.
struct Mint {
    next: Cell<usize>,
    drops: Arc<[AtomicU8]>,
}

impl Mint {
    fn new() -> Self {
        Self {
            next: Cell::new(0),
            drops: (0..1 << 14).map(|_| AtomicU8::new(0)).collect(),
        }
    }

    fn value(&self) -> Tracked {
        let id = self.next.replace(self.next.get() + 1);
        Tracked {
            id,
            drops: Arc::clone(&self.drops),
        }
    }

    fn all_are_dropped(&self) -> bool {
        self.drops[..self.next.get()]
            .iter()
            .all(|drops| drops.load(Ordering::Relaxed) == 1)
    }
}

#[derive(Debug, Clone)]
enum Step {
    Push(usize),
    PushOne,
    Pop(usize),
    PopOne,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0_usize..40).prop_map(Step::Push),
        1 => Just(Step::PushOne),
        4 => (0_usize..40).prop_map(Step::Pop),
        1 => Just(Step::PopOne),
    ];
    prop::collection::vec(step, 0..200)
}

/// What both kinds of ring can do.
trait Ring {
    fn push(&mut self, src: &mut Vec<Tracked>) -> usize;
    fn push_one(&mut self, value: Tracked) -> Result<(), Tracked>;
    fn pop(&mut self, dst: &mut Vec<Tracked>) -> usize;
    fn pop_one(&mut self) -> Option<Tracked>;
    fn lens(&self) -> [usize; 2];
}

impl Ring for (mpps_ring::Producer<Tracked>, mpps_ring::Consumer<Tracked>) {
    fn push(&mut self, src: &mut Vec<Tracked>) -> usize {
        self.0.push(src)
    }
    fn push_one(&mut self, value: Tracked) -> Result<(), Tracked> {
        self.0.push_one(value)
    }
    fn pop(&mut self, dst: &mut Vec<Tracked>) -> usize {
        self.1.pop(dst)
    }
    fn pop_one(&mut self) -> Option<Tracked> {
        self.1.pop_one()
    }
    fn lens(&self) -> [usize; 2] {
        assert_eq!(self.0.room(), self.0.capacity() - self.0.len());
        [self.0.len(), self.1.len()]
    }
}

impl Ring for MpmcRing<Tracked> {
    fn push(&mut self, src: &mut Vec<Tracked>) -> usize {
        Self::push(self, src)
    }
    fn push_one(&mut self, value: Tracked) -> Result<(), Tracked> {
        Self::push_one(self, value)
    }
    fn pop(&mut self, dst: &mut Vec<Tracked>) -> usize {
        Self::pop(self, dst)
    }
    fn pop_one(&mut self) -> Option<Tracked> {
        Self::pop_one(self)
    }
    fn lens(&self) -> [usize; 2] {
        let len = self.len();
        assert_eq!(self.is_empty(), len == 0);
        [len; 2]
    }
}

fn ids(values: &[Tracked]) -> Vec<usize> {
    values.iter().map(|value| value.id).collect()
}

fn take_step(
    ring: &mut impl Ring,
    model: &mut VecDeque<usize>,
    capacity: usize,
    mint: &Mint,
    step: &Step,
) {
    let free = capacity - model.len();
    match *step {
        Step::Push(n) => {
            let mut burst: Vec<_> = (0..n).map(|_| mint.value()).collect();
            let mut expected = ids(&burst);
            let pushed = ring.push(&mut burst);
            assert_eq!(pushed, n.min(free));
            model.extend(expected.drain(..pushed));
            assert_eq!(ids(&burst), expected, "leftovers stay, in order");
        }
        Step::PushOne => {
            let value = mint.value();
            let id = value.id;
            match ring.push_one(value) {
                Ok(()) => model.push_back(id),
                Err(back) => assert_eq!((back.id, free), (id, 0)),
            }
        }
        Step::Pop(n) => {
            // Something is there already, and stays in front.
            let mut out = Vec::with_capacity(n + 1);
            out.push(mint.value());
            let room = out.capacity() - 1;
            let popped = ring.pop(&mut out);
            assert_eq!(popped, room.min(model.len()));
            assert_eq!(ids(&out[1..]), model.drain(..popped).collect::<Vec<_>>());
        }
        Step::PopOne => assert_eq!(ring.pop_one().map(|value| value.id), model.pop_front()),
    }
    assert_eq!(ring.lens(), [model.len(); 2]);
}

fn run(mut ring: impl Ring, capacity: usize, steps: &[Step]) {
    let (mint, mut model) = (Mint::new(), VecDeque::new());
    for step in steps {
        take_step(&mut ring, &mut model, capacity, &mint, step);
    }
    drop(ring);
    assert!(
        mint.all_are_dropped(),
        "values inside are dropped with the ring"
    );
}

proptest! {
    #[test]
    fn spsc_is_a_queue(capacity in 0_usize..70, steps in steps()) {
        run(spsc::<Tracked>(capacity), capacity, &steps);
    }

    #[test]
    fn mpmc_is_a_queue(capacity in 0_usize..70, steps in steps()) {
        run(MpmcRing::<Tracked>::new(capacity), capacity, &steps);
    }
}

#[test]
#[should_panic(expected = "address space")]
fn a_capacity_without_a_next_power_of_two_is_refused() {
    // Of values without a size, which an allocator would give any number of.
    let _ = MpmcRing::<()>::new(usize::MAX);
}

#[test]
fn a_ring_that_no_memory_holds_is_an_error() {
    assert!(MpmcRing::<u64>::try_new(1 << 60).is_err());
    let ring = MpmcRing::try_new(3).unwrap();
    assert_eq!(ring.push(&mut vec![1, 2, 3, 4]), 3);
    assert_eq!(ring.pop_one(), Some(1));
}

#[test]
fn values_without_a_size_are_counted() {
    let (mut tx, mut rx) = spsc::<()>(3);
    assert_eq!(tx.push(&mut vec![(); 5]), 3);
    assert_eq!(tx.push_one(()), Err(()));
    let mut out = vec![];
    assert_eq!(rx.pop(&mut out), 3);
    assert_eq!(out.len(), 3);
}

#[test]
fn wrapped_batches_come_out_whole() {
    // Three slots are usable of four: the second batch lies in two pieces.
    let (mut tx, mut rx) = spsc::<String>(3);
    let text = |n: u32| n.to_string();
    for round in 0..50 {
        let mut batch: Vec<_> = (round..round + 3).map(text).collect();
        assert_eq!(tx.push(&mut batch), 3);
        assert_eq!(tx.room(), 0);
        let mut out = Vec::with_capacity(8);
        assert_eq!(rx.pop(&mut out), 3);
        assert_eq!(out, (round..round + 3).map(text).collect::<Vec<_>>());
    }
}
