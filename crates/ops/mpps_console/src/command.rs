//! One row of the command table, what running it asks for, and the rows every console has. The application declares the
//! rows as statics; they live as long as the program.

use std::path::PathBuf;

use crate::args::Args;

/// A chapter of `help`.
#[derive(Clone, Copy, Debug)]
pub struct Section {
    /// The word after `help`.
    pub name: &'static str,
    /// What the chapter is about, in one line.
    pub about: &'static str,
}

/// One command: a row of a const table.
pub struct Command<A: 'static> {
    /// What the line looks like; see the crate's documentation.
    pub grammar: &'static str,
    /// What it does, in one line, without a full stop.
    pub help: &'static str,
    /// The name of a [`Section`].
    pub section: &'static str,
    /// Runs it. Text goes to the host; a failure of the command is its own to report.
    pub run: fn(&mut A, &Args<'_>) -> Outcome,
}

impl<A> Command<A> {
    /// A row; in a table this reads shorter than the fields.
    pub const fn new(
        section: &'static str,
        grammar: &'static str,
        help: &'static str,
        run: fn(&mut A, &Args<'_>) -> Outcome,
    ) -> Self {
        Command {
            grammar,
            help,
            section,
            run,
        }
    }
}

/// What a command asks of the session once it has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing: read the next line.
    Done,
    /// Stop reading. In a command file this ends the file alone.
    Quit,
    /// Print the help: the overview, or that of a section or `all`.
    Help(Option<String>),
    /// Read commands from a file.
    Load {
        /// The file.
        path: PathBuf,
        /// Print a prompt and each line.
        echo: bool,
    },
}

/// The name under which the sections of `help` are offered as choices.
pub(crate) const HELP_SOURCE: &str = "help_sections";

/// The rows that every console has: `help`, `quit`, `load`, `load_echo`; they are in section `control`.
#[must_use]
pub const fn builtins<A>() -> [Command<A>; 5] {
    [
        Command::new(
            "control",
            "help",
            "Lists the sections of this help",
            |_, _| Outcome::Help(None),
        ),
        Command::new(
            "control",
            "help <section:choice(help_sections)>",
            "Shows the commands of a section",
            |_, args| Outcome::Help(Some(args.word("section").to_owned())),
        ),
        Command::new(
            "control",
            "quit",
            "Leaves the prompt and ends the program",
            |_, _| Outcome::Quit,
        ),
        Command::new(
            "control",
            "load <file:text>",
            "Runs the commands in a file",
            |_, args| Outcome::Load {
                path: PathBuf::from(args.word("file")),
                echo: false,
            },
        ),
        Command::new(
            "control",
            "load_echo <file:text>",
            "Runs the commands in a file and shows each",
            |_, args| Outcome::Load {
                path: PathBuf::from(args.word("file")),
                echo: true,
            },
        ),
    ]
}
