//! Sharing: what clones carry with them, and what threads that hold shares of one packet may do at once.

use mpps_shm::{MemoryConfig, PageSource};

use crate::{Mbuf, Pool, PoolConfig};

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
