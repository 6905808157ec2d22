//! The line being edited: text, cursor, kill buffer, history. A pure state machine, bytes in and bytes out, owned by the
//! terminal source.
//!
//! Programs drive testpmd through pseudo-terminals (expect, DPDK's test suite) and wait for the prompt and for the
//! echo of what they sent. So a line that is merely typed is echoed character by character, exactly as DPDK's editor does, and
//! the prompt is written once; a line is redrawn only for keys that no script presses. Editors that redraw the prompt
//! at will (rustyline does, at the first character) can't be used here.

use super::MAX_LINE;
use super::keys::{Decoder, Key};
use crate::complete::{CandidateKind, Completion};

/// As many lines as DPDK's history holds are few; these cost nothing.
const MOST_HISTORY: usize = 1000;

const CLEAR_TO_END: &str = "\x1b[0K";

/// What a byte led to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Go on.
    Continue,
    /// Enter: this line.
    Line(String),
    /// Ctrl-C: a new prompt.
    Dropped,
    /// Ctrl-D on an empty line.
    End,
    /// Tab: what may follow [`Editor::before`] is asked for.
    Complete,
}

#[derive(Debug, Default)]
pub(super) struct Editor {
    decoder: Decoder,
    text: Vec<char>,
    cursor: usize,
    killed: Vec<char>,
    history: Vec<String>,
    /// Index of the line shown; the history's length while a new one is typed.
    shown: usize,
}

impl Editor {
    /// Takes a byte; what it draws is appended to `out`.
    pub(super) fn feed(&mut self, byte: u8, prompt: &str, out: &mut String) -> Step {
        let Some(key) = self.decoder.feed(byte) else {
            return Step::Continue;
        };
        match key {
            Key::Enter => return self.enter(out),
            Key::Drop => {
                out.push_str("\r\n");
                self.reset();
                return Step::Dropped;
            }
            Key::End if self.text.is_empty() => return Step::End,
            Key::Tab => return Step::Complete,
            Key::Char(character) => self.insert(&[character], out),
            Key::Yank => self.insert(&self.killed.clone(), out),
            Key::Previous | Key::Next => self.recall(key, prompt, out),
            Key::ClearScreen => {
                out.push_str("\x1b[H\x1b[2J");
                self.redraw(prompt, out);
            }
            Key::Backspace => self.remove(self.cursor.saturating_sub(1), self.cursor, out),
            Key::Delete | Key::End => {
                self.remove(self.cursor, (self.cursor + 1).min(self.text.len()), out)
            }
            Key::KillToEnd => self.kill(self.cursor, self.text.len(), out),
            Key::KillToStart => self.kill(0, self.cursor, out),
            Key::KillWord => self.kill(self.word_left(), self.cursor, out),
            Key::Left => self.move_to(self.cursor.saturating_sub(1), out),
            Key::Right => self.move_to((self.cursor + 1).min(self.text.len()), out),
            Key::WordLeft => self.move_to(self.word_left(), out),
            Key::WordRight => self.move_to(self.word_right(), out),
            Key::LineStart => self.move_to(0, out),
            Key::LineEnd => self.move_to(self.text.len(), out),
        }
        Step::Continue
    }

    /// The text before the cursor.
    pub(super) fn before(&self) -> String {
        self.text[..self.cursor].iter().collect()
    }

    /// Puts in what all candidates have in common, or lists them where that is nothing: one a line, a blank, the text,
    /// the help in brackets.
    pub(super) fn complete(&mut self, completion: &Completion, prompt: &str, out: &mut String) {
        let candidates = &completion.candidates;
        let partial = self
            .before()
            .get(completion.start..)
            .unwrap_or_default()
            .chars()
            .count();
        let mut common: Option<Vec<char>> = None;
        for candidate in candidates
            .iter()
            .filter(|candidate| candidate.kind == CandidateKind::Word)
        {
            let word: Vec<char> = candidate.text.chars().collect();
            let shared = common.map_or(word.len(), |common| {
                common.iter().zip(&word).take_while(|(a, b)| a == b).count()
            });
            common = Some(word[..shared].to_vec());
        }
        let mut addition = common.unwrap_or_default();
        addition.drain(..partial.min(addition.len()));
        if let [only] = candidates.as_slice()
            && only.kind == CandidateKind::Word
        {
            addition.push(' ');
        }
        let open = candidates
            .iter()
            .any(|candidate| candidate.kind != CandidateKind::Word);
        if !addition.is_empty() && !open {
            self.insert(&addition, out);
        } else if !candidates.is_empty() {
            out.push_str("\r\n");
            for candidate in candidates {
                out.push_str(&format!(" {} [{}]\r\n", candidate.text, candidate.help));
            }
            self.redraw(prompt, out);
        }
    }

    fn enter(&mut self, out: &mut String) -> Step {
        out.push_str("\r\n");
        let line: String = self.text.iter().collect();
        if !line.trim().is_empty() && self.history.last() != Some(&line) {
            if self.history.len() == MOST_HISTORY {
                self.history.remove(0);
            }
            self.history.push(line.clone());
        }
        self.reset();
        Step::Line(line)
    }

    fn reset(&mut self) {
        self.text.clear();
        self.cursor = 0;
        self.shown = self.history.len();
    }

    fn insert(&mut self, characters: &[char], out: &mut String) {
        if self.text.len() + characters.len() > MAX_LINE {
            out.push('\x07');
            return;
        }
        out.extend(characters);
        self.text
            .splice(self.cursor..self.cursor, characters.iter().copied());
        self.cursor += characters.len();
        self.draw_tail(out);
    }

    fn remove(&mut self, from: usize, to: usize, out: &mut String) {
        if from < to {
            self.move_to(from, out);
            self.text.drain(from..to);
            out.push_str(CLEAR_TO_END);
            self.draw_tail(out);
        }
    }

    fn kill(&mut self, from: usize, to: usize, out: &mut String) {
        if from < to {
            self.killed = self.text[from..to].to_vec();
            self.remove(from, to, out);
        }
    }

    /// Draws what stands behind the cursor and comes back. Nothing at the end of the line, where typing happens.
    fn draw_tail(&self, out: &mut String) {
        let tail = &self.text[self.cursor..];
        if !tail.is_empty() {
            out.push_str(CLEAR_TO_END);
            out.extend(tail);
            out.push_str(&format!("\x1b[{}D", tail.len()));
        }
    }

    fn move_to(&mut self, to: usize, out: &mut String) {
        match self.cursor.abs_diff(to) {
            0 => {}
            1 if to < self.cursor => out.push('\x08'),
            steps if to < self.cursor => out.push_str(&format!("\x1b[{steps}D")),
            steps => out.push_str(&format!("\x1b[{steps}C")),
        }
        self.cursor = to;
    }

    fn word_left(&self) -> usize {
        let word = self.text[..self.cursor]
            .iter()
            .rposition(|character| *character != ' ');
        let Some(end) = word else { return 0 };
        self.text[..end]
            .iter()
            .rposition(|character| *character == ' ')
            .map_or(0, |blank| blank + 1)
    }

    fn word_right(&self) -> usize {
        let rest = &self.text[self.cursor..];
        let begin = rest
            .iter()
            .position(|character| *character != ' ')
            .unwrap_or(rest.len());
        let length = rest[begin..]
            .iter()
            .position(|character| *character == ' ')
            .unwrap_or(rest.len() - begin);
        self.cursor + begin + length
    }

    fn recall(&mut self, key: Key, prompt: &str, out: &mut String) {
        let wanted = if key == Key::Previous {
            self.shown.checked_sub(1)
        } else {
            Some(self.shown + 1)
        };
        let Some(wanted) = wanted.filter(|&wanted| wanted <= self.history.len()) else {
            return;
        };
        self.shown = wanted;
        self.text = self
            .history
            .get(wanted)
            .map(|line| line.chars().collect())
            .unwrap_or_default();
        self.cursor = self.text.len();
        out.push('\r');
        self.redraw(prompt, out);
    }

    fn redraw(&self, prompt: &str, out: &mut String) {
        out.push_str(prompt);
        out.extend(&self.text);
        out.push_str(CLEAR_TO_END);
        let behind = self.text.len() - self.cursor;
        if behind > 0 {
            out.push_str(&format!("\x1b[{behind}D"));
        }
    }
}

#[cfg(test)]
mod tests;
