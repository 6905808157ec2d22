use super::{HUGE_PAGE, Mapping, SMALL_PAGE};
use crate::config::MemoryConfig;
use crate::report::PageReport;
use crate::source::PageSource;
use crate::sys::Binding;
use std::sync::Barrier;

const MIB: usize = 1 << 20;

fn source() -> PageSource {
    PageSource::new(MemoryConfig {
        no_huge: true,
        ..MemoryConfig::default()
    })
    .unwrap()
}

fn report(source: &PageSource, name: &str) -> PageReport {
    source
        .report()
        .into_iter()
        .find(|report| report.name == name)
        .unwrap()
}

#[expect(
    clippy::mut_from_ref,
    reason = "as memory that is shared with others: the mapping guards no bytes"
)]
fn bytes(mapping: &Mapping, offset: usize, len: usize) -> &mut [u8] {
    let at = mapping.region().at(offset, len).unwrap();
    // SAFETY: the tests look at one committed range at a time, and share the file with nobody.
    unsafe { std::slice::from_raw_parts_mut(at.as_ptr(), len) }
}

#[test]
fn nothing_is_resident_before_commit() {
    let source = source();
    let mapping = source.reserve("lazy", 370 * MIB, None).unwrap();
    assert_eq!(mapping.len(), 370 * MIB);
    assert_eq!(mapping.as_ptr().addr().get() % HUGE_PAGE, 0);
    assert_eq!(
        (mapping.commit_unit(), mapping.page_size()),
        (HUGE_PAGE, HUGE_PAGE)
    );
    let before = report(&source, "lazy");
    assert_eq!(
        (before.resident, before.committed, before.page_size),
        (0, 0, 0)
    );
    mapping.commit(5 * MIB, 1).unwrap();
    mapping.commit(5 * MIB, 100).unwrap();
    let after = report(&source, "lazy");
    assert_eq!((after.resident, after.committed), (2 << 20, 2 << 20));
    assert!(
        bytes(&mapping, 4 * MIB, 2 * MIB)
            .iter()
            .all(|byte| *byte == 0)
    );
}

#[test]
fn collapse_gives_huge_pages() {
    let source = source();
    let shared = source.reserve("huge shared", 4 * MIB, None).unwrap();
    let private = source.reserve_private("huge private", 4 * MIB).unwrap();
    for mapping in [&shared, &private] {
        mapping.commit(0, mapping.len()).unwrap();
        bytes(mapping, 0, mapping.len()).fill(0xa5);
        let got = report(&source, mapping.name());
        assert_eq!(got.resident, 4 << 20);
        if got.huge < got.resident {
            println!(
                "SKIPPED collapse_gives_huge_pages: the kernel gave {} bytes on huge pages",
                got.huge
            );
        } else {
            assert_eq!(got.page_size, 2 << 20);
        }
    }
}

#[test]
fn small_mappings_stay_small() {
    let source = source();
    let mapping = source.reserve("small", 5000, None).unwrap();
    assert_eq!(
        (mapping.len(), mapping.page_size()),
        (2 * SMALL_PAGE, SMALL_PAGE)
    );
    mapping.commit(0, 5000).unwrap();
    bytes(&mapping, 0, 5000).fill(1);
    let got = report(&source, "small");
    assert_eq!((got.resident, got.page_size), (8192, 4096));
}

#[test]
fn ranges_outside_are_refused() {
    let mapping = source().reserve("range", 4 * MIB, None).unwrap();
    assert!(mapping.commit(4 * MIB, 0).is_ok());
    for (offset, len) in [
        (4 * MIB, 1),
        (0, 4 * MIB + 1),
        (usize::MAX, 1),
        (1, usize::MAX),
    ] {
        let error = mapping.commit(offset, len).unwrap_err().to_string();
        assert!(
            error.contains("not inside range, which has 4194304"),
            "{error}"
        );
    }
}

#[test]
fn the_file_is_what_is_mapped() {
    let mapping = source().reserve("file", 2 * MIB, None).unwrap();
    mapping.commit(0, 2 * MIB).unwrap();
    bytes(&mapping, 4096, 4).copy_from_slice(b"mpps");
    let mut back = [0; 4];
    let fd = mapping.fd().unwrap();
    assert_eq!(
        rustix::io::pread(fd, &mut back, mapping.fd_offset() + 4096),
        Ok(4)
    );
    assert_eq!(&back, b"mpps");
    assert!(
        source()
            .reserve_private("private", 1)
            .unwrap()
            .fd()
            .is_none()
    );
}

#[test]
fn many_threads_may_commit_at_once() {
    let source = source();
    let mapping = source.reserve("threads", 8 * MIB, None).unwrap();
    let barrier = Barrier::new(4);
    std::thread::scope(|scope| {
        for thread in 0..4_u8 {
            let (mapping, barrier) = (&mapping, &barrier);
            scope.spawn(move || {
                barrier.wait();
                for chunk in 0..4 {
                    let offset = chunk * HUGE_PAGE + usize::from(thread) * SMALL_PAGE;
                    mapping.commit(offset, SMALL_PAGE).unwrap();
                    let at = mapping.region().at(offset, 1).unwrap();
                    // SAFETY: committed just now, and each thread has bytes of its own.
                    unsafe { at.write(thread + 1) };
                }
            });
        }
    });
    for thread in 0..4 {
        assert_eq!(
            bytes(&mapping, 3 * HUGE_PAGE + thread * SMALL_PAGE, 1),
            [u8::try_from(thread).unwrap() + 1]
        );
    }
    assert_eq!(report(&source, "threads").committed, 8 << 20);
}

#[test]
fn pages_come_by_allocation_where_the_kernel_cannot_populate() {
    let source = source();
    let mapping = source.reserve("old kernel", 4 * MIB, None).unwrap();
    mapping.allocate(2 * MIB, MIB).unwrap();
    let blocks = rustix::fs::fstat(mapping.fd().unwrap()).unwrap().st_blocks;
    assert_eq!(blocks * 512, 1 << 20);
    source
        .reserve_private("old kernel, private", 4 * MIB)
        .unwrap()
        .allocate(0, MIB)
        .unwrap();
}

#[test]
fn memory_can_be_bound_to_a_node() {
    let source = source();
    let mapping = source.reserve("bound", 2 * MIB, None).unwrap();
    let node = source.nodes()[0];
    for binding in [Binding::Preferred, Binding::Strict] {
        match mapping.span.bind(mapping.skip, mapping.len, node, binding) {
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
                println!("SKIPPED memory_can_be_bound_to_a_node: this kernel has no mbind for us");
                return;
            }
            result => result.unwrap(),
        }
    }
    mapping.commit(0, 2 * MIB).unwrap();
    assert!(
        mapping
            .span
            .bind(mapping.skip, mapping.len, 1000, Binding::Strict)
            .is_err()
    );
    assert!(
        mapping
            .span
            .bind(mapping.skip, mapping.len, 2000, Binding::Strict)
            .is_err()
    );
}

#[test]
fn leaked_memory_stays() {
    let source = source();
    let mapping = source.reserve("leaked", 2 * MIB, None).unwrap();
    mapping.commit(0, 1).unwrap();
    let region = mapping.leak();
    // SAFETY: committed above, never unmapped, used by nobody else.
    assert_eq!(unsafe { region.as_ptr().read() }, 0);
    assert_eq!(report(&source, "leaked").committed, 2 << 20);
}
