//! The grammars of core options, and their inverse: numbers to `0-3,7`.

use std::collections::BTreeMap;

use super::{CoreError, CoreSelection, MAX_CPU, MAX_LCORES, Numbers};

fn wrong(wrong: impl Into<String>, right: impl Into<String>) -> CoreError {
    CoreError::Grammar {
        wrong: wrong.into(),
        right: right.into(),
    }
}

/// A hexadecimal mask, with or without `0x`, of at most [`MAX_LCORES`] bits: bit i is number i.
///
/// # Errors
/// Anything but hex digits, no bit set, or too many bits.
pub fn read_mask(text: &str) -> Result<Numbers, CoreError> {
    let text = text.trim();
    let digits = text
        .strip_prefix("0x")
        .or_else(|| text.strip_prefix("0X"))
        .unwrap_or(text);
    let right = "give a mask such as 0x3f, a bit for each CPU";
    if digits.is_empty() {
        return Err(wrong("the mask is empty", right));
    }
    if let Some(c) = digits.chars().find(|c| !c.is_ascii_hexdigit()) {
        return Err(wrong(
            format!("`{}` is not a hex digit", c.escape_debug()),
            right,
        ));
    }
    let mut numbers = Numbers::new();
    for (nibble, bits) in digits
        .chars()
        .rev()
        .map(|c| c.to_digit(16).unwrap_or(0))
        .enumerate()
    {
        for bit in (0..4).filter(|bit| bits >> bit & 1 == 1) {
            let number = u32::try_from(nibble * 4)
                .unwrap_or(u32::MAX)
                .saturating_add(bit);
            if number >= MAX_LCORES {
                let text = format!("the mask has more than {MAX_LCORES} bits");
                return Err(wrong(text, "use --lcores to map lcores to such CPUs"));
            }
            numbers.insert(number);
        }
    }
    if numbers.is_empty() {
        return Err(wrong("the mask has no bit set", right));
    }
    Ok(numbers)
}

/// The value of `-l` or `--lcores`: a plain list, or a map where there is an `@` or a parenthesis.
///
/// # Errors
/// What the grammar doesn't know, and numbers that are too high.
pub fn read_map(text: &str) -> Result<CoreSelection, CoreError> {
    if !text.contains(['@', '(', ')']) {
        return read_list(text).map(CoreSelection::Same);
    }
    let mut scanner = Scanner {
        rest: text.trim_start(),
    };
    let mut map = BTreeMap::new();
    loop {
        let lcores = scanner.set()?;
        let cpus = if scanner.eat('@') {
            Some(scanner.set()?)
        } else {
            None
        };
        put(&mut map, &lcores, cpus.as_ref())?;
        if scanner.rest.is_empty() {
            return Ok(CoreSelection::Map(map));
        }
        scanner.comma()?;
    }
}

/// Puts one element of a map; an lcore that is mapped again takes the later CPUs, as in DPDK.
fn put(
    map: &mut BTreeMap<u32, Numbers>,
    lcores: &Set,
    cpus: Option<&Set>,
) -> Result<(), CoreError> {
    if let Some(high) = lcores.numbers.iter().find(|id| **id >= MAX_LCORES) {
        return Err(wrong(
            format!("lcore {high} is too high"),
            format!("lcores are 0 to {}", MAX_LCORES - 1),
        ));
    }
    for id in &lcores.numbers {
        let on = match cpus {
            Some(set) => set.numbers.clone(),
            None if lcores.group => lcores.numbers.clone(),
            None => Numbers::from([*id]),
        };
        map.insert(*id, on);
    }
    Ok(())
}

/// A comma list of numbers and ranges (`0,1-5`); a range may run downwards.
///
/// # Errors
/// Empty items, anything but digits, numbers above [`MAX_CPU`].
pub fn read_list(text: &str) -> Result<Numbers, CoreError> {
    let mut scanner = Scanner {
        rest: text.trim_start(),
    };
    let mut numbers = Numbers::new();
    loop {
        numbers.extend(scanner.range()?);
        if scanner.rest.is_empty() {
            return Ok(numbers);
        }
        scanner.comma()?;
    }
}

/// `n`, `a-b`, or a group in parentheses.
struct Set {
    numbers: Numbers,
    group: bool,
}

struct Scanner<'a> {
    rest: &'a str,
}

impl Scanner<'_> {
    fn eat(&mut self, c: char) -> bool {
        match self.rest.strip_prefix(c) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn comma(&mut self) -> Result<(), CoreError> {
        if self.eat(',') {
            Ok(())
        } else {
            Err(self.unexpected("a comma"))
        }
    }

    fn unexpected(&self, wanted: &str) -> CoreError {
        let right = "write cores as 0,2-5 or (0-3)@1,4@(5,6)";
        match self.rest.chars().next() {
            None => wrong(format!("the list ends where {wanted} should stand"), right),
            Some(c) => wrong(
                format!("`{}` stands where {wanted} should", c.escape_debug()),
                right,
            ),
        }
    }

    fn number(&mut self) -> Result<u32, CoreError> {
        let end = self
            .rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(self.rest.len());
        if end == 0 {
            return Err(self.unexpected("a number"));
        }
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        match digits.parse() {
            Ok(n) if n <= MAX_CPU => Ok(n),
            _ => Err(wrong(
                format!("core {digits} is too high"),
                format!("numbers go up to {MAX_CPU}"),
            )),
        }
    }

    fn range(&mut self) -> Result<std::ops::RangeInclusive<u32>, CoreError> {
        let a = self.number()?;
        let b = if self.eat('-') { self.number()? } else { a };
        Ok(a.min(b)..=a.max(b))
    }

    fn set(&mut self) -> Result<Set, CoreError> {
        let mut numbers = Numbers::new();
        let group = self.eat('(');
        loop {
            numbers.extend(self.range()?);
            if !group || self.eat(')') {
                return Ok(Set { numbers, group });
            }
            self.comma()?;
        }
    }
}

/// Numbers as a list with ranges: `0-3,7`; `none` for no number.
#[must_use]
pub fn ranges(numbers: &Numbers) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for n in numbers {
        match parts.last_mut() {
            Some((_, end)) if *end + 1 == *n => *end = *n,
            _ => parts.push((*n, *n)),
        }
    }
    if parts.is_empty() {
        return "none".to_owned();
    }
    let texts: Vec<String> = parts
        .iter()
        .map(|(a, b)| match b - a {
            0 => a.to_string(),
            _ => format!("{a}-{b}"),
        })
        .collect();
    texts.join(",")
}
