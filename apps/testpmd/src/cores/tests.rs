//! Tests of the core grammars and of their resolution.

use proptest::prelude::*;

use super::*;

fn set(numbers: impl IntoIterator<Item = u32>) -> Numbers {
    numbers.into_iter().collect()
}

fn machine(cpus: impl IntoIterator<Item = u32>) -> Cpus {
    let all = set(cpus);
    Cpus {
        online: all.clone(),
        permitted: all.clone(),
        affinity: all,
    }
}

fn args(written: &str, selection: CoreSelection) -> CoreArgs {
    CoreArgs {
        selection,
        written: written.to_owned(),
        ..CoreArgs::default()
    }
}

fn map(text: &str) -> Vec<(u32, Vec<u32>)> {
    let CoreSelection::Map(map) = read_map(text).unwrap() else {
        panic!("{text} is not a map");
    };
    map.into_iter()
        .map(|(id, cpus)| (id, cpus.into_iter().collect()))
        .collect()
}

#[test]
fn masks() {
    for (text, numbers) in [
        ("0x7ffc0000", set(18..=30)),
        ("F00000", set(20..=23)),
        ("0x1ffff", set(0..=16)),
        ("0xff80", set(7..=15)),
        (" 0X3 ", set([0, 1])),
        ("3000", set([12, 13])),
        ("ffffff", set(0..=23)),
    ] {
        assert_eq!(read_mask(text), Ok(numbers), "{text}");
    }
    let widest = format!("0x8{}", "0".repeat(255));
    assert_eq!(read_mask(&widest), Ok(set([1023])));
    let wider = format!("1{}", "0".repeat(256));
    assert!(
        read_mask(&wider)
            .unwrap_err()
            .to_string()
            .contains("1024 bits")
    );
    let padded = format!("{}1", "0".repeat(300));
    assert_eq!(read_mask(&padded), Ok(set([0])));
    for text in ["", "0x", "0", "0000", "xyz", "0x1g", "-1"] {
        assert!(read_mask(text).is_err(), "{text}");
    }
}

#[test]
fn lists() {
    for (text, numbers) in [
        ("0", set([0])),
        ("0,2", set([0, 2])),
        ("0,1-5", set(0..=5)),
        ("6-4", set(4..=6)),
        ("1, 3 - 4", set([1, 3, 4])),
        ("2,2,2", set([2])),
    ] {
        assert_eq!(read_list(text), Ok(numbers), "{text}");
    }
    for text in [
        "",
        ",",
        "1,",
        "1-",
        "-1",
        "1--2",
        "a",
        "1;2",
        "65536",
        "99999999999999",
    ] {
        assert!(read_list(text).is_err(), "{text}");
    }
}

#[test]
fn maps() {
    assert_eq!(read_map("0-1").unwrap(), CoreSelection::Same(set([0, 1])));
    assert_eq!(map("1@31,2@32"), [(1, vec![31]), (2, vec![32])]);
    assert_eq!(map("0@(0-1)"), [(0, vec![0, 1])]);
    let floating = map("(1-3)@(31-33)");
    assert_eq!(floating.len(), 3);
    assert!(floating.iter().all(|(_, cpus)| *cpus == [31, 32, 33]));
    // A bare range is one to one; a group without `@` shares its CPUs.
    assert_eq!(
        map("0-1,2@(5-7),(3-5)@(0,2),(0,6),7"),
        [
            (0, vec![0, 6]),
            (1, vec![1]),
            (2, vec![5, 6, 7]),
            (3, vec![0, 2]),
            (4, vec![0, 2]),
            (5, vec![0, 2]),
            (6, vec![0, 6]),
            (7, vec![7]),
        ]
    );
    assert_eq!(map(" ( 0 , 1 ) @ 3 "), [(0, vec![3]), (1, vec![3])]);
    assert_eq!(map("0-2@1"), [(0, vec![1]), (1, vec![1]), (2, vec![1])]);
    for text in [
        "(", ")", "@", "0@", "@0", "(0", "0)", "()", "(0)(1)", "0@1@2", "((0))", "1024@0",
    ] {
        assert!(read_map(text).is_err(), "{text}");
    }
}

#[test]
fn missing_cpus_are_named_with_a_map_that_works() {
    let asked = args("-l 4-6", read_map("4-6").unwrap());
    assert_eq!(
        resolve(&asked, &machine([0, 1])).unwrap_err().to_string(),
        "-l 4-6: CPUs 4-6 don't exist here (there are 0-1); to run on those: --lcores 4@0,5@1,6@0"
    );
    let again = args("--lcores", read_map("4@0,5@1,6@0").unwrap());
    let lcores = resolve(&again, &machine([0, 1])).unwrap();
    assert_eq!(lcores.main, 4);
    assert_eq!(lcores.workers().map(|l| l.id).collect::<Vec<_>>(), [5, 6]);
    // Who has a CPU keeps it.
    let some = args("-l 1,4", read_map("1,4").unwrap());
    let text = resolve(&some, &machine([0, 1])).unwrap_err().to_string();
    assert!(
        text.ends_with(
            "CPU 4 doesn't exist here (there are 0-1); to run on those: --lcores 1@1,4@0"
        ),
        "{text}"
    );
    let one = args("-l 0-1", read_map("0-1").unwrap());
    let text = resolve(&one, &machine([0])).unwrap_err().to_string();
    assert!(
        text.ends_with("(there is 0); to run on those: --lcores 0@0,1@0"),
        "{text}"
    );
}

#[test]
fn cpus_out_of_bounds() {
    let cpus = Cpus {
        online: set(0..8),
        permitted: set([2, 3]),
        affinity: set([2, 3]),
    };
    let text = resolve(&args("-l 0-1", read_map("0-1").unwrap()), &cpus)
        .unwrap_err()
        .to_string();
    assert_eq!(
        text,
        "-l 0-1: this process may not run on CPUs 0-1 (it may on 2-3); to run on those: --lcores 0@2,1@3"
    );
    let lcores = resolve(&CoreArgs::default(), &cpus).unwrap();
    assert_eq!(lcores.main, 2);
    assert_eq!(lcores.all.len(), 2);
}

#[test]
fn remapped_ids() {
    let mut asked = args("-l 4,6,7", read_map("4,6,7").unwrap());
    asked.remap_from = Some(0);
    let lcores = resolve(&asked, &machine(0..8)).unwrap();
    let pairs: Vec<(u32, Numbers)> = lcores.all.iter().map(|l| (l.id, l.cpus.clone())).collect();
    assert_eq!(pairs, [(0, set([4])), (1, set([6])), (2, set([7]))]);
    asked.remap_from = Some(1023);
    assert!(resolve(&asked, &machine(0..8)).is_err());
    let mut mapped = args("--lcores 0@1", read_map("0@1").unwrap());
    mapped.remap_from = Some(0);
    assert!(resolve(&mapped, &machine(0..8)).is_err());
}

#[test]
fn main_and_service_cores() {
    let mut asked = args("-l 0-2", read_map("0-2").unwrap());
    asked.main = Some(2);
    asked.service = set([1]);
    let lcores = resolve(&asked, &machine(0..4)).unwrap();
    assert_eq!(lcores.main, 2);
    assert_eq!(lcores.workers().map(|l| l.id).collect::<Vec<_>>(), [0]);
    asked.main = Some(1);
    assert!(matches!(
        resolve(&asked, &machine(0..4)),
        Err(CoreError::MainIsService { .. })
    ));
    asked.main = Some(3);
    let text = resolve(&asked, &machine(0..4)).unwrap_err().to_string();
    assert_eq!(
        text,
        "--main-lcore: lcore 3 isn't selected; choose among 0,2"
    );
    asked.service = set([0, 1, 2]);
    assert!(matches!(
        resolve(&asked, &machine(0..4)),
        Err(CoreError::AllService { .. })
    ));
}

proptest! {
    #[test]
    fn no_text_panics(text in "[0-9a-fxX@(),\\- ]{0,40}|\\PC{0,20}") {
        let _ = read_mask(&text);
        let _ = read_list(&text);
        if let Ok(selection) = read_map(&text) {
            let _ = resolve(&args("-l", selection), &machine([0, 1]));
        }
    }

    #[test]
    fn ranges_are_read_back(numbers in proptest::collection::btree_set(0u32..300, 1..40)) {
        prop_assert_eq!(read_list(&ranges(&numbers)), Ok(numbers));
    }

    #[test]
    fn every_remedy_resolves(numbers in proptest::collection::btree_set(0u32..1000, 1..20)) {
        let asked = args("-l x", CoreSelection::Same(numbers.clone()));
        if let Err(CoreError::NoSuchCpu { remedy, .. }) = resolve(&asked, &machine([3, 5])) {
            let again = args("--lcores", read_map(&remedy).unwrap());
            let lcores = resolve(&again, &machine([3, 5])).unwrap();
            prop_assert_eq!(lcores.all.iter().map(|l| l.id).collect::<Numbers>(), numbers);
        }
    }
}
