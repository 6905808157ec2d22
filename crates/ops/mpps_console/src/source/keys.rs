//! From the bytes of a terminal to keys: control characters, escape sequences, UTF-8. A decoder is owned by one editor and
//! keeps what an unfinished sequence has so far.

/// What was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Char(char),
    Enter,
    Tab,
    /// Ctrl-C.
    Drop,
    /// Ctrl-D: end of input on an empty line, else as Delete.
    End,
    Backspace,
    Delete,
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    Previous,
    Next,
    KillToEnd,
    KillToStart,
    KillWord,
    Yank,
    ClearScreen,
}

/// More than the longest sequence that means anything.
const MAX_SEQUENCE: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Decoder {
    pending: Vec<u8>,
}

impl Decoder {
    /// Takes a byte; a key where it completes one. Sequences without a meaning are swallowed whole.
    pub(super) fn feed(&mut self, byte: u8) -> Option<Key> {
        match self.pending.first() {
            None => self.first(byte),
            Some(0x1b) => self.escape(byte),
            Some(_) => self.utf8(byte),
        }
    }

    fn first(&mut self, byte: u8) -> Option<Key> {
        match byte {
            0x1b | 0xc2..=0xf4 => {
                self.pending.push(byte);
                None
            }
            0x20..=0x7e => Some(Key::Char(char::from(byte))),
            _ => control(byte),
        }
    }

    fn utf8(&mut self, byte: u8) -> Option<Key> {
        if byte & 0xc0 != 0x80 {
            // Broken off: the byte begins something new.
            self.pending.clear();
            return self.first(byte);
        }
        self.pending.push(byte);
        let character = std::str::from_utf8(&self.pending)
            .ok()
            .and_then(|text| text.chars().next());
        if character.is_some() || self.pending.len() >= 4 {
            self.pending.clear();
        }
        character.map(Key::Char)
    }

    fn escape(&mut self, byte: u8) -> Option<Key> {
        self.pending.push(byte);
        let key = match self.pending.as_slice() {
            [_, b'[' | b'O'] => return None,
            [_, b'b'] => Some(Key::WordLeft),
            [_, b'f'] => Some(Key::WordRight),
            [_, _, b'A'] => Some(Key::Previous),
            [_, _, b'B'] => Some(Key::Next),
            [_, _, b'C'] => Some(Key::Right),
            [_, _, b'D'] => Some(Key::Left),
            [_, _, b'H'] | [_, _, b'1' | b'7', b'~'] => Some(Key::LineStart),
            [_, _, b'F'] | [_, _, b'4' | b'8', b'~'] => Some(Key::LineEnd),
            [_, _, b'3', b'~'] => Some(Key::Delete),
            // Parameters of a longer sequence, up to its final byte.
            [_, b'[', .., 0x20..=0x3f] if self.pending.len() < MAX_SEQUENCE => return None,
            _ => None,
        };
        self.pending.clear();
        key
    }
}

fn control(byte: u8) -> Option<Key> {
    Some(match byte {
        0x01 => Key::LineStart,
        0x02 => Key::Left,
        0x03 => Key::Drop,
        0x04 => Key::End,
        0x05 => Key::LineEnd,
        0x06 => Key::Right,
        0x08 | 0x7f => Key::Backspace,
        b'\t' => Key::Tab,
        b'\n' | b'\r' => Key::Enter,
        0x0b => Key::KillToEnd,
        0x0c => Key::ClearScreen,
        0x0e => Key::Next,
        0x10 => Key::Previous,
        0x15 => Key::KillToStart,
        0x17 => Key::KillWord,
        0x19 => Key::Yank,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
