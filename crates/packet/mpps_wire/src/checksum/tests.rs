use super::*;
use proptest::prelude::*;

/// As RFC 1071 writes it: pairs of bytes, carries folded at the end.
fn naive(bytes: &[u8]) -> u16 {
    let mut sum = 0u64;
    for pair in bytes.chunks(2) {
        sum += u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0));
    }
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum as u16
}

#[test]
fn rfc_1071_example() {
    let bytes = [0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7];
    assert_eq!(Sum::new().plus(&bytes).folded(), 0xDDF2);
    assert_eq!(checksum(&bytes), 0x220D);
}

#[test]
fn all_ones_fold_to_all_ones() {
    let bytes = vec![0xFF; 9001];
    assert_eq!(Sum::new().plus(&bytes).folded(), naive(&bytes));
    assert_eq!(Sum::new().folded(), 0);
    assert_eq!(Sum::new().plus(&[0xFF, 0xFF]).checksum(), 0);
}

#[test]
fn udp_never_sends_zero() {
    assert_eq!(Sum::new().plus(&[0xFF, 0xFF]).udp_checksum(), 0xFFFF);
    assert_eq!(Sum::new().plus(&[0xFF, 0xFE]).udp_checksum(), 1);
}

#[test]
fn rfc_1624_example() {
    // Section 4: the case where the older equation gave 0xffff's twin.
    assert_eq!(update(0xDD2F, 0x5555, 0x3285), 0x0000);
}

#[test]
fn pseudo_headers_sum_their_fields() {
    let v4 = pseudo_v4([192, 168, 0, 1], [10, 0, 0, 255], 17, 1480);
    assert_eq!(
        v4.folded(),
        naive(&[192, 168, 0, 1, 10, 0, 0, 255, 0, 17, 0x05, 0xC8])
    );
    let (src, dst) = ([0xFE; 16], [0x20; 16]);
    let mut bytes = [src, dst].concat();
    bytes.extend([0, 1, 0x11, 0x70, 0, 0, 0, 6]);
    assert_eq!(pseudo_v6(&src, &dst, 6, 70_000).folded(), naive(&bytes));
}

proptest! {
    #[test]
    fn equals_naive_at_any_offset(bytes in proptest::collection::vec(any::<u8>(), 0..3000), skip in 0usize..70) {
        let bytes = &bytes[skip.min(bytes.len())..];
        prop_assert_eq!(Sum::new().plus(bytes).folded(), naive(bytes));
    }

    #[test]
    fn chains_over_any_cuts(parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..90), 0..8)) {
        let sum = parts.iter().fold(Sum::new(), |sum, part| sum.plus(part));
        prop_assert_eq!(sum.folded(), naive(&parts.concat()));
    }

    #[test]
    fn fields_behind_anything(head in proptest::collection::vec(any::<u8>(), 0..7), half: u16, word: u32, tail: u8) {
        let sum = Sum::new().plus(&head).plus_u16(half).plus_u32(word).plus(&[tail]);
        let bytes = [head, half.to_be_bytes().to_vec(), word.to_be_bytes().to_vec(), vec![tail]].concat();
        prop_assert_eq!(sum.folded(), naive(&bytes));
    }

    #[test]
    fn update_equals_summing_anew(mut bytes in proptest::collection::vec(any::<u8>(), 8..64), pair in 0usize..2, new: u32) {
        let at = pair * 2;
        // A covered field is never all zero with its checksum in RFC 1624's reading, so keep one byte set.
        bytes[7] |= 1;
        let old = u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let before = checksum(&bytes);
        bytes[at..at + 4].copy_from_slice(&new.to_be_bytes());
        prop_assert_eq!(update_u32(before, old, new), checksum(&bytes));
        prop_assert_eq!(update(update(before, (old >> 16) as u16, (new >> 16) as u16), old as u16, new as u16), checksum(&bytes));
    }
}
