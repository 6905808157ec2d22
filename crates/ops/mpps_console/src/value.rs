//! Values of tokens that aren't plain numbers or words: MAC addresses, number ranges, comma lists. Parsed once from a
//! word of the line, and owned by the [`Args`](crate::Args) of that line.

use thiserror::Error;

/// The six octets of a MAC address, in wire order.
pub type Mac = [u8; 6];

/// Reads six groups of one or two hex digits between colons or dashes, or three groups of four between colons or dots.
pub(crate) fn parse_mac(text: &str) -> Option<Mac> {
    for (separator, groups) in [(':', 6), ('-', 6), (':', 3), ('.', 3)] {
        if text.matches(separator).count() + 1 == groups {
            return parse_groups(text, separator, 12 / groups);
        }
    }
    None
}

fn parse_groups(text: &str, separator: char, digits: usize) -> Option<Mac> {
    let mut mac = [0u8; 6];
    let mut octets = mac.iter_mut();
    for group in text.split(separator) {
        let short_allowed = digits == 2 && group.len() == 1;
        if (group.len() != digits && !short_allowed)
            || !group.bytes().all(|byte| byte.is_ascii_hexdigit())
        {
            return None;
        }
        let value = u16::from_str_radix(group, 16).ok()?;
        let [high, low] = value.to_be_bytes();
        if digits == 4 {
            *octets.next()? = high;
        }
        *octets.next()? = low;
    }
    Some(mac)
}

/// A list of numbers and ranges as typed, `0,2-4`: never expanded before its size is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges(Vec<(u32, u32)>);

impl Ranges {
    pub(crate) fn parse(text: &str) -> Option<Ranges> {
        text.split(',')
            .map(parse_range)
            .collect::<Option<Vec<_>>>()
            .map(Ranges)
    }

    /// The ranges in the order typed, both ends included; never reversed.
    pub fn iter(&self) -> impl Iterator<Item = (u32, u32)> {
        self.0.iter().copied()
    }

    /// How many numbers the list names, repetitions counted.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.iter()
            .map(|(first, last)| u64::from(last - first) + 1)
            .sum()
    }

    /// The numbers in the order typed.
    pub fn numbers(&self) -> impl Iterator<Item = u32> {
        self.iter().flat_map(|(first, last)| first..=last)
    }
}

fn parse_range(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(first) || !digits(last) {
        return None;
    }
    let range: (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    (range.0 <= range.1).then_some(range)
}

/// Why a comma list was refused. The texts are those that testpmd prints.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ListError {
    /// Something else than a digit or a comma.
    #[error("character {0} is not a decimal digit")]
    NotADigit(char),
    /// A comma that no number precedes.
    #[error("No valid value before comma")]
    NothingBeforeComma,
    /// More numbers than the list may have.
    #[error("Number of {what} = {count} > {most} (maximum items)")]
    TooMany {
        /// What the list holds, in the plural.
        what: &'static str,
        /// How many there were.
        count: usize,
        /// How many there may be.
        most: usize,
    },
}

/// Reads `64,128`: decimal numbers between commas, at most `most` of them; `what` names them in the error.
///
/// An empty last item (`64,`) is 0, as in testpmd. A number too big for 32 bits becomes `u32::MAX`, so that the
/// caller's range check refuses it rather than a wrapped one passing.
pub fn comma_list(text: &str, what: &'static str, most: usize) -> Result<Vec<u32>, ListError> {
    let mut values = Vec::new();
    let mut current: Option<u32> = None;
    for character in text.chars() {
        if let Some(digit) = character.to_digit(10) {
            current = Some(
                current
                    .unwrap_or(0)
                    .saturating_mul(10)
                    .saturating_add(digit),
            );
        } else if character == ',' {
            values.push(current.take().ok_or(ListError::NothingBeforeComma)?);
        } else {
            return Err(ListError::NotADigit(character));
        }
    }
    values.push(current.unwrap_or(0));
    if values.len() > most {
        return Err(ListError::TooMany {
            what,
            count: values.len(),
            most,
        });
    }
    Ok(values)
}

#[cfg(test)]
mod tests;
