//! The console: command grammar, table, help, completion, line editing.
//!
//! One command is one row of a const table ([`Command`]): its grammar as a line of text, a help text, a section,
//! and the function that runs it. Everything else (matching, help, completion, the sanity check of the table and
//! example lines for robustness tests) is derived from those rows. The crate knows nothing of ports or packets; what it
//! needs to know of them (names for completion, where text goes) it asks its [`Host`].
//!
//! ```text
//!   LineSource (pipe | terminal | file)  --line-->  Session  --verdict--  Table / Grammar
//!                                                      |
//!                                                      +--> Command::run(&mut host, &args) -> Outcome
//! ```
//!
//! The application builds a [`Table`] and a [`Session`] once at start and drops them at exit. A [`LineSource`] is
//! opened for as long as lines are wanted; [`Session::run`] borrows the host and the source until the input ends, a
//! command quits, or a signal interrupts.
//!
//! # Grammar
//!
//! | token | matches |
//! |---|---|
//! | `word` | exactly this word |
//! | `(a\|b\|<n:u16>)` | one of these; branches may be literals or values |
//! | `<n:u8>` .. `u16` `u32` `u64` `i32` | a number: decimal, `0x` hex, `0b` binary, leading `0` octal; ranged by its type |
//! | `<p:u16@ports>` | the same, completed from the host's choices named `ports`; `<p:port>` is short for `u16@port` |
//! | `<w:word>` | one word of at most 127 bytes (`word@source` completes) |
//! | `<t:text>` `<l:list>` | one word of at most 4095 bytes; `list` is read by [`Args::items`] |
//! | `<r:ranges>` | `1,2-4` |
//! | `<m:mac>` | six or three groups of hex digits |
//! | `<c:choice(source)>` | one of the host's choices |
//! | `<c:(on\|off)>` | one of these, under a name |
//! | `<r:rest>` | the rest of the line, at most 4095 bytes |
//! | `[x y]` | these tokens or nothing |
//!
//! Where two rows match, the one whose leftmost differing token is more specific wins (literal, choice, number, MAC,
//! ranges, word, rest); rows that are equally specific are ambiguous, and [`check_table`] finds them.
#![forbid(unsafe_code)]

mod args;
mod check;
mod command;
mod complete;
mod examples;
mod explain;
mod grammar;
mod help;
mod number;
mod session;
mod source;
mod table;
#[cfg(test)]
mod testing;
mod value;

pub use args::Args;
pub use check::check_table;
pub use command::{Command, Outcome, Section, builtins};
pub use complete::{Candidate, CandidateKind, Completion};
pub use examples::{Example, Flaw};
pub use grammar::{Choices, Grammar, GrammarError, Verdict};
pub use number::{Width, parse_number};
pub use session::{Echo, Ending, Host, LoadError, MAX_LOAD_DEPTH, Session};
pub use source::{
    FileSource, Line, LineSource, MAX_LINE, PipeSource, TerminalSource, open_stdin,
    restore_terminal, terminal_is_usable,
};
pub use table::Table;
pub use value::{ListError, Mac, Ranges, comma_list};

/// The longest word that a `<w:word>` token takes, in bytes (DPDK's limit for a token of a command).
pub const MAX_WORD: usize = 127;

/// The longest `rest`, `text` or `list` token, in bytes (DPDK's limit for a rest-of-line token).
pub const MAX_TEXT: usize = 4095;
