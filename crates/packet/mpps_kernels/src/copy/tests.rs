//! Every kind against the standard library's copy, at every length and alignment that an edge may hide in.

use proptest::prelude::*;

use super::{Copier, CopyKind};

fn kinds() -> Vec<Copier> {
    CopyKind::NAMES
        .iter()
        .filter_map(|(_, kind)| Copier::choose(*kind).ok())
        .collect()
}

fn check(kernel: &Copier, len: usize, from_at: usize, to_at: usize) {
    let from: Vec<u8> = (0..from_at + len).map(|n| (n * 31 + 7) as u8).collect();
    let mut to = vec![0xee; to_at + len + 64];
    kernel.copy(&mut to[to_at..to_at + len], &from[from_at..]);
    assert_eq!(
        to[to_at..to_at + len],
        from[from_at..],
        "{} {len} {from_at} {to_at}",
        kernel.name()
    );
    assert!(
        to[..to_at]
            .iter()
            .chain(&to[to_at + len..])
            .all(|byte| *byte == 0xee),
        "{} {len}: beyond",
        kernel.name()
    );
}

#[test]
fn every_short_length_at_every_alignment() {
    for kernel in kinds() {
        for len in 0..=260 {
            for at in [0, 1, 7, 8, 15, 31, 33, 63] {
                check(&kernel, len, at, 64 - at);
            }
        }
    }
}

proptest! {
    #[test]
    fn long_lengths(len in 0usize..10_000, from_at in 0usize..64, to_at in 0usize..64) {
        for kernel in kinds() {
            check(&kernel, len, from_at, to_at);
        }
    }
}

#[test]
fn the_shorter_side_counts() {
    for kernel in kinds() {
        let mut to = [0; 4];
        kernel.copy(&mut to, &[1; 100]);
        assert_eq!(to, [1; 4]);
        let mut to = [0; 40];
        kernel.copy(&mut to, &[1; 3]);
        assert_eq!(to[..5], [1, 1, 1, 0, 0]);
    }
}
