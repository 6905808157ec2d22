//! Lines from a person at a terminal, or from a program behind a pseudo-terminal: editing, history, Tab. The application
//! opens one source; the terminal is raw (no echo, no signal keys) from then until the source is dropped, also while a
//! command runs, so that what is typed ahead is echoed once, behind its prompt. Output processing stays on.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};

use super::editor::{Editor, Step};
use super::wait::woken;
use super::{Line, LineSource};
use crate::grammar::Grammar;
use crate::session::Host;

/// How the terminal was before the first source.
static ORIGINAL: OnceLock<Termios> = OnceLock::new();

/// Whether the terminal is raw. A lone flag: nothing else is published with it, hence Relaxed throughout.
static RAW: AtomicBool = AtomicBool::new(false);

/// Puts the terminal back as it was before the first source: for a panic hook or another end that drops nothing. Does
/// nothing where it is as it was.
pub fn restore_terminal() {
    if RAW.swap(false, Ordering::Relaxed)
        && let Some(original) = ORIGINAL.get()
    {
        // Nothing can be done about an error at this point, and the terminal may be gone.
        let _ = tcsetattr(io::stdin(), OptionalActions::Drain, original);
    }
}

/// Whether standard input and output are a terminal.
#[must_use]
pub fn terminal_is_usable() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// The editor on standard input; what it draws goes to [`Host::out`].
pub struct TerminalSource<W> {
    wake: Option<W>,
    grammar: Arc<Grammar>,
    editor: Editor,
    typed: Vec<u8>,
    used: usize,
}

impl<W: AsFd> TerminalSource<W> {
    /// Makes the terminal raw; `grammar` feeds Tab. `wake` is as in [`PipeSource::new`](super::PipeSource::new).
    pub fn new(grammar: Arc<Grammar>, wake: Option<W>) -> io::Result<Self> {
        let found = tcgetattr(io::stdin())?;
        let mut raw = ORIGINAL.get_or_init(|| found).clone();
        raw.local_modes -= LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG;
        raw.special_codes[SpecialCodeIndex::VMIN] = 1;
        raw.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(io::stdin(), OptionalActions::Now, &raw)?;
        // Relaxed: a lone flag; the settings it speaks of are in a OnceLock, which orders itself.
        RAW.store(true, Ordering::Relaxed);
        Ok(TerminalSource {
            wake,
            grammar,
            editor: Editor::default(),
            typed: Vec::new(),
            used: 0,
        })
    }

    /// Runs the keys read so far through the editor. None where more are needed.
    fn keys(&mut self, prompt: &str, host: &mut dyn Host) -> io::Result<Option<Line>> {
        let mut drawn = String::new();
        let mut line = None;
        while self.used < self.typed.len() && line.is_none() {
            let byte = self.typed[self.used];
            self.used += 1;
            match self.editor.feed(byte, prompt, &mut drawn) {
                Step::Continue => {}
                Step::Line(text) => line = Some(Line::Text(text)),
                Step::Dropped => line = Some(Line::Text(String::new())),
                Step::End => line = Some(Line::Eof),
                Step::Complete => {
                    let completion = self.grammar.complete(&self.editor.before(), host);
                    self.editor.complete(&completion, prompt, &mut drawn);
                }
            }
        }
        if !drawn.is_empty() {
            host.out().write_all(drawn.as_bytes())?;
            host.out().flush()?;
        }
        Ok(line)
    }

    /// Reads on. True where the terminal hung up.
    fn fill(&mut self) -> io::Result<bool> {
        self.typed.resize(4096, 0);
        self.used = 0;
        let read = match rustix::io::read(io::stdin(), &mut self.typed[..]) {
            Err(Errno::IO) => Some(0),
            Err(Errno::INTR | Errno::AGAIN) => None,
            Err(error) => return Err(error.into()),
            Ok(read) => Some(read),
        };
        self.typed.truncate(read.unwrap_or(0));
        Ok(read == Some(0))
    }
}

impl<W: AsFd> LineSource for TerminalSource<W> {
    fn next_line(&mut self, prompt: &str, host: &mut dyn Host) -> io::Result<Line> {
        host.out().write_all(prompt.as_bytes())?;
        host.out().flush()?;
        if woken::<io::Stdin>(self.wake.as_ref(), None, host)? {
            return Ok(Line::Interrupted);
        }
        loop {
            if let Some(line) = self.keys(prompt, host)? {
                return Ok(line);
            }
            if woken(self.wake.as_ref(), Some(&io::stdin()), host)? {
                return Ok(Line::Interrupted);
            }
            if self.fill()? {
                return Ok(Line::Eof);
            }
        }
    }

    fn is_terminal(&self) -> bool {
        true
    }
}

impl<W> Drop for TerminalSource<W> {
    fn drop(&mut self) {
        restore_terminal();
    }
}
