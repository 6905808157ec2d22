//! Standard output and standard error, in step with each other, for the console and for ports that have something to say.
//!
//! [`Output`] is the console's, used by the main thread alone. Ports speak on threads of their own through a [`Voice`]: their
//! text goes between the console's blocks, never into one, and they never wait for a reader who has stopped reading. What is
//! written is kept in order in one list; whoever writes it out ([`Shared::drain`]) holds the streams meanwhile. A thread, made
//! with the first voice and joined when the output is dropped, writes out what ports said while the console waits for input.

use std::fmt;
use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use crate::tell;

/// Bytes that are kept at most: the console's are then written out, flushed or not, those of ports are left out and counted. A
/// peer that makes a port speak without end, while nobody reads, costs no more memory than this.
const KEPT: usize = 64 * 1024;

/// Where blocks and replies go. Text for standard error is written after what was buffered, so that a terminal, or a file
/// that takes both streams, shows things in their order. A captured one keeps both for who asks, as tests do.
pub struct Output {
    shared: Arc<Shared>,
    printer: Option<JoinHandle<()>>,
}

/// What was written to a captured [`Output`].
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Captured {
    /// For standard output.
    pub out: String,
    /// For standard error.
    pub err: String,
}

/// Speaks for ports, from any thread.
#[derive(Clone)]
pub struct Voice(Arc<Shared>);

struct Shared {
    text: Mutex<Text>,
    /// Held by whoever writes out; taken before `text`, never while `text` is held.
    sink: Mutex<Sink>,
    wake: Condvar,
}

#[derive(Default)]
struct Text {
    /// To be written, in this order.
    pending: Vec<Piece>,
    /// Bytes in `pending` and `waiting`.
    bytes: usize,
    /// Texts of ports that were left out since the last one that wasn't.
    lost: u64,
    /// What ports said while the console was in the middle of something.
    waiting: Vec<Piece>,
    /// The console is in the middle of something: it wrote without a flush since.
    open: bool,
    /// The printer has something to do.
    wanted: bool,
    /// The printer is to end.
    closed: bool,
}

enum Piece {
    Out(Vec<u8>),
    Err(Vec<u8>),
}

enum Sink {
    Standard,
    Captured(Captured),
}

impl Output {
    /// The process's own.
    pub fn standard() -> Self {
        Self::of(Sink::Standard)
    }

    /// One that keeps what is written.
    pub fn captured() -> Self {
        Self::of(Sink::Captured(Captured::default()))
    }

    fn of(sink: Sink) -> Self {
        let shared = Shared {
            text: Mutex::default(),
            sink: Mutex::new(sink),
            wake: Condvar::new(),
        };
        Self {
            shared: Arc::new(shared),
            printer: None,
        }
    }

    /// What was written since the last call; empty where it went to the process's own streams.
    pub fn take(&mut self) -> Captured {
        // A captured output takes everything.
        let _ = self.flush();
        match &mut *held(&self.shared.sink) {
            Sink::Standard => Captured::default(),
            Sink::Captured(text) => std::mem::take(text),
        }
    }

    /// A block, which ends its own last line. A closed standard output is noticed by the console's next flush.
    pub fn block(&mut self, text: impl fmt::Display) {
        self.shared.push(Piece::Out(text.to_string().into_bytes()));
    }

    /// One line.
    pub fn line(&mut self, text: impl fmt::Display) {
        self.block(format_args!("{text}\n"));
    }

    /// One line on standard error.
    pub fn complain(&mut self, text: impl fmt::Display) {
        self.shared
            .push(Piece::Err(format!("{text}\n").into_bytes()));
        let _ = self.shared.drain();
    }

    /// For ports that have something to say.
    ///
    /// # Errors
    /// No thread can be made.
    pub fn voice(&mut self) -> io::Result<Voice> {
        if self.printer.is_none() {
            let shared = self.shared.clone();
            let printer = std::thread::Builder::new().name("console-events".to_owned());
            self.printer = Some(printer.spawn(move || shared.print())?);
        }
        Ok(Voice(self.shared.clone()))
    }
}

impl Write for Output {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        held(&self.shared.text).open = true;
        self.shared.push(Piece::Out(buf.to_vec()));
        Ok(buf.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        held(&self.shared.text).end_part();
        self.shared.drain()
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        let _ = self.flush();
        held(&self.shared.text).closed = true;
        self.shared.wake.notify_one();
        if let Some(printer) = self.printer.take() {
            // A printer that panicked has nothing more to print.
            let _ = printer.join();
        }
    }
}

impl Voice {
    /// A text on standard output, whole lines; not inside a block.
    pub fn say(&self, text: String) {
        self.0.interject(Piece::Out(text.into_bytes()));
    }

    /// One line on standard error.
    pub fn complain(&self, text: impl fmt::Display) {
        self.0
            .interject(Piece::Err(format!("{text}\n").into_bytes()));
    }
}

impl Shared {
    /// The console's text. A lot of it is written out at once; that streams are closed is noticed by the next flush.
    fn push(&self, piece: Piece) {
        let full = {
            let mut text = held(&self.text);
            text.push(piece);
            text.bytes > KEPT
        };
        if full {
            let _ = self.drain();
        }
    }

    /// A port's text: behind what the console has said, or behind what it is about to say.
    fn interject(&self, piece: Piece) {
        let mut text = held(&self.text);
        if text.bytes > KEPT {
            text.lost += 1;
            return;
        }
        let lost = match std::mem::take(&mut text.lost) {
            0 => None,
            n => Some(Piece::Err(
                format!(
                    "mpps: {n} texts of ports are left out: they came faster than they were read\n"
                )
                .into_bytes(),
            )),
        };
        let pieces = lost.into_iter().chain([piece]);
        if text.open {
            for piece in pieces {
                text.bytes += piece.bytes().len();
                text.waiting.push(piece);
            }
        } else {
            pieces.for_each(|piece| text.push(piece));
            text.wanted = true;
            self.wake.notify_one();
        }
    }

    /// Writes out what there is, also what comes meanwhile.
    fn drain(&self) -> io::Result<()> {
        let mut sink = held(&self.sink);
        loop {
            let pieces = {
                let mut text = held(&self.text);
                let pending = std::mem::take(&mut text.pending);
                text.bytes -= pending
                    .iter()
                    .map(|piece| piece.bytes().len())
                    .sum::<usize>();
                pending
            };
            if pieces.is_empty() {
                return Ok(());
            }
            pieces.iter().try_for_each(|piece| sink.write(piece))?;
        }
    }

    /// The printer's life.
    fn print(&self) {
        let mut text = held(&self.text);
        while !text.closed {
            if std::mem::take(&mut text.wanted) {
                drop(text);
                // The console finds out about a closed stream by itself.
                let _ = self.drain();
                text = held(&self.text);
            } else {
                text = self.wake.wait(text).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

impl Text {
    fn push(&mut self, piece: Piece) {
        self.bytes += piece.bytes().len();
        match (self.pending.last_mut(), piece) {
            (Some(Piece::Out(last)), Piece::Out(more)) => last.extend_from_slice(&more),
            (_, piece) => self.pending.push(piece),
        }
    }

    /// The console is done with a part of its text: now others may speak.
    fn end_part(&mut self) {
        self.open = false;
        for piece in std::mem::take(&mut self.waiting) {
            self.bytes -= piece.bytes().len();
            self.push(piece);
        }
    }
}

impl Piece {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Out(bytes) | Self::Err(bytes) => bytes,
        }
    }
}

impl Sink {
    fn write(&mut self, piece: &Piece) -> io::Result<()> {
        match (self, piece) {
            (Self::Standard, Piece::Out(bytes)) => {
                let mut out = io::stdout().lock();
                out.write_all(bytes)?;
                out.flush()
            }
            (Self::Standard, Piece::Err(bytes)) => {
                tell::bytes(bytes);
                Ok(())
            }
            (Self::Captured(to), Piece::Out(bytes)) => {
                to.out.push_str(&String::from_utf8_lossy(bytes));
                Ok(())
            }
            (Self::Captured(to), Piece::Err(bytes)) => {
                to.err.push_str(&String::from_utf8_lossy(bytes));
                Ok(())
            }
        }
    }
}

/// What is behind the lock; a thread that panicked leaves text that can still be written.
fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
