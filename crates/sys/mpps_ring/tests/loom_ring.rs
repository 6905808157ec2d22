//! Every interleaving and every reordering that the memory model allows, for small rings:
//! `RUSTFLAGS="--cfg loom" cargo test -p mpps_ring --release --test loom_ring`.
//!
//! The slots are loom's checked cells, so a copy without happens-before fails, not only a wrong value. Values are loom's
//! `Arc`s where a lost or doubled one must be noticed: loom reports those that leak.
#![cfg(loom)]

use loom::sync::Arc;
use loom::thread;
use mpps_ring::{Counter, MpmcRing, spsc};

/// Loom begins with the order of the code and doesn't find every other one from there. Bodies are therefore run once as
/// they are and once with this thread's steps after those of the others.
fn both_ways(preemptions: usize, body: impl Fn(fn()) + Sync + Send + Copy + 'static) {
    model(preemptions, move || body(|| ()));
    model(preemptions, move || body(thread::yield_now));
}

fn model(preemptions: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(body);
}

#[test]
fn spsc_moves_batches_in_order() {
    for capacity in [1, 2, 3, 4] {
        model(4, move || {
            let (mut tx, mut rx) = spsc::<u32>(capacity);
            let producer = thread::spawn(move || {
                let mut batch = vec![0, 1, 2];
                let mut pushed = tx.push(&mut batch);
                batch.extend([3, 4]);
                pushed += tx.push(&mut batch);
                (pushed as u32, batch)
            });
            let mut out = Vec::with_capacity(8);
            rx.pop(&mut out);
            rx.pop(&mut out);
            let (pushed, left) = producer.join().unwrap();
            rx.pop(&mut out);
            assert_eq!(out, (0..pushed).collect::<Vec<_>>());
            assert_eq!(left, (pushed..5).collect::<Vec<_>>());
            assert!(rx.is_empty());
        });
    }
}

#[test]
fn spsc_slots_are_reused_and_what_is_inside_is_dropped() {
    model(4, || {
        let (mut tx, mut rx) = spsc::<Arc<u32>>(2);
        let consumer = thread::spawn(move || {
            let first = rx.pop_one().map(|value| *value);
            let second = rx.pop_one().map(|value| *value);
            assert!(first.is_none() || first == Some(0));
            assert!(second.is_none() || second == Some(u32::from(first.is_some())));
            assert!(rx.len() <= 2);
        });
        let mut batch: Vec<_> = (0..4).map(Arc::new).collect();
        tx.push(&mut batch);
        assert!(tx.room() <= 2);
        tx.push(&mut batch);
        drop((tx, batch));
        consumer.join().unwrap();
    });
}

#[test]
fn mpmc_two_producers_and_a_consumer() {
    for capacity in [2, 3, 4] {
        both_ways(2, move |later| {
            let ring = Arc::new(MpmcRing::<Arc<u32>>::new(capacity));
            let produce = |from: u32| {
                let ring = Arc::clone(&ring);
                thread::spawn(move || {
                    let mut batch = vec![Arc::new(from), Arc::new(from + 1)];
                    let pushed = ring.push(&mut batch);
                    (from..from + pushed as u32).collect::<Vec<_>>()
                })
            };
            let (a, b) = (produce(0), produce(10));
            let mut out = Vec::with_capacity(3);
            later();
            ring.pop(&mut out);
            assert!(ring.len() <= capacity);
            let mut pushed = a.join().unwrap();
            pushed.extend(b.join().unwrap());
            let mut rest = Vec::with_capacity(8);
            ring.pop(&mut rest);
            out.extend(rest);
            let mut values: Vec<u32> = out.iter().map(|value| **value).collect();
            assert!(
                values
                    .windows(2)
                    .all(|pair| pair[0] / 10 != pair[1] / 10 || pair[0] < pair[1])
            );
            values.sort_unstable();
            assert_eq!(values, pushed);
        });
    }
}

#[test]
fn mpmc_two_producers_and_two_consumers() {
    both_ways(2, |later| {
        let ring = Arc::new(MpmcRing::<u32>::new(2));
        let produce = |from: u32| {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                let mut batch = vec![from, from + 1];
                let pushed = ring.push(&mut batch);
                (from..from + pushed as u32).collect::<Vec<_>>()
            })
        };
        let (a, b) = (produce(0), produce(10));
        let other = Arc::clone(&ring);
        let consumer = thread::spawn(move || {
            let mut out = Vec::with_capacity(2);
            other.pop(&mut out);
            out
        });
        let mut out = Vec::with_capacity(8);
        later();
        ring.pop(&mut out);
        let mut pushed = [a.join().unwrap(), b.join().unwrap()].concat();
        out.extend(consumer.join().unwrap());
        ring.pop(&mut out);
        out.sort_unstable();
        pushed.sort_unstable();
        assert_eq!(out, pushed);
        assert!(ring.is_empty());
    });
}

/// A thread that sees another's reservation must not take an older index of the other side for a lapped ring.
#[test]
fn mpmc_refilled_while_others_look() {
    both_ways(3, |later| {
        let ring = Arc::new(MpmcRing::<u32>::new(1));
        ring.push_one(0).unwrap();
        let other = Arc::clone(&ring);
        let refill = thread::spawn(move || {
            let got = other.pop_one();
            let pushed = other.push_one(1).is_ok();
            (got, pushed)
        });
        later();
        let got = ring.pop_one();
        later();
        let pushed = ring.push_one(2).is_ok();
        let (other_got, other_pushed) = refill.join().unwrap();
        let out: Vec<u32> = [got, other_got, ring.pop_one(), ring.pop_one()]
            .into_iter()
            .flatten()
            .collect();
        assert_eq!(
            out.len(),
            1 + usize::from(pushed) + usize::from(other_pushed)
        );
        assert!(out.contains(&0));
    });
}

#[test]
fn mpmc_length_is_never_more_than_was_inside() {
    both_ways(4, |later| {
        let ring = Arc::new(MpmcRing::<u32>::new(4));
        let other = Arc::clone(&ring);
        let worker = thread::spawn(move || {
            for value in 0..2 {
                other.push_one(value).unwrap();
                assert_eq!(other.pop_one(), Some(value));
            }
        });
        later();
        assert!(ring.len() <= 2);
        worker.join().unwrap();
        assert_eq!(ring.len(), 0);
    });
}

#[test]
fn a_counter_is_seen_to_grow_and_ends_exact() {
    model(4, || {
        let counter = Arc::new(Counter::new());
        let writer = {
            let counter = Arc::clone(&counter);
            thread::spawn(move || {
                counter.add(2);
                counter.add(3);
            })
        };
        let (first, second) = (counter.get(), counter.get());
        assert!([0, 2, 5].contains(&first) && [0, 2, 5].contains(&second) && first <= second);
        writer.join().unwrap();
        assert_eq!(counter.get(), 5);
    });
}
