//! Lines from a command file. Made by the session for `load` and by the application for its own command files; the file
//! is closed when the source is dropped.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::splitter::{Cut, Splitter};
use super::{Line, LineSource};
use crate::session::{Echo, Host};

/// The commands in a file.
pub struct FileSource {
    path: PathBuf,
    prompt: String,
    input: BufReader<File>,
    splitter: Splitter,
    echo: Echo,
    number: usize,
}

impl FileSource {
    /// Opens the file.
    pub fn open(path: &Path, echo: Echo) -> io::Result<FileSource> {
        let input = BufReader::with_capacity(64 * 1024, File::open(path)?);
        let name = path
            .file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy();
        let prompt = format!("[{name}] ");
        Ok(FileSource {
            path: path.to_owned(),
            prompt,
            input,
            splitter: Splitter::for_files(),
            echo,
            number: 0,
        })
    }

    /// The file as it was given.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The file and the number of the last line read, as `path:7`.
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.path.display(), self.number)
    }

    /// Whether prompts and lines are shown.
    pub(crate) fn echo(&self) -> Echo {
        self.echo
    }

    fn next_cut(&mut self) -> io::Result<Cut> {
        loop {
            let bytes = self.input.fill_buf()?;
            if bytes.is_empty() {
                return Ok(self.splitter.rest().unwrap_or(Cut::End));
            }
            let (taken, cut) = self.splitter.feed(bytes);
            self.input.consume(taken);
            if let Some(cut) = cut {
                return Ok(cut);
            }
        }
    }
}

impl LineSource for FileSource {
    /// The prompt is the file's own; the one given is that of the reader it is nested in.
    fn next_line(&mut self, _prompt: &str, host: &mut dyn Host) -> io::Result<Line> {
        if host.interrupted() {
            return Ok(Line::Interrupted);
        }
        if self.echo == Echo::On {
            host.out().write_all(self.prompt.as_bytes())?;
        }
        let cut = self.next_cut()?;
        self.number += 1;
        let (text, line) = match cut {
            Cut::End => return Ok(Line::Eof),
            Cut::Line(text) => (text.clone(), Line::Text(text)),
            Cut::TooLong(text) => (text, Line::TooLong),
            Cut::Dropped(text) => (text, Line::Text(String::new())),
        };
        if self.echo == Echo::On {
            write!(host.out(), "{text}\r\n")?;
        }
        Ok(line)
    }
}

#[cfg(test)]
mod tests;
