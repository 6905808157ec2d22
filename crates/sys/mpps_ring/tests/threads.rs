//! The rings under real threads: order, and nothing lost or doubled.
#![cfg(not(loom))]

use mpps_ring::{Counter, MpmcRing, SliceSink, SliceSource, spsc};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;

const VALUES: u64 = 400_000;

/// Batch sizes that don't divide the capacity, so that batches wrap and split.
fn size(round: u64) -> usize {
    [1, 7, 32, 5, 64, 13][(round % 6) as usize]
}

#[test]
fn spsc_keeps_the_order_between_threads() {
    let (mut tx, mut rx) = spsc::<u64>(100);
    let producer = thread::spawn(move || {
        let (mut next, mut round) = (0, 0);
        while next < VALUES {
            let end = (next + size(round) as u64).min(VALUES);
            let batch: Vec<u64> = (next..end).collect();
            let pushed = tx.push(&mut SliceSource::new(&batch));
            next += pushed as u64;
            round += 1;
            if pushed == 0 {
                thread::yield_now();
            }
        }
    });
    let (mut next, mut round) = (0, 0);
    while next < VALUES {
        let mut slots = [MaybeUninit::uninit(); 64];
        let mut sink = SliceSink::new(&mut slots[..size(round)]);
        let popped = rx.pop(&mut sink);
        for &value in &*sink.into_filled() {
            assert_eq!(value, next);
            next += 1;
        }
        round += 1;
        if popped == 0 {
            thread::yield_now();
        }
    }
    producer.join().unwrap();
    assert!(rx.is_empty());
    assert_eq!(rx.pop_one(), None);
}

/// Each producer's values carry its number above bit 32; boxed, so that a doubled one is a double free.
fn produce(ring: &MpmcRing<Box<u64>>, producer: u64) {
    let (mut batch, mut next, mut round) = (Vec::new(), 0, producer);
    while next < VALUES / 4 || !batch.is_empty() {
        while next < VALUES / 4 && batch.len() < size(round) {
            batch.push(Box::new(producer << 32 | next));
            next += 1;
        }
        round += 1;
        if ring.push(&mut batch) == 0 {
            thread::yield_now();
        }
    }
}

/// Counts what it gets, and checks that it sees each producer's values in order.
fn consume(ring: &MpmcRing<Box<u64>>, got: &AtomicUsize, sum: &AtomicU64) {
    let (mut last, mut round) = ([None; 2], 0);
    while got.load(Ordering::Relaxed) < VALUES as usize / 2 {
        let mut out = Vec::with_capacity(size(round));
        round += 1;
        let popped = ring.pop(&mut out);
        assert_eq!(popped, out.len());
        for value in out {
            let (producer, number) = ((*value >> 32) as usize, *value & u64::from(u32::MAX));
            assert!(
                last[producer] < Some(number),
                "{number} of producer {producer} after {last:?}"
            );
            last[producer] = Some(number);
            sum.fetch_add(number, Ordering::Relaxed);
        }
        got.fetch_add(popped, Ordering::Relaxed);
        if popped == 0 {
            thread::yield_now();
        }
    }
}

#[test]
fn mpmc_loses_and_doubles_nothing() {
    for capacity in [3, 100, 1000] {
        let ring = MpmcRing::new(capacity);
        let (got, sum) = (AtomicUsize::new(0), AtomicU64::new(0));
        thread::scope(|scope| {
            for producer in 0..2 {
                let ring = &ring;
                scope.spawn(move || produce(ring, producer));
                scope.spawn(|| consume(ring, &got, &sum));
            }
            while got.load(Ordering::Relaxed) < VALUES as usize / 2 {
                assert!(ring.len() <= capacity);
                thread::yield_now();
            }
        });
        let each = VALUES / 4;
        assert_eq!(got.into_inner() as u64, 2 * each);
        assert_eq!(sum.into_inner(), 2 * (each * (each - 1) / 2));
        assert!(ring.is_empty());
    }
}

#[test]
fn a_counter_read_meanwhile_only_grows() {
    let (counter, done) = (Counter::new(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..VALUES {
                counter.add(3);
            }
            done.store(true, Ordering::Release);
        });
        let mut last = 0;
        while !done.load(Ordering::Acquire) {
            let now = counter.get();
            assert!(now >= last && now % 3 == 0);
            last = now;
        }
    });
    assert_eq!(counter.get(), 3 * VALUES);
}

/// Resident memory of this process, in bytes.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = statm.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * 4096
}

#[cfg(target_os = "linux")]
#[test]
fn a_big_ring_is_resident_only_where_values_were() {
    const CAPACITY: usize = 8 << 20;
    let before = resident();
    let ring = MpmcRing::<usize>::new(CAPACITY);
    let (_tx, _rx) = spsc::<usize>(CAPACITY);
    assert_eq!(ring.push(&mut SliceSource::new(&[7; 1000])), 1000);
    let grown = resident().saturating_sub(before);
    // 128 MiB of slots; the other tests beside this one take a few.
    assert!(grown < 32 << 20, "{grown} bytes became resident");
    assert_eq!(ring.pop_one(), Some(7));
}
