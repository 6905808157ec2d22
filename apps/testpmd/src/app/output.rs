//! Standard output, buffered, and standard error in step with it.

use std::fmt;
use std::io::{self, BufWriter, Stdout, Write};

/// Where blocks and replies go. Text for standard error is written after what was buffered, so that a terminal, or a file
/// that takes both streams, shows things in their order.
pub struct Output(BufWriter<Stdout>);

impl Output {
    pub(super) fn new() -> Self {
        Self(BufWriter::with_capacity(64 * 1024, io::stdout()))
    }

    /// A block, which ends its own last line. A closed standard output is noticed by the console's next flush.
    pub fn block(&mut self, text: impl fmt::Display) {
        let _ = write!(self.0, "{text}");
    }

    /// One line.
    pub fn line(&mut self, text: impl fmt::Display) {
        let _ = writeln!(self.0, "{text}");
    }

    /// One line on standard error.
    pub fn complain(&mut self, text: impl fmt::Display) {
        let _ = self.0.flush();
        eprintln!("{text}");
    }
}

impl Write for Output {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.0.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
