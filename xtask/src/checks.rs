//! `cargo xtask check`: one line for each figure that the project promises, held against its bound.
//!
//! A check is an entry of a const table, in a file per theme; it measures and returns, the loop here prints and judges.
//! With `--plant` the subject is replaced by one with a known fault, and the check must then fall short: a check that
//! can't fail proves nothing.

mod captures;
mod forward;
mod idle;
mod instructions;
mod limit;
mod mixed;
mod planted;
mod retry;
mod speed;
mod start;
mod stop;
mod suites;

use std::fmt;
use std::path::PathBuf;

use crate::shell::{self, Workspace};
use crate::tally;

pub(crate) use planted::Folder;

/// A promised figure.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    /// The promise, in the words of a user.
    pub(crate) proves: &'static str,
    pub(crate) bound: Bound,
    pub(crate) run: fn(&Check, &Subject) -> Result<f64, Miss>,
    pub(crate) plant: Plant,
}

/// What the figure is held against.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Bound {
    AtLeast(f64, &'static str),
    Below(f64, &'static str),
}

/// The fault that a check is tried with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Plant {
    /// A shell script that stands in for testpmd; `$REAL` is the real one.
    Script(&'static str),
    /// The check itself expects something wrong when it sees `Subject::planted`.
    Expectation,
}

/// What is measured.
pub(crate) struct Subject {
    pub(crate) workspace: Workspace,
    /// The folder of the release programs, or of what stands in for them.
    pub(crate) programs: PathBuf,
    /// Try each check with its fault, once it holds without.
    pub(crate) plant: bool,
    /// The fault is there now.
    pub(crate) planted: bool,
    /// Write new baselines instead of judging by the old ones.
    pub(crate) record: bool,
}

impl Subject {
    pub(crate) fn testpmd(&self) -> PathBuf {
        self.programs.join("testpmd")
    }
}

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Miss {
    /// The machine lacks something.
    Skipped(String),
    /// The subject did something else than asked.
    Failed(String),
}

impl From<String> for Miss {
    fn from(why: String) -> Self {
        Self::Failed(why)
    }
}

impl Bound {
    fn holds(self, value: f64) -> bool {
        match self {
            Self::AtLeast(floor, _) => value >= floor,
            Self::Below(ceiling, _) => value < ceiling,
        }
    }

    fn unit(self) -> &'static str {
        match self {
            Self::AtLeast(_, unit) | Self::Below(_, unit) => unit,
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AtLeast(floor, unit) => write!(out, "floor {floor}{unit}"),
            Self::Below(ceiling, unit) => write!(out, "must stay below {ceiling}{unit}"),
        }
    }
}

/// All checks, theme by theme.
pub(crate) const THEMES: &[&[Check]] = &[
    speed::CHECKS,
    mixed::CHECKS,
    start::CHECKS,
    forward::CHECKS,
    instructions::CHECKS,
    limit::CHECKS,
    idle::CHECKS,
    retry::CHECKS,
    captures::CHECKS,
    stop::CHECKS,
    suites::CHECKS,
];

/// The verb.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let names = shell::only_options(arguments, &["--list", "--plant", "--record"], &[])?;
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    let chosen = choose(&names)?;
    if flag("--list") {
        chosen
            .iter()
            .for_each(|check| println!("{}: {} ({})", check.name, check.proves, check.bound));
        return Ok(());
    }
    let workspace = Workspace::read()?;
    let programs = workspace.release_programs()?;
    let mut subject = Subject {
        workspace,
        programs,
        plant: flag("--plant"),
        planted: false,
        record: flag("--record"),
    };
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for check in chosen {
        match judge(check, &mut subject) {
            Verdict::Holds => passed += 1,
            Verdict::Short => failed += 1,
            Verdict::Skipped => skipped += 1,
        }
    }
    println!("{}", tally::closing_line(passed, failed, skipped));
    if failed == 0 {
        Ok(())
    } else {
        Err(format!("{failed} of the figures fall short"))
    }
}

/// Entries by name; a name ending in `*` takes all that begin so.
fn choose(names: &[String]) -> Result<Vec<&'static Check>, String> {
    let all = || THEMES.iter().copied().flatten();
    if names.is_empty() {
        return Ok(all().collect());
    }
    let mut chosen = Vec::new();
    for name in names {
        let before = chosen.len();
        match name.strip_suffix('*') {
            Some(start) => chosen.extend(all().filter(|check| check.name.starts_with(start))),
            None => chosen.extend(all().filter(|check| check.name == name)),
        }
        if chosen.len() == before {
            return Err(format!(
                "no check '{name}'; `cargo xtask check --list` names them"
            ));
        }
    }
    Ok(chosen)
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Holds,
    Short,
    Skipped,
}

fn judge(check: &Check, subject: &mut Subject) -> Verdict {
    let verdict = report(check, &(check.run)(check, subject));
    if !subject.plant {
        return verdict;
    }
    match verdict {
        Verdict::Holds => try_planted(check, subject),
        Verdict::Short => {
            println!(
                "{}: no fault was planted, since it falls short without one",
                check.name
            );
            Verdict::Short
        }
        Verdict::Skipped => Verdict::Skipped,
    }
}

/// The check on a faulty subject; it holds when it finds the fault.
fn try_planted(check: &Check, subject: &mut Subject) -> Verdict {
    let real = subject.programs.clone();
    let stand_in = match check.plant {
        Plant::Script(script) => planted::stand_in(&real, script).map(Some),
        Plant::Expectation => Ok(None),
    };
    let folder = match stand_in {
        Ok(folder) => folder,
        Err(why) => {
            println!("{}: the fault could not be planted: {why}", check.name);
            return Verdict::Short;
        }
    };
    if let Some(folder) = &folder {
        subject.programs = folder.path().to_owned();
    }
    subject.planted = true;
    let caught = report(check, &(check.run)(check, subject)) == Verdict::Short;
    subject.planted = false;
    subject.programs = real;
    println!(
        "{}: the planted fault was {}",
        check.name,
        if caught { "caught" } else { "NOT caught" }
    );
    if caught {
        Verdict::Holds
    } else {
        Verdict::Short
    }
}

/// Prints the check's line and judges it.
fn report(check: &Check, result: &Result<f64, Miss>) -> Verdict {
    let (line, verdict) = line(check, result);
    println!("{line}");
    verdict
}

fn line(check: &Check, result: &Result<f64, Miss>) -> (String, Verdict) {
    let Check { name, bound, .. } = check;
    match result {
        Ok(value) if bound.holds(*value) => (
            format!("{name}: {value:.2}{}, {bound}", bound.unit()),
            Verdict::Holds,
        ),
        Ok(value) => (
            format!("{name}: {value:.2}{}, {bound}: FALLS SHORT", bound.unit()),
            Verdict::Short,
        ),
        Err(Miss::Skipped(why)) => (format!("{name}: SKIPPED, {why}"), Verdict::Skipped),
        Err(Miss::Failed(why)) => (format!("{name}: FAILED, {why}"), Verdict::Short),
    }
}

/// One check on its own, for the test suite: the verdict and the check's line.
pub(crate) fn run_one(
    name: &str,
    workspace: Workspace,
    programs: PathBuf,
) -> Result<(Verdict, String), String> {
    let subject = Subject {
        workspace,
        programs,
        plant: false,
        planted: false,
        record: false,
    };
    let checks = choose(&[name.to_owned()])?;
    let check = checks.first().ok_or_else(|| format!("no check '{name}'"))?;
    let (line, verdict) = line(check, &(check.run)(check, &subject));
    println!("{line}");
    Ok((verdict, line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn check(bound: Bound) -> Check {
        Check {
            name: "x",
            proves: "x",
            bound,
            run: |_, _| Ok(1.0),
            plant: Plant::Expectation,
        }
    }

    #[test]
    fn names_are_unique_and_every_check_says_what_it_proves() {
        let mut seen = BTreeSet::new();
        for check in THEMES.iter().copied().flatten() {
            assert!(seen.insert(check.name), "{} twice", check.name);
            assert!(
                check.proves.len() > 20,
                "{} doesn't say what it proves",
                check.name
            );
        }
    }

    #[test]
    fn bounds_are_judged_on_the_right_side() {
        assert_eq!(
            line(&check(Bound::AtLeast(2.0, "")), &Ok(2.0)).1,
            Verdict::Holds
        );
        assert_eq!(
            line(&check(Bound::AtLeast(2.0, "")), &Ok(1.99)).1,
            Verdict::Short
        );
        assert_eq!(
            line(&check(Bound::Below(50.0, " ms")), &Ok(49.9)).1,
            Verdict::Holds
        );
        assert_eq!(
            line(&check(Bound::Below(50.0, " ms")), &Ok(50.0)).1,
            Verdict::Short
        );
        assert_eq!(
            line(&check(Bound::AtLeast(2.0, "")), &Ok(f64::NAN)).1,
            Verdict::Short
        );
        assert_eq!(
            line(&check(Bound::Below(2.0, "")), &Ok(f64::NAN)).1,
            Verdict::Short
        );
    }

    #[test]
    fn the_line_has_name_value_and_floor() {
        assert_eq!(
            line(&check(Bound::AtLeast(2.0, "x")), &Ok(2.345)).0,
            "x: 2.35x, floor 2x"
        );
        let skipped = Err(Miss::Skipped("no tool".to_owned()));
        assert_eq!(
            line(&check(Bound::AtLeast(2.0, "x")), &skipped),
            ("x: SKIPPED, no tool".to_owned(), Verdict::Skipped)
        );
    }

    #[test]
    fn unknown_names_are_refused() {
        assert!(choose(&["speed-null-io".to_owned()]).is_ok_and(|checks| checks.len() == 1));
        assert!(choose(&["speed-*".to_owned()]).is_ok_and(|checks| checks.len() > 5));
        assert!(choose(&["sped".to_owned()]).is_err());
    }
}
