use super::{MIB, file, get, mapped, put};
use crate::mapping::HUGE_PAGE;
use crate::peer::{PeerMapError, PeerMapping};
use rustix::fs::{MemfdFlags, Mode, OFlags, ftruncate, memfd_create, open};
use rustix::io::pwrite;
use std::fs;
use std::os::fd::AsFd;

fn refused(fd: impl AsFd, offset: u64, len: u64) -> String {
    let error = PeerMapping::map(fd.as_fd(), offset, len).unwrap_err();
    let text = error.to_string();
    assert!(!text.contains('\n'), "{text}");
    text
}

#[test]
fn offsets_need_not_be_pages() {
    let fd = file(8 * 4096);
    pwrite(&fd, &[7, 8, 9], 5001).unwrap();
    let mapping = PeerMapping::map(fd.as_fd(), 5002, 4096).unwrap();
    assert_eq!(mapping.region().len(), 4096);
    assert_eq!((get(&mapping, 0), get(&mapping, 1)), (8, 9));
    put(&mapping, 0, 1);
    let mut byte = [0];
    rustix::io::pread(&fd, &mut byte, 5002).unwrap();
    assert_eq!(byte, [1]);
}

#[test]
fn the_descriptor_may_be_closed_and_clones_share() {
    let (mapping, fd) = mapped(4096);
    drop(fd);
    let other = mapping.clone();
    put(&mapping, 1, 1);
    drop(mapping);
    assert_eq!(get(&other, 1), 1);
    assert!(!other.is_lost());
}

#[test]
fn places_suit_huge_pages() {
    let fd = file(16 * MIB);
    for offset in [0, 2 * MIB, 3 * MIB, MIB + 4096] {
        let mapping = PeerMapping::map(fd.as_fd(), offset, 4 * MIB).unwrap();
        let address = mapping.region().as_ptr().addr().get();
        assert_eq!(address % HUGE_PAGE, offset as usize % HUGE_PAGE);
    }
}

#[test]
fn nothing_becomes_resident() {
    let (mapping, _fd) = mapped(64 << 30);
    assert_eq!(get(&mapping, 63 << 30), 0);
    let smaps = fs::read_to_string("/proc/self/smaps").unwrap();
    let start = format!("{:x}-", mapping.region().as_ptr().addr().get());
    let of_ours = smaps.split_once(&start).unwrap().1;
    let rss = of_ours.lines().find(|line| line.starts_with("Rss:"));
    let kib: u64 = rss
        .and_then(|line| line.split_whitespace().nth(1))
        .unwrap()
        .parse()
        .unwrap();
    assert!(kib <= 2048, "{kib}");
}

#[test]
fn what_the_file_does_not_have_is_refused_by_name() {
    let fd = file(3 * 4096);
    assert_eq!(
        refused(&fd, 4096, 4096 * 2 + 1),
        "the region at offset 0x1000 has length 0x2001, but the peer's file ends at 0x3000"
    );
    assert!(PeerMapping::map(fd.as_fd(), 4096, 4096 * 2).is_ok());
    assert!(refused(&fd, 0, 0).contains("length 0"));
    assert!(refused(&fd, u64::MAX, 1).contains("no address space"));
    assert!(refused(&fd, 4096, u64::MAX).contains("no address space"));
    assert!(refused(&fd, 0, u64::MAX).contains("ends at 0x3000"));
    assert!(refused(&fd, u64::MAX - 1, 1).contains("ends at 0x3000"));
}

#[test]
fn the_largest_file_is_an_error_too() {
    let fd = file(i64::MAX as u64);
    assert!(matches!(
        PeerMapping::map(fd.as_fd(), 0, i64::MAX as u64),
        Err(PeerMapError::Overflow { .. } | PeerMapError::System { .. })
    ));
}

#[test]
fn what_is_not_memory_is_refused() {
    let zero = fs::File::options()
        .read(true)
        .write(true)
        .open("/dev/zero")
        .unwrap();
    assert!(refused(&zero, 0, 4096).contains("not a regular file"));
    let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
    assert!(refused(&one, 0, 4096).contains("not a regular file"));
}

#[test]
fn a_file_that_we_may_not_write_is_refused() {
    let fd = file(4096);
    let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&fd));
    let readable = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    assert!(refused(&readable, 0, 4096).contains("mmap"));
}

#[test]
fn pages_of_hugetlbfs_round_the_offset() {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
    let Ok(fd) = memfd_create("huge", flags) else {
        println!("SKIPPED pages_of_hugetlbfs_round_the_offset: no pages of 2 MiB");
        return;
    };
    ftruncate(&fd, 4 * MIB).unwrap();
    match PeerMapping::map(fd.as_fd(), 4096, 3 * MIB) {
        Ok(mapping) => {
            let address = mapping.region().as_ptr().addr().get();
            assert_eq!(address % HUGE_PAGE, 4096);
            assert_eq!(mapping.region().len() as u64, 3 * MIB);
        }
        Err(error) => {
            assert!(error.to_string().contains("mmap"), "{error}");
            println!(
                "SKIPPED pages_of_hugetlbfs_round_the_offset: needs 2 free huge pages of 2 MiB"
            );
        }
    }
}
