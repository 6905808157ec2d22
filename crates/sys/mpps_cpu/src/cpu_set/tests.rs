use super::{CpuSet, ListError};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn parse(list: &str) -> Result<CpuSet, ListError> {
    list.parse()
}

#[test]
fn reads_what_the_kernel_writes() {
    let set = parse("0-3,8,10-11\n").unwrap();
    assert_eq!(set.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 8, 10, 11]);
    assert_eq!(set.len(), 7);
    assert_eq!(parse("\n").unwrap(), CpuSet::new());
    assert_eq!(parse("").unwrap(), CpuSet::new());
    assert_eq!(parse(" 5 ").unwrap().first(), Some(5));
    assert!(parse("4095,8191").unwrap().contains(8191));
}

#[test]
fn refuses_garbage_in_one_line_that_names_it() {
    for bad in [
        "x", "1,,2", "1-", "-1", "1-2-3", "+1", "0x3", "1 2", ",", "١",
    ] {
        let error = parse(bad).unwrap_err();
        assert!(matches!(error, ListError::NotANumber(_)), "{bad}: {error}");
        assert!(!error.to_string().contains('\n'));
    }
    assert_eq!(
        parse("4-2").unwrap_err(),
        ListError::Backwards("4-2".to_owned())
    );
    for high in ["65536", "0-65536", "99999999999999999999999"] {
        assert!(matches!(parse(high), Err(ListError::TooHigh(_))), "{high}");
    }
    assert_eq!(
        parse("70000").unwrap_err().to_string(),
        "CPU \"70000\" is out of range: expected 0 to 65535"
    );
}

#[test]
fn writes_ranges_and_reads_them_back() {
    for list in [
        "",
        "0",
        "0-1",
        "0-3,8",
        "0-3,8,10-11",
        "63-64",
        "1023-1025,4096",
        "127,129",
    ] {
        let set = parse(list).unwrap();
        assert_eq!(set.to_string(), list);
    }
    assert_eq!(format!("{:?}", parse("0,1,2").unwrap()), "CpuSet(0-2)");
}

#[test]
fn equal_sets_are_equal_whatever_was_in_them() {
    let mut set = parse("1,5000").unwrap();
    assert!(set.remove(5000));
    assert!(!set.remove(5000));
    assert_eq!(set, parse("1").unwrap());
    assert!(set.remove(1));
    assert!(set.is_empty());
    assert_eq!(set, CpuSet::new());
    assert!(set.insert(64));
    assert!(!set.insert(64));
}

#[test]
fn set_algebra() {
    let (a, b) = (parse("0-9,4000").unwrap(), parse("5-12").unwrap());
    assert_eq!(a.intersection(&b), parse("5-9").unwrap());
    assert_eq!(b.intersection(&a), parse("5-9").unwrap());
    assert_eq!(a.difference(&b), parse("0-4,4000").unwrap());
    assert!(parse("5-9").unwrap().is_subset(&a));
    assert!(!a.is_subset(&b));
    assert!(CpuSet::new().is_subset(&b));
}

#[test]
#[should_panic(expected = "out of range")]
fn a_cpu_beyond_the_limit_is_a_mistake_of_the_caller() {
    CpuSet::new().insert(CpuSet::LIMIT);
}

proptest! {
    #[test]
    fn no_text_is_too_strange(list in "[0-9,\\- x\n]{0,24}|\\PC{0,12}") {
        match parse(&list) {
            Ok(set) => prop_assert_eq!(parse(&set.to_string()), Ok(set)),
            Err(error) => prop_assert_eq!(error.to_string().lines().count(), 1),
        }
    }

    #[test]
    fn is_a_set(a in prop::collection::btree_set(0_usize..300, 0..60), b in prop::collection::btree_set(0_usize..300, 0..60)) {
        let (x, y): (CpuSet, CpuSet) = (a.iter().copied().collect(), b.iter().copied().collect());
        prop_assert_eq!(x.len(), a.len());
        prop_assert_eq!(x.is_empty(), a.is_empty());
        prop_assert_eq!(x.first(), a.first().copied());
        prop_assert_eq!(x.iter().collect::<BTreeSet<_>>(), a.clone());
        prop_assert_eq!(x.intersection(&y).iter().collect::<BTreeSet<_>>(), &a & &b);
        prop_assert_eq!(x.difference(&y).iter().collect::<BTreeSet<_>>(), &a - &b);
        prop_assert_eq!(x.is_subset(&y), a.is_subset(&b));
        prop_assert_eq!(parse(&x.to_string()), Ok(x));
    }
}
