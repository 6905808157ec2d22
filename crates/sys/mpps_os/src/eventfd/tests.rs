//! Signals are counted once, never block, and only event counters are taken from others.

use super::{EventFd, Waker};
use crate::poll_readable;
use rustix::event::{EventfdFlags, eventfd};
use std::os::fd::AsFd;
use std::time::Duration;

const NOW: Option<Duration> = Some(Duration::ZERO);

#[test]
fn a_signal_is_there_until_it_is_drained() {
    let event = EventFd::new().unwrap();
    assert_eq!(poll_readable([event.as_fd()], NOW).unwrap(), [false]);
    assert!(event.signal() && event.signal());
    assert_eq!(poll_readable([event.as_fd()], NOW).unwrap(), [true]);
    assert!(event.drain());
    assert!(!event.drain());
    assert_eq!(poll_readable([event.as_fd()], NOW).unwrap(), [false]);
}

#[test]
fn a_blocking_counter_at_its_limit_does_not_stop_who_signals() {
    let fd = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
    rustix::io::write(&fd, &0xffff_ffff_ffff_fffe_u64.to_ne_bytes()).unwrap();
    let event = EventFd::from_peer(fd).unwrap();
    assert!(event.signal());
    assert!(event.drain());
}

#[test]
fn a_counter_made_blocking_later_does_not_stop_who_signals() {
    let theirs = eventfd(0, EventfdFlags::CLOEXEC).unwrap();
    let event = EventFd::from_peer(theirs.try_clone().unwrap()).unwrap();
    rustix::io::write(&theirs, &0xffff_ffff_ffff_fffe_u64.to_ne_bytes()).unwrap();
    for _ in 0..3 {
        rustix::fs::fcntl_setfl(&theirs, rustix::fs::OFlags::empty()).unwrap();
        assert!(event.signal());
    }
    assert!(event.drain());
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
