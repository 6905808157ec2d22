//! The corpus of published command lines, `tests/corpus/commands.tsv`, as word lists that run on this machine.

use std::path::Path;

/// What a published line is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Runs with software ports.
    Local,
    /// Must parse; its device may be absent.
    Parse,
    /// Has a mistake and must be refused.
    Broken,
}

/// A published command line.
#[derive(Clone, Debug)]
pub struct Line {
    /// `C001` and so on.
    pub id: String,
    /// What it is good for.
    pub class: Class,
    /// The program's arguments.
    pub words: Vec<String>,
}

/// All lines of the corpus.
///
/// # Panics
/// When the table isn't as its head says.
pub fn lines() -> Vec<Line> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus/commands.tsv");
    let text = std::fs::read_to_string(&path).expect("the corpus");
    let rows = text.lines().filter(|row| !row.starts_with('#'));
    rows.map(|row| {
        let fields: Vec<&str> = row.split('\t').collect();
        let [id, class, _, _, _, words] = fields[..] else {
            panic!("{row:?} has no six fields")
        };
        let class = match class {
            "L" => Class::Local,
            "P" => Class::Parse,
            "B" => Class::Broken,
            _ => panic!("{id}: class {class}"),
        };
        Line {
            id: id.to_owned(),
            class,
            words: split(words).into_iter().skip(1).collect(),
        }
    })
    .collect()
}

/// Words as a shell takes them apart: blanks between, quotes of either kind around.
pub fn split(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in text.chars() {
        match (quote, c) {
            (None, ' ') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), _) if c == open => quote = None,
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The same words with another choice of lcores.
pub fn with_lcores(words: &[String], lcores: &str) -> Vec<String> {
    let mut rest = words.iter();
    let mut kept = vec!["--lcores".to_owned(), lcores.to_owned()];
    while let Some(word) = rest.next() {
        if word == "--" {
            kept.push(word.clone());
            break;
        }
        let glued = ["-l", "-c"]
            .iter()
            .any(|option| word.len() > 2 && word.starts_with(option));
        if matches!(word.as_str(), "-l" | "-c" | "--lcores") {
            rest.next();
        } else if !glued {
            kept.push(word.clone());
        }
    }
    kept.extend(rest.cloned());
    kept
}

/// The same words with the value of an option replaced, be it in the same word or in the next.
pub fn with_value(words: &[String], option: &str, change: impl Fn(&str) -> String) -> Vec<String> {
    let mut changed: Vec<String> = Vec::with_capacity(words.len());
    for word in words {
        let before = changed.last().is_some_and(|last| last == option);
        changed.push(
            match word
                .strip_prefix(option)
                .and_then(|rest| rest.strip_prefix('='))
            {
                Some(value) => format!("{option}={}", change(value)),
                None if before => change(word),
                None => word.clone(),
            },
        );
    }
    changed
}

/// The devices that a line asks for with `--vdev`.
pub fn vdevs(words: &[String]) -> Vec<&str> {
    let mut found = Vec::new();
    for (n, word) in words.iter().enumerate() {
        match word.strip_prefix("--vdev") {
            Some("") => found.extend(words.get(n + 1).map(String::as_str)),
            Some(rest) => found.extend(rest.strip_prefix('=')),
            None => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Vec<String> {
        split(text)
    }

    #[test]
    fn quotes_keep_words_together() {
        assert_eq!(split("a 'b c' --d=\"e f\" ''"), ["a", "b c", "--d=e f", ""]);
    }

    #[test]
    fn lcores_replace_every_way_to_name_cores() {
        for words in [
            "-l 0-3 -n 4 -- -c 1",
            "-l0-3 -n 4 -- -c 1",
            "-c f -n 4 -- -c 1",
            "-cf -n 4 -- -c 1",
        ] {
            assert_eq!(
                with_lcores(&list(words), "0@0"),
                list("--lcores 0@0 -n 4 -- -c 1")
            );
        }
    }

    #[test]
    fn values_are_replaced_in_both_spellings() {
        let change = |value: &str| value.replace('1', "2");
        assert_eq!(
            with_value(&list("--a=1 --a 1 --b=1"), "--a", change),
            list("--a=2 --a 2 --b=1")
        );
    }

    #[test]
    fn the_corpus_is_whole() {
        let lines = lines();
        assert!(lines.len() > 100);
        assert_eq!(vdevs(&lines[0].words).len(), 1);
    }
}
