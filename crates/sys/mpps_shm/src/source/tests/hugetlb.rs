//! Tests that need free huge pages of 2 MiB, and one of them a hugetlbfs mount; skipped by name where there are none.

use super::{MIB, no_huge, with};
use crate::config::{HugeUnlink, MemoryConfig};
use crate::machine::Machine;
use crate::report::PageKind;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The right to take `need` pages of 2 MiB while no other test does; none, and a word about it, where there are too few.
fn huge_pages(test: &str, need: u64) -> Option<MutexGuard<'static, ()>> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let guard = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let free = Machine::detect().huge_free(2 << 20, None);
    if free < need {
        println!("SKIPPED {test}: needs {need} free huge pages of 2 MiB, there are {free}");
    }
    (free >= need).then_some(guard)
}

#[test]
fn no_huge_leaves_huge_pages_alone() {
    let Some(_pages) = huge_pages("no_huge_leaves_huge_pages_alone", 4) else {
        return;
    };
    let source = with(no_huge());
    let mapping = source.reserve("plain", 4 * MIB, None).unwrap();
    mapping.commit(0, 4 * MIB).unwrap();
    assert_eq!(source.report()[0].kind, PageKind::Shared);
    assert_eq!(source.report()[0].resident, 4 << 20);
}

#[test]
fn free_huge_pages_are_used() {
    let Some(_pages) = huge_pages("free_huge_pages_are_used", 4) else {
        return;
    };
    let source = with(MemoryConfig::default());
    let mapping = source.reserve("hugetlb", 4 * MIB, None).unwrap();
    let before = source.report();
    assert_eq!((before[0].kind, before[0].resident), (PageKind::Hugetlb, 0));
    assert_eq!(mapping.commit_unit(), 2 * MIB);
    mapping.commit(3 * MIB, 1).unwrap();
    let after = &source.report()[0];
    assert_eq!(
        (after.resident, after.huge, after.page_size),
        (2 << 20, 2 << 20, 2 << 20)
    );
    let floor = with(MemoryConfig {
        total_mb: Some(2),
        ..MemoryConfig::default()
    });
    let _floored = floor.reserve("floor", 4 * MIB, None).unwrap();
    assert_eq!(floor.report()[0].committed, 2 << 20);
}

#[test]
fn a_limit_on_huge_pages_sends_the_rest_elsewhere() {
    let Some(_pages) = huge_pages("a_limit_on_huge_pages_sends_the_rest_elsewhere", 4) else {
        return;
    };
    let limit = vec![(2 << 20, 4 << 20)];
    let source = with(MemoryConfig {
        pagesz_limits: limit,
        ..MemoryConfig::default()
    });
    let _first = source.reserve("first", 4 * MIB, None).unwrap();
    let _second = source.reserve("second", 2 * MIB, None).unwrap();
    let kinds: Vec<_> = source.report().iter().map(|report| report.kind).collect();
    assert_eq!(kinds, [PageKind::Hugetlb, PageKind::Shared]);
}

#[test]
fn files_on_a_mount() {
    let Some(_pages) = huge_pages("files_on_a_mount", 4) else {
        return;
    };
    let config = MemoryConfig {
        file_prefix: format!("mppstest{}", std::process::id()),
        ..MemoryConfig::default()
    };
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let Some(path) = mounts
        .lines()
        .find(|line| line.contains(" hugetlbfs "))
        .and_then(|line| line.split(' ').nth(1))
    else {
        println!("SKIPPED files_on_a_mount: no hugetlbfs is mounted");
        return;
    };
    let path = std::path::PathBuf::from(path);
    if rustix::fs::access(&path, rustix::fs::Access::WRITE_OK).is_err() {
        println!(
            "SKIPPED files_on_a_mount: {} can't be written",
            path.display()
        );
        return;
    }
    let file = path.join(format!("{}map_0", config.file_prefix));
    let named = MemoryConfig {
        huge_dir: Some(path),
        ..config
    };

    let source = with(MemoryConfig {
        huge_unlink: HugeUnlink::Never,
        ..named.clone()
    });
    let mapping = source.reserve("kept", 2 * MIB, None).unwrap();
    mapping.commit(0, 1).unwrap();
    // SAFETY: committed, and the file is nobody else's.
    unsafe { mapping.as_ptr().write(9) };
    drop(mapping);
    assert!(file.exists());
    let mapping = source.reserve("kept", 2 * MIB, None).unwrap();
    mapping.commit(0, 1).unwrap();
    // SAFETY: as above.
    let byte = unsafe { mapping.as_ptr().read() };
    assert_eq!(byte, 0, "old bytes don't show");
    drop((mapping, source));

    let source = with(named.clone());
    assert!(!file.exists(), "what an ended program left is removed");
    let error = source
        .reserve("too much", 1 << 42, None)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("needs 2097152 huge pages of 2 MiB for too much, but "),
        "{error}"
    );
    let mapping = source.reserve("small", 4096, None).unwrap();
    assert_eq!(mapping.len(), 2 * MIB);
    assert!(file.exists());
    drop(mapping);
    assert!(!file.exists());

    let source = with(MemoryConfig {
        in_memory: true,
        ..named
    });
    let _mapping = source.reserve("nowhere", 2 * MIB, None).unwrap();
    assert!(!file.exists());
    assert_eq!(source.report()[0].kind, PageKind::Hugetlb);
}
