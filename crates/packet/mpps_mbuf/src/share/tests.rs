//! Sharing: what clones carry with them, and what threads that hold shares of one packet may do at once.

use std::sync::atomic::{AtomicUsize, Ordering};

use mpps_shm::{MemoryConfig, PageSource};

use crate::{Caches, Mbuf, Pool, PoolConfig};

fn pool(size: u32) -> Pool {
    let config = PoolConfig {
        name: "shared".to_owned(),
        size,
        data_room: 256,
        cache_size: 0,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

fn filled(pool: &Pool, bytes: &[u8]) -> Mbuf {
    let mut mbuf = pool.alloc().unwrap();
    assert!(mbuf.append(bytes));
    mbuf
}

#[test]
fn a_clone_says_the_time_of_its_packet() {
    let pool = pool(4);
    let mut mbuf = filled(&pool, b"now");
    mbuf.set_timestamp(7);
    let clone = pool.share(&mut mbuf).unwrap();
    assert_eq!(clone.timestamp(), Some(7));
    drop((mbuf, clone));
    let mut fresh: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
    let clone = {
        fresh.pop();
        pool.share(&mut fresh[0]).unwrap()
    };
    assert_eq!(clone.timestamp(), None);
}

#[test]
fn a_packet_can_be_resized_once_its_clones_are_gone() {
    let pool = pool(4);
    let mut mbuf = filled(&pool, b"data");
    let clone = pool.share(&mut mbuf).unwrap();
    assert!(!mbuf.resize(2));
    drop(clone);
    assert!(mbuf.resize(2));
    assert_eq!(mbuf.data(), b"da");
}

#[test]
fn a_pool_that_runs_dry_half_way_leaves_the_packet_as_it_was() {
    let pool = pool(5);
    let mut head = filled(&pool, b"a");
    head.chain(filled(&pool, b"b")).unwrap();
    head.chain(filled(&pool, b"c")).unwrap();
    assert!(pool.share(&mut head).is_none());
    assert_eq!(pool.free_count(), 2);
    assert_eq!(head.data_mut().unwrap(), b"a");
    drop(head);
    assert_eq!(pool.free_count(), 5);
}

/// The owners of packets change them while another thread drops clones of them. For a thread sanitizer most of all.
#[test]
fn owners_on_two_threads_do_not_meet_in_a_header() {
    let pool = pool(300);
    let mut packets: Vec<_> = (0..100).map(|_| filled(&pool, b"shared")).collect();
    let clones: Vec<_> = packets
        .iter_mut()
        .map(|packet| pool.share(packet).unwrap())
        .collect();
    let tails: Vec<_> = (0..100).map(|_| filled(&pool, b"tail")).collect();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for clone in clones {
                assert_eq!(clone.data(), b"shared");
            }
        });
        for (packet, tail) in packets.iter_mut().zip(tails) {
            packet.set_timestamp(1);
            packet.chain(tail).unwrap();
            if let Some(data) = packet.data_mut() {
                data.fill(b'x');
            }
        }
        drop(packets);
    });
    assert_eq!(pool.free_count(), 300);
}

/// What each byte of a segment says of the others: a buffer that is used again too early gives itself away.
fn check(packet: &Mbuf) {
    for data in packet.segments_data() {
        assert!(data.iter().all(|byte| *byte == data[0]), "{data:?}");
    }
}

/// One lcore of many that make, share, chain, swap and free packets of two pools.
fn churn(pools: &[Pool; 2], ring: &mpps_ring::MpmcRing<Mbuf>, seed: u32) {
    let mut caches = Caches::new(&pools[..1]);
    let mut held: Vec<Mbuf> = Vec::new();
    let mut random = seed;
    for _ in 0..20_000 {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (step, pool) = (random >> 28, &pools[(random >> 27 & 1) as usize]);
        let last = held.pop();
        match (step, last) {
            (0..4, last) => {
                held.extend(last);
                if let Some(mut mbuf) = caches.alloc_one(pool.id()).or_else(|| pool.alloc()) {
                    assert!(mbuf.append(&[random as u8; 20]));
                    held.push(mbuf);
                }
            }
            (4..7, Some(mut last)) => {
                held.extend(pool.share(&mut last));
                held.push(last);
            }
            (7, Some(mut last)) => {
                if let Some(tail) = held.pop() {
                    last.chain(tail).unwrap();
                }
                held.push(last);
            }
            (8, Some(mut last)) => {
                if let Some(data) = last.data_mut() {
                    data.fill(random as u8);
                }
                held.push(last);
            }
            (9..12, Some(last)) => held.extend(ring.push_one(last).err()),
            (12..14, last) => {
                held.extend(last);
                held.extend(ring.pop_one());
            }
            (14, Some(last)) => drop(last),
            (_, Some(last)) => caches.free_one(last),
            (_, None) => {}
        }
        held.last().into_iter().for_each(check);
    }
    held.iter().for_each(check);
    held.into_iter().for_each(|packet| caches.free_one(packet));
}

#[test]
fn lcores_that_share_chain_and_swap_lose_nothing() {
    let pools = [pool(200), pool(100)];
    let ring = mpps_ring::MpmcRing::new(32);
    // The scope's own join is in the standard library, where a sanitizer doesn't look.
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for seed in 0..3 {
            let (pools, ring, done) = (&pools, &ring, &done);
            scope.spawn(move || {
                churn(pools, ring, seed);
                done.fetch_add(1, Ordering::Release);
            });
        }
    });
    assert_eq!(done.load(Ordering::Acquire), 3);
    drop(ring);
    assert_eq!(pools.map(|pool| pool.free_count()), [200, 100]);
}
