//! What was wrong with a line, in one line: for a person at a terminal. Never printed on a pipe, where it would come
//! between texts that scripts parse.

use crate::complete::CandidateKind;
use crate::grammar::{Choices, Grammar, words};

/// More would fill the screen; Tab lists them all.
const MOST_LISTED: usize = 12;

impl Grammar {
    /// The first word of `line` that no command takes there, and what would be right.
    #[must_use]
    pub fn explain(&self, line: &str, choices: &dyn Choices) -> Option<String> {
        let words: Vec<(usize, &str)> = words(line).collect();
        let (_, first) = words.first()?;
        if self.rows_of(first).is_empty() {
            let known = self.first_words();
            return Some(match nearest(first, known.iter().copied()) {
                Some(near) => format!("no command begins with '{first}'; did you mean '{near}'?"),
                None => format!("no command begins with '{first}'; 'help all' lists the commands"),
            });
        }
        // The line up to its n-th word can be continued for n below the mistake, and not beyond.
        for &(begin, word) in &words[1..] {
            if !self.continues(&line[..begin + word.len()], choices) {
                return self.explain_word(&line[..begin], word, choices);
            }
        }
        let (begin, last) = *words.last()?;
        self.explain_end(&line[..begin + last.len()], choices)
    }

    /// Whether the words of `line` are the beginning of a command, or all of one.
    fn continues(&self, line: &str, choices: &dyn Choices) -> bool {
        !self
            .complete(&format!("{line} "), choices)
            .candidates
            .is_empty()
            || matches!(self.parse(line, choices), crate::Verdict::Run { .. })
    }

    fn explain_word(&self, before: &str, word: &str, choices: &dyn Choices) -> Option<String> {
        let expected = self.expected(before, choices);
        if expected.is_empty() {
            return Some(format!(
                "nothing may follow '{}', there is '{word}'",
                before.trim()
            ));
        }
        if let Some(near) = nearest(word, expected.iter().map(String::as_str)) {
            return Some(format!(
                "'{word}' after '{}'; did you mean '{near}'?",
                before.trim()
            ));
        }
        Some(format!(
            "'{word}' after '{}'; right would be: {}",
            before.trim(),
            listed(&expected)
        ))
    }

    fn explain_end(&self, line: &str, choices: &dyn Choices) -> Option<String> {
        let expected = self.expected(&format!("{line} "), choices);
        if expected.is_empty() {
            return None;
        }
        Some(format!(
            "'{}' goes on with: {}",
            line.trim(),
            listed(&expected)
        ))
    }

    fn expected(&self, before: &str, choices: &dyn Choices) -> Vec<String> {
        let candidates = self.complete(before, choices).candidates;
        candidates
            .into_iter()
            .filter(|candidate| candidate.kind != CandidateKind::Return)
            .map(|candidate| candidate.text)
            .collect()
    }
}

fn listed(words: &[String]) -> String {
    let shown = &words[..words.len().min(MOST_LISTED)];
    let more = if shown.len() < words.len() {
        ", ..."
    } else {
        ""
    };
    format!("{}{more}", shown.join(", "))
}

/// The known word at most two edits away, where no other is as near.
fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let most = if word.len() <= 3 { 1 } else { 2 };
    let near = known
        .filter(|other| word.len().abs_diff(other.len()) <= most)
        .map(|other| (distance(word, other), other));
    near.filter(|&(distance, _)| distance <= most)
        .min()
        .map(|(_, other)| other)
}

/// Edits between two words: insert, delete, replace, swap two neighbours (optimal string alignment).
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=right.len()).collect()];
    for i in 1..=left.len() {
        let mut row = vec![i];
        for j in 1..=right.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(left[i - 1] != right[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[left.len()][right.len()]
}

#[cfg(test)]
mod tests;
