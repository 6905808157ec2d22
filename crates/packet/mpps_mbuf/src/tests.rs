//! Pools, caches and packets: nothing is lost, nothing is shared by mistake.

use mpps_shm::{MemoryConfig, PageSource};
use proptest::prelude::*;

use crate::{Burst, CACHE_MAX, Caches, OffloadFlags, Pool, PoolConfig, PoolError, TxOffload};

fn pages() -> PageSource {
    PageSource::new(MemoryConfig::default()).unwrap()
}

fn pool_of(size: u32, data_room: u16, cache_size: u16) -> Pool {
    let config = PoolConfig {
        name: "test".to_owned(),
        size,
        data_room,
        cache_size,
        node: None,
    };
    Pool::create(config, &pages()).unwrap()
}

fn pool(size: u32) -> Pool {
    pool_of(size, 2176, 32)
}

fn filled(pool: &Pool, bytes: &[u8]) -> crate::Mbuf {
    let mut mbuf = pool.alloc().unwrap();
    assert!(mbuf.append(bytes));
    mbuf
}

#[test]
fn a_pool_gives_each_mbuf_once_and_takes_all_back() {
    let pool = pool(100);
    let all: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
    assert_eq!(all.len(), 100);
    let mut starts: Vec<_> = all.iter().map(|mbuf| mbuf.data().as_ptr().addr()).collect();
    starts.sort_unstable();
    assert!(
        starts.windows(2).all(|pair| pair[1] - pair[0] >= 2176),
        "buffers overlap"
    );
    assert_eq!(pool.free_count(), 0);
    drop(all);
    assert_eq!(pool.free_count(), 100);
}

#[test]
fn an_untouched_pool_carves_nothing() {
    let pool = pool(150_000);
    assert_eq!(pool.info().carved, 0);
    drop(pool.alloc().unwrap());
    assert_eq!(pool.info().carved, 1);
    assert_eq!(pool.free_count(), 150_000);
}

#[test]
fn priming_carves_ahead_and_no_more_than_there_is() {
    let pool = pool(100);
    pool.prime(60);
    assert_eq!((pool.info().carved, pool.free_count()), (60, 100));
    pool.prime(1000);
    assert_eq!((pool.info().carved, pool.free_count()), (100, 100));
}

#[test]
fn strides_are_an_odd_number_of_lines() {
    for room in [129, 192, 512, 2048, 2176, 9000, 65535] {
        assert_eq!(pool_of(4, room, 0).info().stride / 64 % 2, 1, "{room}");
    }
}

#[test]
fn caches_move_in_bulk_and_return_everything() {
    let pool = pool(2000);
    let mut caches = Caches::new(std::slice::from_ref(&pool));
    let mut burst = Burst::new(512);
    for round in 0..50 {
        assert_eq!(
            caches.alloc(pool.id(), 100 + round, 60, &mut burst),
            100 + round
        );
        assert!(
            burst
                .as_slice()
                .iter()
                .all(|mbuf| mbuf.pkt_len() == 60 && mbuf.headroom() == 128)
        );
        assert_eq!(caches.free(&mut burst), 60 * (100 + round as u64));
    }
    drop(caches);
    assert_eq!(pool.free_count(), 2000);
}

#[test]
fn a_dry_pool_gives_what_it_has() {
    let pool = pool(40);
    let mut caches = Caches::new(std::slice::from_ref(&pool));
    let mut burst = Burst::new(512);
    assert_eq!(caches.alloc(pool.id(), 100, 60, &mut burst), 40);
    assert_eq!(caches.alloc(pool.id(), 100, 60, &mut burst), 0);
    assert!(caches.alloc_one(pool.id()).is_none());
    caches.free(&mut burst);
    assert_eq!(caches.alloc(pool.id(), 40, 60, &mut burst), 40);
    drop(burst);
    drop(caches);
    assert_eq!(pool.free_count(), 40);
}

#[test]
fn the_largest_cache_and_burst_fit() {
    let pool = pool_of(4096, 256, CACHE_MAX as u16);
    let mut caches = Caches::new(std::slice::from_ref(&pool));
    let mut bursts: Vec<_> = (0..8).map(|_| Burst::new(512)).collect();
    for burst in &mut bursts {
        assert_eq!(caches.alloc(pool.id(), 512, 60, burst), 512);
    }
    for burst in &mut bursts {
        caches.free(burst);
    }
    drop(caches);
    assert_eq!(pool.free_count(), 4096);
}

#[test]
fn bursts_of_two_pools_go_home() {
    let (a, b) = (pool(300), pool(300));
    let mut caches = Caches::new(&[a.clone(), b.clone()]);
    let mut burst = Burst::new(512);
    caches.alloc(a.id(), 10, 60, &mut burst);
    caches.alloc(b.id(), 10, 60, &mut burst);
    assert_eq!(caches.free(&mut burst), 1200);
    drop(caches);
    assert_eq!((a.free_count(), b.free_count()), (300, 300));
}

#[test]
fn a_pool_without_cache_on_this_lcore_still_gets_its_mbufs() {
    let (known, stranger) = (pool(64), pool(64));
    let mut caches = Caches::new(std::slice::from_ref(&known));
    let mut burst = Burst::new(32);
    burst.push(stranger.alloc().unwrap()).unwrap();
    caches.free(&mut burst);
    assert_eq!(stranger.free_count(), 64);
}

#[test]
fn chains_count_copy_and_free() {
    let pool = pool(100);
    let mut head = filled(&pool, b"abc");
    head.chain(filled(&pool, b"")).unwrap();
    head.chain(filled(&pool, b"defg")).unwrap();
    assert_eq!(
        (head.segments(), head.pkt_len(), head.data_len()),
        (3, 7, 3)
    );
    let mut out = [0; 5];
    assert_eq!(head.copy_out(1, &mut out), 5);
    assert_eq!(&out, b"bcdef");
    assert_eq!(
        head.segments_data().collect::<Vec<_>>(),
        [b"abc".as_slice(), b"", b"defg"]
    );
    assert!(
        !head.append(b"x") && !head.resize(2),
        "a chain's lengths are not those of its head"
    );
    drop(head);
    assert_eq!(pool.free_count(), 100);
}

#[test]
fn a_chain_of_thousands_is_freed_in_a_loop() {
    let pool = pool_of(60_000, 256, 32);
    let mut head = filled(&pool, b"0");
    let mut middle = filled(&pool, b"1");
    for _ in 0..200 {
        middle.chain(filled(&pool, b"2")).unwrap();
    }
    head.chain(middle).unwrap();
    let mut caches = Caches::new(std::slice::from_ref(&pool));
    caches.free_one(head);
    drop(caches);
    assert_eq!(pool.free_count(), 60_000);
}

#[test]
fn clones_share_read_only_until_the_last_one_is_gone() {
    let pool = pool(10);
    let mut mbuf = filled(&pool, b"data");
    let clone = pool.share(&mut mbuf).unwrap();
    let mut second = pool.share(&mut mbuf).unwrap();
    let third = pool.share(&mut second).unwrap();
    assert_eq!(clone.data(), b"data");
    assert_eq!(clone.data().as_ptr(), mbuf.data().as_ptr());
    assert!(mbuf.data_mut().is_none() && second.data_mut().is_none() && mbuf.prepend(4).is_none());
    drop((clone, second));
    assert!(mbuf.data_mut().is_none(), "a clone of a clone shares too");
    drop(third);
    assert_eq!(mbuf.data_mut().unwrap(), b"data");
    drop(mbuf);
    assert_eq!(pool.free_count(), 10);
}

#[test]
fn a_parent_may_be_freed_before_its_clones() {
    let pool = pool(10);
    let mut mbuf = filled(&pool, b"head");
    mbuf.chain(filled(&pool, b"tail")).unwrap();
    let clone = pool.share(&mut mbuf).unwrap();
    drop(mbuf);
    assert_eq!(pool.free_count(), 6, "the shared data is kept");
    assert_eq!(
        clone.segments_data().collect::<Vec<_>>(),
        [b"head", b"tail"]
    );
    assert_eq!((clone.pkt_len(), clone.segments()), (8, 2));
    drop(clone);
    assert_eq!(pool.free_count(), 10);
    let fresh = pool.alloc().unwrap();
    assert_eq!(
        (fresh.segments(), fresh.buffer_len(), fresh.tailroom()),
        (1, 2176, 2048)
    );
}

#[test]
fn room_is_checked() {
    let pool = pool_of(4, 256, 0);
    let mut mbuf = filled(&pool, &[7; 100]);
    assert!(!mbuf.append(&[0; 29]) && mbuf.append(&[8; 28]));
    assert!(mbuf.prepend(129).is_none());
    mbuf.prepend(128).unwrap().fill(9);
    assert_eq!(
        (mbuf.pkt_len(), mbuf.headroom(), mbuf.tailroom()),
        (256, 0, 0)
    );
    assert!(!mbuf.trim_front(257) && mbuf.trim_front(129));
    assert_eq!(mbuf.data()[0], 7);
    assert!(!mbuf.resize(128) && mbuf.resize(127));
}

#[test]
fn metadata_is_kept() {
    let pool = pool(4);
    let mut mbuf = pool.alloc().unwrap();
    mbuf.set_offload(
        OffloadFlags::TX_VLAN,
        TxOffload::new(14, 20, 8).with_tso(1400).with_outer(18, 40),
    );
    mbuf.set_vlan(5, 6);
    mbuf.set_port(3);
    mbuf.set_timestamp(u64::MAX - 1);
    mbuf.set_rss_hash(0xdead_beef);
    mbuf.set_packet_type(0x11);
    let lengths = mbuf.tx_offload();
    assert_eq!(
        (
            lengths.l2_len(),
            lengths.l3_len(),
            lengths.l4_len(),
            lengths.tso_size()
        ),
        (14, 20, 8, 1400)
    );
    assert_eq!((lengths.outer_l2_len(), lengths.outer_l3_len()), (18, 40));
    assert_eq!((mbuf.vlan(), mbuf.vlan_outer(), mbuf.port()), (5, 6, 3));
    assert_eq!(mbuf.timestamp(), Some(u64::MAX - 1));
    assert_eq!((mbuf.rss_hash(), mbuf.packet_type()), (0xdead_beef, 0x11));
    drop(mbuf);
    assert_eq!(pool.alloc().unwrap().flags(), OffloadFlags::empty());
}

#[test]
fn bursts_keep_order_and_leftovers() {
    let pool = pool(600);
    let mut burst = Burst::new(8);
    for n in 0..8u16 {
        let mut mbuf = pool.alloc().unwrap();
        mbuf.set_port(n);
        burst.push(mbuf).unwrap();
    }
    assert!(burst.push(pool.alloc().unwrap()).is_err());
    assert_eq!(burst.pop_front().unwrap().port(), 0);
    assert_eq!((burst.len(), burst.room()), (7, 1));
    let mut other = Burst::new(3);
    assert_eq!(burst.move_to(&mut other), 3);
    assert_eq!(
        other
            .as_slice()
            .iter()
            .map(crate::Mbuf::port)
            .collect::<Vec<_>>(),
        [1, 2, 3]
    );
    assert_eq!(burst.as_slice()[0].port(), 4);
    drop((burst, other));
    assert_eq!(pool.free_count(), 600);
}

#[test]
fn bad_sizes_are_refused() {
    let config = |size, data_room, cache_size| PoolConfig {
        name: "bad".to_owned(),
        size,
        data_room,
        cache_size,
        node: None,
    };
    for bad in [config(0, 2176, 0), config(4, 128, 0), config(4, 2176, 513)] {
        assert!(matches!(
            Pool::create(bad, &pages()),
            Err(PoolError::Range { .. })
        ));
    }
}

#[test]
fn lcores_that_feed_each_other_lose_nothing() {
    let pool = pool_of(4096, 256, 64);
    let (mut there, mut here) = mpps_ring::spsc::<crate::Mbuf>(256);
    std::thread::scope(|scope| {
        let source = pool.clone();
        scope.spawn(move || {
            let mut caches = Caches::new(std::slice::from_ref(&source));
            let mut burst = Burst::new(32);
            let mut sent = 0;
            while sent < 100_000 {
                caches.alloc(source.id(), 32, 60, &mut burst);
                sent += there.push(&mut *burst);
                caches.free(&mut burst);
            }
        });
        let mut caches = Caches::new(std::slice::from_ref(&pool));
        let mut burst = Burst::new(32);
        let mut got = 0;
        while got < 100_000 {
            got += here.pop(&mut *burst);
            caches.free(&mut burst);
        }
    });
    drop(here);
    assert_eq!(pool.free_count(), 4096);
}

proptest! {
    #[test]
    fn any_mix_of_allocations_clones_and_chains_comes_home(steps in proptest::collection::vec((0u8..6, any::<u8>()), 0..200)) {
        let pool = pool_of(256, 256, 16);
        let mut caches = Caches::new(std::slice::from_ref(&pool));
        let mut held: Vec<crate::Mbuf> = Vec::new();
        for (step, which) in steps {
            let at = usize::from(which) % held.len().max(1);
            match step {
                0 | 1 => held.extend(caches.alloc_one(pool.id())),
                2 if !held.is_empty() => { let packet = held.swap_remove(at); caches.free_one(packet); }
                3 if !held.is_empty() => { let clone = pool.share(&mut held[at]); held.extend(clone); }
                4 if held.len() > 1 => {
                    let tail = held.swap_remove(at);
                    let index = usize::from(which) % held.len();
                    if let Err(tail) = held[index].chain(tail) { held.push(tail); }
                }
                5 if !held.is_empty() => drop(held.swap_remove(at)),
                _ => {}
            }
        }
        drop(held);
        drop(caches);
        prop_assert_eq!(pool.free_count(), 256);
    }
}
