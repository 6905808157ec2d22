//! Wrappers keep what the traits promise: order, leftovers, and every mbuf comes home.

mod proptests;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use mpps_cpu::Clock;
use mpps_mbuf::{Burst, Mbuf, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};

use super::{Call, Captured, Delay, Faults, Faulty, Traced};
use crate::{Lcore, LcoreId, RxQueue, TxQueue};

const SIZE: u32 = 4096;

fn bench() -> (Pool, Lcore) {
    let config = PoolConfig {
        name: "middleware".to_owned(),
        size: SIZE,
        data_room: 256,
        cache_size: 32,
        node: None,
    };
    let pages = PageSource::new(MemoryConfig::default()).unwrap();
    let pool = Pool::create(config, &pages).unwrap();
    let lcore = Lcore::new(LcoreId(0), std::slice::from_ref(&pool), Clock::kernel());
    (pool, lcore)
}

/// Packets that carry their number.
fn packets(pool: &Pool, numbers: std::ops::Range<u32>) -> Vec<Mbuf> {
    let packet = |n: u32| {
        let mut packet = pool.alloc().unwrap();
        assert!(packet.append(&n.to_be_bytes()));
        packet
    };
    numbers.map(packet).collect()
}

fn burst(packets: Vec<Mbuf>) -> Box<Burst> {
    let mut burst = Burst::new(512);
    for packet in packets {
        burst.push(packet).unwrap();
    }
    burst
}

fn number(packet: &Mbuf) -> u32 {
    u32::from_be_bytes(*packet.data().first_chunk().unwrap())
}

fn numbers(burst: &Burst) -> Vec<u32> {
    burst.as_slice().iter().map(number).collect()
}

/// Gives chosen packets.
struct Feed(VecDeque<Mbuf>);

impl RxQueue for Feed {
    fn rx_burst(&mut self, _: &mut Lcore, out: &mut Burst) -> usize {
        let n = out.room().min(self.0.len());
        for packet in self.0.drain(..n) {
            out.push(packet).unwrap();
        }
        n
    }
}

/// Takes at most `room` packets a call and keeps their numbers.
#[derive(Clone, Default)]
struct Keep {
    room: Arc<AtomicUsize>,
    got: Arc<Mutex<Vec<u32>>>,
}

impl TxQueue for Keep {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        // Relaxed: one thread.
        let n = self.room.load(Ordering::Relaxed).min(pkts.len());
        for _ in 0..n {
            let packet = pkts.pop_front().unwrap();
            self.got.lock().unwrap().push(number(&packet));
            lcore.free_one(packet);
        }
        n
    }
}

fn keep(room: usize) -> (Keep, Arc<Mutex<Vec<u32>>>) {
    let keep = Keep {
        room: Arc::new(room.into()),
        ..Keep::default()
    };
    let got = keep.got.clone();
    (keep, got)
}

fn home(pool: &Pool, lcore: Lcore) {
    drop(lcore);
    assert_eq!(pool.free_count(), SIZE as usize);
}

const FAULTS: Faults = Faults {
    seed: 7,
    drop: 100,
    refuse: 200,
    cut: 300,
};

/// Receives 1,000 packets through faults; returns what came, and the counts.
fn received(seed: u64) -> (Vec<Vec<u32>>, [u64; 3]) {
    let (pool, mut lcore) = bench();
    let feed = Feed(packets(&pool, 0..1000).into());
    let mut queue = Faulty::new(feed, Faults { seed, ..FAULTS });
    let counts = queue.counts();
    let (mut bursts, mut moved) = (Vec::new(), 0);
    while moved + (counts.dropped.get() as usize) < 1000 {
        let mut out = Burst::new(32);
        out.push(packets(&pool, 9999..10_000).pop().unwrap())
            .unwrap();
        let n = queue.rx_burst(&mut lcore, &mut out);
        assert_eq!((out.len(), out.limit()), (n + 1, 32));
        moved += n;
        bursts.push(numbers(&out)[1..].to_vec());
        lcore.free(&mut out);
    }
    drop(queue);
    home(&pool, lcore);
    (
        bursts,
        [&counts.dropped, &counts.refused, &counts.cut].map(mpps_ring::Counter::get),
    )
}

#[test]
fn faults_of_receiving_follow_the_seed_and_lose_nothing_unseen() {
    let (bursts, [dropped, refused, cut]) = received(7);
    let all: Vec<u32> = bursts.concat();
    assert!(all.is_sorted(), "order");
    assert_eq!(all.len() as u64 + dropped, 1000);
    assert!(
        dropped > 50 && refused > 3 && cut > 3,
        "{dropped} {refused} {cut}"
    );
    assert!(bursts.iter().any(Vec::is_empty));
    assert_eq!(received(7).0, bursts, "the same seed, the same faults");
    assert_ne!(received(8).0, bursts);
}

#[test]
fn faults_of_sending_leave_the_rest_in_order() {
    let (pool, mut lcore) = bench();
    let (keep, got) = keep(20);
    let mut queue = Faulty::new(keep, FAULTS);
    let counts = queue.counts();
    let mut pkts = burst(packets(&pool, 0..500));
    // A limit below what is in the burst: giving back must not depend on it.
    pkts.set_limit(32);
    while !pkts.is_empty() {
        let before = numbers(&pkts);
        let n = queue.tx_burst(&mut lcore, &mut pkts);
        assert_eq!(n + pkts.len(), before.len());
        assert_eq!(pkts.limit(), 32);
        let left = numbers(&pkts);
        assert!(left.is_sorted() && left.iter().all(|n| before.contains(n)));
    }
    let sent = got.lock().unwrap().clone();
    assert!(sent.is_sorted());
    assert_eq!(sent.len() as u64 + counts.dropped.get(), 500);
    assert!(counts.dropped.get() > 10 && counts.refused.get() > 0 && counts.cut.get() > 0);
    drop(queue);
    home(&pool, lcore);
}

#[test]
fn without_faults_nothing_changes() {
    let (pool, mut lcore) = bench();
    let none = Faults {
        drop: 0,
        refuse: 0,
        cut: 0,
        ..FAULTS
    };
    let mut rx = Faulty::new(Feed(packets(&pool, 0..100).into()), none);
    let mut pkts = Burst::new(512);
    assert_eq!(rx.rx_burst(&mut lcore, &mut pkts), 100);
    let (keep, got) = keep(512);
    assert_eq!(Faulty::new(keep, none).tx_burst(&mut lcore, &mut pkts), 100);
    assert_eq!(*got.lock().unwrap(), (0..100).collect::<Vec<_>>());
    home(&pool, lcore);
}

#[test]
fn received_packets_wait_so_many_calls_in_order() {
    let (pool, mut lcore) = bench();
    let mut queue = Delay::new(Feed(packets(&pool, 0..40).into()), 3);
    let mut calls = Vec::new();
    for limit in [10, 10, 10, 10, 4, 32, 32, 32] {
        let mut out = Burst::new(limit);
        assert_eq!(queue.rx_burst(&mut lcore, &mut out), out.len());
        calls.push(numbers(&out));
        lcore.free(&mut out);
    }
    // In by tens at calls 0 to 3, out three calls later; call 4 has room for 4 only.
    let want: Vec<Vec<u32>> = vec![
        vec![],
        vec![],
        vec![],
        (0..10).collect(),
        (10..14).collect(),
        (14..30).collect(),
        (30..40).collect(),
        vec![],
    ];
    assert_eq!(calls, want);
    drop(queue);
    home(&pool, lcore);
}

#[test]
fn sent_packets_wait_so_many_calls_in_order_and_go_home_at_the_end() {
    let (pool, mut lcore) = bench();
    let (keep, got) = keep(7);
    let mut queue = Delay::new(keep, 2);
    let mut pkts = burst(packets(&pool, 0..20));
    assert_eq!(queue.tx_burst(&mut lcore, &mut pkts), 20);
    assert_eq!(queue.held(), 20);
    for call in 1..5u32 {
        let mut pkts = burst(packets(&pool, 20 * call..20 * (call + 1)));
        assert_eq!(queue.tx_burst(&mut lcore, &mut pkts), 20);
        let sent = got.lock().unwrap().clone();
        assert_eq!(sent, (0..7 * call.saturating_sub(1)).collect::<Vec<_>>());
    }
    drop(queue);
    home(&pool, lcore);
}

#[test]
fn a_delay_that_is_full_leaves_the_rest() {
    let (pool, mut lcore) = bench();
    let (keep, got) = keep(0);
    let room = keep.room.clone();
    let mut queue = Delay::new(keep, 0);
    let mut taken = 0;
    for _ in 0..4 {
        let mut pkts = burst(packets(&pool, taken..taken + 400));
        let n = queue.tx_burst(&mut lcore, &mut pkts) as u32;
        assert_eq!(numbers(&pkts), (taken + n..taken + 400).collect::<Vec<_>>());
        taken += n;
        lcore.free(&mut pkts);
    }
    assert_eq!(taken, 512);
    // Relaxed: one thread.
    room.store(512, Ordering::Relaxed);
    queue.tx_burst(&mut lcore, &mut Burst::new(1));
    assert_eq!(*got.lock().unwrap(), (0..512).collect::<Vec<_>>());
    drop(queue);
    home(&pool, lcore);
}

#[test]
fn a_trace_has_the_last_calls_and_all_sums() {
    let (pool, mut lcore) = bench();
    let mut rx = Traced::new(Feed(packets(&pool, 0..50).into()), 2);
    let trace = rx.trace();
    let mut pkts = Burst::new(32);
    for _ in 0..3 {
        rx.rx_burst(&mut lcore, &mut pkts);
        lcore.free(&mut pkts);
    }
    let call = |offered, moved| Call { offered, moved };
    assert_eq!(trace.calls(), [call(32, 18), call(32, 0)]);
    assert_eq!(trace.totals(), (3, 50));
    let mut tx = Traced::new(keep(5).0, 10);
    let mut pkts = burst(packets(&pool, 0..8));
    for _ in 0..3 {
        tx.tx_burst(&mut lcore, &mut pkts);
    }
    assert_eq!(tx.trace().calls(), [call(8, 5), call(3, 3), call(0, 0)]);
    let none = Traced::new(keep(1).0, 0);
    assert!(none.trace().calls().is_empty());
    drop(rx);
    home(&pool, lcore);
}

#[test]
fn a_capture_sees_each_frame_once_over_all_segments() {
    let (pool, mut lcore) = bench();
    let frames = Mutex::new(Vec::new());
    let sink = |bytes: &[u8], len: u32| frames.lock().unwrap().push((bytes.to_vec(), len));
    let mut long = packets(&pool, 7..8).pop().unwrap();
    long.chain(packets(&pool, 8..9).pop().unwrap()).unwrap();
    let mut feed = packets(&pool, 1..3);
    feed.push(long);
    let mut rx = Captured::new(Feed(feed.into()), 6, sink);
    let mut pkts = Burst::new(32);
    pkts.push(packets(&pool, 0..1).pop().unwrap()).unwrap();
    assert_eq!(rx.rx_burst(&mut lcore, &mut pkts), 3);
    let expected = [
        (vec![0, 0, 0, 1], 4),
        (vec![0, 0, 0, 2], 4),
        (vec![0, 0, 0, 7, 0, 0], 8),
    ];
    assert_eq!(std::mem::take(&mut *frames.lock().unwrap()), expected);
    let mut tx = Captured::new(keep(3).0, 65_535, sink);
    assert_eq!(tx.tx_burst(&mut lcore, &mut pkts), 3);
    assert_eq!(frames.lock().unwrap().len(), 3, "not what is left over");
    assert_eq!(tx.tx_burst(&mut lcore, &mut pkts), 1);
    let last = frames.lock().unwrap().pop().unwrap();
    assert_eq!(last, (vec![0, 0, 0, 7, 0, 0, 0, 8], 8));
    home(&pool, lcore);
}

#[test]
fn wrappers_stack() {
    let (pool, mut lcore) = bench();
    let rx: Box<dyn RxQueue> = Box::new(Feed(packets(&pool, 0..300).into()));
    let faulty = Faulty::new(rx, FAULTS);
    let counts = faulty.counts();
    let mut rx: Box<dyn RxQueue> = Box::new(Traced::new(Delay::new(faulty, 4), 8));
    let mut all = Vec::new();
    for _ in 0..200 {
        let mut pkts = Burst::new(8);
        rx.rx_burst(&mut lcore, &mut pkts);
        all.extend(numbers(&pkts));
        lcore.free(&mut pkts);
    }
    assert!(all.is_sorted());
    assert_eq!(all.len() as u64 + counts.dropped.get(), 300);
    drop(rx);
    home(&pool, lcore);
}
