//! The console on a pseudo-terminal, as expect scripts and people use it: the example program `counter` behind it.
#![forbid(unsafe_code)]

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr};

const PATIENCE: Duration = Duration::from_secs(20);

/// A program on a pseudo-terminal; killed if a test fails.
struct Session {
    ours: OwnedFd,
    theirs: OwnedFd,
    child: Child,
    seen: String,
}

impl Session {
    fn start(argument: &str) -> Session {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo-terminal");
        grantpt(&ours).expect("granted");
        unlockpt(&ours).expect("unlocked");
        let name = ptsname(&ours, Vec::new()).expect("a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let theirs = rustix::fs::open(name, flags, Mode::empty()).expect("the other end");
        let end = || Stdio::from(theirs.try_clone().expect("a copy"));
        let child = Command::new(program())
            .arg(argument)
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn();
        let mut session = Session {
            ours,
            theirs,
            child: child.expect("it starts"),
            seen: String::new(),
        };
        session.expect("counter> ");
        session
    }

    fn send(&self, keys: &str) {
        rustix::io::write(&self.ours, keys.as_bytes()).expect("it is read");
    }

    /// Waits for `text` and returns what came before and with it.
    fn expect(&mut self, text: &str) -> String {
        let until = Instant::now() + PATIENCE;
        while !self.seen.contains(text) {
            assert!(Instant::now() < until, "no {text:?} in {:?}", self.seen);
            let mut fds = [PollFd::new(&self.ours, PollFlags::IN)];
            let second = Timespec {
                tv_sec: 1,
                tv_nsec: 0,
            };
            if poll(&mut fds, Some(&second)).expect("it waits") > 0 {
                let mut bytes = [0u8; 4096];
                let read = rustix::io::read(&self.ours, &mut bytes).expect("it reads");
                self.seen.push_str(&String::from_utf8_lossy(&bytes[..read]));
            }
        }
        let end = self.seen.find(text).unwrap_or(0) + text.len();
        self.seen.drain(..end).collect()
    }

    fn echoes(&self) -> bool {
        tcgetattr(&self.theirs)
            .expect("a terminal")
            .local_modes
            .contains(LocalModes::ECHO | LocalModes::ICANON)
    }

    fn finish(mut self) {
        let until = Instant::now() + PATIENCE;
        while self.child.try_wait().expect("our child").is_none() {
            assert!(Instant::now() < until, "it doesn't end");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(self.child.wait().expect("it ended").success());
        assert!(self.echoes(), "the terminal was left without echo");
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// `cargo test` builds the examples next to the folder of this test.
fn program() -> PathBuf {
    let mut path = std::env::current_exe().expect("this test");
    path.pop();
    path.pop();
    path.join("examples/counter")
}

#[test]
fn a_script_sees_prompt_echo_and_reply() {
    let mut session = Session::start("-");
    assert!(!session.echoes());
    session.send("add 3 dozen\n");
    // The kernel adds a CR to the LF of the echo, as with DPDK's console.
    assert_eq!(session.expect("counter> "), "add 3 dozen\r\r\ncounter> ");
    session.send("show value\n\nfoo\n");
    let wanted = "show value\r\r\n36\r\ncounter> \r\r\ncounter> foo\r\r\nCommand not found\r\n";
    assert_eq!(session.expect("not found\r\n"), wanted);
    session.send("quit\n");
    session.expect("Quit\r\n");
    session.finish();
}

#[test]
fn a_person_completes_drops_and_leaves() {
    let mut session = Session::start("-");
    session.send("sh\t\th\t\n");
    assert_eq!(
        session.expect("counter> "),
        "show value hex \r\r\n0x0\r\ncounter> "
    );
    session.send("junk\x03");
    session.expect("junk\r\r\ncounter> ");
    session.send("\x04");
    session.expect("EndOfInput\r\n");
    session.finish();
}

#[test]
fn a_signal_ends_the_prompt_and_restores_the_terminal() {
    let mut session = Session::start("300");
    session.send("half a li");
    session.expect("Interrupted\r\n");
    session.finish();
}
