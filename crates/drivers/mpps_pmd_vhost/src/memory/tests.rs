use rustix::fs::{MemfdFlags, ftruncate, memfd_create};

use super::*;

const SIZE: u64 = 1 << 20;

fn file() -> OwnedFd {
    let fd = memfd_create("front end", MemfdFlags::CLOEXEC).expect("a memfd");
    ftruncate(&fd, SIZE).expect("a length");
    fd
}

/// The region number `at`; the addresses of the front end lie above the guest's.
fn region(at: u64) -> MemoryRegion {
    MemoryRegion {
        guest: at * SIZE,
        size: SIZE,
        user: (100 + at) * SIZE,
        offset: 0,
    }
}

fn reaches(memory: &Memory, at: u64) -> bool {
    let table = memory.table();
    table.is_some_and(|table| table.resolve(at * SIZE, 64, &mut 0).is_some())
}

/// As QEMU 7.2 has it with two queue pairs: everything is said twice.
#[test]
fn what_is_said_once_for_each_queue_pair_counts_once() {
    let (mut memory, fd) = (Memory::default(), file());
    for _ in 0..2 {
        memory.add(&region(0), &fd).expect("it fits");
        memory.add(&region(1), &fd).expect("it fits");
    }
    assert_eq!(memory.regions.len(), 2);
    for _ in 0..2 {
        memory.remove(&region(0)).expect("gone is gone");
        assert!(!reaches(&memory, 0) && reaches(&memory, 1));
    }
    memory.remove(&region(1)).expect("it is there");
    assert!(memory.table().is_none());
}

#[test]
fn a_region_that_only_overlaps_is_refused_and_changes_nothing() {
    let (mut memory, fd) = (Memory::default(), file());
    memory.add(&region(0), &fd).expect("it fits");
    let mut other = region(0);
    other.user += 64 * SIZE;
    assert!(memory.add(&other, &fd).is_err());
    assert!(memory.regions.len() == 1 && reaches(&memory, 0));
}
