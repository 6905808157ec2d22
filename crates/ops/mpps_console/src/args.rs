//! The arguments of a matched line: parsed once while matching, read by name in the command. They borrow the line and
//! live as long as the command runs.

use crate::number::Width;
use crate::value::{ListError, Mac, Ranges, comma_list};

/// What the tokens of a line were.
///
/// Accessors panic where the grammar has no such name or another type: that is a fault in the table that shows in the
/// first run of the command, whatever was typed; the example lines of [`Grammar::examples`](crate::Grammar::examples)
/// run each command. A token that the line left out is asked for by [`Args::has`] first, or by the `maybe_` accessors.
#[derive(Clone, Debug)]
pub struct Args<'l> {
    entries: Vec<Entry<'l>>,
    names: &'l [&'static str],
}

#[derive(Clone, Debug)]
pub(crate) struct Entry<'l> {
    pub(crate) name: Option<&'static str>,
    pub(crate) text: &'l str,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Literal,
    Number(i128, Width),
    Text,
    Mac(Mac),
    Ranges(Ranges),
}

impl<'l> Args<'l> {
    pub(crate) fn new(entries: Vec<Entry<'l>>, names: &'l [&'static str]) -> Self {
        Args { entries, names }
    }

    /// Whether the line has a value of this name: it took the branch or the option that holds it.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Whether the line holds this literal or named choice, as in `args.is("stats")`.
    #[must_use]
    pub fn is(&self, literal: &str) -> bool {
        self.entries
            .iter()
            .any(|entry| matches!(entry.value, Value::Literal) && entry.text == literal)
    }

    /// The text of a value of any type, as typed.
    #[must_use]
    pub fn word(&self, name: &str) -> &'l str {
        self.entry(name).text
    }

    /// The text of the value, where the line has it.
    #[must_use]
    pub fn maybe_word(&self, name: &str) -> Option<&'l str> {
        self.find(name).map(|entry| entry.text)
    }

    /// A `u8`.
    #[must_use]
    pub fn u8(&self, name: &str) -> u8 {
        self.number(name, &[Width::U8])
    }

    /// A `u16` or `u8`.
    #[must_use]
    pub fn u16(&self, name: &str) -> u16 {
        self.number(name, &[Width::U8, Width::U16])
    }

    /// A `u32` or less.
    #[must_use]
    pub fn u32(&self, name: &str) -> u32 {
        self.number(name, &[Width::U8, Width::U16, Width::U32])
    }

    /// A `u64` or less.
    #[must_use]
    pub fn u64(&self, name: &str) -> u64 {
        self.number(name, &[Width::U8, Width::U16, Width::U32, Width::U64])
    }

    /// An `i32`.
    #[must_use]
    pub fn i32(&self, name: &str) -> i32 {
        self.number(name, &[Width::I32])
    }

    /// A `u16` or `u8`, where the line has it.
    #[must_use]
    pub fn maybe_u16(&self, name: &str) -> Option<u16> {
        self.find(name).map(|_| self.u16(name))
    }

    /// A `u32` or less, where the line has it.
    #[must_use]
    pub fn maybe_u32(&self, name: &str) -> Option<u32> {
        self.find(name).map(|_| self.u32(name))
    }

    /// A MAC address, in wire order.
    #[must_use]
    pub fn mac(&self, name: &str) -> Mac {
        match self.entry(name).value {
            Value::Mac(mac) => mac,
            _ => panic!("grammar: <{name}> is no MAC address"),
        }
    }

    /// A list of numbers and ranges.
    #[must_use]
    pub fn ranges(&self, name: &str) -> &Ranges {
        match &self.entry(name).value {
            Value::Ranges(ranges) => ranges,
            _ => panic!("grammar: <{name}> is no list of ranges"),
        }
    }

    /// The numbers of a `list` token, at most `most`; `what` names them in the error, whose text is testpmd's.
    pub fn items(
        &self,
        name: &str,
        what: &'static str,
        most: usize,
    ) -> Result<Vec<u32>, ListError> {
        comma_list(self.word(name), what, most)
    }

    /// The words of the line without its values, in order, as in `["port", "config", "rxq"]`.
    pub fn literals(&self) -> impl Iterator<Item = &'l str> {
        self.entries
            .iter()
            .filter(|entry| entry.name.is_none())
            .map(|entry| entry.text)
    }

    fn number<T: TryFrom<i128>>(&self, name: &str, accepted: &[Width]) -> T {
        match self.entry(name).value {
            // The declared width is checked, not the value: a wrong accessor fails at the first run, not at a big number.
            Value::Number(value, width) if accepted.contains(&width) => {
                T::try_from(value).unwrap_or_else(|_| panic!("grammar: <{name}> is out of range"))
            }
            _ => panic!("grammar: <{name}> is no number of this width"),
        }
    }

    fn find(&self, name: &str) -> Option<&Entry<'l>> {
        assert!(
            self.names.contains(&name),
            "grammar: this command has no <{name}>"
        );
        self.entries.iter().find(|entry| entry.name == Some(name))
    }

    fn entry(&self, name: &str) -> &Entry<'l> {
        self.find(name)
            .unwrap_or_else(|| panic!("grammar: this line has no <{name}>; ask Args::has first"))
    }
}
