//! What can be wrong with a program that is measured beside ours.

use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::time::Duration;

/// Why there is no rate of the other program. One line each, its last words included.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    #[error(
        "--versus: there is no program '{0}' in PATH; a name as 'dpdk-testpmd' (Debian has it in dpdk-dev) or a path would be right"
    )]
    NotInPath(String),
    #[error("--versus: '{path}': {error}; the path of a testpmd would be right")]
    NoFile { path: String, error: io::Error },
    #[error("--versus: '{0}' isn't a program that this user can run")]
    NotExecutable(String),
    #[error("--versus: '{program}' can't be started: {error}")]
    NoStart { program: String, error: io::Error },
    #[error("--versus: no pseudo terminal for '{program}': {error}")]
    NoTerminal { program: String, error: io::Error },
    #[error("--versus: {process} {how} before {awaited}; {words}")]
    Ended {
        process: String,
        how: How,
        awaited: String,
        words: Words,
    },
    #[error("--versus: {process} hangs: no {awaited} within {patience:?}; {words}")]
    Hangs {
        process: String,
        awaited: String,
        patience: Duration,
        words: Words,
    },
    #[error("--versus: {process} moved no packet in {time:?}; {words}")]
    Still {
        process: String,
        time: Duration,
        words: Words,
    },
    #[error(
        "--versus: '{program}' received {received:.2} Mpps at one end and sent {sent:.2} at the other; the measurement is void"
    )]
    Disagree {
        program: String,
        received: f64,
        sent: f64,
    },
}

/// How a process ended, if that is known.
#[derive(Debug)]
pub(crate) struct How(pub(super) Option<ExitStatus>);

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(status) => write!(f, "ended ({status})"),
            None => f.write_str("closed its console"),
        }
    }
}

/// Lines that a program's last words are, at most, and bytes.
const LINES: usize = 3;
const BYTES: usize = 240;

/// The end of what a program said, fit for one line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Words(String);

impl Words {
    /// Of all it said.
    pub(super) fn of(text: &str) -> Self {
        let lines: Vec<String> = text.lines().map(plain).filter(|l| !l.is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(LINES)..);
        let said = last.unwrap_or_default().join(" / ");
        // The end says why; a character isn't cut.
        let cut =
            (said.len().saturating_sub(BYTES)..said.len()).find(|at| said.is_char_boundary(*at));
        Self(said.get(cut.unwrap_or(0)..).unwrap_or_default().to_owned())
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_str() {
            "" => f.write_str("it said nothing"),
            words => write!(f, "its last words: {words}"),
        }
    }
}

/// A line without prompts, colours and other control characters.
fn plain(line: &str) -> String {
    let line = line.replace("testpmd> ", " ");
    let mut parts = line.split('\x1b');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A control sequence ends with its first letter.
        let end = part
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or(part.len(), |at| at + 1);
        text.push_str(part.get(end..).unwrap_or_default());
    }
    text.retain(|c| !c.is_control());
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    //! Last words of programs.

    use super::{BYTES, Words};

    #[test]
    fn the_last_lines_without_prompts_and_colours() {
        let words = |text| Words::of(text).to_string();
        assert_eq!(words(""), "it said nothing");
        assert_eq!(words("testpmd> \r\n\r\n"), "it said nothing");
        assert_eq!(
            words("a\nb\n\nc\u{7}\u{8}\nd\n"),
            "its last words: b / c / d"
        );
        assert_eq!(
            words("EAL: \x1b[31mno\x1b[0m memory\r\n  Cause: none\r\ntestpmd> bye"),
            "its last words: EAL: no memory / Cause: none / bye"
        );
        let long = "ä".repeat(1000);
        assert!(words(&long).len() <= "its last words: ".len() + BYTES);
    }
}
