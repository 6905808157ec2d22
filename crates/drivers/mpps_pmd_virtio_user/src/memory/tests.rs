use mpps_shm::{MemoryConfig, PageSource};

use super::{COLOUR_STEP, COLOURS, Memory};

/// What rings are aligned to, at least.
const ALIGNED: usize = 128;

fn memory(sizes: &[u32]) -> Memory {
    let pages = PageSource::new(MemoryConfig::default()).unwrap();
    Memory::new("net_virtio_user0", sizes.to_vec(), Vec::new(), &pages).unwrap()
}

#[test]
fn rings_of_every_colour_are_aligned_and_inside_what_is_announced() {
    let sizes = [256, 64, 1024, 8];
    for _ in 0..COLOURS {
        let memory = memory(&sizes);
        let (table, _) = memory.regions()[0];
        assert_eq!(table.user % 4096, 0);
        let mut end = table.user;
        for ring in 0..sizes.len() {
            let place = memory.ring(ring).unwrap();
            let start = place.as_ptr().addr().get() as u64;
            assert_eq!(start % ALIGNED as u64, 0);
            assert!(start >= end, "ring {ring} lies over the one before");
            end = start + place.len() as u64;
        }
        assert!(end <= table.user + table.size);
        assert!(memory.ring(sizes.len()).is_none());
    }
}

#[test]
fn colours_spread_over_all_lines_of_a_page() {
    let mut seen = [0; 4096 / ALIGNED];
    for colour in 0..COLOURS {
        seen[colour * COLOUR_STEP % 4096 / ALIGNED] += 1;
    }
    assert!(seen.iter().all(|&times| times == COLOURS / seen.len()));
}

#[test]
fn ports_made_in_a_row_begin_at_different_lines() {
    // Tests beside this one take colours as well, so only that not all are the same is sure.
    let places: Vec<usize> = (0..4)
        .map(|_| memory(&[256, 256]))
        .map(|memory| memory.ring(0).unwrap().as_ptr().addr().get() % 4096)
        .collect();
    assert!(places.windows(2).any(|pair| pair[0] != pair[1]));
}
