//! What was said of a back end's faults, so that one that comes back with the same isn't told of each time.
//!
//! Owned by the control thread, which forgets it once a connection has lasted, or when the port is started anew.

/// The most different lines; a back end with a new lie at each connection is not told of for ever.
const MOST: usize = 16;

const ENOUGH: &str =
    "so many different troubles: no more of them are told until a connection lasts";

/// Lines said since the last connection that lasted.
#[derive(Debug, Default)]
pub(crate) struct Told {
    lines: Vec<String>,
}

impl Told {
    /// Whether there was no trouble.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The line to be said now, if one is.
    pub(crate) fn admit(&mut self, line: String) -> Option<String> {
        if self.lines.len() > MOST || self.lines.contains(&line) {
            return None;
        }
        let enough = self.lines.len() == MOST;
        let line = if enough { ENOUGH.to_owned() } else { line };
        self.lines.push(line.clone());
        Some(line)
    }

    pub(crate) fn forget(&mut self) {
        self.lines.clear();
    }
}

#[cfg(test)]
mod tests;
