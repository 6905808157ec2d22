//! The command line as a whole: EAL's words, the first `--`, testpmd's words.
//!
//! [`split`] cuts it, [`parse`] reads both halves. `main` calls [`parse`] once, prints what it says, and hands the
//! typed halves to the plan; nothing of it lives on.

use std::ffi::OsString;

use crate::app_args::{self, AppArgs, NamesArgs};
use crate::eal_args::{self, EalArgs};
use crate::getopt::{ArgError, Arity, Notice, specs};

/// A whole command line, read and checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The name that the program was called by, without its folder: `testpmd` or `dpdk-testpmd`.
    pub program: String,
    /// What stands before `--`.
    pub eal: EalArgs,
    /// What stands after it; defaults where EAL's half asks for help.
    pub app: AppArgs,
}

impl CommandLine {
    /// What the user should know, EAL's half first.
    pub fn notices(&self) -> impl Iterator<Item = &Notice> {
        self.eal.notices.iter().chain(self.app.notices.iter())
    }
}

/// A command line cut at the first `--`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The program's name without its folder.
    pub program: String,
    /// The words before the first `--`.
    pub eal: Vec<String>,
    /// The words after it.
    pub app: Vec<String>,
    /// testpmd options that stood before `--` and were moved behind it.
    pub moved: Vec<String>,
}

/// A word of the command line that isn't UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("argument {at} is not UTF-8: {text:?}")]
pub struct NotUtf8 {
    /// Its place; the program's name is 0.
    pub at: usize,
    /// The word, as far as it can be shown.
    pub text: String,
}

/// The words of the process as text.
///
/// # Errors
/// A word that isn't UTF-8.
pub fn words(arguments: impl IntoIterator<Item = OsString>) -> Result<Vec<String>, NotUtf8> {
    let text = |(at, word): (usize, OsString)| {
        word.into_string().map_err(|word| NotUtf8 {
            at,
            text: word.to_string_lossy().into_owned(),
        })
    };
    arguments.into_iter().enumerate().map(text).collect()
}

/// Cuts `argv` (program first) at the first `--`. Where there is one, testpmd's own long options that stand before
/// it by mistake and can't be read as EAL's are moved behind it; without `--` they stay, and EAL's half refuses them.
#[must_use]
pub fn split(argv: &[String]) -> Split {
    let (name, words) = match argv.split_first() {
        Some((name, words)) => (name.as_str(), words),
        None => ("testpmd", argv),
    };
    let program = name.rsplit('/').next().unwrap_or(name).to_owned();
    let Some(at) = words.iter().position(|w| w == "--") else {
        return Split {
            program,
            eal: words.to_vec(),
            app: Vec::new(),
            moved: Vec::new(),
        };
    };
    let (moved, eal): (Vec<String>, Vec<String>) =
        words[..at].iter().cloned().partition(|w| misplaced(w));
    let app = moved.iter().chain(&words[at + 1..]).cloned().collect();
    Split {
        program,
        eal,
        app,
        moved,
    }
}

/// True for a testpmd option that is whole in itself and that EAL doesn't have.
fn misplaced(word: &str) -> bool {
    let Some(body) = word.strip_prefix("--") else {
        return false;
    };
    let name = body.split('=').next().unwrap_or_default();
    let has_value = name.len() < body.len();
    let app = specs(app_args::GROUPS);
    let found = app.iter().find(|s| s.long == name && !name.is_empty());
    found.is_some_and(|s| has_value != (s.arity == Arity::Flag)) && !eal_args::table().knows(name)
}

/// Reads a whole command line, program first.
///
/// # Errors
/// The first word that is wrong, or the first wish that can't be met.
pub fn parse(argv: &[String], names: NamesArgs<'_>) -> Result<CommandLine, ArgError> {
    let split = split(argv);
    let mut eal = eal_args::parse(&split.eal)?;
    for option in &split.moved {
        eal.notices.note(format!(
            "{option} is a testpmd option; it is read as if it stood after `--`"
        ));
    }
    let app = if eal.help {
        AppArgs::default()
    } else {
        app_args::parse(&split.app, names)?
    };
    Ok(CommandLine {
        program: split.program,
        eal,
        app,
    })
}
