//! Guesses at what was meant: the nearest spelling, two options glued together, a dash that isn't one.

use super::error::{ArgError, Part, one_line, quoted};
use super::spec::{Arity, Spec};
use super::tokens::Table;

/// The candidate nearest to `word` by edit distance, when it is near enough to be a slip of the hand.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (word.chars().count() / 3).clamp(1, 4);
    candidates
        .into_iter()
        .map(|c| (distance(word, c), c))
        .filter(|(d, _)| *d <= limit)
        .min_by_key(|(d, _)| *d)
        .map(|(_, c)| c)
}

/// Optimal string alignment: insert, delete, replace, swap neighbours. Words are cut at 64 characters.
fn distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().take(64).collect();
    let b: Vec<char> = b.chars().take(64).collect();
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

/// Two options in one word: `--enable-hw-vlan-strip--nb-cores=2`.
pub(super) fn glued(table: &Table, option: &str, rest: &str) -> Option<ArgError> {
    let at = rest.find("--")?;
    let tail = &rest[at..];
    let name = tail[2..].split('=').next().unwrap_or_default();
    if rest[..at].contains(['/', '.']) || !table.knows(name) {
        return None;
    }
    Some(ArgError::Glued {
        first: quoted(&format!("{option}{}", &rest[..at])),
        second: quoted(tail),
    })
}

/// What to say of a long name that no table row has.
pub(super) fn unknown_long(table: &Table, word: &str, name: &str) -> ArgError {
    if let Some(at) = name.find("--").filter(|at| table.knows(&name[..*at])) {
        let (first, _) = word.split_at(at + 2);
        if let Some(error) = glued(table, first, &word[at + 2..]) {
            return error;
        }
    }
    let option = format!("--{name}");
    let begun = table
        .long_names()
        .find(|n| name.len() > 2 && n.starts_with(name));
    let exact_elsewhere = table.foreign_names().any(|n| n == name);
    if let Some(belongs) = table
        .foreign_part(name)
        .filter(|_| exact_elsewhere || begun.is_none())
    {
        return ArgError::Misplaced {
            word: quoted(&option),
            belongs,
        };
    }
    let hint = match begun {
        Some(long) => format!("; `--{long}` can't be shortened"),
        None => spelling(table, name),
    };
    ArgError::Unknown {
        part: table.part(),
        word: quoted(&option),
        hint,
    }
}

/// The nearest spelling, in this half of the command line or in the other.
fn spelling(table: &Table, name: &str) -> String {
    if let Some(near) = nearest(name, table.long_names()) {
        return format!("; did you mean `--{near}`?");
    }
    let side = match table.part() {
        Part::Eal => "after",
        Part::App => "before",
    };
    match nearest(name, table.foreign_names()) {
        Some(near) => format!("; did you mean `--{near}`, {side} `--`?"),
        None => lists(table),
    }
}

/// Where all options are listed.
fn lists(table: &Table) -> String {
    match table.part() {
        Part::Eal => "; `--help` lists what there is".to_owned(),
        Part::App => "; `-- --help` lists what there is".to_owned(),
    }
}

/// What to say of a letter that no table row has.
pub(super) fn unknown_short(table: &Table, word: &str, letter: char) -> ArgError {
    let option = quoted(&format!("-{letter}"));
    if let Some(belongs) = table.foreign_short(letter) {
        return ArgError::Misplaced {
            word: option,
            belongs,
        };
    }
    let near = nearest(
        word.trim_start_matches('-')
            .split('=')
            .next()
            .unwrap_or_default(),
        table.long_names(),
    );
    let hint = match near {
        Some(name) if word.chars().count() > 4 => {
            format!(" in {}; did you mean `--{name}`?", quoted(word))
        }
        _ if word.chars().count() > 2 => format!(" in {}{}", quoted(word), lists(table)),
        _ => lists(table),
    };
    ArgError::Unknown {
        part: table.part(),
        word: option,
        hint,
    }
}

/// `-nb-cores=2`: a long name behind a single dash.
pub(super) fn long_with_one_dash<'a>(table: &Table, word: &'a str) -> Option<&'a str> {
    let name = word.strip_prefix('-')?.split('=').next()?;
    (name.chars().count() > 1 && (table.knows(name) || table.foreign_part(name).is_some()))
        .then_some(name)
}

/// What to say of a word that is no option; `before` is the option in front of it.
pub(super) fn stray(table: &Table, word: &str, before: Option<&Spec>) -> ArgError {
    let name = word.split('=').next().unwrap_or_default();
    let bare = name.trim_start_matches(['-', '\u{2010}', '\u{2013}', '\u{2014}', '\u{2212}']);
    let after_flag = before.filter(|s| s.arity != Arity::Value);
    let hint = if bare.len() != name.len() && !name.starts_with('-') {
        "; its dash is not the ASCII `-`".to_owned()
    } else if let Some(option) = known_word(table, word, name) {
        format!("; did you mean {}?", quoted(&option))
    } else if let Some(s) = after_flag.filter(|s| s.arity == Arity::Optional) {
        format!(
            "; a value of {0} is written {0}={1}",
            s.name(),
            one_line(word)
        )
    } else if let Some(s) = after_flag {
        format!("; {} takes no value", s.name())
    } else {
        "; every word has to be an option or the value of one".to_owned()
    };
    ArgError::Stray {
        part: table.part(),
        word: quoted(word),
        hint,
    }
}

/// The option that `word` becomes with dashes in front, if any.
fn known_word(table: &Table, word: &str, name: &str) -> Option<String> {
    let shorts = word.chars().count() <= 3 && word.chars().all(|c| table.has_short_flag(c));
    if shorts && !word.is_empty() {
        return Some(format!("-{word}"));
    }
    if name.chars().count() < 3 {
        return None;
    }
    let near = if table.knows(name) {
        name
    } else {
        nearest(name, table.long_names())?
    };
    Some(format!("--{near}{}", &word[name.len()..]))
}
