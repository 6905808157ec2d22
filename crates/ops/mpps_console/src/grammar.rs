//! The grammar of all rows: patterns, the index by first word, and the matcher. Made once by
//! [`Table::new`](crate::Table::new); each row is compiled when a line first begins with its first word, so that a thousand
//! rows cost a start next to nothing. Shared, read-only, between the session and a terminal's completion.

mod compile;
mod matcher;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

pub use compile::GrammarError;
pub(crate) use matcher::{Class, words};

use crate::args::Args;
use crate::command::HELP_SOURCE;
use crate::number::Width;

/// Names that only the application knows: the ports there are, the forwarding modes.
pub trait Choices {
    /// The choices of this name at this moment; none for a name it doesn't know.
    fn choices(&self, source: &str) -> Vec<Cow<'static, str>>;
}

/// One way to write a command.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    pub(crate) tokens: Vec<Token>,
}

/// One place in a pattern: any of these.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) branches: Vec<Branch>,
}

#[derive(Clone, Debug)]
pub(crate) enum Branch {
    Literal(&'static str),
    Value { name: &'static str, kind: Kind },
}

#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Number {
        width: Width,
        source: Option<&'static str>,
    },
    Word {
        most: usize,
        source: Option<&'static str>,
    },
    OneOf(Vec<&'static str>),
    Choice(&'static str),
    Mac,
    Ranges,
    Rest,
}

/// What a line turned out to be.
#[derive(Debug)]
pub enum Verdict<'l> {
    /// Blank or a comment.
    Empty,
    /// This row, with these arguments.
    Run {
        /// Index of the row in the order the table was given.
        row: usize,
        /// What its tokens are.
        args: Args<'l>,
    },
    /// No command begins with the first word: `Command not found`.
    NotFound,
    /// A command begins so, but none goes on so: `Bad arguments`.
    BadArguments,
    /// Several commands match, none better than the others: `Ambiguous command`.
    Ambiguous,
}

/// The compiled grammar of a table.
pub struct Grammar {
    pub(crate) rows: Vec<Row>,
    index: HashMap<&'static str, Vec<usize>>,
    sections: Vec<&'static str>,
}

pub(crate) struct Row {
    pub(crate) grammar: &'static str,
    pub(crate) help: &'static str,
    pub(crate) section: &'static str,
    compiled: OnceLock<Compiled>,
}

struct Compiled {
    patterns: Vec<Pattern>,
    names: Vec<&'static str>,
}

impl Row {
    pub(crate) fn new(grammar: &'static str, help: &'static str, section: &'static str) -> Row {
        Row {
            grammar,
            help,
            section,
            compiled: OnceLock::new(),
        }
    }

    /// The patterns; a malformed row has none and so matches nothing ([`check_table`](crate::check_table) finds it).
    pub(crate) fn patterns(&self) -> &[Pattern] {
        &self.compiled().patterns
    }

    pub(crate) fn names(&self) -> &[&'static str] {
        &self.compiled().names
    }

    pub(crate) fn error(&self) -> Option<GrammarError> {
        compile::compile(self.grammar).err()
    }

    fn compiled(&self) -> &Compiled {
        self.compiled.get_or_init(|| {
            let patterns = compile::compile(self.grammar).unwrap_or_default();
            // The first pattern leaves no option out.
            let tokens = patterns.first().map_or(&[][..], |pattern| &pattern.tokens);
            let branches = tokens.iter().flat_map(|token| &token.branches);
            let names = branches.filter_map(|branch| match branch {
                Branch::Value { name, .. } => Some(*name),
                Branch::Literal(_) => None,
            });
            Compiled {
                names: names.collect(),
                patterns,
            }
        })
    }

    /// The words that a line of this row may begin with.
    fn first_words(&self) -> impl Iterator<Item = &'static str> {
        let first = match self.grammar.strip_prefix('(') {
            Some(inner) => inner.split(')').next(),
            None => self.grammar.split(' ').next(),
        };
        first.unwrap_or_default().split('|')
    }
}

impl Grammar {
    pub(crate) fn new(rows: Vec<Row>, sections: Vec<&'static str>) -> Grammar {
        let mut index: HashMap<&'static str, Vec<usize>> = HashMap::with_capacity(rows.len());
        for (number, row) in rows.iter().enumerate() {
            for word in row.first_words() {
                index.entry(word).or_default().push(number);
            }
        }
        Grammar {
            rows,
            index,
            sections,
        }
    }

    /// What a line is. `choices` answers for the tokens of type `choice`.
    #[must_use]
    pub fn parse<'l>(&'l self, line: &'l str, choices: &dyn Choices) -> Verdict<'l> {
        matcher::parse(self, line, choices)
    }

    /// The words that a command may begin with, sorted.
    #[must_use]
    pub fn first_words(&self) -> Vec<&'static str> {
        let mut words: Vec<_> = self.index.keys().copied().collect();
        words.sort_unstable();
        words
    }

    /// The names of the choices that the rows refer to, sorted.
    #[must_use]
    pub fn sources(&self) -> Vec<&'static str> {
        let branches = self
            .rows
            .iter()
            .flat_map(Row::patterns)
            .flat_map(|pattern| &pattern.tokens);
        let mut sources: Vec<_> = branches
            .flat_map(|token| &token.branches)
            .filter_map(Branch::source)
            .collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// Rows that a line beginning with `word` may belong to.
    pub(crate) fn rows_of(&self, word: &str) -> &[usize] {
        self.index.get(word).map_or(&[], Vec::as_slice)
    }

    /// The choices of a name: the console's own, or the application's.
    pub(crate) fn choices_of(&self, source: &str, choices: &dyn Choices) -> Vec<Cow<'static, str>> {
        if source == HELP_SOURCE {
            return self
                .sections
                .iter()
                .copied()
                .chain(["all"])
                .map(Cow::Borrowed)
                .collect();
        }
        choices.choices(source)
    }
}

impl Branch {
    pub(crate) fn source(&self) -> Option<&'static str> {
        match self {
            Branch::Value {
                kind: Kind::Number { source, .. } | Kind::Word { source, .. },
                ..
            } => *source,
            Branch::Value {
                kind: Kind::Choice(source),
                ..
            } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
