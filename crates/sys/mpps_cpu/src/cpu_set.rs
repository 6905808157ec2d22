//! Sets of CPU numbers, and the kernel's way to write them (`0-3,8`).
//!
//! A plain value, made wherever somebody lists CPUs. Grows with the highest number, so that machines with more than
//! the C library's 1024 CPUs are nothing special.

use std::fmt;
use std::str::FromStr;

/// A set of CPU numbers (or of NUMA nodes, which the kernel lists in the same way).
///
/// ```
/// let cpus: mpps_cpu::CpuSet = "0-3,8\n".parse().unwrap();
/// assert_eq!((cpus.len(), cpus.contains(8)), (5, true));
/// assert_eq!(cpus.to_string(), "0-3,8");
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct CpuSet {
    /// Bit `n % 64` of word `n / 64`; the last word isn't zero, so that equal sets are equal.
    words: Vec<u64>,
}

/// Why a list of CPUs was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// A part is neither a number nor a range.
    #[error("{0:?} is not a CPU or a range of CPUs: expected a list such as 0-3,8")]
    NotANumber(String),
    /// A range ends before it begins.
    #[error("the CPU range {0:?} runs backwards: expected the lower number first")]
    Backwards(String),
    /// A number is beyond what any kernel has.
    #[error("CPU \"{0}\" is out of range: expected 0 to {max}", max = CpuSet::LIMIT - 1)]
    TooHigh(String),
}

impl CpuSet {
    /// CPU numbers are below this (Linux stops at 8192).
    pub const LIMIT: usize = 1 << 16;

    /// The empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { words: Vec::new() }
    }

    /// Adds a CPU; true if it wasn't there.
    ///
    /// # Panics
    /// When `cpu` is not below [`LIMIT`](Self::LIMIT).
    pub fn insert(&mut self, cpu: usize) -> bool {
        assert!(
            cpu < Self::LIMIT,
            "CPU {cpu} is out of range: expected 0 to {}",
            Self::LIMIT - 1
        );
        let (word, bit) = (cpu / 64, 1 << (cpu % 64));
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        new
    }

    /// Takes a CPU out; true if it was there.
    pub fn remove(&mut self, cpu: usize) -> bool {
        let was = self.contains(cpu);
        if was {
            self.words[cpu / 64] &= !(1 << (cpu % 64));
            self.trim();
        }
        was
    }

    /// Whether the CPU is in the set.
    #[must_use]
    pub fn contains(&self, cpu: usize) -> bool {
        self.words
            .get(cpu / 64)
            .is_some_and(|word| word >> (cpu % 64) & 1 == 1)
    }

    /// How many CPUs are in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Whether no CPU is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The lowest CPU.
    #[must_use]
    pub fn first(&self) -> Option<usize> {
        self.iter().next()
    }

    /// All CPUs, lowest first.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        let bits = |word: u64| (0..64).filter(move |bit| word >> bit & 1 == 1);
        self.words
            .iter()
            .enumerate()
            .flat_map(move |(i, &word)| bits(word).map(move |bit| i * 64 + bit))
    }

    /// The CPUs that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let mut set = Self {
            words: self
                .words
                .iter()
                .zip(&other.words)
                .map(|(a, b)| a & b)
                .collect(),
        };
        set.trim();
        set
    }

    /// The CPUs of this set that are not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        self.iter().filter(|&cpu| !other.contains(cpu)).collect()
    }

    /// Whether every CPU of this set is in the other.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.iter().all(|cpu| other.contains(cpu))
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    pub(crate) fn from_words(words: Vec<u64>) -> Self {
        let mut set = Self { words };
        set.trim();
        set
    }

    fn trim(&mut self) {
        let used = self
            .words
            .iter()
            .rposition(|&word| word != 0)
            .map_or(0, |last| last + 1);
        self.words.truncate(used);
    }
}

impl FromIterator<usize> for CpuSet {
    fn from_iter<I: IntoIterator<Item = usize>>(cpus: I) -> Self {
        let mut set = Self::new();
        for cpu in cpus {
            set.insert(cpu);
        }
        set
    }
}

impl Extend<usize> for CpuSet {
    fn extend<I: IntoIterator<Item = usize>>(&mut self, cpus: I) {
        for cpu in cpus {
            self.insert(cpu);
        }
    }
}

/// Numbers and ranges between commas, as in sysfs; white space round it and an empty list are fine.
impl FromStr for CpuSet {
    type Err = ListError;

    fn from_str(list: &str) -> Result<Self, ListError> {
        let list = list.trim();
        let mut set = Self::new();
        if list.is_empty() {
            return Ok(set);
        }
        for part in list.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first, part)?, number(last, part)?);
            if first > last {
                return Err(ListError::Backwards(part.to_owned()));
            }
            set.extend(first..=last);
        }
        Ok(set)
    }
}

fn number(digits: &str, part: &str) -> Result<usize, ListError> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ListError::NotANumber(part.to_owned()));
    }
    // Digits alone fail to parse only when they are too many.
    match digits.parse() {
        Ok(cpu) if cpu < CpuSet::LIMIT => Ok(cpu),
        _ => Err(ListError::TooHigh(digits.to_owned())),
    }
}

/// In ranges: `0-3,8,10-11`; nothing for the empty set.
impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut comma = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while let Some(next) = cpus.next_if_eq(&(last + 1)) {
                last = next;
            }
            write!(f, "{comma}{first}")?;
            if last > first {
                write!(f, "-{last}")?;
            }
            comma = ",";
        }
        Ok(())
    }
}

impl fmt::Debug for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CpuSet({self})")
    }
}

#[cfg(test)]
mod tests;
