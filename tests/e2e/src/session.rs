//! A testpmd on pipes, driven as scripts drive it.
//!
//! A test starts a [`Session`], talks to it and ends it with [`Session::finish`], which checks what holds for every
//! session: no crash, no panic, no mbuf kept. A session that is dropped before, by a test that fails, is killed.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};

use crate::{machine, program};

/// How long any answer may take: long enough for a busy machine, short enough to name the place of a hang.
pub const PATIENCE: Duration = Duration::from_secs(15);

/// How often output is looked at while waiting.
const POLL: Duration = Duration::from_millis(1);

/// What the console asks with.
pub const PROMPT: &str = "testpmd> ";

/// A command line: these ports, this many lcores that float over all CPUs, and the words behind `--`.
pub fn words(lcores: u32, vdevs: &[&str], application: &[&str]) -> Vec<String> {
    let mut words = vec!["--in-memory", "--no-pci", "--lcores"]
        .into_iter()
        .map(str::to_owned)
        .collect::<Vec<_>>();
    words.push(machine::lcores(0..lcores));
    words.extend(vdevs.iter().map(|vdev| format!("--vdev={vdev}")));
    let application = ["--", "--total-num-mbufs=8192"].iter().chain(application);
    words.extend(application.map(|word| (*word).to_owned()));
    words
}

/// A running testpmd.
pub struct Session {
    child: Child,
    input: Option<ChildStdin>,
    out: Arc<Mutex<Vec<u8>>>,
    err: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

/// A testpmd that has ended.
#[derive(Debug)]
pub struct Ended {
    /// How.
    pub status: ExitStatus,
    /// All it wrote to standard output.
    pub stdout: String,
    /// All it wrote to standard error.
    pub stderr: String,
}

impl Session {
    /// Starts it with these words.
    pub fn start<S: AsRef<str>>(words: &[S]) -> Self {
        let mut command = Command::new(program::testpmd());
        command.args(words.iter().map(AsRef::as_ref));
        Self::spawn(command)
    }

    /// Starts what a test has put together; input and outputs become pipes.
    ///
    /// # Panics
    /// When it doesn't start.
    pub fn spawn(mut command: Command) -> Self {
        let piped = command.stdin(Stdio::piped());
        let mut session = Self::spawn_with_input(piped);
        session.input = session.child.stdin.take();
        session
    }

    /// The same, with the standard input that the command has.
    ///
    /// # Panics
    /// When it doesn't start.
    pub fn spawn_with_input(command: &mut Command) -> Self {
        let piped = command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().expect("the program starts");
        let (out, err) = <(Arc<Mutex<Vec<u8>>>, Arc<Mutex<Vec<u8>>>)>::default();
        let pipes = child.stdout.take().zip(child.stderr.take());
        let reader = pipes.map(|pipes| collect(pipes, &out, &err));
        Self {
            child,
            input: None,
            out,
            err,
            reader,
        }
    }

    /// Types a line.
    ///
    /// # Panics
    /// When the program doesn't take it any more.
    pub fn say(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the input is open");
        let told = input.write_all(format!("{line}\n").as_bytes());
        assert!(told.is_ok(), "{line:?} isn't read: {}", self.words());
    }

    /// Types a line and returns its answer: all of standard output up to the next prompt.
    pub fn ask(&mut self, line: &str) -> String {
        self.wait_for_prompt();
        let at = self.stdout().len();
        self.say(line);
        self.wait(line, |session| {
            let answer = session.stdout()[at..].to_owned();
            answer.ends_with(PROMPT).then_some(answer)
        })
    }

    /// Waits until the console waits for a line.
    pub fn wait_for_prompt(&self) {
        self.wait("a prompt", |session| {
            session.stdout().ends_with(PROMPT).then_some(())
        });
    }

    /// Waits for words on standard output.
    pub fn wait_for_output(&self, words: &str) {
        self.wait(words, |session| {
            session.stdout().contains(words).then_some(())
        });
    }

    /// Waits for `found`, and fails with the program's last words when it ends or takes too long.
    pub fn wait<T>(&self, what: &str, found: impl Fn(&Self) -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        loop {
            // Asked before the output is looked at, so that the last words of a program that ends are seen.
            let over = self.is_over() || Instant::now() > end;
            if let Some(value) = found(self) {
                return value;
            }
            assert!(!over, "no {what}: {}", self.words());
            thread::sleep(POLL);
        }
    }

    /// All of standard output so far.
    pub fn stdout(&self) -> String {
        text(&self.out)
    }

    /// All of standard error so far.
    pub fn stderr(&self) -> String {
        text(&self.err)
    }

    /// Whether the program has ended: both its outputs are closed.
    pub fn is_over(&self) -> bool {
        self.reader.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Sends a signal.
    ///
    /// # Panics
    /// When there is no such process any more.
    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let sent = pid.map(|pid| kill_process(pid, signal));
        assert!(matches!(sent, Some(Ok(()))), "no process to signal");
    }

    /// The process, for a look into /proc.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the input.
    pub fn end_input(&mut self) {
        self.input = None;
    }

    /// Waits for the end, with the input as it is.
    pub fn wait_for_end(&mut self) -> Ended {
        let end = Instant::now() + PATIENCE;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                break status;
            }
            assert!(Instant::now() < end, "it doesn't end: {}", self.words());
            thread::sleep(POLL);
        };
        if let Some(reader) = self.reader.take() {
            reader.join().expect("reading doesn't fail");
        }
        let ended = Ended {
            status,
            stdout: self.stdout(),
            stderr: self.stderr(),
        };
        ended.check();
        ended
    }

    /// Ends the input and waits for the end.
    pub fn finish(mut self) -> Ended {
        self.end_input();
        self.wait_for_end()
    }

    /// Says `quit`, and checks that the end is a clean one.
    pub fn quit(mut self) -> Ended {
        self.say("quit");
        self.finish().well()
    }

    fn words(&self) -> String {
        format!(
            "stdout: {}\nstderr: {}",
            tail(&self.stdout()),
            tail(&self.stderr())
        )
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            // It may have ended in between.
            let _ = self.child.kill().and_then(|()| self.child.wait());
        }
    }
}

impl Ended {
    /// Runs a program to its end with this text as its whole input.
    pub fn of<S: AsRef<str>>(words: &[S], input: &str) -> Self {
        let mut session = Session::start(words);
        if let Some(mut pipe) = session.input.take() {
            // A program that refuses its command line reads nothing.
            let _ = pipe.write_all(input.as_bytes());
        }
        session.wait_for_end()
    }

    /// What holds for every end: no signal but those that a test sent, no panic, all mbufs back in their pool.
    fn check(&self) {
        let signal = self.status.signal();
        let sent = [Signal::INT, Signal::TERM, Signal::KILL].map(Signal::as_raw);
        let crashed = signal.is_some_and(|signal| !sent.contains(&signal));
        let said = ["panicked", "still in use", "a worker failed"]
            .into_iter()
            .find(|words| self.stderr.contains(words));
        assert!(
            !crashed && said.is_none(),
            "{}: {}",
            self.status,
            tail(&self.stderr)
        );
    }

    /// Checks that all went well: exit status 0.
    #[must_use]
    pub fn well(self) -> Self {
        assert!(
            self.status.success(),
            "{}: {}\n{}",
            self.status,
            tail(&self.stderr),
            tail(&self.stdout)
        );
        self
    }

    /// The line of ours on standard error that says why the program ends with status 1.
    pub fn refusal(&self) -> &str {
        assert_eq!(
            self.status.code(),
            Some(1),
            "{}\n{}",
            tail(&self.stderr),
            tail(&self.stdout)
        );
        let last = self.stderr.lines().rfind(|line| line.starts_with("mpps: "));
        last.unwrap_or_else(|| panic!("no line says why: {}", tail(&self.stderr)))
    }
}

fn text(from: &Mutex<Vec<u8>>) -> String {
    let bytes = from.lock().unwrap_or_else(PoisonError::into_inner);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The end of a long text, for messages.
fn tail(text: &str) -> &str {
    let from = text.char_indices().rev().nth(1500).map_or(0, |(at, _)| at);
    &text[from..]
}

/// Reads both outputs for as long as they are open. What was written to standard error before something on standard
/// output is there before it: whoever waits for the one finds the other.
fn collect(
    (mut out, mut err): (ChildStdout, ChildStderr),
    to_out: &Arc<Mutex<Vec<u8>>>,
    to_err: &Arc<Mutex<Vec<u8>>>,
) -> JoinHandle<()> {
    let (to_out, to_err) = (Arc::clone(to_out), Arc::clone(to_err));
    let push = |to: &Mutex<Vec<u8>>, bytes: &[u8]| {
        let mut all = to.lock().unwrap_or_else(PoisonError::into_inner);
        all.extend_from_slice(bytes);
    };
    thread::spawn(move || {
        let (mut open, mut chunk, mut late) = ([true; 2], vec![0; 65536], vec![0; 65536]);
        while open != [false; 2] {
            wait_for_either(&out, &err, open);
            let mut length = 0;
            if open[0] && is_readable(&out) {
                length = out.read(&mut chunk).unwrap_or(0);
                open[0] = length > 0;
            }
            while open[1] && is_readable(&err) {
                let length = err.read(&mut late).unwrap_or(0);
                open[1] = length > 0;
                push(&to_err, &late[..length]);
            }
            push(&to_out, &chunk[..length]);
        }
    })
}

/// Waits until one of those that are open can be read, or has ended.
fn wait_for_either(out: &ChildStdout, err: &ChildStderr, open: [bool; 2]) {
    let ends = [
        PollFd::new(out, PollFlags::IN),
        PollFd::new(err, PollFlags::IN),
    ];
    let mut ends: Vec<_> = ends
        .into_iter()
        .zip(open)
        .filter(|(_, open)| *open)
        .map(|(end, _)| end)
        .collect();
    // An interrupted wait is one that is over sooner.
    let _ = poll(&mut ends, None);
}

fn is_readable(end: &impl AsFd) -> bool {
    let now = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    poll(&mut [PollFd::new(end, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
}
