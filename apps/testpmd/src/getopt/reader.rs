//! From options to a typed target: rows with a function each, repetition, conflicts, notices.

use super::error::{ArgError, quoted};
use super::notice::{Notice, Notices};
use super::spec::{Arity, Spec, Treatment};
use super::tokens::{Given, Table, Tokens};

/// A row with the function that puts the option into `T`.
pub struct Opt<T: 'static> {
    /// How it is written and what becomes of it.
    pub spec: Spec,
    /// Checks the value and stores it.
    pub apply: fn(&mut T, &Given<'_>) -> Result<(), ArgError>,
}

/// Makes a row.
pub const fn opt<T>(spec: Spec, apply: fn(&mut T, &Given<'_>) -> Result<(), ArgError>) -> Opt<T> {
    Opt { spec, apply }
}

/// Rows on one theme, under one heading in help.
pub struct Group<T: 'static> {
    /// The heading.
    pub title: &'static str,
    /// The rows.
    pub opts: &'static [Opt<T>],
}

/// Two options (by key) that exclude each other, and why.
#[derive(Debug, Clone, Copy)]
pub struct Conflict {
    /// One key.
    pub one: &'static str,
    /// The other key.
    pub other: &'static str,
    /// Why, and which one to keep.
    pub why: &'static str,
}

/// What options are read into.
pub trait Target {
    /// Where notices go.
    fn notices(&mut self) -> &mut Notices;
    /// True once nothing else matters (`--help`).
    fn done(&self) -> bool;
}

/// The rows of all groups, in order.
#[must_use]
pub fn specs<T>(groups: &'static [Group<T>]) -> Vec<&'static Spec> {
    let rows = groups.iter().flat_map(|g| g.opts.iter());
    rows.map(|o| &o.spec).collect()
}

/// An option that was seen, for repetition and conflicts.
struct Seen<'a> {
    key: &'static str,
    spelled: String,
    value: Option<&'a str>,
}

/// Reads `words` into `target`, left to right, as `getopt_long` hands options out. `table` has to hold the rows of
/// `groups` in their order.
///
/// # Errors
/// The first word that can't be read, or the first pair of options that exclude each other.
pub fn read<T: Target>(
    groups: &'static [Group<T>],
    conflicts: &[Conflict],
    table: &Table,
    words: &[String],
    target: &mut T,
) -> Result<(), ArgError> {
    let rows: Vec<&'static Opt<T>> = groups.iter().flat_map(|g| g.opts.iter()).collect();
    let mut seen: Vec<Seen<'_>> = Vec::new();
    for token in Tokens::new(table, words) {
        let given = token?;
        refuse_conflict(conflicts, &seen, &given)?;
        notice_repetition(&seen, &given, target.notices());
        if let Treatment::Refused(why) = given.spec.treatment {
            return Err(given.unsupported(why));
        }
        (rows[given.row].apply)(target, &given)?;
        notice_treatment(&given, target.notices());
        if target.done() {
            return Ok(());
        }
        seen.push(Seen {
            key: given.spec.key,
            spelled: given.spelled,
            value: given.value,
        });
    }
    Ok(())
}

fn refuse_conflict(
    conflicts: &[Conflict],
    seen: &[Seen<'_>],
    given: &Given<'_>,
) -> Result<(), ArgError> {
    let key = given.spec.key;
    for c in conflicts {
        let rival = match key {
            k if k == c.one => c.other,
            k if k == c.other => c.one,
            _ => continue,
        };
        if let Some(earlier) = seen.iter().find(|s| s.key == rival) {
            return Err(ArgError::Conflict {
                first: quoted(&earlier.spelled),
                second: quoted(&given.spelled),
                why: c.why.to_owned(),
            });
        }
    }
    Ok(())
}

fn notice_repetition(seen: &[Seen<'_>], given: &Given<'_>, notices: &mut Notices) {
    if given.spec.repeats || given.spec.arity == Arity::Flag {
        return;
    }
    let earlier = seen.iter().rev().find(|s| s.key == given.spec.key);
    if let Some(earlier) = earlier.filter(|e| e.value != given.value) {
        notices.push(Notice::Overridden {
            option: given.spelled.clone(),
            earlier: earlier.value.unwrap_or("no value").to_owned(),
            later: given.value.unwrap_or("no value").to_owned(),
        });
    }
}

fn notice_treatment(given: &Given<'_>, notices: &mut Notices) {
    let letter_with_two_dashes = given.spelled.len() == 3
        && given.spelled.starts_with("--")
        && given.spec.short.is_some_and(|c| given.spelled.ends_with(c))
        && !given.spec.long.starts_with(&given.spelled[2..]);
    if letter_with_two_dashes {
        notices.note(format!(
            "{} is read as {}",
            given.spelled,
            &given.spelled[1..]
        ));
    }
    match given.spec.treatment {
        Treatment::NoEffect(why) => notices.no_effect(&given.spelled, why),
        Treatment::Deprecated(instead) if !instead.is_empty() => notices.push(Notice::Deprecated {
            option: given.spelled.clone(),
            instead: instead.to_owned(),
        }),
        _ => {}
    }
}
