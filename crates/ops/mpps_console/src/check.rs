//! The sanity check of a command table: for the application's tests, never at run time.

use crate::grammar::{Branch, Class, Kind, Pattern, Token};
use crate::number::parse_number;
use crate::table::Table;
use crate::value::{Ranges, parse_mac};

/// The faults of a table, one line each; empty where it is sound.
///
/// Finds malformed grammars, unknown sections, missing or badly written help, rows given twice, and pairs of rows that some
/// line matches equally well (`Ambiguous command`).
#[must_use]
pub fn check_table<A>(table: &Table<A>) -> Vec<String> {
    let mut faults = Vec::new();
    for row in &table.grammar().rows {
        if let Some(error) = row.error() {
            faults.push(error.to_string());
        }
        if !table
            .sections()
            .iter()
            .any(|section| section.name == row.section)
        {
            faults.push(format!("{:?}: no section {:?}", row.grammar, row.section));
        }
        if row.help.is_empty() || row.help.contains('\n') || row.help.ends_with('.') {
            faults.push(format!(
                "{:?}: the help must be one line without a full stop",
                row.grammar
            ));
        }
    }
    pairs(table, &mut faults);
    faults
}

fn pairs<A>(table: &Table<A>, faults: &mut Vec<String>) {
    let rows = &table.grammar().rows;
    for word in table.grammar().first_words() {
        let numbers = table.grammar().rows_of(word);
        for (index, &left) in numbers.iter().enumerate() {
            for &right in &numbers[index + 1..] {
                let (left, right) = (&rows[left], &rows[right]);
                let fault = format!("{:?} and {:?} are ambiguous", left.grammar, right.grammar);
                let collide = left
                    .patterns()
                    .iter()
                    .any(|l| right.patterns().iter().any(|r| patterns_collide(l, r)));
                if collide && !faults.contains(&fault) {
                    faults.push(fault);
                }
            }
        }
    }
}

/// Whether some line matches both and no token decides between them.
fn patterns_collide(left: &Pattern, right: &Pattern) -> bool {
    left.tokens.len() == right.tokens.len()
        && left
            .tokens
            .iter()
            .zip(&right.tokens)
            .all(|(left, right)| tokens_collide(left, right))
}

fn tokens_collide(left: &Token, right: &Token) -> bool {
    left.branches.iter().any(|l| {
        right
            .branches
            .iter()
            .any(|r| l.class() == r.class() && branches_collide(l, r))
    })
}

fn branches_collide(left: &Branch, right: &Branch) -> bool {
    match (left.words(), right.words()) {
        (Some(left), Some(right)) => left.iter().any(|word| right.contains(word)),
        // Different sources may offer the same word; that only the application knows, so equal names alone collide.
        _ if left.class() == Class::Choice => left.source() == right.source(),
        _ => true,
    }
}

impl Branch {
    /// The words it takes, where they are fixed.
    fn words(&self) -> Option<Vec<&'static str>> {
        match self {
            Branch::Literal(literal) => Some(vec![literal]),
            Branch::Value {
                kind: Kind::OneOf(words),
                ..
            } => Some(words.clone()),
            Branch::Value { .. } => None,
        }
    }

    /// Whether the branch could take `word`; used by the example lines.
    pub(crate) fn might_take(&self, word: &str) -> bool {
        match self {
            Branch::Value { kind, .. } => match kind {
                Kind::Number { width, .. } => parse_number(word, *width).is_some(),
                Kind::Mac => parse_mac(word).is_some(),
                Kind::Ranges => Ranges::parse(word).is_some(),
                Kind::OneOf(words) => words.contains(&word),
                Kind::Choice(_) => false,
                Kind::Word { .. } | Kind::Rest => true,
            },
            Branch::Literal(literal) => *literal == word,
        }
    }
}

#[cfg(test)]
mod tests;
