use super::{is_tty, remember};
use crate::Signals;
use crate::child::{self, Child};
use rustix::process::Signal as Sent;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use std::fs::File;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// A terminal of our own: the side of the screen, and the side of the program.
fn pty() -> (OwnedFd, OwnedFd) {
    let (mut master, mut slave) = (-1, -1);
    let null = std::ptr::null_mut();
    // SAFETY: two places for the descriptors, and null for what isn't wanted.
    let failed = unsafe { libc::openpty(&mut master, &mut slave, null, null.cast(), null.cast()) };
    assert_eq!(failed, 0);
    // SAFETY: just opened, and nobody else's.
    unsafe { (OwnedFd::from_raw_fd(master), OwnedFd::from_raw_fd(slave)) }
}

fn echoes(terminal: impl AsFd) -> bool {
    tcgetattr(terminal)
        .unwrap()
        .local_modes
        .contains(LocalModes::ECHO | LocalModes::ICANON)
}

fn make_raw(terminal: impl AsFd) {
    let mut settings = tcgetattr(&terminal).unwrap();
    settings.make_raw();
    tcsetattr(&terminal, OptionalActions::Now, &settings).unwrap();
}

#[test]
fn terminals_are_told_from_files() {
    let (_master, slave) = pty();
    assert!(is_tty(&slave));
    let null = File::open("/dev/null").unwrap();
    assert!(!is_tty(&null));
    remember(&null).unwrap();
}

/// Makes its terminal raw and hangs.
#[test]
fn child_goes_raw() {
    if !child::is_asked_for("child_goes_raw") {
        return;
    }
    Signals::install().unwrap();
    let stdin = std::io::stdin();
    remember(&stdin).unwrap();
    make_raw(&stdin);
    // What is remembered is what was there first.
    remember(&stdin).unwrap();
    child::say("raw");
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
fn the_second_signal_restores_the_terminal() {
    let (_master, slave) = pty();
    assert!(echoes(&slave));
    let stdin = slave.try_clone().unwrap();
    let mut child = Child::start_with("terminal::tests::child_goes_raw", stdin.into());
    assert_eq!(child.line(), "raw");
    assert!(!echoes(&slave));
    child.signal(Sent::INT);
    // Closer together they would count as one.
    std::thread::sleep(Duration::from_millis(150));
    child.signal(Sent::TERM);
    child.end();
    assert!(echoes(&slave));
}

/// Makes its terminal raw and restores it, as a panic hook does.
#[test]
fn child_restores() {
    if !child::is_asked_for("child_restores") {
        return;
    }
    let stdin = std::io::stdin();
    super::restore();
    remember(&stdin).unwrap();
    make_raw(&stdin);
    assert!(!echoes(&stdin));
    super::restore();
    assert!(echoes(&stdin));
    child::say("restored");
}

#[test]
fn restoring_works_without_a_signal() {
    let (_master, slave) = pty();
    let mut child = Child::start_with(
        "terminal::tests::child_restores",
        slave.try_clone().unwrap().into(),
    );
    assert_eq!(child.line(), "restored");
    assert!(child.end().success());
}
