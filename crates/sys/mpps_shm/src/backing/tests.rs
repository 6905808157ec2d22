use super::Backing;
use rustix::fs::{fstat, ftruncate};
use rustix::io::Errno;

const MIB: u64 = 1 << 20;

#[test]
fn nobody_can_shorten_it() {
    let file = Backing::memfd("sealed", None, 4 * MIB, false).unwrap();
    assert_eq!(fstat(file.fd()).unwrap().st_size, 4 << 20);
    assert_eq!(ftruncate(file.fd(), 0), Err(Errno::PERM));
    assert_eq!(ftruncate(file.fd(), 8 * MIB), Err(Errno::PERM));
    assert!(file.grow(MIB, MIB).is_err());
}

#[test]
fn a_growing_file_hands_out_ranges_and_takes_pages_back() {
    let file = Backing::memfd("growing", None, 0, true).unwrap();
    assert_eq!(file.grow(4096, 2 * MIB), Ok(0));
    assert_eq!(file.grow(4 * MIB, 2 * MIB), Ok(2 * MIB));
    assert_eq!(file.grow(1, 2 * MIB), Ok(6 * MIB));
    assert_eq!(ftruncate(file.fd(), 0), Err(Errno::PERM));
    file.allocate(2 * MIB, MIB).unwrap();
    assert_eq!(fstat(file.fd()).unwrap().st_blocks * 512, 1 << 20);
    file.release(2 * MIB, 4 * MIB);
    assert_eq!(fstat(file.fd()).unwrap().st_blocks, 0);
    assert_eq!(file.grow(u64::MAX - 8 * MIB, 2 * MIB), Err(Errno::INVAL));
}

#[test]
fn long_names_are_cut() {
    let name = "\u{e4}".repeat(300);
    assert!(Backing::memfd(&name, None, 4096, false).is_ok());
    assert_eq!(
        Backing::memfd("a\0b", None, 4096, false).err(),
        Some(Errno::INVAL)
    );
}
