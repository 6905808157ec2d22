//! What the tests said: reads the lines of `cargo test` and the skip log, and adds up one closing line. The suite makes
//! one per run and feeds it; it owns no process.
//!
//! A test that lacks something of the machine says so and returns early. It prints a line `SKIPPED name: reason`, or
//! appends a line `name<TAB>reason<TAB>kind` to the file that `MPPS_SKIP_LOG` names; kind is `package`, `kernel` or
//! `data`. A printed line ends in ` [package]` or ` [data]` where it is not the kernel that lacks something. Such a test
//! passes for the test harness, and is counted as skipped here.

use std::collections::BTreeMap;

/// Why a test could not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Skip {
    pub(crate) reason: String,
    pub(crate) kind: Kind,
}

/// What a skipped test lacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A program that a package would bring; a failure where `MPPS_CI` is set, since CI installs it.
    Package,
    /// Something that this kernel or CPU doesn't have.
    Kernel,
    /// Files that are handed in from outside.
    Data,
    /// `#[ignore]`: left out by whoever wrote the test.
    Ignored,
}

impl Kind {
    fn parse(word: &str) -> Option<Self> {
        match word {
            "package" => Some(Self::Package),
            "kernel" => Some(Self::Kernel),
            "data" => Some(Self::Data),
            _ => None,
        }
    }
}

/// Sums over all test programs of a run.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    passed: usize,
    failed: Vec<String>,
    /// Tests that the harness counted as passed, by name.
    skipped: BTreeMap<String, Skip>,
    ignored: BTreeMap<String, Skip>,
    /// Failed tests that the harness counted without naming them.
    unnamed: usize,
    /// Failure names of the program that is being read.
    current: Vec<String>,
}

impl Tally {
    /// One line of a test program's standard output.
    pub(crate) fn read_line(&mut self, line: &str) {
        if let Some(rest) = line.strip_prefix("test result: ") {
            self.read_result(rest);
        } else if let Some((name, outcome)) = line
            .strip_prefix("test ")
            .and_then(|rest| rest.rsplit_once(" ... "))
        {
            self.read_test(name, outcome);
        } else if let Some((name, reason)) = line
            .strip_prefix("SKIPPED ")
            .and_then(|rest| rest.split_once(": "))
        {
            self.read_skip(name, reason);
        }
    }

    /// The kind is the last word of the reason, in brackets; without one it is the kernel.
    fn read_skip(&mut self, name: &str, reason: &str) {
        let bracket = reason
            .strip_suffix(']')
            .and_then(|rest| rest.rsplit_once(" ["));
        let tagged = bracket.and_then(|(reason, kind)| Some((reason, Kind::parse(kind)?)));
        let (reason, kind) = tagged.unwrap_or((reason, Kind::Kernel));
        self.skipped.insert(
            name.to_owned(),
            Skip {
                reason: reason.to_owned(),
                kind,
            },
        );
    }

    fn read_test(&mut self, name: &str, outcome: &str) {
        if outcome.starts_with("FAILED") {
            self.current.push(name.to_owned());
        } else if let Some(reason) = outcome.strip_prefix("ignored") {
            let reason = reason.trim_start_matches(',').trim();
            let reason = if reason.is_empty() {
                "marked #[ignore]"
            } else {
                reason
            }
            .to_owned();
            self.ignored.insert(
                name.to_owned(),
                Skip {
                    reason,
                    kind: Kind::Ignored,
                },
            );
        }
    }

    /// `ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`
    fn read_result(&mut self, rest: &str) {
        let count = |word: &str| -> usize {
            rest.split(['.', ';'])
                .find_map(|part| part.trim().strip_suffix(word)?.trim().parse().ok())
                .unwrap_or(0)
        };
        self.passed += count(" passed");
        let named = std::mem::take(&mut self.current);
        self.unnamed += count(" failed").saturating_sub(named.len());
        self.failed.extend(named);
    }

    /// The whole skip log; a line that isn't one is a failure of the test that wrote it.
    pub(crate) fn read_skip_log(&mut self, log: &str) {
        for line in log.lines().filter(|line| !line.is_empty()) {
            let mut fields = line.split('\t');
            let parsed = (
                fields.next(),
                fields.next(),
                fields.next().and_then(Kind::parse),
            );
            if let (Some(name), Some(reason), Some(kind)) = parsed {
                self.skipped.insert(
                    name.to_owned(),
                    Skip {
                        reason: reason.to_owned(),
                        kind,
                    },
                );
            } else {
                self.fail(format!(
                    "skip log: '{line}' is not name<TAB>reason<TAB>package|kernel|data"
                ));
            }
        }
    }

    /// Counts something that is not a test of the harness, such as a step that didn't build.
    pub(crate) fn fail(&mut self, what: String) {
        self.failed.push(what);
    }

    /// Counts a check that held.
    pub(crate) fn pass(&mut self) {
        self.passed += 1;
    }

    /// Counts a check that could not run. It is no test of the harness, so nothing is taken off the passed ones.
    pub(crate) fn skip(&mut self, name: &str, reason: &str, kind: Kind) {
        self.ignored.insert(
            name.to_owned(),
            Skip {
                reason: reason.to_owned(),
                kind,
            },
        );
    }

    /// How many tests passed so far, skipped ones of the log included.
    pub(crate) fn passes(&self) -> usize {
        self.passed
    }

    /// How many tests failed so far.
    pub(crate) fn failures(&self) -> usize {
        self.failed.len() + self.unnamed
    }

    /// Names of what failed and what was skipped, then the closing line. With `strict`, a test skipped for want of a
    /// package is a failure. Returns the text and whether all is well.
    pub(crate) fn close(mut self, strict: bool) -> (String, bool) {
        self.passed = self.passed.saturating_sub(self.skipped.len());
        let mut skipped = self.skipped;
        skipped.extend(self.ignored);
        if strict {
            for (name, skip) in skipped.extract_if(.., |_, skip| skip.kind == Kind::Package) {
                self.failed.push(format!(
                    "{name}: skipped for want of a package: {}",
                    skip.reason
                ));
            }
        }
        let mut text = String::new();
        for name in &self.failed {
            text.push_str(&format!("FAILED {name}\n"));
        }
        for (name, skip) in &skipped {
            text.push_str(&format!("SKIPPED {name}: {}\n", skip.reason));
        }
        let failed = self.failed.len() + self.unnamed;
        text.push_str(&closing_line(self.passed, failed, skipped.len()));
        (text, failed == 0 && self.passed > 0)
    }
}

/// The line that ends every run.
pub(crate) fn closing_line(passed: usize, failed: usize, skipped: usize) -> String {
    format!("{passed} passed, {failed} failed, {skipped} skipped")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &str) -> Tally {
        let mut tally = Tally::default();
        lines.lines().for_each(|line| tally.read_line(line));
        tally
    }

    const TWO: &str = "running 4 tests\ntest a ... ok\ntest b::c ... FAILED\ntest d ... ignored, needs an hour\n\
        test e ... ok\n\ntest result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
        test src/lib.rs - f (line 3) ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out";

    #[test]
    fn adds_up_several_programs() {
        let (text, well) = read(TWO).close(false);
        assert_eq!(
            text,
            "FAILED b::c\nSKIPPED d: needs an hour\n3 passed, 1 failed, 1 skipped"
        );
        assert!(!well);
    }

    #[test]
    fn a_skipped_test_is_not_a_passed_one() {
        let mut tally =
            read("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        tally.read_skip_log(
            "a\tno tcpdump\tpackage\nb\tno membarrier\tkernel\na\tno tcpdump\tpackage\n",
        );
        let (text, well) = tally.close(false);
        assert!(text.ends_with("1 passed, 0 failed, 2 skipped"), "{text}");
        assert!(well);
    }

    #[test]
    fn printed_skips_count_too() {
        let mut tally = read(
            "SKIPPED a: needs 4 huge pages: there are 0\nSKIPPED b: no tcpdump [package]\nSKIPPED c: odd [thing]\n\
             test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out",
        );
        assert_eq!(
            tally.skipped["a"],
            Skip {
                reason: "needs 4 huge pages: there are 0".to_owned(),
                kind: Kind::Kernel
            }
        );
        assert_eq!(
            tally.skipped["b"],
            Skip {
                reason: "no tcpdump".to_owned(),
                kind: Kind::Package
            }
        );
        assert_eq!(tally.skipped["c"].kind, Kind::Kernel);
        tally.read_skip_log("a\tno huge pages\tkernel\n");
        assert!(
            tally
                .close(false)
                .0
                .ends_with("2 passed, 0 failed, 3 skipped")
        );
    }

    #[test]
    fn ci_takes_a_missing_package_for_a_failure() {
        let mut tally =
            read("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        tally.read_skip_log("a\tno tcpdump\tpackage\nb\tno membarrier\tkernel\n");
        let (text, well) = tally.close(true);
        assert!(text.ends_with("1 passed, 1 failed, 1 skipped"), "{text}");
        assert!(!well);
    }

    #[test]
    fn a_garbled_skip_log_fails() {
        let mut tally =
            read("test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out");
        tally.read_skip_log("a\tbecause\twhim\n");
        assert_eq!(tally.failures(), 1);
    }

    #[test]
    fn failures_without_a_name_count_too() {
        let tally =
            read("test result: FAILED. 0 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out");
        assert_eq!(tally.failures(), 2);
    }

    #[test]
    fn no_test_at_all_is_no_success() {
        assert!(!Tally::default().close(false).1);
    }
}
