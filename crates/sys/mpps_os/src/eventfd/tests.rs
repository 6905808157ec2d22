//! Signals are counted, never block whatever another process does, and only event counters are taken from others.

use super::{EventFd, Waker, signalling_trouble};
use crate::poll_readable;
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const NOW: Option<Duration> = Some(Duration::ZERO);
/// What a counter can't be added to without waiting.
const FULL: u64 = u64::MAX - 1;

/// What a counter has reached; zero again afterwards.
fn taken(fd: &impl AsFd) -> u64 {
    let mut count = [0; 8];
    match rustix::io::read(fd, &mut count) {
        Ok(_) => u64::from_ne_bytes(count),
        Err(error) => {
            assert_eq!(error, rustix::io::Errno::AGAIN);
            0
        }
    }
}

/// A counter that its owner made blocking, and another name for it.
fn blocking() -> (OwnedFd, EventFd) {
    let theirs = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
    let ours = EventFd::from_peer(theirs.try_clone().unwrap()).unwrap();
    (theirs, ours)
}

#[test]
fn each_signal_is_counted() {
    let event = EventFd::new().unwrap();
    assert_eq!(poll_readable([event.as_fd()], NOW).unwrap(), [false]);
    // More than there is room for without fetching results.
    for _ in 0..10_000 {
        assert!(event.signal());
    }
    assert_eq!(poll_readable([event.as_fd()], NOW).unwrap(), [true]);
    assert_eq!(taken(&event), 10_000);
    assert_eq!(poll_readable([event.as_fd()], NOW).unwrap(), [false]);
    assert!(signalling_trouble().is_none(), "{:?}", signalling_trouble());
}

#[test]
fn threads_signal_at_the_same_time() {
    let events = [EventFd::new().unwrap(), EventFd::new().unwrap()];
    std::thread::scope(|scope| {
        for n in 0..4 {
            let event = &events[n % 2];
            scope.spawn(move || {
                for _ in 0..5000 {
                    assert!(event.signal());
                }
            });
        }
    });
    assert_eq!(events.map(|event| taken(&event)), [10_000, 10_000]);
}

#[test]
fn a_blocking_counter_at_its_limit_does_not_stop_who_signals() {
    let (theirs, ours) = blocking();
    rustix::io::write(&theirs, &FULL.to_ne_bytes()).unwrap();
    for _ in 0..1000 {
        assert!(ours.signal());
    }
    assert!(taken(&theirs) >= FULL);
    // It is as its owner wants it.
    assert!(!fcntl_getfl(&theirs).unwrap().contains(OFlags::NONBLOCK));
}

#[test]
fn who_signals_is_never_stopped_by_one_who_fills_the_counter() {
    let (theirs, ours) = blocking();
    let (stop, signals) = (AtomicBool::new(false), AtomicU64::new(0));
    let (stop, signals) = (&stop, &signals);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // Relaxed, here and below: lone values.
            while !stop.load(Ordering::Relaxed) {
                assert!(ours.signal());
                signals.fetch_add(1, Ordering::Relaxed);
            }
        });
        let end = Instant::now() + Duration::from_millis(500);
        while Instant::now() < end || signals.load(Ordering::Relaxed) < 1000 {
            // Fill without waiting, then have everybody else wait.
            fcntl_setfl(&theirs, OFlags::NONBLOCK).unwrap();
            let _ = rustix::io::write(&theirs, &FULL.to_ne_bytes());
            let _ = rustix::io::write(&theirs, &1_u64.to_ne_bytes());
            fcntl_setfl(&theirs, OFlags::empty()).unwrap();
            let before = signals.load(Ordering::Relaxed);
            let moved = || signals.load(Ordering::Relaxed) > before + 3;
            let late = Instant::now() + Duration::from_secs(10);
            while !moved() && Instant::now() < late {
                std::hint::spin_loop();
            }
            let stuck = !moved();
            if stuck {
                stop.store(true, Ordering::Relaxed);
            }
            // Room again, also for one that waits.
            fcntl_setfl(&theirs, OFlags::NONBLOCK).unwrap();
            taken(&theirs);
            assert!(!stuck, "stopped after {before} signals");
        }
        stop.store(true, Ordering::Relaxed);
    });
}

/// In a process of its own, which has no descriptor left when it signals for the first time.
#[test]
fn without_asynchronous_io_a_counter_is_written_to_and_that_is_known() {
    const CHILD: &str = "MPPS_TEST_CHILD";
    let name = "eventfd::tests::without_asynchronous_io_a_counter_is_written_to_and_that_is_known";
    if std::env::var_os(CHILD).is_none() {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap());
        child
            .args(["--exact", "--test-threads=1", name])
            .env(CHILD, "1");
        let done = child.output().unwrap();
        assert!(done.status.success(), "{done:?}");
        return;
    }
    let (theirs, ours) = blocking();
    let limit = rustix::process::Rlimit {
        current: Some(3),
        maximum: Some(3),
    };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
    assert!(signalling_trouble().is_none());
    assert!(ours.signal() && ours.signal());
    assert!(signalling_trouble().is_some());
    // Nobody fills it just now.
    rustix::io::read(&theirs, &mut [0_u8; 8]).unwrap();
    rustix::io::write(&theirs, &FULL.to_ne_bytes()).unwrap();
    assert!(ours.signal());
    assert_eq!(taken(&theirs), FULL);
}

#[test]
fn something_else_than_a_counter_is_refused() {
    let (reader, _writer) = rustix::pipe::pipe().unwrap();
    let error = EventFd::from_peer(reader).unwrap_err().to_string();
    assert!(error.contains("no eventfd"), "{error}");
}

#[test]
fn a_waker_wakes_across_threads() {
    let waker = Waker::new().unwrap();
    let other = waker.clone();
    let thread = std::thread::spawn(move || other.wake());
    let woken = poll_readable([waker.as_fd()], Some(Duration::from_secs(10))).unwrap();
    assert_eq!(woken, [true]);
    thread.join().unwrap();
    assert!(waker.reset());
    assert!(!waker.reset());
}
