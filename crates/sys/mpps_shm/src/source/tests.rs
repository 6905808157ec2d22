use super::PageSource;
use crate::config::{IovaMode, MemoryConfig};
use crate::error::MemoryError;
use crate::machine::tests::Fake;
use crate::report::PageKind;

mod hugetlb;

const MIB: usize = 1 << 20;

fn with(config: MemoryConfig) -> PageSource {
    PageSource::new(config).unwrap()
}

fn no_huge() -> MemoryConfig {
    MemoryConfig {
        no_huge: true,
        ..MemoryConfig::default()
    }
}

fn vm_size_kib() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    crate::machine::kib_field(&text, "VmSize:") >> 10
}

#[test]
fn a_source_is_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<PageSource>();
    shared::<crate::Mapping>();
}

#[test]
fn a_cap_is_checked_before_anything_is_mapped() {
    let source = with(MemoryConfig {
        total_mb: Some(40),
        ..no_huge()
    });
    let error = source.reserve("mb_pool_0", 352 * MIB, None).unwrap_err();
    let text = error.to_string();
    assert_eq!(
        text,
        "needs 352 MiB for mb_pool_0, -m allows 40 MiB (0 MiB in use); ask for less or raise -m"
    );
    assert!(matches!(error, MemoryError::Budget { need, allowed, .. } if need > allowed));
    assert!(source.check("mb_pool_0", 41 * MIB, None).is_err());
    source.check("mb_pool_0", 40 * MIB, None).unwrap();
    assert!(source.check("mb_pool_0", usize::MAX, None).is_err());

    // 2,048 mbufs: buffers and headers.
    let buffers = source
        .reserve("mb_pool_0", 2048 * 2240, Some(source.nodes()[0]))
        .unwrap();
    let headers = source
        .reserve_private("mb_pool_0 headers", 2048 * 64)
        .unwrap();
    assert_eq!(
        source.remaining(None),
        Some((40 << 20) - 2048 * 2240 - 2048 * 64)
    );
    assert!(source.reserve("second", 36 * MIB, None).is_err());
    drop((buffers, headers));
    assert_eq!(source.remaining(None), Some(40 << 20));
    assert!(source.report().is_empty());
    assert!(source.reserve("second", 40 * MIB, None).is_ok());
}

#[test]
fn without_options_there_is_no_limit() {
    let source = with(no_huge());
    assert_eq!(source.remaining(None), None);
    let before = vm_size_kib();
    let mapping = source.reserve("generous", 64 << 30, None).unwrap();
    assert_eq!(source.report()[0].resident, 0);
    assert!(vm_size_kib() >= before + (60 << 20));
    drop(mapping);
}

#[test]
fn memory_is_unmapped_when_dropped() {
    let source = with(no_huge());
    let mapping = source.reserve("gone", 4 * MIB, None).unwrap();
    mapping.commit(0, 4 * MIB).unwrap();
    let addr = format!("{:x}-", mapping.as_ptr().addr());
    assert!(
        std::fs::read_to_string("/proc/self/maps")
            .unwrap()
            .contains(&addr)
    );
    let fd = mapping.fd().unwrap().try_clone_to_owned().unwrap();
    drop(mapping);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let ours = maps
        .lines()
        .find(|line| line.starts_with(&addr) && line.contains("map_gone"));
    assert_eq!(ours, None);
    drop(fd);
}

#[test]
fn impossible_lengths_are_refused() {
    let source = with(no_huge());
    for len in [
        0,
        usize::MAX,
        usize::MAX / 2,
        isize::MAX.unsigned_abs() & !0xfff,
    ] {
        let error = source.reserve("odd", len, None).unwrap_err().to_string();
        assert!(error.contains("for odd: "), "{error}");
        assert!(source.reserve_private("odd", len).is_err());
    }
    assert!(source.report().is_empty());
}

#[test]
fn a_node_that_is_not_there_is_refused() {
    let source = with(no_huge());
    let error = source
        .reserve("mb_pool_999", MIB, Some(999))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("mb_pool_999: there is no NUMA node 999; this machine has 0"),
        "{error}"
    );
}

#[test]
fn one_file_for_all_mappings() {
    let source = with(MemoryConfig {
        single_file_segments: true,
        ..MemoryConfig::default()
    });
    let first = source.reserve("first", 3 * MIB / 2, None).unwrap();
    let second = source.reserve("second", 4096, None).unwrap();
    let third = source.reserve("third", 4096, None).unwrap();
    let inode = |mapping: &crate::Mapping| rustix::fs::fstat(mapping.fd().unwrap()).unwrap().st_ino;
    assert_eq!(inode(&second), inode(&third));
    if source.report()[0].kind == PageKind::Shared {
        assert_eq!(inode(&first), inode(&second));
        assert_eq!(
            (first.fd_offset(), second.fd_offset(), third.fd_offset()),
            (0, 2 << 20, 4 << 20)
        );
    }
    third.commit(0, 1).unwrap();
    // SAFETY: committed, and the file is nobody else's.
    unsafe { third.as_ptr().write(7) };
    let mut byte = [0];
    rustix::io::pread(third.fd().unwrap(), &mut byte, third.fd_offset()).unwrap();
    assert_eq!(byte, [7]);
    let (fd, offset) = (
        second.fd().unwrap().try_clone_to_owned().unwrap(),
        third.fd_offset(),
    );
    drop(third);
    rustix::io::pread(&fd, &mut byte, offset).unwrap();
    assert_eq!(byte, [0], "the pages of a mapping that went are given back");
}

#[test]
fn the_base_address_is_taken_where_it_is_free() {
    let base = 0x2100_0000_0001_u64;
    let source = with(MemoryConfig {
        base_virtaddr: Some(base),
        ..no_huge()
    });
    let first = source.reserve("first", 4 * MIB, None).unwrap();
    let second = source.reserve_private("second", 4 * MIB).unwrap();
    assert_eq!(first.as_ptr().addr().get(), 0x2100_0100_0000);
    assert!(second.as_ptr().addr().get() >= 0x2100_0100_0000 + 4 * MIB);
    assert!(second.as_ptr().addr().get() < 0x2100_0200_0000);
    assert!(source.take_notices().is_empty());

    let other = with(MemoryConfig {
        base_virtaddr: Some(base),
        ..no_huge()
    });
    let elsewhere = other.reserve("third", 4 * MIB, None).unwrap();
    assert_ne!(elsewhere.as_ptr().addr().get(), first.as_ptr().addr().get());
    let notices = other.take_notices();
    assert!(
        notices[0].starts_with("--base-virtaddr: 0x210001000000 is not free, third is at 0x"),
        "{notices:?}"
    );
}

#[test]
fn physical_addresses_or_a_word_why_not() {
    match PageSource::new(MemoryConfig {
        iova_mode: Some(IovaMode::Pa),
        ..no_huge()
    }) {
        Ok(source) => {
            assert_eq!(source.iova_mode(), IovaMode::Pa);
            let mapping = source.reserve("translated", 2 * MIB, None).unwrap();
            assert_eq!(source.translate(mapping.as_ptr()), None);
            mapping.commit(0, 2 * MIB).unwrap();
            let first = source.translate(mapping.as_ptr()).unwrap();
            let inside = mapping.region().at(8195, 1).unwrap();
            let inside = source.translate(inside).unwrap();
            if source.report()[0].huge == 2 << 20 {
                assert_eq!((first % (2 << 20), inside), (0, first + 8195));
            }
        }
        Err(error) => {
            let text = error.to_string();
            assert!(
                text.starts_with("--iova-mode=pa: ") && text.contains("--iova-mode=va"),
                "{text}"
            );
            println!(
                "SKIPPED physical_addresses_or_a_word_why_not: physical addresses need CAP_SYS_ADMIN"
            );
        }
    }
    assert_eq!(with(no_huge()).iova_mode(), IovaMode::Va);
}

#[test]
fn legacy_memory_is_resident_at_once() {
    let source = with(MemoryConfig {
        legacy_mem: true,
        ..no_huge()
    });
    let shared = source.reserve("shared", 4 * MIB, None).unwrap();
    let private = source.reserve_private("private", 4 * MIB).unwrap();
    for report in source.report() {
        assert_eq!((report.committed, report.resident), (4 << 20, 4 << 20));
    }
    drop((shared, private));
}

#[test]
fn a_mount_named_must_be_one() {
    let folder = std::env::temp_dir();
    let config = MemoryConfig {
        huge_dir: Some(folder.clone()),
        ..MemoryConfig::default()
    };
    let error = PageSource::new(config).unwrap_err().to_string();
    assert!(
        error.contains(&format!("--huge-dir '{}'", folder.display())),
        "{error}"
    );

    let source = with(MemoryConfig {
        huge_dir: Some(folder),
        ..no_huge()
    });
    assert!(source.take_notices()[0].starts_with("--no-huge is given: --huge-dir '"));
    assert!(source.reserve("plain", MIB, None).is_ok());
}

#[test]
fn too_few_free_huge_pages_are_told() {
    let fake = Fake::new("0\n");
    fake.pages(2048, 3, 0, 0);
    let source = PageSource::on(fake.machine(), MemoryConfig::default()).unwrap();
    let mapping = source.reserve("mb_pool_0", 8 * MIB, None).unwrap();
    assert_eq!(source.report()[0].kind, PageKind::Shared);
    assert_eq!(
        source.take_notices(),
        ["mb_pool_0 needs 4 huge pages of 2 MiB, 3 are free: ordinary memory is used"]
    );
    mapping.commit(0, 8 * MIB).unwrap();
}

#[test]
fn pages_that_vanish_are_replaced() {
    // As if somebody had taken the pages between the look and the grasp.
    let fake = Fake::new("0\n");
    fake.pages(2048, 1 << 20, 0, 0);
    let source = PageSource::on(fake.machine(), MemoryConfig::default()).unwrap();
    let mapping = source.reserve("optimist", 1 << 40, None).unwrap();
    assert_eq!(source.report().len(), 1);
    assert_eq!(source.report()[0].kind, PageKind::Shared);
    mapping.commit(1 << 39, 1).unwrap();
}

#[test]
fn nodes_with_room_are_chosen() {
    let fake = Fake::new("0-1\n");
    let config = MemoryConfig {
        per_node_mb: vec![1, 8],
        legacy_mem: true,
        ..no_huge()
    };
    let source = PageSource::on(fake.machine(), config).unwrap();
    assert_eq!(source.node_for("x", 4 * MIB, None).unwrap(), Some(1));
    assert_eq!(source.node_for("x", MIB, None).unwrap(), Some(0));
    assert_eq!(source.remaining(Some(1)), Some(8 << 20));
    let error = source.reserve("x", 16 * MIB, None).unwrap_err().to_string();
    assert!(
        error.contains("--numa-mem/--socket-mem for node 0 allows 1 MiB"),
        "{error}"
    );
    let free = PageSource::on(fake.machine(), no_huge()).unwrap();
    assert_eq!(free.node_for("x", MIB, None).unwrap(), None);
}
