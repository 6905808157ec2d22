//! Lines from a pipe, a socket or a redirected file: what scripts use. Made by the application around standard input
//! and, where it handles signals, a descriptor that becomes readable when one came; both stay the application's.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::splitter::{Cut, Splitter};
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

    /// Waits for input. True where the wake descriptor, or the host, says to stop.
    fn woken(&self, block: bool, host: &dyn Host) -> io::Result<bool> {
        let now = Timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        loop {
            if host.interrupted() {
                return Ok(true);
            }
            let mut fds = Vec::with_capacity(2);
            fds.extend(
                self.wake
                    .as_ref()
                    .map(|wake| PollFd::new(wake, PollFlags::IN)),
            );
            if block {
                fds.push(PollFd::new(&self.input, PollFlags::IN));
            } else if fds.is_empty() {
                return Ok(false);
            }
            match poll(&mut fds, (!block).then_some(&now)) {
                Ok(_) => return Ok(self.wake.is_some() && !fds[0].revents().is_empty()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
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
        if self.woken(false, host)? {
            return Ok(None);
        }
        loop {
            if let Some(cut) = self.buffered() {
                return Ok(Some(cut));
            }
            if self.ended {
                return Ok(Some(self.splitter.rest().unwrap_or(Cut::End)));
            }
            if self.woken(true, host)? {
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
