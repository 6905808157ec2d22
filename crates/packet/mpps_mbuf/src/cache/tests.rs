//! What two lcores write lies on different lines.

use std::collections::HashMap;

use mpps_shm::{MemoryConfig, PageSource};

use super::Caches;
use crate::header::Header;
use crate::{Burst, Pool, PoolConfig};

/// Which lcore writes which line, by the line's size.
#[derive(Default)]
struct Lines(HashMap<(usize, usize), usize>);

impl Lines {
    /// Something that fills 128-byte lines of its own, wherever it is put.
    fn add_whole<T>(&mut self, lcore: usize, thing: &T) {
        assert_eq!(align_of::<T>(), 128, "{}", std::any::type_name::<T>());
        self.add(lcore, 128, (&raw const *thing).addr(), size_of::<T>());
    }

    fn add(&mut self, lcore: usize, size: usize, start: usize, len: usize) {
        for line in start / size..=(start + len - 1) / size {
            let owner = *self.0.entry((size, line)).or_insert(lcore);
            assert_eq!(
                owner, lcore,
                "line {line:#x} of {size} bytes is written by both"
            );
        }
    }
}

#[test]
fn no_line_is_written_by_two_lcores() {
    let config = PoolConfig {
        name: "lines".to_owned(),
        size: 1024,
        data_room: 192,
        cache_size: 32,
        node: None,
    };
    let pool = Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap();
    let pools = std::slice::from_ref(&pool);
    // Made one after the other by one thread, the worst case for what lies beside what.
    let mut lcores: Vec<_> = (0..2)
        .map(|_| (Caches::new(pools), Burst::new(32), Burst::new(32)))
        .collect();
    for _ in 0..4 {
        for (caches, one, two) in &mut lcores {
            caches.alloc(pool.id(), 8, 64, one);
            caches.alloc(pool.id(), 8, 64, two);
        }
    }
    let mut lines = Lines::default();
    for (n, (caches, one, two)) in lcores.iter().enumerate() {
        for burst in [one, two] {
            lines.add_whole(n, &**burst);
            // Headers and buffers of 64-byte lines: two lcores' packets may lie side by side, never on one line.
            for packet in burst.as_slice() {
                lines.add(n, 64, packet.0.addr().get(), size_of::<Header>());
                lines.add(n, 64, packet.data().as_ptr().addr(), packet.data().len());
            }
        }
        for cache in caches.by_pool.iter().flatten() {
            lines.add_whole(n, cache);
            lines.add_whole(n, &*cache.stock);
        }
    }
    // 128 packets, a line for the header and one for the data of each.
    let small = lines.0.keys().filter(|(size, _)| *size == 64).count();
    assert_eq!(small, 2 * 64 * 2);
    drop(lcores);
    assert_eq!(pool.free_count(), 1024);
}

#[test]
fn the_pool_knows_what_lies_in_its_caches() {
    let config = PoolConfig {
        name: "cached".to_owned(),
        size: 2048,
        data_room: 192,
        cache_size: 32,
        node: None,
    };
    let pool = Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap();
    let [mut sender, mut receiver] = [(); 2].map(|()| Caches::new(std::slice::from_ref(&pool)));
    let mut burst = Burst::new(64);
    // A pipeline: one lcore allocates for ever, another one frees for ever.
    for _ in 0..100 {
        assert_eq!(sender.alloc(pool.id(), 64, 60, &mut burst), 64);
        receiver.free(&mut burst);
        let info = pool.info();
        assert!(info.cached <= 2 * 48, "{info:?}");
        assert!(info.cached + info.shared_free <= 2048, "{info:?}");
    }
    // Some that came past the caches.
    let lone: Vec<_> = std::iter::from_fn(|| pool.alloc()).take(500).collect();
    lone.into_iter()
        .for_each(|packet| receiver.free_one(packet));
    assert!(pool.info().cached <= 2 * 48, "{:?}", pool.info());
    drop((sender, receiver));
    let info = pool.info();
    assert_eq!((info.cached, info.shared_free), (0, 2048));
}
