use super::DirtyLog;
use crate::peer::tests::{get, mapped};
use proptest::prelude::*;
use std::sync::OnceLock;

const PAGE: u64 = 4096;

/// A log of `bytes` bytes, and a look at it.
fn log(bytes: u64) -> (DirtyLog, impl Fn() -> Vec<u8>) {
    let (mapping, _fd) = mapped(bytes);
    let seen = mapping.clone();
    let look = move || (0..bytes as usize).map(|at| get(&seen, at)).collect();
    (DirtyLog::new(mapping), look)
}

#[test]
fn the_first_page_is_the_lowest_bit() {
    let (log, look) = log(4);
    assert!(log.mark(0, 1));
    assert_eq!(look(), [1, 0, 0, 0]);
    assert!(log.mark(9 * PAGE + 4095, 1));
    assert_eq!(look(), [1, 2, 0, 0]);
    assert!(log.mark(9 * PAGE + 4095, 2));
    assert_eq!(look(), [1, 6, 0, 0]);
    assert!(log.mark(14 * PAGE, 11 * PAGE));
    assert_eq!(look(), [1, 0xc6, 0xff, 1]);
    assert!(log.mark(31 * PAGE, 0));
    assert_eq!(look(), [1, 0xc6, 0xff, 1]);
    assert!(!log.is_lost());
}

#[test]
fn pages_beyond_the_log_are_told() {
    let (log, look) = log(2);
    assert!(!log.mark(16 * PAGE, 1));
    assert!(!log.mark(u64::MAX, 1));
    assert!(!log.mark(u64::MAX, u64::MAX));
    assert_eq!(look(), [0, 0]);
    assert!(!log.mark(15 * PAGE + 4095, 2));
    assert_eq!(look(), [0, 0x80]);
    assert!(!log.mark(4 * PAGE, u64::MAX));
    assert_eq!(look(), [0xf0, 0xff]);
}

/// The front end takes bits away at the same time; none is lost on the way.
#[test]
fn bits_survive_a_front_end_that_takes_them() {
    let (mapping, _fd) = mapped(8);
    let log = DirtyLog::new(mapping.clone());
    let word = mapping.region().as_ptr().cast::<u64>();
    // SAFETY: eight bytes, aligned to a page, in a mapping that outlives this.
    let word = unsafe { std::sync::atomic::AtomicU64::from_ptr(word.as_ptr()) };
    let ordering = std::sync::atomic::Ordering::AcqRel;
    for round in 0..200 {
        let taken = std::thread::scope(|scope| {
            let marking =
                scope.spawn(|| (0..64).for_each(|page| assert!(log.mark(page * PAGE, 1))));
            let mut taken = 0;
            while !marking.is_finished() {
                taken |= word.swap(0, ordering);
            }
            taken | word.swap(0, ordering)
        });
        assert_eq!(taken, u64::MAX, "round {round}");
    }
}

proptest! {
    #[test]
    fn marks_agree_with_pages(address in 0..40 * PAGE, len in 0..40 * PAGE) {
        static LOG: OnceLock<DirtyLog> = OnceLock::new();
        static ONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
        let _one = ONE.lock();
        let log = LOG.get_or_init(|| DirtyLog::new(mapped(4).0));
        let inside = log.mark(address, len);
        let end = address + len;
        let wanted = |page: u64| len > 0 && page * PAGE < end && (page + 1) * PAGE > address;
        prop_assert_eq!(inside, len == 0 || end <= 32 * PAGE);
        for page in 0..32 {
            let byte = get(&log.mapping, (page / 8) as usize);
            prop_assert_eq!(byte >> (page % 8) & 1 == 1, wanted(page), "page {}", page);
        }
        for byte in 0..4 {
            crate::peer::tests::put(&log.mapping, byte, 0);
        }
    }
}
