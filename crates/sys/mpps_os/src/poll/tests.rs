use super::poll_readable;
use std::io::Write;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

#[test]
fn says_which_can_be_read() {
    let (quiet, _quiet_end) = std::io::pipe().unwrap();
    let (busy, mut busy_end) = std::io::pipe().unwrap();
    let (hung_up, end) = std::io::pipe().unwrap();
    busy_end.write_all(b"x").unwrap();
    drop(end);
    let ready = poll_readable([quiet.as_fd(), busy.as_fd(), hung_up.as_fd()], None).unwrap();
    assert_eq!(ready, [false, true, true]);
}

#[test]
fn the_time_passes_without_news() {
    let (quiet, _end) = std::io::pipe().unwrap();
    let start = Instant::now();
    assert_eq!(
        poll_readable([quiet.as_fd()], Some(Duration::from_millis(20))).unwrap(),
        [false]
    );
    assert!(start.elapsed() >= Duration::from_millis(20));
    assert_eq!(
        poll_readable([quiet.as_fd()], Some(Duration::ZERO)).unwrap(),
        [false]
    );
}

#[test]
fn news_end_the_longest_wait() {
    let (later, mut end) = std::io::pipe().unwrap();
    let writer = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(10));
        end.write_all(b"x").unwrap();
    });
    assert_eq!(
        poll_readable([later.as_fd()], Some(Duration::MAX)).unwrap(),
        [true]
    );
    writer.join().unwrap();
}
