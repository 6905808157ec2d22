use super::{Signal, Signals, set_action};
use crate::child::{self, Child};
use crate::poll_readable;
use rustix::process::Signal as Sent;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::ExitStatusExt;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time after which a signal is another one.
const APART: Duration = Duration::from_millis(super::SAME + 50);

/// Waits for a signal, says which, and then hangs.
#[test]
fn child_waits() {
    if !child::is_asked_for("child_waits") {
        return;
    }
    let signals = Signals::install().unwrap();
    assert_eq!(
        Signals::install().unwrap().fd().as_raw_fd(),
        signals.fd().as_raw_fd()
    );
    assert_eq!(signals.pending(), None);
    child::say("ready");
    assert_eq!(poll_readable([signals.fd()], None).unwrap(), [true]);
    child::say(&signals.pending().unwrap().to_string());
    assert_eq!(
        poll_readable([signals.fd()], None).unwrap(),
        [true],
        "it stays readable"
    );
    child::say("hanging");
    std::thread::sleep(Duration::from_secs(60));
    // An interrupted sleep is taken up again by the library, so only the handler can end this process.
    panic!("the second signal must end the process");
}

#[test]
fn the_first_signal_is_noted_and_the_second_ends_the_process() {
    for (sent, name, status) in [(Sent::INT, "SIGINT", 130), (Sent::TERM, "SIGTERM", 143)] {
        let mut child = Child::start("signals::tests::child_waits");
        assert_eq!(child.line(), "ready");
        child.signal(sent);
        assert_eq!(child.line(), name);
        assert_eq!(child.line(), "hanging");
        std::thread::sleep(APART);
        child.signal(sent);
        let end = child.end();
        assert_eq!((end.code(), end.signal()), (Some(status), None));
    }
}

#[test]
fn the_second_signal_names_itself() {
    let mut child = Child::start("signals::tests::child_waits");
    assert_eq!(child.line(), "ready");
    child.signal(Sent::TERM);
    assert_eq!(child.line(), "SIGTERM");
    std::thread::sleep(APART);
    child.signal(Sent::INT);
    assert_eq!(child.end().code(), Some(130));
}

#[test]
fn signals_close_together_are_one() {
    let mut child = Child::start("signals::tests::child_waits");
    assert_eq!(child.line(), "ready");
    for _ in 0..3 {
        child.signal(Sent::INT);
    }
    assert_eq!(child.line(), "SIGINT");
    assert_eq!(child.line(), "hanging");
    std::thread::sleep(APART);
    child.signal(Sent::TERM);
    assert_eq!(child.end().code(), Some(143));
}

/// Sends signals to the calling thread, each after a while; the kernel itself would choose any thread.
fn soon_send_here(signals: &'static [i32]) -> JoinHandle<()> {
    // SAFETY: has no requirements.
    let here = unsafe { libc::pthread_self() };
    std::thread::spawn(move || {
        for &signal in signals {
            std::thread::sleep(Duration::from_millis(100));
            // SAFETY: the thread waits in the call that these signals are to interrupt, and joins this one later.
            unsafe { libc::pthread_kill(here, signal) };
        }
    })
}

/// Blocks in a read.
#[test]
fn child_reads() {
    if !child::is_asked_for("child_reads") {
        return;
    }
    let signals = Signals::install().unwrap();
    let (mut pipe, _end) = std::io::pipe().unwrap();
    let sender = soon_send_here(&[libc::SIGINT]);
    let error = pipe.read(&mut [0]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert_eq!(signals.pending(), Some(Signal::Interrupt));
    sender.join().unwrap();
    child::say("interrupted");
}

#[test]
fn a_waiting_read_is_interrupted() {
    let mut child = Child::start("signals::tests::child_reads");
    assert_eq!(child.line(), "interrupted");
    assert!(child.end().success());
}

extern "C" fn do_nothing(_: libc::c_int) {}

/// Polls something silent while another signal comes, then SIGTERM.
#[test]
fn child_polls() {
    if !child::is_asked_for("child_polls") {
        return;
    }
    let signals = Signals::install().unwrap();
    let handler = do_nothing as extern "C" fn(libc::c_int);
    set_action(libc::SIGWINCH, handler as libc::sighandler_t).unwrap();
    let (pipe, _end) = std::io::pipe().unwrap();
    let start = Instant::now();
    let sender = soon_send_here(&[libc::SIGWINCH, libc::SIGTERM]);
    assert_eq!(
        poll_readable([pipe.as_fd()], Some(Duration::from_secs(60))).unwrap(),
        [false]
    );
    assert!(start.elapsed() < Duration::from_secs(50));
    assert_eq!(signals.pending(), Some(Signal::Terminate));
    sender.join().unwrap();
    child::say("ended");
}

#[test]
fn a_poll_goes_on_after_another_signal_and_ends_with_this_one() {
    let mut child = Child::start("signals::tests::child_polls");
    assert_eq!(child.line(), "ended");
    assert!(child.end().success());
}

/// Writes to a pipe that nobody reads.
#[test]
fn child_writes_to_nobody() {
    if !child::is_asked_for("child_writes_to_nobody") {
        return;
    }
    Signals::install().unwrap();
    let (reader, mut writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(
        writer.write_all(b"x").unwrap_err().kind(),
        ErrorKind::BrokenPipe
    );
    child::say("alive");
}

#[test]
fn a_broken_pipe_is_an_error_and_not_the_end() {
    let mut child = Child::start("signals::tests::child_writes_to_nobody");
    assert_eq!(child.line(), "alive");
    assert!(child.end().success());
}
