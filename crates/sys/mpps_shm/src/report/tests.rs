use super::{PageKind, PageReport, fill};

fn report(name: &str, kind: PageKind, addr: usize, len: u64) -> PageReport {
    PageReport {
        name: name.to_owned(),
        node: Some(0),
        kind,
        addr,
        len,
        committed: 0,
        resident: 0,
        huge: 0,
        page_size: 0,
    }
}

const SMAPS: &str = "\
7f0000000000-7f0000400000 rw-s 00000000 00:01 1029                       /memfd:rtemap_a (deleted)
Size:               4096 kB
KernelPageSize:        4 kB
Rss:                2048 kB
AnonHugePages:         0 kB
ShmemPmdMapped:     2048 kB
Shared_Hugetlb:        0 kB
Private_Hugetlb:       0 kB
VmFlags: rd wr sh mr mw me ms
7f0000400000-7f0000500000 rw-s 00400000 00:01 1029                       /memfd:rtemap_a (deleted)
KernelPageSize:        4 kB
Rss:                   8 kB
7f0040000000-7f0080000000 rw-s 00000000 00:0f 77                         /dev/hugepages/rtemap_0
KernelPageSize:  1048576 kB
Rss:                   0 kB
Shared_Hugetlb:        0 kB
Private_Hugetlb: 1048576 kB
7f0090000000-7f0090400000 rw-p 00000000 00:00 0
KernelPageSize:        4 kB
Rss:                  12 kB
AnonHugePages:         0 kB
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
Rss:                   4 kB
";

#[test]
fn figures_are_found_by_address() {
    let mut reports = [
        report("a", PageKind::Shared, 0x7f00_0000_0000, 5 << 20),
        report("b", PageKind::Hugetlb, 0x7f00_4000_0000, 1 << 30),
        report("c", PageKind::Private, 0x7f00_9000_0000, 4 << 20),
        report("d", PageKind::Private, 0x7f00_a000_0000, 4 << 20),
    ];
    fill(&mut reports, SMAPS);
    let figures: Vec<_> = reports
        .iter()
        .map(|report| (report.resident, report.huge, report.page_size))
        .collect();
    assert_eq!(
        figures,
        [
            (2056 << 10, 2 << 20, 2 << 20),
            (1 << 30, 1 << 30, 1 << 30),
            (12 << 10, 0, 4096),
            (0, 0, 0)
        ]
    );
}

#[test]
fn one_line_each() {
    let mut reports = [
        report("a", PageKind::Shared, 0x7f00_0000_0000, 5 << 20),
        report("b", PageKind::Hugetlb, 0x7f00_4000_0000, 1 << 30),
        report("d", PageKind::Private, 0x7f00_a000_0000, 4 << 20),
    ];
    fill(&mut reports, SMAPS);
    let lines: Vec<_> = reports.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "a: 2.0 MiB of 5 MiB resident, pages of 2 MiB (2 MiB of it on 2 MiB pages), node 0",
            "b: 1 GiB of 1 GiB resident, pages of 1 GiB from hugetlbfs, node 0",
            "d: 0 MiB of 4 MiB resident, node 0",
        ]
    );
}
