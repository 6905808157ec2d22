//! Standard output, buffered, and standard error in step with it.

use crate::tell;
use std::fmt;
use std::io::{self, BufWriter, Stdout, Write};

/// Where blocks and replies go. Text for standard error is written after what was buffered, so that a terminal, or a file
/// that takes both streams, shows things in their order. A captured one keeps both for who asks, as tests do.
pub struct Output(Sink);

enum Sink {
    Standard(BufWriter<Stdout>),
    Captured(Captured),
}

/// What was written to a captured [`Output`].
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Captured {
    /// For standard output.
    pub out: String,
    /// For standard error.
    pub err: String,
}

impl Output {
    /// The process's own.
    pub fn standard() -> Self {
        Self(Sink::Standard(BufWriter::with_capacity(
            64 * 1024,
            io::stdout(),
        )))
    }

    /// One that keeps what is written.
    pub fn captured() -> Self {
        Self(Sink::Captured(Captured::default()))
    }

    /// What was written since the last call; empty where it went to the process's own streams.
    pub fn take(&mut self) -> Captured {
        match &mut self.0 {
            Sink::Standard(_) => Captured::default(),
            Sink::Captured(text) => std::mem::take(text),
        }
    }

    /// A block, which ends its own last line. A closed standard output is noticed by the console's next flush.
    pub fn block(&mut self, text: impl fmt::Display) {
        let _ = write!(self, "{text}");
    }

    /// One line.
    pub fn line(&mut self, text: impl fmt::Display) {
        let _ = writeln!(self, "{text}");
    }

    /// One line on standard error.
    pub fn complain(&mut self, text: impl fmt::Display) {
        match &mut self.0 {
            Sink::Standard(out) => {
                let _ = out.flush();
                tell::error(text);
            }
            Sink::Captured(captured) => captured.err.push_str(&format!("{text}\n")),
        }
    }
}

impl Write for Output {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            Sink::Standard(out) => out.write(buf),
            Sink::Captured(captured) => {
                captured.out.push_str(&String::from_utf8_lossy(buf));
                Ok(buf.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            Sink::Standard(out) => out.flush(),
            Sink::Captured(_) => Ok(()),
        }
    }
}
