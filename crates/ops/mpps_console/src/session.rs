//! The loop: read a line, match it, run it. The application makes a session at start and drops it at exit; it holds
//! nothing but the table and the prompt, so that readers nest ([`Session::load`] inside [`Session::run`]).

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::command::Outcome;
use crate::grammar::{Choices, Verdict};
use crate::source::{FileSource, Line, LineSource};
use crate::table::Table;

/// How deep command files may load one another.
pub const MAX_LOAD_DEPTH: usize = 16;

/// What the console asks of the application.
pub trait Host: Choices {
    /// Where the text of commands goes: standard output, buffered. Prompts, echoes and errors go there too, so that all of
    /// it stays in order. Flushed by the console before it waits for input.
    fn out(&mut self) -> &mut dyn Write;

    /// One line, without its end, for standard error.
    fn complain(&mut self, line: &str) {
        // Without a reader there is nobody to tell.
        let _ = writeln!(io::stderr(), "{line}");
    }

    /// Whether the program was asked to stop; looked at before each line.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Why a reader ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A command said so.
    Quit,
    /// The input ended.
    EndOfInput,
    /// The program was asked to stop.
    Interrupted,
}

/// Whether a command file shows its lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// A prompt `[file] ` and each line.
    On,
    /// The replies of the commands alone.
    Off,
}

/// Why a command file wasn't run to its end.
#[derive(Debug, Error)]
pub enum LoadError {
    /// It couldn't be opened.
    #[error("command file '{}': {error}; give a file that can be read", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Files load one another, perhaps in a circle.
    #[error("command file '{}': loaded {MAX_LOAD_DEPTH} deep; does it load itself?", path.display())]
    TooDeep {
        /// The file.
        path: PathBuf,
    },
    /// It couldn't be read on, or standard output couldn't be written.
    #[error("command file '{}': {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// A table with the loop around it.
pub struct Session<A: 'static> {
    table: Table<A>,
    prompt: String,
}

/// Who hears of a line that is no command.
enum Reader {
    /// A script or a person, by DPDK's words on standard output; a person gets a hint too.
    Console { hints: bool },
    /// A file that runs unseen: DPDK says nothing at all, so the place and the line go to standard error.
    Unseen { place: String },
}

impl<A: Host> Session<A> {
    /// A session that shows `prompt`, as in `"testpmd> "`.
    pub fn new(table: Table<A>, prompt: &str) -> Self {
        Session {
            table,
            prompt: prompt.to_owned(),
        }
    }

    /// The table.
    pub fn table(&self) -> &Table<A> {
        &self.table
    }

    /// Runs the lines of `source` until it ends. Errors are those of reading and of writing standard output.
    pub fn run(&self, host: &mut A, source: &mut dyn LineSource) -> io::Result<Ending> {
        let reader = Reader::Console {
            hints: source.is_terminal(),
        };
        loop {
            let ending = match source.next_line(&self.prompt, host)? {
                Line::Text(text) => self.line(host, &text, &reader, 0)?,
                Line::TooLong => refuse(host, &reader, "Bad arguments", "").map(|()| None)?,
                Line::Eof => Some(Ending::EndOfInput),
                Line::Interrupted => Some(Ending::Interrupted),
            };
            if let Some(ending) = ending {
                host.out().flush()?;
                return Ok(ending);
            }
        }
    }

    /// Runs one line, as if a script had sent it. None where reading goes on.
    pub fn execute(&self, host: &mut A, line: &str) -> io::Result<Option<Ending>> {
        self.line(host, line, &Reader::Console { hints: false }, 0)
    }

    /// Runs a command file to its end, to a `quit` in it, or until interrupted. Lines that fail don't stop it.
    ///
    /// Ends with `<End-Of-File>`, or without echo with `Finished reading CLI commands from {path}`.
    pub fn load(&self, host: &mut A, path: &Path, echo: Echo) -> Result<Ending, LoadError> {
        self.load_at(host, path, echo, 0)
    }

    fn load_at(
        &self,
        host: &mut A,
        path: &Path,
        echo: Echo,
        depth: usize,
    ) -> Result<Ending, LoadError> {
        if depth == MAX_LOAD_DEPTH {
            return Err(LoadError::TooDeep {
                path: path.to_owned(),
            });
        }
        let opened = FileSource::open(path, echo);
        let mut source = opened.map_err(|error| LoadError::Open {
            path: path.to_owned(),
            error,
        })?;
        self.drain(host, &mut source, depth + 1)
            .map_err(|error| LoadError::Io {
                path: path.to_owned(),
                error,
            })
    }

    fn drain(&self, host: &mut A, source: &mut FileSource, depth: usize) -> io::Result<Ending> {
        let ending = loop {
            let line = source.next_line(&self.prompt, host)?;
            let reader = match source.echo() {
                Echo::On => Reader::Console { hints: false },
                Echo::Off => Reader::Unseen {
                    place: source.place(),
                },
            };
            match line {
                Line::Text(text) => {
                    if let Some(ending) = self.line(host, &text, &reader, depth)? {
                        break ending;
                    }
                }
                Line::TooLong => refuse(host, &reader, "Bad arguments", "")?,
                Line::Eof => break Ending::EndOfInput,
                Line::Interrupted => break Ending::Interrupted,
            }
        };
        match source.echo() {
            Echo::On => writeln!(host.out(), "<End-Of-File>")?,
            Echo::Off => writeln!(
                host.out(),
                "Finished reading CLI commands from {}",
                source.path().display()
            )?,
        }
        host.out().flush()?;
        Ok(ending)
    }

    fn line(
        &self,
        host: &mut A,
        line: &str,
        reader: &Reader,
        depth: usize,
    ) -> io::Result<Option<Ending>> {
        let grammar = self.table.grammar();
        let error = match grammar.parse(line, host) {
            Verdict::Empty => return Ok(None),
            Verdict::Run { row, args } => {
                let outcome = (self.table.commands()[row].run)(host, &args);
                return self.conclude(host, outcome, reader, depth);
            }
            Verdict::NotFound => "Command not found",
            Verdict::BadArguments => "Bad arguments",
            Verdict::Ambiguous => "Ambiguous command",
        };
        refuse(host, reader, error, line)?;
        if let (Reader::Console { hints: true }, Some(hint)) = (reader, grammar.explain(line, host))
        {
            self.hint(host, &hint)?;
        }
        Ok(None)
    }

    fn conclude(
        &self,
        host: &mut A,
        outcome: Outcome,
        reader: &Reader,
        depth: usize,
    ) -> io::Result<Option<Ending>> {
        match outcome {
            Outcome::Done => Ok(None),
            Outcome::Quit => Ok(Some(Ending::Quit)),
            Outcome::Help(section) => {
                let mut text = Vec::new();
                self.table.write_help(section.as_deref(), host, &mut text)?;
                host.out().write_all(&text)?;
                Ok(None)
            }
            Outcome::Load { path, echo } => {
                let echo = if echo { Echo::On } else { Echo::Off };
                match self.load_at(host, &path, echo, depth) {
                    // A quit in the file ended the file.
                    Ok(Ending::Interrupted) => Ok(Some(Ending::Interrupted)),
                    Ok(Ending::Quit | Ending::EndOfInput) => Ok(None),
                    Err(error) => self.load_failed(host, &path, &error, reader).map(|()| None),
                }
            }
        }
    }

    /// DPDK's words where DPDK has any, then ours where a person reads along.
    fn load_failed(
        &self,
        host: &mut A,
        path: &Path,
        error: &LoadError,
        reader: &Reader,
    ) -> io::Result<()> {
        host.out().flush()?;
        match error {
            LoadError::Open { .. } => {
                host.complain(&format!(
                    "Failed to create file based cmdline context: {}",
                    path.display()
                ));
                if matches!(reader, Reader::Console { hints: true }) {
                    self.hint(host, &error.to_string())?;
                }
            }
            LoadError::TooDeep { .. } | LoadError::Io { .. } => {
                host.complain(&format!("mpps: {error}"))
            }
        }
        Ok(())
    }

    fn hint(&self, host: &mut A, hint: &str) -> io::Result<()> {
        host.out().flush()?;
        host.complain(&format!("mpps: {hint}"));
        Ok(())
    }
}

fn refuse(host: &mut dyn Host, reader: &Reader, error: &str, line: &str) -> io::Result<()> {
    match reader {
        Reader::Console { .. } => writeln!(host.out(), "{error}")?,
        Reader::Unseen { place } => {
            host.out().flush()?;
            host.complain(&format!("mpps: {place}: {error}: '{}'", line.trim()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
