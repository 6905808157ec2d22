//! Cuts bytes into lines as DPDK's line editor does when a script feeds it: CR and LF each end a line, Ctrl-C drops what
//! was typed, Ctrl-D on an empty line ends the input, backspace erases. Owned by a source, lives as long.

/// The longest line in bytes; the longest command is a few hundred bytes plus a `rest` of 4095.
pub const MAX_LINE: usize = 64 * 1024;

const CTRL_C: u8 = 0x03;
const CTRL_D: u8 = 0x04;
const BACKSPACE: [u8; 2] = [0x08, 0x7f];

/// What a byte brought to an end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Cut {
    /// A line.
    Line(String),
    /// A line that was too long: its beginning.
    TooLong(String),
    /// A line that is not to be run.
    Dropped(String),
    /// The input.
    End,
}

#[derive(Debug, Default)]
pub(super) struct Splitter {
    line: Vec<u8>,
    overflowed: bool,
    plain: bool,
}

impl Splitter {
    /// For command files, where only LF ends a line: CR is left out, and nobody presses keys.
    pub(super) fn for_files() -> Splitter {
        Splitter {
            plain: true,
            ..Splitter::default()
        }
    }

    /// Takes bytes up to the first cut; says how many were taken.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> (usize, Option<Cut>) {
        for (index, &byte) in bytes.iter().enumerate() {
            let cut = match byte {
                b'\n' => Some(self.finish()),
                _ if self.plain => {
                    self.push(byte);
                    None
                }
                b'\r' => Some(self.finish()),
                CTRL_C => Some(Cut::Dropped(self.take())),
                CTRL_D if self.line.is_empty() => Some(Cut::End),
                _ => {
                    self.push(byte);
                    None
                }
            };
            if cut.is_some() {
                return (index + 1, cut);
            }
        }
        (bytes.len(), None)
    }

    /// A last line without an end.
    pub(super) fn rest(&mut self) -> Option<Cut> {
        (!self.line.is_empty()).then(|| self.finish())
    }

    fn push(&mut self, byte: u8) {
        if BACKSPACE.contains(&byte) && !self.plain {
            self.erase();
        } else if byte.is_ascii_control() && byte != b'\t' {
            // Left out, as DPDK does: a NUL or an escape can't be part of a command.
        } else if self.line.len() < MAX_LINE {
            self.line.push(byte);
        } else {
            self.overflowed = true;
        }
    }

    /// Erases one character, which may be several bytes.
    fn erase(&mut self) {
        while let Some(byte) = self.line.pop() {
            if byte & 0xc0 != 0x80 {
                break;
            }
        }
    }

    fn finish(&mut self) -> Cut {
        let too_long = std::mem::take(&mut self.overflowed);
        let line = self.take();
        if too_long {
            Cut::TooLong(line)
        } else {
            Cut::Line(line)
        }
    }

    fn take(&mut self) -> String {
        self.overflowed = false;
        let text = String::from_utf8_lossy(&self.line).into_owned();
        self.line.clear();
        text
    }
}

#[cfg(test)]
mod tests;
