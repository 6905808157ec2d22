//! What can be wrong with a command line. Each error is one line: the culprit, then what would be right.

use std::fmt;

/// The two halves of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Before the first `--`: cores, memory, devices.
    Eal,
    /// After the first `--`: testpmd's own options.
    App,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Part::Eal => "EAL",
            Part::App => "testpmd",
        })
    }
}

impl Part {
    /// Where an option of this part has to stand.
    fn place(self) -> &'static str {
        match self {
            Part::Eal => "an EAL option; put it before `--`",
            Part::App => "a testpmd option; put it after `--`",
        }
    }
}

/// Why a command line was refused. `Display` is a single line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgError {
    /// No option has this name.
    #[error("unknown {part} option {word}{hint}")]
    Unknown {
        /// The half of the command line it stood in.
        part: Part,
        /// The option as written, quoted.
        word: String,
        /// Empty, or `; ` and the nearest spelling.
        hint: String,
    },
    /// An abbreviation that several options share.
    #[error("{word} is short for {candidates}; write more of it")]
    Ambiguous {
        /// The abbreviation, quoted.
        word: String,
        /// The options it could mean.
        candidates: String,
    },
    /// The option stands on the wrong side of `--`.
    #[error("{word} is {}", .belongs.place())]
    Misplaced {
        /// The option as written, quoted.
        word: String,
        /// The half it belongs to.
        belongs: Part,
    },
    /// Two options without a blank between them.
    #[error("{first} and {second} are glued together; put a blank between them")]
    Glued {
        /// The first option, quoted.
        first: String,
        /// What follows it, quoted.
        second: String,
    },
    /// A word that is neither an option nor the value of one.
    #[error("stray word {word} among the {part} options{hint}")]
    Stray {
        /// The half of the command line it stood in.
        part: Part,
        /// The word, quoted.
        word: String,
        /// Empty, or `; ` and what was meant perhaps.
        hint: String,
    },
    /// The option needs a value and none follows.
    #[error("{option} needs a value: {form}{hint}")]
    MissingValue {
        /// The option as written, quoted.
        option: String,
        /// How it is written in full, quoted.
        form: String,
        /// Empty, or `; ` and what follows instead.
        hint: String,
    },
    /// A flag was given a value.
    #[error("{option} takes no value, but was given {value}")]
    UnexpectedValue {
        /// The option as written, quoted.
        option: String,
        /// The value, quoted.
        value: String,
    },
    /// The value can't be read, or is out of range.
    #[error("{option}: {value} {wrong}; {right}")]
    BadValue {
        /// The option as written, bare.
        option: String,
        /// The value, or the part of it that is wrong, quoted.
        value: String,
        /// What is wrong with it (`is not a number`).
        wrong: String,
        /// What would be right (`give 0 to 512`).
        right: String,
    },
    /// Two options that exclude each other.
    #[error("{first} and {second} can't be used at the same time: {why}")]
    Conflict {
        /// The earlier option as written, quoted.
        first: String,
        /// The later option as written, quoted.
        second: String,
        /// Why, and which one to keep.
        why: String,
    },
    /// Understood, but this program can't do it.
    #[error("{option} can't be had here: {why}")]
    Unsupported {
        /// The option as written, with its value, quoted.
        option: String,
        /// Why, and what to do instead.
        why: String,
    },
}

/// `text` with control characters escaped, so that a message stays one line.
pub(crate) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            out.extend(c.escape_default());
        } else {
            out.push(c);
        }
    }
    out
}

/// `text` between backticks, on one line.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", one_line(text))
}
