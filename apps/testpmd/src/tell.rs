//! Lines outside the console's output: standard error, and standard output before there is a console.
//!
//! A stream whose reader has gone must not end the program, as the standard library's macros would: what can't be told is
//! left untold.

use std::fmt::Display;
use std::io::{self, Write};

/// One line on standard error, in one write: ports tell their events on threads of their own.
pub fn error(text: impl Display) {
    bytes(format!("{text}\n").as_bytes());
}

/// One line of our own on standard error.
pub fn note(text: impl Display) {
    error(format_args!("mpps: {text}"));
}

/// Whole lines on standard error, as they stand.
pub fn bytes(lines: &[u8]) {
    let _ = io::stderr().write_all(lines);
}

/// Text on standard output, as it stands.
pub fn output(text: impl Display) {
    let _ = write!(io::stdout(), "{text}");
}
