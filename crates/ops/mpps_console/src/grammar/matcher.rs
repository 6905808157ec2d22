//! Matches a line against the rows that begin with its first word. Borrows grammar and line, keeps nothing.

use super::{Branch, Choices, Grammar, Kind, Pattern, Token, Verdict};
use crate::MAX_TEXT;
use crate::args::{Args, Entry, Value};
use crate::number::parse_number;
use crate::value::{Ranges, parse_mac};

/// How specific a matched branch is; of two matching rows the lower at the leftmost difference wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Literal,
    Choice,
    Number,
    Mac,
    Ranges,
    Word,
    Rest,
}

impl Branch {
    pub(crate) fn class(&self) -> Class {
        match self {
            Branch::Literal(_) => Class::Literal,
            Branch::Value { kind, .. } => match kind {
                Kind::OneOf(_) => Class::Literal,
                Kind::Choice(_) => Class::Choice,
                Kind::Number { .. } => Class::Number,
                Kind::Mac => Class::Mac,
                Kind::Ranges => Class::Ranges,
                Kind::Word { .. } => Class::Word,
                Kind::Rest => Class::Rest,
            },
        }
    }
}

/// The words of a line with the byte at which each begins, up to a comment.
pub(crate) fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let command = command_of(line);
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = &command[at..];
        let begin = at + rest.find(|character| !is_blank(character))?;
        let length = command[begin..]
            .find(is_blank)
            .unwrap_or(command.len() - begin);
        at = begin + length;
        Some((begin, &command[begin..at]))
    })
}

/// The line without its comment and what surrounds the command.
fn command_of(line: &str) -> &str {
    let end = line.find('#').unwrap_or(line.len());
    line[..end].trim_end_matches(is_blank)
}

fn is_blank(character: char) -> bool {
    // A line end can only occur inside a text that a caller passes whole.
    matches!(character, ' ' | '\t' | '\r' | '\n')
}

struct Match<'l> {
    row: usize,
    classes: Vec<Class>,
    entries: Vec<Entry<'l>>,
}

/// What [`Grammar::parse`] says.
pub(super) fn parse<'l>(grammar: &'l Grammar, line: &'l str, choices: &dyn Choices) -> Verdict<'l> {
    let words: Vec<_> = words(line).collect();
    let Some((_, first)) = words.first() else {
        return Verdict::Empty;
    };
    let rows = grammar.rows_of(first);
    if rows.is_empty() {
        return Verdict::NotFound;
    }
    let matcher = Matcher {
        grammar,
        command: command_of(line),
        words: &words,
        choices,
    };
    let mut best: Option<Match<'l>> = None;
    let mut tied = false;
    for found in rows.iter().filter_map(|&row| matcher.row(row)) {
        let order = best.as_ref().map_or(std::cmp::Ordering::Less, |best| {
            found.classes.cmp(&best.classes)
        });
        tied = order.is_eq() || (tied && order.is_gt());
        if order.is_lt() {
            best = Some(found);
        }
    }
    match best {
        None => Verdict::BadArguments,
        Some(_) if tied => Verdict::Ambiguous,
        Some(best) => Verdict::Run {
            row: best.row,
            args: Args::new(best.entries, grammar.rows[best.row].names()),
        },
    }
}

struct Matcher<'a, 'l> {
    grammar: &'l Grammar,
    command: &'l str,
    words: &'a [(usize, &'l str)],
    choices: &'a dyn Choices,
}

impl<'l> Matcher<'_, 'l> {
    /// The first of the row's patterns that takes the line.
    fn row(&self, row: usize) -> Option<Match<'l>> {
        self.grammar.rows[row]
            .patterns()
            .iter()
            .find_map(|pattern| self.pattern(row, pattern))
    }

    fn pattern(&self, row: usize, pattern: &Pattern) -> Option<Match<'l>> {
        let count = pattern.tokens.len();
        if self.words.len() < count {
            return None;
        }
        let mut found = Match {
            row,
            classes: Vec::with_capacity(count),
            entries: Vec::with_capacity(count),
        };
        for (token, &(begin, word)) in pattern.tokens.iter().zip(self.words) {
            let rest = &self.command[begin..];
            let (branch, text, value) =
                self.grammar.match_token(token, word, rest, self.choices)?;
            let name = match branch {
                Branch::Literal(_) => None,
                Branch::Value { name, .. } => Some(*name),
            };
            found.classes.push(branch.class());
            found.entries.push(Entry { name, text, value });
        }
        let takes_all = found.classes.last() == Some(&Class::Rest) || self.words.len() == count;
        takes_all.then_some(found)
    }
}

impl Grammar {
    /// The most specific branch of the token that takes the word (or the rest of the line), with its value.
    pub(crate) fn match_token<'t, 'l>(
        &self,
        token: &'t Token,
        word: &'l str,
        rest: &'l str,
        choices: &dyn Choices,
    ) -> Option<(&'t Branch, &'l str, Value)> {
        let matching = token.branches.iter().filter_map(|branch| {
            let (text, value) = self.match_branch(branch, word, rest, choices)?;
            Some((branch, text, value))
        });
        matching.min_by_key(|(branch, ..)| branch.class())
    }

    fn match_branch<'l>(
        &self,
        branch: &Branch,
        word: &'l str,
        rest: &'l str,
        choices: &dyn Choices,
    ) -> Option<(&'l str, Value)> {
        let kind = match branch {
            Branch::Literal(literal) => {
                return (word == *literal).then_some((word, Value::Literal));
            }
            Branch::Value { kind, .. } => kind,
        };
        let value = match kind {
            Kind::OneOf(words) => words.contains(&word).then_some(Value::Literal)?,
            Kind::Choice(source) => {
                let offered = self.choices_of(source, choices);
                offered
                    .iter()
                    .any(|choice| choice == word)
                    .then_some(Value::Literal)?
            }
            Kind::Number { width, .. } => Value::Number(parse_number(word, *width)?, *width),
            Kind::Word { most, .. } => (word.len() <= *most).then_some(Value::Text)?,
            Kind::Mac => Value::Mac(parse_mac(word)?),
            Kind::Ranges => Value::Ranges(Ranges::parse(word)?),
            Kind::Rest => return (rest.len() <= MAX_TEXT).then_some((rest, Value::Text)),
        };
        Some((word, value))
    }
}
