//! Notices: what a user should know about options that were accepted. Data here; `main` prints them as `mpps: ...`.

use std::fmt;

use super::error::{one_line, quoted};

/// One line for the user about an accepted option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Options that are understood and change nothing, with the reason that they share.
    NoEffect {
        /// The options as written.
        options: Vec<String>,
        /// Why nothing changes.
        why: String,
    },
    /// An old name, or an old way to say it.
    Deprecated {
        /// The option as written.
        option: String,
        /// What to write today.
        instead: String,
    },
    /// An option that was given twice; the later value holds.
    Overridden {
        /// The option as written the second time.
        option: String,
        /// The value that no longer holds.
        earlier: String,
        /// The value that holds.
        later: String,
    },
    /// Anything else, as a whole line.
    Note(String),
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Notice::NoEffect { options, why } => {
                let verb = if options.len() == 1 { "has" } else { "have" };
                write!(f, "{} {verb} no effect here: {why}", options.join(", "))
            }
            Notice::Deprecated { option, instead } => {
                write!(f, "{option} is deprecated; use {instead}")
            }
            Notice::Overridden {
                option,
                earlier,
                later,
            } => write!(
                f,
                "{option} was given more than once; {} replaces {}",
                quoted(later),
                quoted(earlier)
            ),
            Notice::Note(text) => f.write_str(&one_line(text)),
        }
    }
}

/// Notices in the order in which they came up; each is kept once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Notices(Vec<Notice>);

impl Notices {
    /// Adds a notice, unless it is there already. Options without effect for the same reason share a line.
    pub fn push(&mut self, notice: Notice) {
        if let Notice::NoEffect { options, why } = &notice {
            let same = self.0.iter_mut().find_map(|n| match n {
                Notice::NoEffect {
                    options: had,
                    why: w,
                } if w == why => Some(had),
                _ => None,
            });
            if let Some(had) = same {
                for option in options {
                    if !had.contains(option) {
                        had.push(option.clone());
                    }
                }
                return;
            }
        }
        if !self.0.contains(&notice) {
            self.0.push(notice);
        }
    }

    /// Adds a whole line.
    pub fn note(&mut self, text: impl Into<String>) {
        self.push(Notice::Note(text.into()));
    }

    /// Says that `option` changes nothing.
    pub fn no_effect(&mut self, option: impl Into<String>, why: impl Into<String>) {
        self.push(Notice::NoEffect {
            options: vec![option.into()],
            why: why.into(),
        });
    }

    /// The notices, first to last.
    pub fn iter(&self) -> impl Iterator<Item = &Notice> {
        self.0.iter()
    }

    /// True when there is nothing to say.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Extend<Notice> for Notices {
    fn extend<I: IntoIterator<Item = Notice>>(&mut self, notices: I) {
        for notice in notices {
            self.push(notice);
        }
    }
}

impl IntoIterator for Notices {
    type Item = Notice;
    type IntoIter = std::vec::IntoIter<Notice>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
