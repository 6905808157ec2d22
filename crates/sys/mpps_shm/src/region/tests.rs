use super::Region;
use proptest::prelude::*;
use std::ptr::NonNull;

fn region(bytes: &mut [u8]) -> Region {
    let len = bytes.len();
    // SAFETY: the slice outlives every use in the test, and nothing is accessed through the region.
    unsafe { Region::new(NonNull::from(bytes).cast(), len) }
}

#[test]
fn bounds_are_checked() {
    let mut bytes = [0; 100];
    let all = region(&mut bytes);
    assert_eq!(all.len(), 100);
    assert!(!all.is_empty());
    assert_eq!(all.at(0, 100), Some(all.as_ptr()));
    assert!(all.at(100, 0).is_some());
    assert!(all.at(101, 0).is_none());
    assert!(all.at(1, 100).is_none());
    assert!(all.at(usize::MAX, 2).is_none());
    assert!(all.part(50, 50).unwrap().part(0, 51).is_none());
}

#[test]
fn offsets_come_back() {
    let mut bytes = [0; 100];
    let all = region(&mut bytes);
    assert_eq!(all.offset_of(all.at(42, 1).unwrap()), Some(42));
    assert_eq!(all.offset_of(all.at(100, 0).unwrap()), None);
    assert_eq!(all.part(10, 10).unwrap().offset_of(all.as_ptr()), None);
}

proptest! {
    #[test]
    fn a_part_is_inside(offset in 0_usize..300, len in 0_usize..300) {
        let mut bytes = [0; 200];
        let all = region(&mut bytes);
        match all.part(offset, len) {
            Some(part) => {
                prop_assert!(offset + len <= 200);
                prop_assert_eq!(part.len(), len);
                prop_assert_eq!(part.as_ptr().addr().get() - all.as_ptr().addr().get(), offset);
            }
            None => prop_assert!(offset + len > 200),
        }
    }
}
