//! Handles in bulk: out of a cache, through a ring's hands and back, none lost.

use std::mem::MaybeUninit;

use mpps_shm::{MemoryConfig, PageSource};

use crate::{Burst, Caches, HEADROOM, Mbuf, Pool, PoolConfig, pools};

fn pool(name: &str) -> Pool {
    let config = PoolConfig {
        name: name.to_owned(),
        size: 2048,
        data_room: 512,
        cache_size: 64,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

#[test]
fn handles_go_round() {
    let pool = pool("held");
    let mut caches = Caches::new(std::slice::from_ref(&pool));
    let mut held = [const { MaybeUninit::<Mbuf>::uninit() }; 300];
    assert_eq!(caches.take(pool.id(), &mut held), 300);
    let tag = {
        // SAFETY: just filled.
        let packets = unsafe { held.assume_init_mut() };
        for packet in packets.iter_mut() {
            // SAFETY: 192 bytes fit a buffer of 512.
            unsafe { packet.set_received(HEADROOM, 64) };
            assert_eq!((packet.pkt_len(), packet.data().len()), (64, 64));
            assert_eq!(
                packet.data_ptr().as_ptr().cast_const(),
                packet.data().as_ptr()
            );
        }
        packets[0].kind()
    };
    assert!(tag.is_plain() && tag.pool() == pool.id());
    // SAFETY: all filled above, all plain and of one pool.
    unsafe { caches.free_same(&held, tag) };
    drop(caches);
    assert_eq!(pool.free_count(), 2048);
}

#[test]
fn a_dry_pool_gives_what_it_has() {
    let pool = pool("dry");
    let mut caches = Caches::new(std::slice::from_ref(&pool));
    let mut bursts: Vec<Box<Burst>> = Vec::new();
    let mut all = 0;
    loop {
        let mut burst = Burst::new(512);
        let n = caches.take_to(pool.id(), 500, &mut burst);
        all += n;
        bursts.push(burst);
        if n < 500 {
            break;
        }
    }
    assert_eq!(all, 2048);
    for mut burst in bursts {
        caches.free(&mut burst);
    }
    drop(caches);
    assert_eq!(pool.free_count(), 2048);
}

#[test]
fn without_a_cache_packets_go_home_one_by_one() {
    let (pool, other) = (pool("one"), pool("other"));
    let mut caches = Caches::new(std::slice::from_ref(&pool));
    let mut strangers = Caches::new(std::slice::from_ref(&other));
    let mut held = [const { MaybeUninit::<Mbuf>::uninit() }; 8];
    assert_eq!(caches.take(other.id(), &mut held), 0);
    assert_eq!(strangers.take(other.id(), &mut held), 8);
    // SAFETY: just filled.
    let tag = unsafe { held.assume_init_ref() }[0].kind();
    // SAFETY: all filled above, all plain and of one pool.
    unsafe { caches.free_same(&held, tag) };
    drop(strangers);
    assert_eq!(other.free_count(), 2048);
}

#[test]
fn all_pools_are_found() {
    let (one, two) = (pool("found 1"), pool("found 2"));
    let names: Vec<String> = pools()
        .iter()
        .map(|pool| pool.config().name.clone())
        .collect();
    assert!(names.contains(&one.config().name) && names.contains(&two.config().name));
    drop(two);
    assert!(!pools().iter().any(|pool| pool.config().name == "found 2"));
}
