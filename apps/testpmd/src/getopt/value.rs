//! Values of options: numbers, masks, lists, words out of a set. Whole texts only: `64x` is not 64, `abc` is not 0.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::error::{ArgError, one_line, quoted};
use super::hint::nearest;
use super::tokens::Given;

impl<'a> Given<'a> {
    /// The value, or an empty text for an option without one.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.value.unwrap_or_default()
    }

    /// The option and its value as written, on one line: `--num-procs=2`.
    #[must_use]
    pub fn whole(&self) -> String {
        let between = if self.spelled.starts_with("--") {
            "="
        } else {
            " "
        };
        match self.value {
            Some(v) => format!("{}{between}{}", self.spelled, one_line(v)),
            None => self.spelled.clone(),
        }
    }

    /// An error about this option's value.
    #[must_use]
    pub fn bad(&self, wrong: impl Into<String>, right: impl Into<String>) -> ArgError {
        self.bad_part(self.text(), wrong, right)
    }

    /// An error about a part of this option's value.
    #[must_use]
    pub fn bad_part(
        &self,
        part: &str,
        wrong: impl Into<String>,
        right: impl Into<String>,
    ) -> ArgError {
        ArgError::BadValue {
            option: self.spelled.clone(),
            value: quoted(part),
            wrong: wrong.into(),
            right: right.into(),
        }
    }

    /// An error that says this program can't do it.
    #[must_use]
    pub fn unsupported(&self, why: impl Into<String>) -> ArgError {
        ArgError::Unsupported {
            option: quoted(&self.whole()),
            why: why.into(),
        }
    }

    /// The value, which may not be empty.
    ///
    /// # Errors
    /// An empty text; `what` says what it should name.
    pub fn non_empty(&self, what: &str) -> Result<&'a str, ArgError> {
        match self.text() {
            "" => Err(self.bad("is empty", format!("give {what}"))),
            text => Ok(text),
        }
    }

    /// A decimal number of `range`.
    ///
    /// # Errors
    /// Anything but decimal digits, or a number out of range.
    pub fn number<N>(&self, range: RangeInclusive<N>) -> Result<N, ArgError>
    where
        N: FromStr + PartialOrd + Display,
    {
        self.number_in(self.text(), range)
    }

    /// A decimal number of `range` in a part of the value.
    ///
    /// # Errors
    /// As [`Given::number`].
    pub fn number_in<N>(&self, text: &str, range: RangeInclusive<N>) -> Result<N, ArgError>
    where
        N: FromStr + PartialOrd + Display,
    {
        let right = || format!("give {} to {}", range.start(), range.end());
        let text = text.trim();
        let digits = text.strip_prefix('-').unwrap_or(text);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return Err(self.bad_part(text, "is not a decimal number", right()));
        }
        match text.parse::<N>() {
            Ok(n) if range.contains(&n) => Ok(n),
            _ => Err(self.bad_part(text, "is out of range", right())),
        }
    }

    /// A comma list of decimal numbers of `range`, one to `max` of them.
    ///
    /// # Errors
    /// An empty item, too many of them, or as [`Given::number`].
    pub fn numbers<N>(&self, range: RangeInclusive<N>, max: usize) -> Result<Vec<N>, ArgError>
    where
        N: FromStr + PartialOrd + Display + Clone,
    {
        let items: Vec<&str> = self.text().split(',').collect();
        if items.len() > max {
            let wrong = format!("has {} items", items.len());
            return Err(self.bad(wrong, format!("give 1 to {max}")));
        }
        items
            .iter()
            .map(|item| {
                if item.trim().is_empty() {
                    return Err(self.bad("has an empty item", "give numbers with commas between"));
                }
                self.number_in(item, range.clone())
            })
            .collect()
    }

    /// A hexadecimal number of at most 64 bits, with or without `0x`.
    ///
    /// # Errors
    /// Anything but hex digits, or more than 64 bits.
    pub fn hex(&self) -> Result<u64, ArgError> {
        let text = self.text().trim();
        let digits = hex_digits(text);
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(self.bad("is not a hexadecimal number", "give one such as 0x1f or 1f"));
        }
        u64::from_str_radix(digits, 16)
            .map_err(|_| self.bad("has more than 64 bits", "give at most 16 hex digits"))
    }

    /// A number in the base that its prefix says: `0x` hexadecimal, `0` octal, else decimal.
    ///
    /// # Errors
    /// Anything else, or a number out of range.
    pub fn any_base(&self, text: &str, range: RangeInclusive<u64>) -> Result<u64, ArgError> {
        let text = text.trim();
        let digits = hex_digits(text);
        let (digits, radix) = if digits.len() != text.len() {
            (digits, 16)
        } else if text.len() > 1 && text.starts_with('0') {
            (&text[1..], 8)
        } else {
            (text, 10)
        };
        let right = || format!("give {} to {}", range.start(), range.end());
        if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
            return Err(self.bad_part(text, "is not a number", right()));
        }
        match u64::from_str_radix(digits, radix) {
            Ok(n) if range.contains(&n) => Ok(n),
            _ => Err(self.bad_part(text, "is out of range", right())),
        }
    }

    /// One of a set of words, by its meaning.
    ///
    /// # Errors
    /// Any other word; the message lists the set.
    pub fn choice<V: Copy>(&self, set: &[(&str, V)]) -> Result<V, ArgError> {
        let text = self.text();
        if let Some((_, meaning)) = set.iter().find(|(word, _)| *word == text) {
            return Ok(*meaning);
        }
        let words: Vec<&str> = set.iter().map(|(word, _)| *word).collect();
        Err(self.not_among(&words))
    }

    /// The error for a word that is not in a set.
    #[must_use]
    pub fn not_among(&self, words: &[&str]) -> ArgError {
        let all = words.join(", ");
        match nearest(self.text(), words.iter().copied()) {
            Some(near) => self.bad(
                "is unknown",
                format!("did you mean `{near}`? There are {all}"),
            ),
            None => self.bad("is unknown", format!("give one of {all}")),
        }
    }
}

/// `text` without `0x` or `0X`.
fn hex_digits(text: &str) -> &str {
    text.strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .unwrap_or(text)
}
