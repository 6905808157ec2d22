//! Device arguments: `net_pcap0,rx_pcap=a.pcap,tx_pcap=b.pcap`.
//!
//! Grammar: a name, then `,key=value` or `,key`, any number of times. Commas inside `[...]` and `(...)` do not separate,
//! a key may come several times, blanks around a comma are dropped. Parsing keeps the text as it is; a driver's table of
//! [`ArgSpec`] then says which keys there are and what their values may be, so that help and errors come from one place.

use std::str::FromStr;

/// A device's name and its arguments in the order given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevArgs {
    name: String,
    args: Vec<(String, Option<String>)>,
    text: String,
}

/// What may stand behind a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ArgKind {
    /// A whole number within bounds.
    Number(u64, u64),
    /// 0 or 1; the key alone means 1.
    Flag,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Any text that isn't empty.
    Text,
}

/// One argument of a driver.
#[derive(Clone, Copy, Debug)]
pub struct ArgSpec {
    /// The key.
    pub key: &'static str,
    /// Its values.
    pub kind: ArgKind,
    /// Whether it may come several times.
    pub repeats: bool,
    /// What it does, one line; with the default.
    pub help: &'static str,
}

/// Why device arguments are refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DevArgError {
    /// No device name.
    #[error("device {text:?}: no name before the first comma")]
    NoName {
        /// What was given.
        text: String,
    },
    /// A bracket without its partner.
    #[error("device {text:?}: {bracket:?} at character {position} has no partner")]
    Bracket {
        /// What was given.
        text: String,
        /// The lonely bracket.
        bracket: char,
        /// Where, counted from one.
        position: usize,
    },
    /// A value without a key.
    #[error("device {device}: {value:?} has no key before the equals sign")]
    NoKey {
        /// The device.
        device: String,
        /// The value.
        value: String,
    },
    /// A key the driver doesn't know.
    #[error("device {device}: unknown argument {key:?}; {driver} takes {known}")]
    UnknownKey {
        /// The device.
        device: String,
        /// The key.
        key: String,
        /// The driver.
        driver: &'static str,
        /// The keys it knows.
        known: String,
    },
    /// A value that doesn't fit its key.
    #[error("device {device}: {key}={value} is not valid, {key} must be {allowed}")]
    Value {
        /// The device.
        device: String,
        /// The key.
        key: String,
        /// The value, empty where none was given.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A key that came twice and may not.
    #[error("device {device}: {key} is given {times} times, once is allowed")]
    Repeated {
        /// The device.
        device: String,
        /// The key.
        key: &'static str,
        /// How often.
        times: usize,
    },
    /// A key that is needed and isn't there.
    #[error("device {device}: {key} is missing ({help})")]
    Missing {
        /// The device.
        device: String,
        /// The key.
        key: &'static str,
        /// What it does.
        help: &'static str,
    },
    /// Keys that exclude each other.
    #[error("device {device}: {reason}")]
    Conflict {
        /// The device.
        device: String,
        /// Which and why.
        reason: String,
    },
}

impl FromStr for DevArgs {
    type Err = DevArgError;

    /// Splits the text. Which keys are known is the driver's business ([`DevArgs::check`]).
    ///
    /// ```
    /// use mpps_dev::DevArgs;
    /// let args: DevArgs = "net_failsafe0,mac=de:ad:be:ef:01:02,dev(net_ring0,x=1)".parse()?;
    /// assert_eq!(args.name(), "net_failsafe0");
    /// assert_eq!(args.iter().nth(1), Some(("dev(net_ring0,x=1)", None)));
    /// # Ok::<(), mpps_dev::DevArgError>(())
    /// ```
    fn from_str(text: &str) -> Result<Self, DevArgError> {
        let mut words = split(text)?.into_iter();
        let name = words.next().unwrap_or_default().trim();
        if name.is_empty() {
            return Err(DevArgError::NoName {
                text: text.to_owned(),
            });
        }
        let mut args = Vec::new();
        for word in words.map(str::trim).filter(|word| !word.is_empty()) {
            let (key, value) = match equals_sign(word) {
                Some(at) => (word[..at].trim_end(), Some(word[at + 1..].trim_start())),
                None => (word, None),
            };
            if key.is_empty() {
                return Err(DevArgError::NoKey {
                    device: name.to_owned(),
                    value: value.unwrap_or_default().to_owned(),
                });
            }
            args.push((key.to_owned(), value.map(str::to_owned)));
        }
        let rest = text.split_once(',').map_or("", |(_, rest)| rest);
        Ok(Self {
            name: name.to_owned(),
            args,
            text: rest.to_owned(),
        })
    }
}

/// The first equals sign that isn't inside brackets.
fn equals_sign(word: &str) -> Option<usize> {
    let at = word.find('=')?;
    match word.find(['(', '[']) {
        Some(bracket) if bracket < at => None,
        _ => Some(at),
    }
}

/// Splits at commas outside brackets.
fn split(text: &str) -> Result<Vec<&str>, DevArgError> {
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut words = Vec::new();
    let mut start = 0;
    let lonely = |bracket, at: usize| DevArgError::Bracket {
        text: text.to_owned(),
        bracket,
        position: text[..at].chars().count() + 1,
    };
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => open.push((at, c)),
            ')' | ']' => match open.pop() {
                Some((_, o)) if (o == '(') == (c == ')') => {}
                _ => return Err(lonely(c, at)),
            },
            ',' if open.is_empty() => {
                words.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    if let Some((at, bracket)) = open.pop() {
        return Err(lonely(bracket, at));
    }
    words.push(&text[start..]);
    Ok(words)
}

impl DevArgs {
    /// The device's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments as given, without the name.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Keys and values in the order given.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.args
            .iter()
            .map(|(key, value)| (key.as_str(), value.as_deref()))
    }

    /// Holds every argument against a driver's table; afterwards the typed getters can't fail.
    pub fn check(
        &self,
        driver: &'static str,
        specs: &'static [ArgSpec],
    ) -> Result<Checked<'_>, DevArgError> {
        for (key, value) in self.iter() {
            let spec = specs
                .iter()
                .find(|spec| spec.key == key)
                .ok_or_else(|| self.unknown(key, driver, specs))?;
            if !fits(spec.kind, value) {
                return Err(self.refuse(key, value.unwrap_or_default(), &allowed(spec.kind)));
            }
            let times = self.iter().filter(|(k, _)| *k == key).count();
            if times > 1 && !spec.repeats {
                return Err(DevArgError::Repeated {
                    device: self.name.clone(),
                    key: spec.key,
                    times,
                });
            }
        }
        Ok(Checked { args: self, specs })
    }

    fn unknown(&self, key: &str, driver: &'static str, specs: &[ArgSpec]) -> DevArgError {
        let known = if specs.is_empty() {
            "no arguments".to_owned()
        } else {
            specs
                .iter()
                .map(|spec| spec.key)
                .collect::<Vec<_>>()
                .join(", ")
        };
        DevArgError::UnknownKey {
            device: self.name.clone(),
            key: key.to_owned(),
            driver,
            known,
        }
    }

    /// An error about a value, for checks that a table can't express.
    pub fn refuse(&self, key: &str, value: &str, allowed: &str) -> DevArgError {
        DevArgError::Value {
            device: self.name.clone(),
            key: key.to_owned(),
            value: value.to_owned(),
            allowed: allowed.to_owned(),
        }
    }

    /// An error about arguments that don't go together.
    pub fn conflict(&self, reason: impl Into<String>) -> DevArgError {
        DevArgError::Conflict {
            device: self.name.clone(),
            reason: reason.into(),
        }
    }
}

fn fits(kind: ArgKind, value: Option<&str>) -> bool {
    match (kind, value) {
        (ArgKind::Flag, value) => matches!(value, None | Some("0" | "1")),
        (ArgKind::Number(min, max), Some(value)) => {
            number(value).is_some_and(|n| (min..=max).contains(&n))
        }
        (ArgKind::Choice(words), Some(value)) => words.contains(&value),
        (ArgKind::Text, Some(value)) => !value.is_empty(),
        (_, None) => false,
    }
}

/// Decimal, or hexadecimal with `0x`.
fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => text.parse().ok(),
    }
}

fn allowed(kind: ArgKind) -> String {
    match kind {
        ArgKind::Number(min, max) => format!("a number from {min} to {max}"),
        ArgKind::Flag => "0 or 1".to_owned(),
        ArgKind::Choice(words) => format!("one of {}", words.join(", ")),
        ArgKind::Text => "given a value".to_owned(),
    }
}

/// Arguments that passed [`DevArgs::check`].
#[derive(Clone, Copy, Debug)]
pub struct Checked<'a> {
    args: &'a DevArgs,
    specs: &'static [ArgSpec],
}

impl<'a> Checked<'a> {
    /// The number behind a key of kind `Number`.
    pub fn number(&self, key: &str) -> Option<u64> {
        number(self.text(key)?)
    }

    /// Whether a key of kind `Flag` is set.
    pub fn flag(&self, key: &str) -> bool {
        self.args
            .iter()
            .any(|(k, value)| k == key && value != Some("0"))
    }

    /// The text behind a key.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.texts(key).next()
    }

    /// The texts behind a key that may come several times.
    pub fn texts(&self, key: &str) -> impl Iterator<Item = &'a str> {
        let args = self.args;
        args.iter()
            .filter(move |(k, _)| *k == key)
            .filter_map(|(_, value)| value)
    }

    /// The text behind a key without which there is no device.
    pub fn required(&self, key: &'static str) -> Result<&'a str, DevArgError> {
        let help = self
            .specs
            .iter()
            .find(|spec| spec.key == key)
            .map_or("", |spec| spec.help);
        self.text(key).ok_or_else(|| DevArgError::Missing {
            device: self.args.name.clone(),
            key,
            help,
        })
    }

    /// The arguments as parsed.
    pub fn args(&self) -> &'a DevArgs {
        self.args
    }
}

#[cfg(test)]
mod tests;
