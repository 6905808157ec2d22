//! The kernels against a sum word by word, and against each other at every alignment and length.

use proptest::prelude::*;

use super::{Checksum, ChecksumKind, few, fold};

/// RFC 1071 as it is written down: word by word, carry by carry.
fn by_the_book(bytes: &[u8]) -> u16 {
    let mut sum = 0u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

fn kernels() -> Vec<Checksum> {
    ChecksumKind::NAMES
        .iter()
        .filter_map(|(_, kind)| Checksum::choose(*kind).ok())
        .collect()
}

#[test]
fn the_example_of_rfc_1071() {
    let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
    for kernel in kernels() {
        assert_eq!(kernel.sum(&bytes), 0xddf2, "{}", kernel.name());
        assert_eq!(kernel.sum(&bytes[..7]), 0xdcfb, "{}", kernel.name());
        assert_eq!(kernel.sum(&[]), 0);
    }
}

#[test]
fn a_jumbo_frame_of_ones_carries_everywhere() {
    let bytes = vec![0xff; 65535];
    for kernel in kernels() {
        assert_eq!(kernel.sum(&bytes), by_the_book(&bytes), "{}", kernel.name());
    }
}

#[test]
fn every_length_and_alignment() {
    let bytes: Vec<u8> = (0..400u32).map(|i| (i * i * 31 + 7 * i) as u8).collect();
    for kernel in kernels() {
        for start in 0..33 {
            for len in 0..=300 {
                let part = &bytes[start..start + len];
                assert_eq!(
                    kernel.sum(part),
                    by_the_book(part),
                    "{} {start} {len}",
                    kernel.name()
                );
            }
        }
    }
}

#[test]
fn names_and_kinds_agree() {
    for (name, kind) in ChecksumKind::NAMES {
        assert_eq!(ChecksumKind::from_name(name), Some(*kind));
        if *kind != ChecksumKind::Auto
            && let Ok(kernel) = Checksum::choose(*kind)
        {
            assert_eq!(kernel.name(), *name);
        }
    }
    assert_eq!(ChecksumKind::from_name("sse9"), None);
}

proptest! {
    #[test]
    fn kernels_agree(bytes in proptest::collection::vec(any::<u8>(), 0..4096), start in 0usize..64) {
        let part = &bytes[start.min(bytes.len())..];
        for kernel in kernels() {
            prop_assert_eq!(kernel.sum(part), by_the_book(part), "{}", kernel.name());
        }
        prop_assert_eq!(fold(few(part)).to_le_bytes(), by_the_book(part).to_be_bytes());
    }
}
