use super::{MIB, file, get, mapped, put, region};
use crate::peer::{GuestMemory, PeerMapping};
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{env, thread};

#[test]
fn a_truncated_file_costs_its_own_mapping() {
    let (lost, fd) = mapped(4 * MIB);
    let (well, _other) = mapped(4 * MIB);
    let mine = GuestMemory::new(vec![region(0, 0, &well), region(8 * MIB, 0, &lost)]).unwrap();
    let others = GuestMemory::new(vec![region(0, 0, &well)]).unwrap();
    put(&lost, 0, 1);
    put(&well, 0, 2);
    ftruncate(&fd, 4096).unwrap();
    assert!(!lost.is_lost() && !mine.is_lost());
    assert_eq!(get(&lost, 0), 1);
    assert_eq!(get(&lost, 3 << 20), 0);
    assert!(lost.is_lost() && mine.is_lost());
    // The whole mapping went, also what the file still has.
    assert_eq!(get(&lost, 0), 0);
    put(&lost, 3 << 20, 7);
    put(&lost, 4096, 8);
    assert_eq!((get(&lost, 3 << 20), get(&lost, 4096)), (7, 8));
    assert_eq!(get(&well, 0), 2);
    assert!(!well.is_lost() && !others.is_lost());
    // A table made of it later knows.
    let late = GuestMemory::new(vec![region(0, 0, &lost)]).unwrap();
    assert!(late.is_lost() && mine.is_lost());
}

#[test]
fn a_store_goes_on_too() {
    let (lost, fd) = mapped(MIB);
    ftruncate(&fd, 0).unwrap();
    put(&lost, 5, 9);
    assert!(lost.is_lost());
    assert_eq!(get(&lost, 5), 9);
}

#[test]
fn a_row_that_is_used_again_is_well() {
    for _ in 0..3 {
        let (lost, fd) = mapped(4096);
        assert!(!lost.is_lost());
        ftruncate(&fd, 0).unwrap();
        get(&lost, 0);
        assert!(lost.is_lost());
    }
}

#[test]
fn threads_lose_one_mapping_together() {
    for _ in 0..50 {
        let (lost, fd) = mapped(4 * MIB);
        ftruncate(&fd, 0).unwrap();
        let start = Barrier::new(2);
        thread::scope(|scope| {
            for side in 0..2 {
                let (lost, start) = (&lost, &start);
                scope.spawn(move || {
                    start.wait();
                    for page in 0..512 {
                        get(lost, (page * 2 + side) * 4096);
                        put(lost, (page * 2 + side) * 4096, 1);
                    }
                });
            }
        });
        assert!(lost.is_lost());
        put(&lost, 4096, 3);
        assert_eq!(get(&lost, 4096), 3);
    }
}

/// Mappings come and go on one thread, in the rows that the handler on another looks at.
#[test]
fn faults_while_other_mappings_come_and_go() {
    let stop = AtomicBool::new(false);
    let (bystander, _fd) = mapped(MIB);
    put(&bystander, 100, 42);
    thread::scope(|scope| {
        scope.spawn(|| {
            let fd = file(2 * MIB);
            for n in 0.. {
                let mapping = PeerMapping::map(fd.as_fd(), 0, (n % 500 + 1) * 4096).unwrap();
                put(&mapping, 0, 1);
                assert!(!mapping.is_lost());
                if stop.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        for _ in 0..300 {
            let (lost, fd) = mapped(8192);
            ftruncate(&fd, 0).unwrap();
            assert_eq!(get(&lost, 4096), 0);
            assert!(lost.is_lost());
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(!bystander.is_lost());
    assert_eq!(get(&bystander, 100), 42);
}

#[test]
fn huge_pages_are_lost_like_others() {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::HUGETLB | MemfdFlags::HUGE_2MB;
    let mapping = memfd_create("huge", flags).ok().and_then(|fd| {
        ftruncate(&fd, 4 * MIB).ok()?;
        let mapping = PeerMapping::map(fd.as_fd(), 0, 4 * MIB).ok()?;
        Some((mapping, fd))
    });
    let Some((lost, fd)) = mapping else {
        println!("SKIPPED huge_pages_are_lost_like_others: needs 2 free huge pages of 2 MiB");
        return;
    };
    put(&lost, 0, 1);
    assert!(!lost.is_lost());
    ftruncate(&fd, 0).unwrap();
    assert_eq!(get(&lost, 3 << 20), 0);
    put(&lost, 0, 5);
    assert!(lost.is_lost());
    assert_eq!(get(&lost, 0), 5);
}

/// Runs one test of this program in a child with the variable set: how it ended.
fn child(test: &str) -> ExitStatus {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "--test-threads=1", test])
        .env(CHILD, "1")
        .output()
        .unwrap()
        .status
}

const CHILD: &str = "MPPS_TEST_CHILD";
const HERE: &str = "peer::tests::sigbus::";

/// A real fault of ours isn't hidden: memory that isn't a peer's.
#[test]
fn a_fault_elsewhere_still_kills() {
    if env::var_os(CHILD).is_none() {
        assert_eq!(
            child(&format!("{HERE}a_fault_elsewhere_still_kills")).signal(),
            Some(libc::SIGBUS)
        );
        return;
    }
    let (handled, peer) = mapped(4096);
    ftruncate(&peer, 0).unwrap();
    assert_eq!(get(&handled, 0), 0);
    let fd = file(4096);
    let span = crate::sys::Span::take(4096, None).unwrap();
    let at = span.map(0, 4096, Some((fd.as_fd(), 0)), true).unwrap();
    ftruncate(&fd, 0).unwrap();
    // SAFETY: mapped by this test; the fault is what it is about.
    unsafe { at.as_ptr().read_volatile() };
}

/// Who sends the signal doesn't make a peer's memory lost.
#[test]
fn a_signal_that_is_sent_goes_to_who_had_it_before() {
    if env::var_os(CHILD).is_none() {
        let test = format!("{HERE}a_signal_that_is_sent_goes_to_who_had_it_before");
        assert_eq!(child(&test).signal(), Some(libc::SIGBUS));
        return;
    }
    // Before our handler: the default, in place of the standard library's.
    // SAFETY: the default action of a signal.
    unsafe { libc::signal(libc::SIGBUS, libc::SIG_DFL) };
    let (well, _fd) = mapped(4096);
    put(&well, 0, 1);
    // SAFETY: sends a signal to this thread.
    unsafe { libc::raise(libc::SIGBUS) };
}

#[test]
fn a_handler_of_before_is_asked() {
    extern "C" fn before(_: libc::c_int) {
        ASKED.store(true, Ordering::Relaxed);
    }
    static ASKED: AtomicBool = AtomicBool::new(false);
    if env::var_os(CHILD).is_none() {
        assert!(child(&format!("{HERE}a_handler_of_before_is_asked")).success());
        return;
    }
    // SAFETY: a handler that does what a handler may do.
    unsafe { libc::signal(libc::SIGBUS, before as *const () as usize) };
    let (lost, fd) = mapped(4096);
    // SAFETY: sends a signal to this thread.
    unsafe { libc::raise(libc::SIGBUS) };
    assert!(ASKED.swap(false, Ordering::Relaxed));
    ftruncate(&fd, 0).unwrap();
    get(&lost, 0);
    assert!(!ASKED.load(Ordering::Relaxed) && lost.is_lost());
}
