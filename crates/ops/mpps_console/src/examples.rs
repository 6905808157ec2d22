//! Example lines for every command, right and wrong, derived from the grammar: for the application's robustness tests.

use crate::grammar::{Branch, Choices, Grammar, Kind, Pattern, Token};
use crate::number::Width;

/// What is wrong with an example line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// Nothing: the grammar takes it. Its values may still not exist.
    None,
    /// The last token is missing.
    TooFew,
    /// A token too many.
    TooMany,
    /// A number beyond its type, or far beyond any.
    Huge,
    /// A negative number.
    Negative,
    /// A word where a number, a MAC address or a list belongs.
    NotANumber,
}

/// A line for one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Index of the row.
    pub row: usize,
    /// The line, without a line end.
    pub line: String,
    /// What is wrong with it. A flawed line may still match another row, which is the point of trying it.
    pub flaw: Flaw,
}

/// Words that stand for a wrong value.
const WRONG: [(&str, Flaw); 5] = [
    ("99999999999999999999999", Flaw::Huge),
    ("0xffffffffffffffffff", Flaw::Huge),
    ("-1", Flaw::Negative),
    ("nosuch", Flaw::NotANumber),
    ("08", Flaw::NotANumber),
];

impl Grammar {
    /// Lines that exercise every row, each branch and each extreme of a value at least once.
    #[must_use]
    pub fn examples(&self, choices: &dyn Choices) -> Vec<Example> {
        let mut examples = Vec::new();
        for (row, pattern) in self
            .rows
            .iter()
            .enumerate()
            .flat_map(|(n, row)| row.patterns().iter().map(move |p| (n, p)))
        {
            let columns: Vec<Vec<String>> = pattern
                .tokens
                .iter()
                .map(|token| self.samples(token, choices))
                .collect();
            let longest = columns.iter().map(Vec::len).max().unwrap_or(0);
            for turn in 0..longest {
                let words: Vec<&str> = columns
                    .iter()
                    .map(|column| column[turn % column.len()].as_str())
                    .collect();
                examples.push(Example {
                    row,
                    line: words.join(" "),
                    flaw: Flaw::None,
                });
                if turn == 0 {
                    flawed(row, pattern, &words, &mut examples);
                }
            }
        }
        examples
    }

    /// Words that the token takes: every branch, and the ends of every range.
    fn samples(&self, token: &Token, choices: &dyn Choices) -> Vec<String> {
        let mut samples = Vec::new();
        for branch in &token.branches {
            let kind = match branch {
                Branch::Literal(literal) => {
                    samples.push((*literal).to_owned());
                    continue;
                }
                Branch::Value { kind, .. } => kind,
            };
            if let Some(source) = branch.source() {
                samples.extend(
                    self.choices_of(source, choices)
                        .into_iter()
                        .map(String::from),
                );
            }
            samples.extend(fixed_samples(kind));
        }
        if samples.is_empty() {
            // A choice that offers nothing: the line is tried all the same.
            samples.push("nosuch".to_owned());
        }
        samples
    }
}

fn fixed_samples(kind: &Kind) -> Vec<String> {
    let strings = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    match kind {
        Kind::Number { width, .. } => numbers(*width),
        Kind::Word { .. } => strings(&["0", "nosuch", "1,2,3", "64,", ",", "0x3", "\u{e9}"]),
        Kind::OneOf(words) => strings(words),
        Kind::Choice(_) => Vec::new(),
        Kind::Mac => strings(&[
            "02:00:00:00:00:01",
            "ff:ff:ff:ff:ff:ff",
            "0:0:0:0:0:0",
            "0200:0000:0001",
        ]),
        Kind::Ranges => strings(&["0", "0,2-4", "0-4294967295"]),
        Kind::Rest => strings(&["0", "nosuch / / end", "1 2 3 4 5 6 7 8 9"]),
    }
}

fn numbers(width: Width) -> Vec<String> {
    let (lowest, highest) = width.range();
    let mut samples = vec![
        "0".to_owned(),
        "1".to_owned(),
        "0x2".to_owned(),
        highest.to_string(),
    ];
    if lowest < 0 {
        samples.extend([lowest.to_string(), "-1".to_owned()]);
    }
    samples
}

fn flawed(row: usize, pattern: &Pattern, words: &[&str], examples: &mut Vec<Example>) {
    let mut push = |words: &[&str], flaw| {
        examples.push(Example {
            row,
            line: words.join(" "),
            flaw,
        })
    };
    if words.len() > 1 {
        push(&words[..words.len() - 1], Flaw::TooFew);
    }
    let is_rest = |branch: &Branch| {
        matches!(
            branch,
            Branch::Value {
                kind: Kind::Rest,
                ..
            }
        )
    };
    if !pattern
        .tokens
        .iter()
        .flat_map(|token| &token.branches)
        .any(is_rest)
    {
        push(&[words, &["extra"]].concat(), Flaw::TooMany);
    }
    for (index, token) in pattern.tokens.iter().enumerate() {
        let only_literals = token
            .branches
            .iter()
            .all(|branch| matches!(branch, Branch::Literal(_)));
        for (wrong, flaw) in WRONG {
            if only_literals || token.branches.iter().any(|branch| branch.might_take(wrong)) {
                continue;
            }
            let mut words = words.to_vec();
            words[index] = wrong;
            push(&words, flaw);
        }
    }
}

#[cfg(test)]
mod tests;
