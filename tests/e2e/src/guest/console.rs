//! The serial console of a guest, and the QEMU behind it.
//!
//! Owns the process: it is killed and waited for when the console is dropped. What it prints is read all the time, so
//! that it never waits for us; commands go to its input one by one.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How often the output is looked at while waiting.
const POLL: Duration = Duration::from_millis(2);

/// A guest's console.
pub struct Console {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    text: Arc<Mutex<String>>,
    readers: Vec<JoinHandle<()>>,
    /// How much of the text belongs to what is over.
    seen: usize,
    /// Commands run since the guest came up.
    commands: u32,
}

impl Console {
    /// Starts QEMU with its console on pipes.
    ///
    /// # Panics
    /// When it can't be started.
    pub fn spawn(mut command: Command, name: &str) -> Self {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = piped.stderr(Stdio::piped()).spawn().expect("QEMU starts");
        let text = Arc::new(Mutex::new(String::new()));
        let out = child.stdout.take().map(|pipe| collect(pipe, &text));
        let err = child.stderr.take().map(|pipe| collect(pipe, &text));
        Self {
            name: name.to_owned(),
            input: child.stdin.take(),
            child,
            text,
            readers: out.into_iter().chain(err).collect(),
            seen: 0,
            commands: 0,
        }
    }

    /// Waits for the shell of a boot that hasn't been waited for yet.
    pub fn wait_for_shell(&mut self, deadline: Duration) {
        self.wait_for("GUEST-UP\n", deadline);
        self.commands = 0;
    }

    /// Runs one command: its status, and what it printed.
    pub fn run(&mut self, command: &str, deadline: Duration) -> (i32, String) {
        self.send(command);
        self.commands += 1;
        let mark = format!("\nGUEST-STATUS {} ", self.commands);
        let mut text = self.wait_for(&mark, deadline);
        let status = self.wait_for("\n", deadline);
        text.truncate(text.len() - mark.len());
        (status.trim().parse().unwrap_or(-1), text)
    }

    /// Types a line.
    ///
    /// # Panics
    /// When nobody reads it any more.
    pub fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("the input stays open");
        let told = input.write_all(format!("{line}\n").as_bytes());
        assert!(told.is_ok(), "{} is gone: {}", self.name, self.last_words());
    }

    /// Waits for words in the text that hasn't been taken yet, and takes all up to their end.
    fn wait_for(&mut self, words: &str, deadline: Duration) -> String {
        let end = Instant::now() + deadline;
        loop {
            // Asked before the text is looked at, so that last words are seen: all is read once the pipes are closed.
            let ended = self.readers.iter().all(JoinHandle::is_finished);
            if let Some(taken) = self.take(words) {
                return taken;
            }
            let over = ended || Instant::now() > end;
            let status = self.child.try_wait();
            assert!(
                !over,
                "{} ({status:?}) says no {words:?}: {}",
                self.name,
                self.last_words()
            );
            thread::sleep(POLL);
        }
    }

    fn take(&mut self, words: &str) -> Option<String> {
        let text = self.text.lock().unwrap_or_else(PoisonError::into_inner);
        let rest = &text[self.seen..];
        let length = rest.find(words)? + words.len();
        let taken = rest[..length].to_owned();
        self.seen += length;
        Some(taken)
    }

    /// Waits until QEMU has ended.
    ///
    /// # Panics
    /// When it doesn't.
    pub fn wait_for_end(&mut self, deadline: Duration) -> ExitStatus {
        let end = Instant::now() + deadline;
        loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                return status;
            }
            assert!(
                Instant::now() < end,
                "{} doesn't end: {}",
                self.name,
                self.last_words()
            );
            thread::sleep(POLL);
        }
    }

    /// All text so far, QEMU's own words among it.
    pub fn text(&self) -> String {
        self.text
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn last_words(&self) -> String {
        let text = self.text();
        let from = text.char_indices().rev().nth(2000).map_or(0, |(at, _)| at);
        text[from..].to_owned()
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        // It may have ended before.
        let _ = self.child.kill().and_then(|()| self.child.wait());
    }
}

/// Reads to the end of a pipe. Carriage returns are left out: firmware and kernel are of two minds about them.
fn collect(mut pipe: impl Read + Send + 'static, text: &Arc<Mutex<String>>) -> JoinHandle<()> {
    let text = Arc::clone(text);
    thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(length @ 1..) = pipe.read(&mut chunk) {
            let piece = String::from_utf8_lossy(&chunk[..length]).replace('\r', "");
            let mut text = text.lock().unwrap_or_else(PoisonError::into_inner);
            text.push_str(&piece);
        }
    })
}
