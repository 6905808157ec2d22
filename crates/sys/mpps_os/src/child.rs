//! Tests whose subject is a whole process: they run this test program again, for one test that is a child's part.
//!
//! A child's part returns at once unless it [is asked for](is_asked_for), so an ordinary run passes over it.

use std::io::{BufRead, BufReader, Write};
use std::process::{self, ChildStdout, Command, ExitStatus, Stdio};

const VARIABLE: &str = "MPPS_OS_TEST_CHILD";
/// Marks the child's lines among those of the test harness.
const MARK: &str = "child: ";

/// Whether this process was started for the child's part of that name.
pub(crate) fn is_asked_for(part: &str) -> bool {
    std::env::var(VARIABLE).is_ok_and(|name| name.ends_with(part))
}

/// Tells the parent a line.
pub(crate) fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n{MARK}{line}").unwrap();
    out.flush().unwrap();
}

/// A running child; killed when dropped.
pub(crate) struct Child {
    process: process::Child,
    out: BufReader<ChildStdout>,
}

impl Child {
    /// Runs the test with this full name in a process of its own.
    pub(crate) fn start(test: &str) -> Self {
        Self::start_with(test, Stdio::null())
    }

    pub(crate) fn start_with(test: &str, stdin: Stdio) -> Self {
        let mut process = Command::new(std::env::current_exe().unwrap())
            .args([test, "--exact", "--nocapture", "--test-threads=1"])
            .env(VARIABLE, test)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let out = BufReader::new(process.stdout.take().unwrap());
        Self { process, out }
    }

    /// The next line that the child says.
    pub(crate) fn line(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(
                self.out.read_line(&mut line).unwrap(),
                0,
                "the child ended without saying more"
            );
            if let Some(said) = line.strip_prefix(MARK) {
                return said.trim_end().to_owned();
            }
        }
    }

    /// Sends a signal.
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> ExitStatus {
        self.process.wait().unwrap()
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
