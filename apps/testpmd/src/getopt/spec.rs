//! One row of an option table: how the option is written, and what becomes of it.
//!
//! Rows are built by const functions so that a table reads as a table:
//! `value("burst", "N", "packets per burst")`.

/// Whether an option takes a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// Never.
    Flag,
    /// Always: `--opt v`, `--opt=v`, `-o v`, `-ov`, `-o=v`.
    Value,
    /// Only by `=` or glued; a following word is not taken.
    Optional,
}

/// Whether a long name may be shortened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abbreviation {
    /// As in DPDK, where `getopt_long` reads this option.
    Yes,
    /// Names of the past: only where no name of today begins so.
    IfNoOther,
    /// Never: our own options, and those that DPDK itself reads without abbreviation.
    Exact,
}

/// What this program does with an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Treatment {
    /// What it asks for happens, or the plan refuses it for the ports at hand.
    Honoured,
    /// Some values are honoured; the text says which. Others are refused or noticed.
    Limited(&'static str),
    /// Honoured under an old name; the text is what to write today.
    Deprecated(&'static str),
    /// Checked, then noticed; the text says why nothing changes.
    NoEffect(&'static str),
    /// Refused; the text says why and what to do.
    Refused(&'static str),
}

/// How an option is written. The typed half of the row is in [`super::Opt`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// The name after `--`; empty when there is only a short one.
    pub long: &'static str,
    /// The letter after `-`.
    pub short: Option<char>,
    /// The name under which repetition and conflicts are counted: the long name of the option that this one means.
    pub key: &'static str,
    /// Whether it takes a value.
    pub arity: Arity,
    /// What the value is called in help.
    pub metavar: &'static str,
    /// The line for help.
    pub help: &'static str,
    /// Whether the name may be shortened.
    pub abbreviation: Abbreviation,
    /// True for options that add up when given again.
    pub repeats: bool,
    /// What becomes of it.
    pub treatment: Treatment,
}

const fn spec(long: &'static str, arity: Arity, metavar: &'static str, help: &'static str) -> Spec {
    Spec {
        long,
        short: None,
        key: long,
        arity,
        metavar,
        help,
        abbreviation: Abbreviation::Yes,
        repeats: false,
        treatment: Treatment::Honoured,
    }
}

/// A row without a value.
#[must_use]
pub const fn flag(long: &'static str, help: &'static str) -> Spec {
    spec(long, Arity::Flag, "", help)
}

/// A row with a value.
#[must_use]
pub const fn value(long: &'static str, metavar: &'static str, help: &'static str) -> Spec {
    spec(long, Arity::Value, metavar, help)
}

/// A row whose value may be left out.
#[must_use]
pub const fn optional(long: &'static str, metavar: &'static str, help: &'static str) -> Spec {
    spec(long, Arity::Optional, metavar, help)
}

impl Spec {
    /// Adds a short name.
    #[must_use]
    pub const fn short(mut self, letter: char) -> Spec {
        self.short = Some(letter);
        self
    }

    /// May be given several times, each adding to the last.
    #[must_use]
    pub const fn repeats(mut self) -> Spec {
        self.repeats = true;
        self
    }

    /// Takes no part in abbreviation.
    #[must_use]
    pub const fn exact(mut self) -> Spec {
        self.abbreviation = Abbreviation::Exact;
        self
    }

    /// A name of the past that current DPDK no longer takes.
    #[must_use]
    pub const fn past(mut self) -> Spec {
        self.abbreviation = Abbreviation::IfNoOther;
        self
    }

    /// Another spelling of the option whose long name is `key`.
    #[must_use]
    pub const fn means(mut self, key: &'static str) -> Spec {
        self.key = key;
        self
    }

    /// Sets what becomes of it.
    #[must_use]
    pub const fn treated(mut self, treatment: Treatment) -> Spec {
        self.treatment = treatment;
        self
    }

    /// Deprecated; `instead` is what to write today.
    #[must_use]
    pub const fn deprecated(self, instead: &'static str) -> Spec {
        self.treated(Treatment::Deprecated(instead))
    }

    /// Changes nothing; `why` says so.
    #[must_use]
    pub const fn no_effect(self, why: &'static str) -> Spec {
        self.treated(Treatment::NoEffect(why))
    }

    /// Refused; `why` says so and what to do.
    #[must_use]
    pub const fn refused(self, why: &'static str) -> Spec {
        self.treated(Treatment::Refused(why))
    }

    /// Honoured for some values; `which` names them.
    #[must_use]
    pub const fn limited(self, which: &'static str) -> Spec {
        self.treated(Treatment::Limited(which))
    }

    /// The name to use in messages: `--long`, or `-s` where there is no long one.
    #[must_use]
    pub fn name(&self) -> String {
        match self.short {
            Some(c) if self.long.is_empty() => format!("-{c}"),
            _ => format!("--{}", self.long),
        }
    }

    /// The name with its value: `--burst=N`, `--huge-unlink[=WHEN]`.
    #[must_use]
    pub fn form(&self) -> String {
        let blank = if self.long.is_empty() { " " } else { "=" };
        match self.arity {
            Arity::Flag => self.name(),
            Arity::Value => format!("{}{blank}{}", self.name(), self.metavar),
            Arity::Optional => format!("{}[={}]", self.name(), self.metavar),
        }
    }
}
