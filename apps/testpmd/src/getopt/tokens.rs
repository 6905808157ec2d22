//! Words to options: the grammar of `getopt_long` over one [`Table`].

use super::error::{ArgError, Part, quoted};
use super::hint;
use super::spec::{Abbreviation, Arity, Spec};

/// The options of one half of the command line, and for hints those of the other half.
#[derive(Debug, Clone)]
pub struct Table {
    part: Part,
    own: Vec<&'static Spec>,
    foreign: Vec<&'static Spec>,
}

impl Table {
    /// A table of `own` options; `foreign` ones are only recognised, to say where they belong.
    #[must_use]
    pub fn new(part: Part, own: Vec<&'static Spec>, foreign: Vec<&'static Spec>) -> Table {
        Table { part, own, foreign }
    }

    pub(super) fn part(&self) -> Part {
        self.part
    }

    /// True when a row has exactly this long name.
    #[must_use]
    pub fn knows(&self, name: &str) -> bool {
        !name.is_empty() && self.own.iter().any(|s| s.long == name)
    }

    pub(super) fn has_short_flag(&self, letter: char) -> bool {
        self.own
            .iter()
            .any(|s| s.short == Some(letter) && s.arity == Arity::Flag)
    }

    pub(super) fn long_names(&self) -> impl Iterator<Item = &'static str> {
        self.own
            .iter()
            .map(|s| s.long)
            .filter(|name| !name.is_empty())
    }

    pub(super) fn foreign_names(&self) -> impl Iterator<Item = &'static str> {
        self.foreign
            .iter()
            .map(|s| s.long)
            .filter(|name| !name.is_empty())
    }

    fn other(&self) -> Part {
        match self.part {
            Part::Eal => Part::App,
            Part::App => Part::Eal,
        }
    }

    pub(super) fn foreign_part(&self, name: &str) -> Option<Part> {
        let exact = self.foreign_names().any(|n| n == name);
        let short_for = name.len() > 3
            && self
                .foreign
                .iter()
                .filter(|s| s.abbreviation == Abbreviation::Yes && s.long.starts_with(name))
                .count()
                == 1;
        (exact || short_for).then(|| self.other())
    }

    pub(super) fn foreign_short(&self, letter: char) -> Option<Part> {
        self.foreign
            .iter()
            .any(|s| s.short == Some(letter))
            .then(|| self.other())
    }

    fn position(&self, test: impl Fn(&Spec) -> bool) -> Option<usize> {
        self.own.iter().position(|s| test(s))
    }

    /// The row that `name` means: exactly, by abbreviation, or as a letter with one dash too many.
    fn find_long(&self, word: &str, name: &str) -> Result<usize, ArgError> {
        if let Some(at) = self.position(|s| s.long == name && !name.is_empty()) {
            return Ok(at);
        }
        let mut letters = name.chars();
        let letter = letters.next().filter(|_| letters.next().is_none());
        let one_letter = letter.and_then(|c| self.position(|s| s.short == Some(c)));
        for tier in [Abbreviation::Yes, Abbreviation::IfNoOther] {
            let found: Vec<usize> = (0..self.own.len())
                .filter(|i| self.own[*i].abbreviation == tier)
                .filter(|i| !name.is_empty() && self.own[*i].long.starts_with(name))
                .collect();
            let Some(first) = found.first() else { continue };
            if found
                .iter()
                .all(|i| self.own[*i].key == self.own[*first].key)
            {
                return Ok(*first);
            }
            return one_letter.ok_or_else(|| self.ambiguous(name, &found));
        }
        one_letter.ok_or_else(|| hint::unknown_long(self, word, name))
    }

    fn ambiguous(&self, name: &str, found: &[usize]) -> ArgError {
        let few = found.iter().take(6);
        let mut names: Vec<String> = few.map(|i| quoted(&self.own[*i].name())).collect();
        if found.len() > names.len() {
            names.push(format!("{} more", found.len() - names.len()));
        }
        let last = names.pop().unwrap_or_default();
        ArgError::Ambiguous {
            word: quoted(&format!("--{name}")),
            candidates: format!("{} or {last}", names.join(", ")),
        }
    }
}

/// One option as it was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given<'a> {
    /// Its row.
    pub spec: &'static Spec,
    /// The number of the row in the table.
    pub row: usize,
    /// The name as written: `-w`, `--total-num-mbuf`.
    pub spelled: String,
    /// The value, if there is one.
    pub value: Option<&'a str>,
}

/// The options of a list of words, first to last.
#[derive(Debug)]
pub struct Tokens<'a> {
    table: &'a Table,
    words: &'a [String],
    next: usize,
    /// What is left of a cluster of short options (`a` of `-ia`), and the whole word.
    cluster: Option<(&'a str, &'a str)>,
    before: Option<&'static Spec>,
}

impl<'a> Tokens<'a> {
    /// Reads `words` by `table`.
    #[must_use]
    pub fn new(table: &'a Table, words: &'a [String]) -> Tokens<'a> {
        Tokens {
            table,
            words,
            next: 0,
            cluster: None,
            before: None,
        }
    }

    fn token(&mut self) -> Result<Option<Given<'a>>, ArgError> {
        if let Some((rest, word)) = self.cluster.take() {
            return self.short(rest, word).map(Some);
        }
        let Some(word) = self.take_word() else {
            return Ok(None);
        };
        if word == "--" {
            return match self.take_word() {
                None => Ok(None),
                Some(word) => Err(hint::stray(self.table, word, None)),
            };
        }
        if let Some(body) = word.strip_prefix("--") {
            return self.long(word, body).map(Some);
        }
        match word.strip_prefix('-') {
            Some("") | None => Err(hint::stray(self.table, word, self.before)),
            Some(rest) => match hint::long_with_one_dash(self.table, word) {
                Some(_) => Err(self.one_dash(word)),
                None => self.short(rest, word).map(Some),
            },
        }
    }

    fn one_dash(&self, word: &str) -> ArgError {
        ArgError::Unknown {
            part: self.table.part,
            word: quoted(word),
            hint: format!("; did you mean {}?", quoted(&format!("-{word}"))),
        }
    }

    fn take_word(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.next)?;
        self.next += 1;
        Some(word)
    }

    fn long(&mut self, word: &'a str, body: &'a str) -> Result<Given<'a>, ArgError> {
        let (name, inline) = match body.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (body, None),
        };
        let row = self.table.find_long(word, name)?;
        let spelled = format!("--{name}");
        let value = self.value(row, &spelled, inline)?;
        Ok(self.given(row, spelled, value))
    }

    fn short(&mut self, rest: &'a str, word: &'a str) -> Result<Given<'a>, ArgError> {
        let mut letters = rest.chars();
        let letter = letters.next().unwrap_or('-');
        let rest = letters.as_str();
        let row = self
            .table
            .position(|s| s.short == Some(letter))
            .ok_or_else(|| hint::unknown_short(self.table, word, letter))?;
        let spelled = format!("-{letter}");
        let is_flag = self.table.own[row].arity == Arity::Flag;
        if is_flag && !rest.is_empty() && !rest.starts_with('=') {
            self.cluster = Some((rest, word));
            return Ok(self.given(row, spelled, None));
        }
        let inline = (!rest.is_empty()).then(|| rest.strip_prefix('=').unwrap_or(rest));
        let value = self.value(row, &spelled, inline)?;
        Ok(self.given(row, spelled, value))
    }

    fn given(&mut self, row: usize, spelled: String, value: Option<&'a str>) -> Given<'a> {
        let spec = self.table.own[row];
        self.before = Some(spec);
        Given {
            spec,
            row,
            spelled,
            value,
        }
    }

    /// The value of an option: inline, else the next word where the option must have one.
    fn value(
        &mut self,
        row: usize,
        spelled: &str,
        inline: Option<&'a str>,
    ) -> Result<Option<&'a str>, ArgError> {
        let spec = self.table.own[row];
        let value = match (spec.arity, inline) {
            (Arity::Flag, Some(value)) => {
                return Err(ArgError::UnexpectedValue {
                    option: quoted(spelled),
                    value: quoted(value),
                });
            }
            (Arity::Flag | Arity::Optional, None) => return Ok(None),
            (_, Some(value)) => value,
            (Arity::Value, None) => self.value_word(spec, spelled)?,
        };
        match hint::glued(self.table, &format!("{spelled}="), value) {
            Some(error) => Err(error),
            None => Ok(Some(value)),
        }
    }

    fn value_word(&mut self, spec: &'static Spec, spelled: &str) -> Result<&'a str, ArgError> {
        let word = self.take_word();
        let is_option = |w: &&str| {
            let name = w.strip_prefix("--").unwrap_or("").split('=').next();
            name.is_some_and(|n| self.table.knows(n) || self.table.foreign_part(n).is_some())
        };
        let hint = match word {
            Some(word) if !is_option(&word) => return Ok(word),
            Some(option) => format!("; the next word is the option {}", quoted(option)),
            None => String::new(),
        };
        Err(ArgError::MissingValue {
            option: quoted(spelled),
            form: quoted(&spec.form()),
            hint,
        })
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Result<Given<'a>, ArgError>;

    fn next(&mut self) -> Option<Self::Item> {
        let token = self.token();
        if token.is_err() {
            self.next = self.words.len();
            self.cluster = None;
        }
        token.transpose()
    }
}
