//! Pools that are made once a thread and must be full again after each input.

use std::sync::atomic::{AtomicU32, Ordering};

use mpps_mbuf::{HEADROOM, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};

/// Memory as small pages: what is reserved there can be written through its file.
pub(crate) fn pages() -> PageSource {
    let config = MemoryConfig {
        no_huge: true,
        ..MemoryConfig::default()
    };
    PageSource::new(config).expect("memory")
}

/// `size` mbufs with room for `capacity` bytes each.
pub(crate) fn pool(name: &str, size: u32, capacity: u16) -> Pool {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    // Relaxed: a number that nobody else has.
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let config = PoolConfig {
        name: format!("{name}{number}"),
        size,
        data_room: HEADROOM + capacity,
        cache_size: 16,
        node: None,
    };
    let pool = Pool::create(config, &pages()).expect("a pool");
    pool.prime(size as usize);
    pool
}
