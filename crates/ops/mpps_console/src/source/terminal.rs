//! Lines from a person at a terminal: editing, history, Tab. The application opens one source; the editor lives on a
//! thread of its own, so that the console can wait for a line and for a signal at once.
//!
//! rustyline goes on reading after a signal that its handler doesn't know, and a descriptor of ours can't be put into its
//! `select`. So the thread that edits is asked for a line by a channel and rings a pipe once it has one, and the console
//! polls that pipe and the wake descriptor. After a wake the terminal is put back and the source is at its end; the
//! thread stays in its read until the process ends. The terminal is raw only while a line is edited.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{CompletionType, Config, Editor};

use super::{Line, LineSource};
use crate::complete::CandidateKind;
use crate::grammar::{Choices, Grammar};
use crate::session::Host;

/// How the terminal was before the first line was edited.
static ORIGINAL: OnceLock<Termios> = OnceLock::new();

/// Whether a line is being edited. A lone flag: nothing else is published with it, hence Relaxed throughout.
static EDITING: AtomicBool = AtomicBool::new(false);

/// Puts the terminal back as it was if a line is being edited: for a panic hook or another end that doesn't unwind.
pub fn restore_terminal() {
    if EDITING.swap(false, Ordering::Relaxed)
        && let Some(original) = ORIGINAL.get()
    {
        // Nothing can be done about an error at this point, and the terminal may be gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, original);
    }
}

/// Whether standard input and output are a terminal that lines can be edited on.
#[must_use]
pub fn terminal_is_usable() -> bool {
    let dumb = std::env::var("TERM")
        .is_ok_and(|term| ["dumb", "cons25", "emacs"].contains(&term.as_str()));
    io::stdin().is_terminal() && io::stdout().is_terminal() && !dumb
}

struct Request {
    prompt: String,
    choices: Snapshot,
}

/// The editor on standard input and output.
pub struct TerminalSource<W> {
    wake: Option<W>,
    grammar: Arc<Grammar>,
    requests: Sender<Request>,
    replies: Receiver<io::Result<Line>>,
    bell: OwnedFd,
    ended: bool,
}

impl<W: AsFd> TerminalSource<W> {
    /// Starts the editor; `grammar` feeds Tab. `wake` is as in [`PipeSource::new`](super::PipeSource::new).
    pub fn new(grammar: Arc<Grammar>, wake: Option<W>) -> io::Result<Self> {
        let original = tcgetattr(io::stdin())?;
        ORIGINAL.get_or_init(|| original);
        let (bell, ring) = rustix::pipe::pipe()?;
        let (requests, inbox) = channel();
        let (outbox, replies) = channel();
        let shared = Arc::clone(&grammar);
        std::thread::Builder::new()
            .name("console".to_owned())
            .spawn(move || edit(shared, &inbox, &outbox, &ring))?;
        Ok(TerminalSource {
            wake,
            grammar,
            requests,
            replies,
            bell,
            ended: false,
        })
    }
}

impl<W: AsFd> LineSource for TerminalSource<W> {
    fn next_line(&mut self, prompt: &str, host: &mut dyn Host) -> io::Result<Line> {
        host.out().flush()?;
        if self.ended {
            return Ok(Line::Eof);
        }
        let choices = Snapshot::take(&self.grammar, host);
        let request = Request {
            prompt: prompt.to_owned(),
            choices,
        };
        EDITING.store(true, Ordering::Relaxed);
        let line = match self.requests.send(request) {
            Ok(()) => self.wait(host),
            // The editor is gone: it couldn't be set up, or panicked.
            Err(_) => Ok(Line::Eof),
        };
        if !matches!(line, Ok(Line::Text(_))) {
            self.ended = true;
        }
        restore_terminal();
        line
    }

    fn is_terminal(&self) -> bool {
        true
    }
}

impl<W: AsFd> TerminalSource<W> {
    fn wait(&self, host: &dyn Host) -> io::Result<Line> {
        loop {
            if host.interrupted() {
                return Ok(Line::Interrupted);
            }
            let mut fds = vec![PollFd::new(&self.bell, PollFlags::IN)];
            fds.extend(
                self.wake
                    .as_ref()
                    .map(|wake| PollFd::new(wake, PollFlags::IN)),
            );
            match poll(&mut fds, None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            if fds.get(1).is_some_and(|wake| !wake.revents().is_empty()) {
                return Ok(Line::Interrupted);
            }
            if !fds[0].revents().is_empty() {
                let mut rung = [0u8; 1];
                rustix::io::read(&self.bell, &mut rung)?;
                return self.replies.recv().unwrap_or(Ok(Line::Eof));
            }
        }
    }
}

/// The thread: a line for each request, until the source is dropped.
fn edit(
    grammar: Arc<Grammar>,
    inbox: &Receiver<Request>,
    outbox: &Sender<io::Result<Line>>,
    ring: &OwnedFd,
) {
    // A paste of several lines is several commands, so brackets round it would be in the way.
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .bracketed_paste(false)
        .auto_add_history(false)
        .build();
    let mut editor = match Editor::<Tab, DefaultHistory>::with_config(config) {
        Ok(editor) => editor,
        Err(error) => {
            answer(outbox, ring, Err(io_error(error)));
            return;
        }
    };
    while let Ok(Request { prompt, choices }) = inbox.recv() {
        editor.set_helper(Some(Tab {
            grammar: Arc::clone(&grammar),
            choices,
        }));
        let line = match editor.readline(&prompt) {
            Ok(text) => {
                if !text.trim().is_empty() {
                    // Refused where it repeats the last one.
                    let _ = editor.add_history_entry(&text);
                }
                Ok(if text.len() > super::MAX_LINE {
                    Line::TooLong
                } else {
                    Line::Text(text)
                })
            }
            Err(error) => line_of(error),
        };
        answer(outbox, ring, line);
    }
}

fn answer(outbox: &Sender<io::Result<Line>>, ring: &OwnedFd, line: io::Result<Line>) {
    // Both fail only where the source was dropped, which wants no line any more.
    if outbox.send(line).is_ok() {
        let _ = rustix::io::write(ring, b"!");
    }
}

fn line_of(error: ReadlineError) -> io::Result<Line> {
    match error {
        // Ctrl-C drops the line and gives a new prompt.
        ReadlineError::Interrupted => Ok(Line::Text(String::new())),
        ReadlineError::Eof => Ok(Line::Eof),
        ReadlineError::Signal(_) => Ok(Line::Interrupted),
        error => match io_error(error) {
            // The terminal hung up.
            error if error.raw_os_error() == Some(Errno::IO.raw_os_error()) => Ok(Line::Eof),
            error => Err(error),
        },
    }
}

fn io_error(error: ReadlineError) -> io::Error {
    match error {
        ReadlineError::Io(error) => error,
        ReadlineError::Errno(errno) => errno.into(),
        other => io::Error::other(other.to_string()),
    }
}

/// The host's choices as they were when the prompt appeared; the host itself stays with the console's thread.
struct Snapshot(HashMap<&'static str, Vec<Cow<'static, str>>>);

impl Snapshot {
    fn take(grammar: &Grammar, host: &dyn Host) -> Snapshot {
        Snapshot(
            grammar
                .sources()
                .into_iter()
                .map(|source| (source, host.choices(source)))
                .collect(),
        )
    }
}

impl Choices for Snapshot {
    fn choices(&self, source: &str) -> Vec<Cow<'static, str>> {
        self.0.get(source).cloned().unwrap_or_default()
    }
}

/// Completion for the editor.
struct Tab {
    grammar: Arc<Grammar>,
    choices: Snapshot,
}

impl rustyline::completion::Completer for Tab {
    type Candidate = rustyline::completion::Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &rustyline::Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Self::Candidate>)> {
        let completion = self.grammar.complete(&line[..cursor], &self.choices);
        let words = completion
            .candidates
            .into_iter()
            .filter(|candidate| candidate.kind == CandidateKind::Word);
        let pair = |text: String| Self::Candidate {
            replacement: format!("{text} "),
            display: text,
        };
        Ok((
            completion.start,
            words.map(|candidate| pair(candidate.text)).collect(),
        ))
    }
}

impl rustyline::hint::Hinter for Tab {
    type Hint = Placeholder;

    /// Behind a complete word: the values that may follow, or that the command is complete.
    fn hint(&self, line: &str, cursor: usize, _: &rustyline::Context<'_>) -> Option<Placeholder> {
        if cursor < line.len() || !line.ends_with(' ') || line.trim().is_empty() {
            return None;
        }
        let candidates = self.grammar.complete(line, &self.choices).candidates;
        let shown = candidates
            .into_iter()
            .filter(|candidate| candidate.kind != CandidateKind::Word);
        let text = shown
            .map(|candidate| candidate.text)
            .collect::<Vec<_>>()
            .join(" ");
        (!text.is_empty()).then_some(Placeholder(text))
    }
}

/// Shown behind the cursor, never put into the line.
struct Placeholder(String);

impl rustyline::hint::Hint for Placeholder {
    fn display(&self) -> &str {
        &self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl rustyline::highlight::Highlighter for Tab {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[2m{hint}\x1b[0m"))
    }
}

impl rustyline::validate::Validator for Tab {}

impl rustyline::Helper for Tab {}
