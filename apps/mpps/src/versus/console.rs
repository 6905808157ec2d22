//! A testpmd as a process of its own, driven through its console.
//!
//! Its input is a pipe, its output a pseudo terminal: programs that write to a pipe hold their words back until many have
//! come together. Whoever starts a [`Console`] owns the process and all that it starts: they are a process group, which is
//! gone when the console is dropped. What was said is kept by a thread that reads until the terminal is closed.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mpps_os::Signals;
use rustix::fs::OFlags;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::trouble::{How, Trouble, Words};
use crate::bench::{Broken, Failure};

/// What the console asks with.
pub(super) const PROMPT: &str = "testpmd> ";

/// Bytes that are kept of what a program says; one that says more than that loses the older half.
const KEPT: usize = 1 << 20;

/// How often a wait looks whether the process is still there and whether a signal has come.
const LOOK: Duration = Duration::from_millis(20);

/// How long a program may take to end when it is told to.
const FAREWELL: Duration = Duration::from_secs(5);

/// What has been said so far.
#[derive(Default)]
struct Said {
    bytes: Vec<u8>,
    /// Bytes before those that are kept.
    dropped: usize,
    /// Whether no more can come.
    over: bool,
}

#[derive(Default)]
struct Heard {
    said: Mutex<Said>,
    more: Condvar,
}

impl Heard {
    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, bytes: &[u8]) {
        let mut said = self.said();
        said.bytes.extend_from_slice(bytes);
        if said.bytes.len() > KEPT {
            said.bytes.drain(..KEPT / 2);
            said.dropped += KEPT / 2;
        }
        self.more.notify_all();
    }

    fn end(&self) {
        self.said().over = true;
        self.more.notify_all();
    }
}

impl Said {
    /// What was said from this place on, as far as it is kept.
    fn from(&self, at: usize) -> String {
        let at = at.saturating_sub(self.dropped);
        String::from_utf8_lossy(self.bytes.get(at..).unwrap_or_default()).into_owned()
    }
}

/// A running program.
pub(super) struct Console {
    /// As it is called in messages.
    name: String,
    child: Child,
    /// Whether it was waited for, so that its number may be another's.
    reaped: bool,
    input: ChildStdin,
    heard: Arc<Heard>,
    patience: Duration,
    signals: Signals,
}

impl Console {
    /// Starts a program; `name` is what messages call it, `patience` how long any answer may take.
    pub(super) fn start(
        name: String,
        command: &mut Command,
        patience: Duration,
        signals: Signals,
    ) -> Result<Self, Trouble> {
        let (keyboard, screen) = terminal().map_err(|error| Trouble::NoTerminal {
            program: name.clone(),
            error,
        })?;
        let failed = |error| Trouble::NoStart {
            program: name.clone(),
            error,
        };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(screen.try_clone().map_err(failed)?)
            .stderr(screen)
            // A group of its own: a Ctrl-C is for this program, which then ends the other in good order.
            .process_group(0)
            .spawn()
            .map_err(failed)?;
        // The command would keep this end of the terminal open, and so the reader waiting.
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let input = child
            .stdin
            .take()
            .ok_or_else(|| failed(std::io::ErrorKind::BrokenPipe.into()))?;
        let heard = Arc::<Heard>::default();
        let ear = Arc::clone(&heard);
        thread::spawn(move || listen(keyboard, &ear));
        Ok(Self {
            name,
            child,
            reaped: false,
            input,
            heard,
            patience,
            signals,
        })
    }

    /// Types a line; says where its answer begins.
    pub(super) fn say(&mut self, line: &str) -> usize {
        let said = self.heard.said();
        let at = said.dropped + said.bytes.len();
        drop(said);
        // One that can't be told has ended, and whoever waits for the answer learns how.
        let _ = self.input.write_all(format!("{line}\n").as_bytes());
        at
    }

    /// Types a line and waits for the next prompt.
    pub(super) fn ask(&mut self, line: &str) -> Result<String, Failure> {
        let at = self.say(line);
        self.wait(at, &format!("answer to '{line}'"), |answer| {
            answer.contains(PROMPT).then(|| answer.to_owned())
        })
    }

    /// Waits for something in what is said from a place on.
    pub(super) fn wait<T>(
        &mut self,
        from: usize,
        awaited: &str,
        mut find: impl FnMut(&str) -> Option<T>,
    ) -> Result<T, Failure> {
        let begin = Instant::now();
        loop {
            // Asked before the words are looked at, so that those of a program that has ended are seen.
            let gone = self.is_gone();
            let mut said = self.heard.said();
            let over = said.over || gone;
            if let Some(found) = find(&said.from(from)) {
                return Ok(found);
            }
            if !over && begin.elapsed() < self.patience {
                said = self
                    .heard
                    .more
                    .wait_timeout(said, LOOK)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
            drop(said);
            if let Some(signal) = self.signals.pending() {
                return Err(Broken(signal).into());
            }
            if over {
                return Err(self.ended(awaited).into());
            }
            if begin.elapsed() >= self.patience {
                return Err(self.hangs(awaited).into());
            }
        }
    }

    /// Whether the process has ended; it stays to be waited for, so that its number isn't given to another.
    fn is_gone(&self) -> bool {
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(Pid::from_child(&self.child)), how) {
            Ok(status) => status.is_some(),
            Err(_) => true,
        }
    }

    /// The last words.
    pub(super) fn words(&self) -> Words {
        Words::of(&self.heard.said().from(0))
    }

    /// As messages call it.
    pub(super) fn name(&self) -> String {
        self.name.clone()
    }

    fn ended(&mut self, awaited: &str) -> Trouble {
        // The process goes right after its console, and the last words may still be on their way.
        let begin = Instant::now();
        while begin.elapsed() < FAREWELL / 10 && !(self.is_gone() && self.heard.said().over) {
            thread::sleep(LOOK);
        }
        let status = if self.is_gone() {
            self.end_group()
        } else {
            None
        };
        Trouble::Ended {
            process: self.name(),
            how: How(status),
            awaited: format!("{} {awaited}", article(awaited)),
            words: self.words(),
        }
    }

    fn hangs(&self, awaited: &str) -> Trouble {
        Trouble::Hangs {
            process: self.name(),
            awaited: awaited.to_owned(),
            patience: self.patience,
            words: self.words(),
        }
    }

    /// Ends the program as a person would. What doesn't end in time is killed by the drop.
    pub(super) fn quit(mut self) {
        self.say("stop");
        self.say("quit");
        let begin = Instant::now();
        while begin.elapsed() < FAREWELL && !self.is_gone() {
            thread::sleep(LOOK);
        }
    }
}

impl Console {
    /// Kills what is left of the process and of what it has started, and says how it ended.
    fn end_group(&mut self) -> Option<ExitStatus> {
        if !self.reaped {
            // Before the process is waited for: until then nobody else can have its number.
            let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
            self.reaped = true;
        }
        // The status is kept for whoever asks again.
        self.child.wait().ok()
    }
}

impl Drop for Console {
    fn drop(&mut self) {
        self.end_group();
    }
}

fn article(word: &str) -> &'static str {
    if word.starts_with('a') { "an" } else { "a" }
}

/// A pseudo terminal: the end that reads what is written, and the end to write to.
fn terminal() -> std::io::Result<(File, File)> {
    let reader = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&reader)?;
    unlockpt(&reader)?;
    let name = ptsname(&reader, Vec::new())?;
    // It must not become the terminal that controls us.
    let screen = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(OFlags::NOCTTY.bits().cast_signed())
        .open(Path::new(OsStr::from_bytes(name.as_bytes())))?;
    Ok((File::from(reader), screen))
}

/// Reads until nobody holds the other end any more, which is an error of the terminal and no end of a file.
fn listen(mut keyboard: File, heard: &Heard) {
    let mut bytes = vec![0; 1 << 16];
    loop {
        match keyboard.read(&mut bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Ok(0) | Err(_) => break,
            Ok(count) => heard.add(bytes.get(..count).unwrap_or_default()),
        }
    }
    heard.end();
}
