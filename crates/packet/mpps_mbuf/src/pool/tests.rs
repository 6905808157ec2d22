//! Pools among themselves and at their end.

use mpps_shm::{MemoryConfig, PageSource};

use super::{MAX_POOLS, for_each_pool};
use crate::{Pool, PoolConfig};

fn pool(name: &str, size: u32) -> Pool {
    let config = PoolConfig {
        name: name.to_owned(),
        size,
        data_room: 256,
        cache_size: 0,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

#[test]
fn numbers_are_used_again() {
    // One more than there are numbers.
    for _ in 0..=MAX_POOLS {
        assert!(pool("again", 1).id().index() < MAX_POOLS);
    }
}

#[test]
fn pools_may_come_and_go_while_they_are_listed() {
    let mut listed = Some(pool("listed", 4));
    let mut made = Vec::new();
    for_each_pool(|info| {
        if info.config.name == "listed" {
            drop(listed.take());
            made.push(pool("made", 4));
        }
    });
    assert_eq!(made.len(), 1);
}

/// The last mbuf comes home on one thread while the last handle goes on another. For a thread sanitizer most of all.
#[test]
fn the_last_mbuf_and_the_last_handle_may_go_at_once() {
    for _ in 0..200 {
        let pool = pool("last", 8);
        let mbufs: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
        std::thread::scope(|scope| {
            scope.spawn(move || drop(mbufs));
            // Seen home, as a control thread looks before it lets go; nothing else orders the two threads.
            while pool.free_count() != 8 {
                std::hint::spin_loop();
            }
            drop(pool);
        });
    }
}

#[test]
fn a_pool_too_large_is_refused_in_words() {
    let config = PoolConfig {
        name: "huge".to_owned(),
        size: u32::MAX,
        data_room: 256,
        cache_size: 0,
        node: None,
    };
    let pages = PageSource::new(MemoryConfig::default()).unwrap();
    match Pool::create(config, &pages) {
        Ok(pool) => assert_eq!(pool.free_count(), u32::MAX as usize),
        Err(error) => assert!(error.to_string().starts_with("mbuf pool huge: "), "{error}"),
    }
}

#[test]
fn a_line_that_nobody_reads_ends_nothing() {
    const CHILD: &str = "MPPS_MBUF_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        let pool = pool("left", 4);
        let mbuf = pool.alloc();
        drop(pool);
        drop(mbuf);
        return;
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "pool::tests::a_line_that_nobody_reads_ends_nothing",
        ])
        .arg("--nocapture")
        .env(CHILD, "1")
        .stdout(std::process::Stdio::null())
        .stderr(writer)
        .status();
    assert!(status.unwrap().success());
}
