//! What may come next on a line: for Tab, for the placeholder shown behind the cursor, and for hints about a mistake.

use crate::grammar::{Branch, Choices, Grammar, Kind, Token, words};

/// What a candidate stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CandidateKind {
    /// Text that can be put in.
    Word,
    /// A value that only the user knows; the text is `<name>`.
    Placeholder,
    /// The command is complete as it stands.
    Return,
}

/// One way to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The word, `<name>`, or `[RETURN]`.
    pub text: String,
    /// What it stands for.
    pub kind: CandidateKind,
    /// The help of the first command that goes on so.
    pub help: &'static str,
}

/// The ways to go on, and where the word begins that they replace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// Byte offset in the line.
    pub start: usize,
    /// Sorted by kind and text, each text once.
    pub candidates: Vec<Candidate>,
}

impl Grammar {
    /// The ways to go on after `line`, the text up to the cursor.
    #[must_use]
    pub fn complete(&self, line: &str, choices: &dyn Choices) -> Completion {
        let mut done: Vec<(usize, &str)> = words(line).collect();
        if line.contains('#') {
            return Completion {
                start: line.len(),
                candidates: Vec::new(),
            };
        }
        // A word that the cursor still touches is unfinished.
        let partial = match done.last() {
            Some(&(begin, word)) if begin + word.len() == line.len() => done.pop(),
            _ => None,
        };
        let (start, partial) = partial.unwrap_or((line.len(), ""));
        let mut found = Vec::new();
        match done.first() {
            None => self.first_candidates(partial, &mut found),
            Some((_, first)) => {
                for &row in self.rows_of(first) {
                    self.row_candidates(row, line, &done, partial, choices, &mut found);
                }
            }
        }
        // Stable: of equal texts the first row's help stays.
        found.sort_by(|left, right| (left.kind, &left.text).cmp(&(right.kind, &right.text)));
        found.dedup_by(|left, right| left.text == right.text);
        Completion {
            start,
            candidates: found,
        }
    }

    fn first_candidates(&self, partial: &str, found: &mut Vec<Candidate>) {
        for word in self
            .first_words()
            .into_iter()
            .filter(|word| word.starts_with(partial))
        {
            let help = self
                .rows_of(word)
                .first()
                .map_or("", |&row| self.rows[row].help);
            found.push(Candidate {
                text: word.to_owned(),
                kind: CandidateKind::Word,
                help,
            });
        }
    }

    fn row_candidates(
        &self,
        row: usize,
        line: &str,
        done: &[(usize, &str)],
        partial: &str,
        choices: &dyn Choices,
        found: &mut Vec<Candidate>,
    ) {
        let row = &self.rows[row];
        for pattern in row.patterns() {
            let (before, after) = pattern
                .tokens
                .split_at(done.len().min(pattern.tokens.len()));
            let taken = before.iter().zip(done).all(|(token, &(begin, word))| {
                !token.is_rest()
                    && self
                        .match_token(token, word, &line[begin..], choices)
                        .is_some()
            });
            if !taken || before.len() < done.len() {
                continue;
            }
            match after.first() {
                Some(token) => self.token_candidates(token, partial, row.help, choices, found),
                None if partial.is_empty() => found.push(Candidate {
                    text: "[RETURN]".to_owned(),
                    kind: CandidateKind::Return,
                    help: row.help,
                }),
                None => {}
            }
        }
    }

    fn token_candidates(
        &self,
        token: &Token,
        partial: &str,
        help: &'static str,
        choices: &dyn Choices,
        found: &mut Vec<Candidate>,
    ) {
        for branch in &token.branches {
            let mut offered: Vec<String> = match branch {
                Branch::Literal(literal) => vec![(*literal).to_owned()],
                Branch::Value {
                    kind: Kind::OneOf(words),
                    ..
                } => words.iter().map(|&word| word.to_owned()).collect(),
                Branch::Value { .. } => match branch.source() {
                    Some(source) => self
                        .choices_of(source, choices)
                        .into_iter()
                        .map(Into::into)
                        .collect(),
                    None => Vec::new(),
                },
            };
            if let (true, Branch::Value { name, .. }) = (offered.is_empty(), branch) {
                if partial.is_empty() {
                    found.push(Candidate {
                        text: format!("<{name}>"),
                        kind: CandidateKind::Placeholder,
                        help,
                    });
                }
                continue;
            }
            offered.retain(|word| word.starts_with(partial));
            let words = offered.into_iter().map(|text| Candidate {
                text,
                kind: CandidateKind::Word,
                help,
            });
            found.extend(words);
        }
    }
}

impl Token {
    fn is_rest(&self) -> bool {
        self.branches.iter().any(|branch| {
            matches!(
                branch,
                Branch::Value {
                    kind: Kind::Rest,
                    ..
                }
            )
        })
    }
}

#[cfg(test)]
mod tests;
