//! The window over a file: filled in blocks of 256 KiB, grown only for a record that needs more, never beyond the
//! longest record there may be.

use std::io::{ErrorKind, Read};

use super::{Fault, FaultKind, MAX_BLOCK, MAX_FRAME, Parser, ReadError, Record, Step};

/// Bytes asked for at a time.
const BLOCK: usize = 256 * 1024;

/// The most reads that one call of [`Reader::next`] does, so that a poll ends in time whatever the file holds.
const READS: usize = 4;

// Whatever a parser may ask for fits the window at its longest.
const MAX_WINDOW: usize = BLOCK + MAX_BLOCK as usize;
const _: () = assert!(MAX_BLOCK >= MAX_FRAME + 64);

/// A frame in the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The bytes that were captured.
    pub data: &'a [u8],
    /// How many there were on the wire; more than `data` holds where the capture cut them.
    pub original: u32,
    /// Nanoseconds since 1970, where the file says.
    pub time: Option<u64>,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A frame.
    Frame(Frame<'a>),
    /// Nothing yet, though much was read; ask again.
    Pause,
    /// No more.
    End,
}

/// Reads frames out of a file.
pub struct Reader<R> {
    source: R,
    parser: Parser,
    /// Filled from `start` to `end`.
    window: Vec<u8>,
    start: usize,
    end: usize,
    /// Place in the file of `start`.
    offset: u64,
    /// Bytes to pass over that were not yet in the window.
    skip: u64,
    /// The source has no more.
    dry: bool,
    /// The frame given out last, which [`Reader::unread`] gives out again.
    last: Option<Record>,
    frames: u64,
    cut: u64,
}

impl<R: Read> Reader<R> {
    /// A reader of what `source` holds from here on. Reads nothing yet.
    pub fn new(source: R) -> Self {
        Self {
            source,
            parser: Parser::Start,
            window: Vec::new(),
            start: 0,
            end: 0,
            offset: 0,
            skip: 0,
            dry: false,
            last: None,
            frames: 0,
            cut: 0,
        }
    }

    /// Frames given out.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Those of them that the capture had cut.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// Whether enough has been read to know that these are Ethernet frames.
    pub fn header_read(&self) -> bool {
        self.parser.header_read()
    }

    /// The next frame.
    ///
    /// # Errors
    /// What is wrong with the file; the same at every later call.
    #[inline]
    #[expect(
        clippy::should_implement_trait,
        reason = "a frame borrows the window, which an iterator's item can't"
    )]
    pub fn next(&mut self) -> Result<Event<'_>, ReadError> {
        let mut reads = 0;
        loop {
            let window = self.window.get(self.start..self.end).unwrap_or_default();
            let step = if self.skip > 0 {
                Step::Need(1, "a block")
            } else {
                self.parser
                    .step(window)
                    .map_err(|kind| fault(self.offset, kind))?
            };
            match step {
                Step::Frame(record) => return Ok(Event::Frame(self.give(record))),
                Step::Skip(n) => self.pass(n),
                Step::Need(need, what) => {
                    if self.dry {
                        return self.finish(need, what);
                    }
                    if reads == READS {
                        return Ok(Event::Pause);
                    }
                    self.fill(need)?;
                    reads += 1;
                }
            }
        }
    }

    #[inline]
    fn give(&mut self, record: Record) -> Frame<'_> {
        let from = self.start + record.start;
        self.frames += 1;
        self.cut += u64::from(record.original as usize > record.len);
        self.start += record.used;
        self.offset += record.used as u64;
        self.last = Some(record);
        Frame {
            data: &self.window[from..from + record.len],
            original: record.original,
            time: record.time,
        }
    }

    /// Takes back the frame given out last; [`Reader::next`] gives it out again.
    pub fn unread(&mut self) {
        if let Some(record) = self.last.take() {
            self.start -= record.used;
            self.offset -= record.used as u64;
            self.frames -= 1;
            self.cut -= u64::from(record.original as usize > record.len);
        }
    }

    /// Moves on by `n` bytes, as many as there are now and the rest when they come.
    fn pass(&mut self, n: u64) {
        let have = (self.end - self.start) as u64;
        let now = n.min(have);
        // Not more than the window holds.
        self.start += now as usize;
        self.offset += now;
        self.skip += n - now;
    }

    /// Reads once, so that the window can come to hold `need` bytes.
    #[cold]
    fn fill(&mut self, need: usize) -> Result<(), ReadError> {
        debug_assert!(need <= MAX_WINDOW);
        // The frame given out last may be overwritten now.
        self.last = None;
        if self.window.len() < need.max(BLOCK) {
            self.window.resize(need.max(BLOCK), 0);
        }
        if self.start > 0 {
            self.window.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        match self.source.read(&mut self.window[self.end..]) {
            Ok(0) => self.dry = true,
            Ok(n) => self.end += n,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(source) => {
                return Err(ReadError::Io {
                    offset: self.offset + (self.end - self.start) as u64,
                    source,
                });
            }
        }
        let skip = std::mem::take(&mut self.skip);
        self.pass(skip);
        Ok(())
    }

    /// The source is dry and the parser wants more.
    #[cold]
    fn finish(&self, need: usize, what: &'static str) -> Result<Event<'_>, ReadError> {
        let have = (self.end - self.start) as u64;
        if have == 0 && self.skip == 0 && self.parser.may_end() {
            return Ok(Event::End);
        }
        let need = if self.skip > 0 {
            self.skip
        } else {
            need as u64
        };
        Err(fault(
            self.offset,
            FaultKind::Truncated { what, have, need },
        ))
    }
}

fn fault(offset: u64, kind: FaultKind) -> ReadError {
    ReadError::Fault(Fault { offset, kind })
}

#[cfg(test)]
mod tests;
