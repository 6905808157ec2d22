//! Where lines come from: a pipe, a terminal, a command file. A source prints the prompt and the echo as DPDK's console does,
//! since only it knows whether somebody typed the line or a script sent it.

mod editor;
mod file;
mod keys;
mod pipe;
mod splitter;
mod terminal;
mod wait;

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;

use crate::grammar::Grammar;
use crate::session::Host;

pub use file::FileSource;
pub use pipe::PipeSource;
pub use splitter::MAX_LINE;
pub use terminal::{TerminalSource, restore_terminal, terminal_is_usable};

/// What a source found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A line without its end. Bytes that aren't UTF-8 are U+FFFD, control characters other than tabs are left out.
    Text(String),
    /// A line longer than [`MAX_LINE`] bytes, which no command is.
    TooLong,
    /// The end of the input.
    Eof,
    /// The program was asked to stop while waiting. Later calls say so again unless the cause is gone.
    Interrupted,
}

/// A source of command lines.
pub trait LineSource {
    /// Prints `prompt`, waits for a line, and prints its echo where nobody else does. Text goes to [`Host::out`], which
    /// is flushed before waiting.
    fn next_line(&mut self, prompt: &str, host: &mut dyn Host) -> io::Result<Line>;

    /// Whether a person reads along, so that hints help and disturb no script.
    fn is_terminal(&self) -> bool {
        false
    }
}

/// The source that suits standard input: the editor where input and output are a terminal, plain lines elsewhere.
///
/// `wake` is a descriptor that becomes readable when the program should stop.
pub fn open_stdin<W: AsFd + 'static>(
    grammar: &Arc<Grammar>,
    wake: Option<W>,
) -> io::Result<Box<dyn LineSource>> {
    if terminal_is_usable() {
        return Ok(Box::new(TerminalSource::new(Arc::clone(grammar), wake)?));
    }
    // Where a person types and output goes to a log, the kernel echoes to the person and the log still wants the lines.
    Ok(Box::new(PipeSource::new(io::stdin(), wake)))
}
