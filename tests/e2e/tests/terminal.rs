//! The console on a terminal: lines are edited, repeated and completed, and the terminal is given back as it was.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mpps_e2e::program;
use mpps_e2e::report::nics;
use mpps_e2e::session::{PATIENCE, words};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{InputModes, LocalModes, OutputModes, tcgetattr};

/// A testpmd on a pseudo terminal; what it writes to it is collected.
struct Terminal {
    child: Child,
    keys: File,
    screen: Arc<Mutex<Vec<u8>>>,
    slave: File,
    before: Modes,
}

/// What a raw terminal differs in from one that echoes and edits lines by itself.
type Modes = (InputModes, OutputModes, LocalModes);

fn modes(terminal: &File) -> Modes {
    let now = tcgetattr(terminal).expect("a terminal");
    (now.input_modes, now.output_modes, now.local_modes)
}

impl Terminal {
    fn start(vdevs: &[&str]) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo terminal");
        grantpt(&master)
            .and_then(|()| unlockpt(&master))
            .expect("it is ours");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let path = OsStr::from_bytes(name.as_bytes());
        let slave = File::options()
            .read(true)
            .write(true)
            .open(path)
            .expect("its other end");
        let before = modes(&slave);
        let end = || Stdio::from(slave.try_clone().expect("a descriptor"));
        let child = Command::new(program::testpmd())
            .args(words(2, vdevs, &["-i"]))
            .env("TERM", "xterm")
            .stdin(end())
            .stdout(end())
            .stderr(end())
            .spawn()
            .expect("the program starts");
        let keys = File::from(master);
        let screen = Arc::new(Mutex::new(Vec::new()));
        collect(keys.try_clone().expect("a descriptor"), screen.clone());
        Self {
            child,
            keys,
            screen,
            slave,
            before,
        }
    }

    /// Types keys.
    fn press(&mut self, keys: &str) {
        self.keys
            .write_all(keys.as_bytes())
            .expect("the terminal takes keys");
    }

    fn screen(&self) -> String {
        let bytes = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Waits until the words were printed so many times.
    fn wait_for(&self, words: &str, times: usize) {
        let end = Instant::now() + PATIENCE;
        while self.screen().matches(words).count() < times {
            assert!(Instant::now() < end, "no {words:?}: {}", self.screen());
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// Waits for the end; the terminal must be as it was.
    fn end(&mut self) -> ExitStatus {
        let end = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                break status;
            }
            assert!(Instant::now() < end, "it doesn't end: {}", self.screen());
            thread::sleep(Duration::from_millis(2));
        };
        assert_eq!(
            modes(&self.slave),
            self.before,
            "the terminal isn't as it was"
        );
        status
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            // It may have ended in between.
            let _ = self.child.kill().and_then(|()| self.child.wait());
        }
    }
}

/// Reads for as long as the terminal has another end, which the test holds; the thread ends with the test's process.
fn collect(mut from: File, to: Arc<Mutex<Vec<u8>>>) {
    thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(length @ 1..) = from.read(&mut chunk) {
            let mut screen = to.lock().unwrap_or_else(PoisonError::into_inner);
            screen.extend_from_slice(&chunk[..length]);
        }
    });
}

const NULLS: [&str; 2] = ["net_null0", "net_null1"];

#[test]
fn lines_are_edited_repeated_and_completed() {
    let mut terminal = Terminal::start(&NULLS);
    terminal.wait_for("testpmd> ", 1);
    // A slip of the finger, taken back.
    terminal.press("set fwd macx\x7fswap\r");
    terminal.wait_for("Set macswap packet forwarding mode", 1);
    // The line before once more.
    terminal.press("\x1b[A\r");
    terminal.wait_for("Set macswap packet forwarding mode", 2);
    // A word that only one command has.
    terminal.press("sh\tport sta\tall\r");
    terminal.wait_for("NIC statistics for port 1", 1);
    terminal.press("quit\r");
    assert!(terminal.end().success());
    terminal.wait_for("Bye...", 1);
    assert_eq!(nics(&terminal.screen()).len(), 2);
}

#[test]
fn control_c_drops_the_line_and_control_d_ends() {
    let mut terminal = Terminal::start(&NULLS);
    terminal.wait_for("testpmd> ", 1);
    terminal.press("start\r");
    terminal.wait_for("testpmd> ", 2);
    terminal.press("stop\x03");
    terminal.wait_for("testpmd> ", 3);
    terminal.press("show config fwd\r");
    terminal.wait_for("io packet forwarding - ports=2", 2);
    assert!(
        !terminal.screen().contains("Telling cores to stop"),
        "it still runs"
    );
    terminal.press("\x04");
    assert!(terminal.end().success(), "{}", terminal.screen());
    // What it wrote last may still be on its way through the terminal.
    terminal.wait_for("Bye...", 1);
    let screen = terminal.screen();
    assert!(
        screen.contains("Accumulated forward statistics"),
        "{screen}"
    );
}

#[test]
fn signals_give_the_terminal_back() {
    for signals in [
        &[Signal::TERM][..],
        &[Signal::INT],
        &[Signal::INT, Signal::INT],
    ] {
        let mut terminal = Terminal::start(&NULLS);
        terminal.wait_for("testpmd> ", 1);
        terminal.press("sta");
        thread::sleep(Duration::from_millis(50));
        let pid = Pid::from_child(&terminal.child);
        for signal in signals {
            // The second may find nobody.
            let _ = kill_process(pid, *signal);
        }
        let status = terminal.end();
        assert!(
            status.code().is_some_and(|code| code == 0 || code > 128),
            "{signals:?}: {status}"
        );
    }
}

#[test]
fn a_failed_start_leaves_the_terminal_alone() {
    let mut terminal = Terminal::start(&["net_pcap0,rx_pcap=/nowhere/at/all"]);
    assert_eq!(terminal.end().code(), Some(1));
    terminal.wait_for("mpps: ", 1);
}
