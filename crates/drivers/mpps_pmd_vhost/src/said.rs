//! What was said of a port's front ends, so that one that finds new things to be said of it doesn't fill a log.
//!
//! Owned by the control thread for as long as the port lives; whoever starts the port begins anew.

use std::time::{Duration, Instant};

/// The most lines of a series. A device of all queues says one a ring when its guest boots.
const MOST: u32 = 300;

/// So long without a line ends a series.
const QUIET: Duration = Duration::from_secs(10);

const ENOUGH: &str =
    "so much to be said of the front end: no more is until there was nothing for ten seconds";

/// The line said last, and how many came one soon after the other.
#[derive(Debug, Default)]
pub(crate) struct Said {
    last: Option<String>,
    lines: u32,
    at: Option<Instant>,
}

impl Said {
    /// What is to be said in the place of this line now, if anything is: nothing where it is the last one again.
    pub(crate) fn admit<'a>(&mut self, line: &'a str, now: Instant) -> Option<&'a str> {
        if self.last.as_deref() == Some(line) {
            return None;
        }
        let quiet = |at: Instant| now.saturating_duration_since(at) >= QUIET;
        if self.at.replace(now).is_none_or(quiet) {
            self.lines = 0;
        }
        if self.lines > MOST {
            return None;
        }
        self.lines += 1;
        self.last = Some(line.to_owned());
        Some(if self.lines > MOST { ENOUGH } else { line })
    }
}

#[cfg(test)]
mod tests;
