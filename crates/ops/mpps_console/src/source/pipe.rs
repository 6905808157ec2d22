//! Lines from a pipe, a socket or a redirected file: what scripts use. Made by the application around standard input
//! and, where it handles signals, a descriptor that becomes readable when one came; both stay the application's.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;

use super::splitter::{Cut, Splitter};
use super::wait::woken;
use super::{Line, LineSource};
use crate::session::Host;

/// As much as a pipe holds by default.
const CHUNK: usize = 64 * 1024;

/// Reads `input` without std's buffers, so that waiting sees what is there.
pub struct PipeSource<I, W = BorrowedFd<'static>> {
    input: I,
    wake: Option<W>,
    splitter: Splitter,
    chunk: Vec<u8>,
    used: usize,
    ended: bool,
    echo: bool,
}

impl<I: AsFd, W: AsFd> PipeSource<I, W> {
    /// Lines of `input`, each echoed after its prompt. When `wake` becomes readable, waiting ends with
    /// [`Line::Interrupted`]; it isn't read, so that it goes on saying so until the application empties it.
    pub fn new(input: I, wake: Option<W>) -> Self {
        let splitter = Splitter::default();
        PipeSource {
            input,
            wake,
            splitter,
            chunk: Vec::new(),
            used: 0,
            ended: false,
            echo: true,
        }
    }

    /// Whether lines are echoed; not where the kernel does it, on a terminal that can't be edited on.
    #[must_use]
    pub fn echo(mut self, echo: bool) -> Self {
        self.echo = echo;
        self
    }

    /// The next cut among the bytes read so far.
    fn buffered(&mut self) -> Option<Cut> {
        let (taken, cut) = self.splitter.feed(&self.chunk[self.used..]);
        self.used += taken;
        cut
    }

    /// Reads on. True at the end of the input.
    fn fill(&mut self) -> io::Result<bool> {
        self.chunk.resize(CHUNK, 0);
        self.used = 0;
        let read = match rustix::io::read(&self.input, &mut self.chunk[..]) {
            // A terminal that hung up says so with an error.
            Err(Errno::IO) => 0,
            Err(Errno::INTR | Errno::AGAIN) => {
                self.chunk.clear();
                return Ok(false);
            }
            Err(error) => return Err(error.into()),
            Ok(read) => read,
        };
        self.chunk.truncate(read);
        Ok(read == 0)
    }

    fn next_cut(&mut self, host: &dyn Host) -> io::Result<Option<Cut>> {
        if woken::<I>(self.wake.as_ref(), None, host)? {
            return Ok(None);
        }
        loop {
            if let Some(cut) = self.buffered() {
                return Ok(Some(cut));
            }
            if self.ended {
                return Ok(Some(self.splitter.rest().unwrap_or(Cut::End)));
            }
            if woken(self.wake.as_ref(), Some(&self.input), host)? {
                return Ok(None);
            }
            self.ended = self.fill()?;
        }
    }
}

impl<I: AsFd, W: AsFd> LineSource for PipeSource<I, W> {
    fn next_line(&mut self, prompt: &str, host: &mut dyn Host) -> io::Result<Line> {
        host.out().write_all(prompt.as_bytes())?;
        host.out().flush()?;
        let Some(cut) = self.next_cut(host)? else {
            return Ok(Line::Interrupted);
        };
        let (echoed, line) = match cut {
            Cut::End => {
                self.ended = true;
                self.chunk.clear();
                self.used = 0;
                return Ok(Line::Eof);
            }
            Cut::Line(text) => (text.clone(), Line::Text(text)),
            Cut::TooLong(text) => (text, Line::TooLong),
            Cut::Dropped(text) => (text, Line::Text(String::new())),
        };
        if self.echo {
            write!(host.out(), "{echoed}\r\n")?;
            host.out().flush()?;
        }
        Ok(line)
    }
}

#[cfg(test)]
mod tests;
