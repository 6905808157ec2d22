//! `cargo xtask test`: every test that ends within ten minutes on two cores, and one closing line over all of them.
//!
//! The steps run one after another, since tests that poll take whole cores. The suite builds the release programs once
//! and tells the end-to-end tests where they are (`MPPS_BIN_DIR`); it owns the skip log and removes it at the end.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

use crate::checks::{self, Verdict};
use crate::shell::{self, Workspace};
use crate::tally::{Kind, Tally};

/// The crate of the end-to-end tests.
const END_TO_END: &str = "mpps_e2e";

/// The verb.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    shell::only_options(arguments, &[], &[])?;
    let workspace = Workspace::read()?;
    let mut suite = Suite::new(&workspace)?;
    let programs = suite.timed("release programs", |_| workspace.release_programs());
    suite.cargo_test(
        "unit, property, conformance, corpus and doc tests",
        &mut workspace_tests(&workspace),
    );
    for package in loom_packages(&workspace) {
        suite.cargo_test(
            &format!("loom models of {}", package.name),
            &mut loom_tests(&workspace, &package),
        );
    }
    match programs {
        Some(programs) => {
            suite.cargo_test("end to end", &mut end_to_end_tests(&workspace, &programs));
            suite.instructions(&programs);
        }
        None => suite
            .tally
            .fail("end to end: there are no programs to test".to_owned()),
    }
    suite.close()
}

struct Suite {
    tally: Tally,
    log: PathBuf,
}

impl Suite {
    fn new(workspace: &Workspace) -> Result<Self, String> {
        let log = workspace
            .target
            .join(format!("skipped-{}.tsv", std::process::id()));
        fs::create_dir_all(&workspace.target)
            .and_then(|()| fs::write(&log, ""))
            .map_err(|error| format!("{}: {error}", log.display()))?;
        Ok(Self {
            tally: Tally::default(),
            log,
        })
    }

    fn timed<T>(
        &mut self,
        name: &str,
        step: impl FnOnce(&mut Self) -> Result<T, String>,
    ) -> Option<T> {
        println!("== {name}");
        let begin = Instant::now();
        let result = step(self);
        println!("== {name}: {:.0} s", begin.elapsed().as_secs_f64());
        result
            .map_err(|why| self.tally.fail(format!("{name}: {why}")))
            .ok()
    }

    /// Runs one `cargo test` and reads what it says. A run that fails without a failed test didn't build, or crashed.
    fn cargo_test(&mut self, name: &str, command: &mut Command) {
        let before = self.tally.failures();
        let log = self.log.clone();
        self.timed(name, |suite| {
            let status = stream(
                command.env("MPPS_SKIP_LOG", log),
                &mut suite.tally,
                &mut std::io::stdout(),
            )?;
            let unexplained = !status.success() && suite.tally.failures() == before;
            if unexplained {
                Err(status.to_string())
            } else {
                Ok(())
            }
        });
    }

    fn instructions(&mut self, programs: &Path) {
        const NAME: &str = "instructions";
        let verdict = self.timed(NAME, |_| {
            checks::run_one(NAME, Workspace::read()?, programs.to_owned())
        });
        match verdict {
            Some((Verdict::Holds, _)) => self.tally.pass(),
            Some((Verdict::Short, line)) => self.tally.fail(line),
            Some((Verdict::Skipped, line)) => {
                let kind = if shell::has_program("valgrind") {
                    Kind::Data
                } else {
                    Kind::Package
                };
                let reason = line.trim_start_matches("instructions: SKIPPED, ");
                self.tally.skip(NAME, reason, kind);
            }
            None => {}
        }
    }

    fn close(mut self) -> Result<(), String> {
        let log = fs::read_to_string(&self.log)
            .map_err(|error| format!("{}: {error}", self.log.display()))?;
        fs::remove_file(&self.log).ok();
        self.tally.read_skip_log(&log);
        let strict = env::var_os("MPPS_CI").is_some();
        let (text, well) = self.tally.close(strict);
        println!("{text}");
        if well {
            Ok(())
        } else {
            Err("not all tests passed".to_owned())
        }
    }
}

fn workspace_tests(workspace: &Workspace) -> Command {
    let mut command = shell::cargo();
    command
        .args([
            "test",
            "--workspace",
            "--no-fail-fast",
            "--exclude",
            END_TO_END,
            "--",
            "--show-output",
        ])
        .current_dir(&workspace.root);
    command
}

/// Tests that poll cores run one at a time.
fn end_to_end_tests(workspace: &Workspace, programs: &Path) -> Command {
    let mut command = shell::cargo();
    command
        .args([
            "test",
            "--package",
            END_TO_END,
            "--no-fail-fast",
            "--",
            "--test-threads=1",
            "--show-output",
        ])
        .current_dir(&workspace.root)
        .env("MPPS_BIN_DIR", programs);
    command
}

/// A crate with loom models, and their names.
pub(crate) struct LoomPackage {
    pub(crate) name: String,
    tests: Vec<String>,
}

/// Members with tests named `loom_*`.
pub(crate) fn loom_packages(workspace: &Workspace) -> Vec<LoomPackage> {
    let models = workspace.packages.iter().map(|package| {
        let tests = package
            .targets
            .iter()
            .filter(|target| target.kind.iter().any(|kind| kind == "test"));
        let tests = tests
            .filter(|target| target.name.starts_with("loom_"))
            .map(|target| target.name.clone());
        LoomPackage {
            name: package.name.clone(),
            tests: tests.collect(),
        }
    });
    models.filter(|package| !package.tests.is_empty()).collect()
}

/// Models are built with `cfg(loom)`, in a target folder of their own so that the ordinary build stays as it is.
pub(crate) fn loom_tests(workspace: &Workspace, package: &LoomPackage) -> Command {
    let mut command = shell::cargo();
    command
        .args(["test", "--no-fail-fast", "--package", &package.name])
        .current_dir(&workspace.root);
    for test in &package.tests {
        command.args(["--test", test]);
    }
    let flags = format!("{} --cfg loom", env::var("RUSTFLAGS").unwrap_or_default());
    command
        .env("RUSTFLAGS", flags.trim())
        .env("CARGO_TARGET_DIR", workspace.target.join("loom"));
    if env::var_os("LOOM_MAX_PREEMPTIONS").is_none() {
        // The short form; `soak` lifts the bound.
        command.env("LOOM_MAX_PREEMPTIONS", "3");
    }
    command
}

/// Runs a command, passing its standard output on line by line, but for what tests printed that passed: that is only
/// shown (`--show-output`) so that we see what was skipped.
fn stream(
    command: &mut Command,
    tally: &mut Tally,
    out: &mut impl Write,
) -> Result<ExitStatus, String> {
    let error = |what: std::io::Error| what.to_string();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(error)?;
    if let Some(pipe) = child.stdout.take() {
        let mut reader = BufReader::new(pipe);
        let (mut line, mut chatter) = (Vec::new(), false);
        // Bytes, not text: a test may print anything.
        while reader.read_until(b'\n', &mut line).map_err(error)? > 0 {
            let text = String::from_utf8_lossy(&line).into_owned();
            chatter = is_chatter(chatter, text.trim_end());
            if !chatter {
                write!(out, "{text}").map_err(error)?;
            }
            // A test may print what looks like a result; of its words only a skip counts.
            if !chatter || text.starts_with("SKIPPED ") {
                tally.read_line(text.trim_end());
            }
            line.clear();
        }
    }
    child.wait().map_err(error)
}

/// Whether a line belongs to the output of tests that passed, by what the line before was.
fn is_chatter(before: bool, line: &str) -> bool {
    match line {
        "successes:" => true,
        "failures:" => false,
        line if line.starts_with("test result: ") => false,
        _ => before,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passed_tests_print_is_left_out() {
        let lines = [
            "test a ... ok",
            "successes:",
            "---- a stdout ----",
            "SKIPPED a: b",
            "test result: ok. 1 passed",
        ];
        let mut before = false;
        let shown = lines.map(|line| {
            before = is_chatter(before, line);
            !before
        });
        assert_eq!(shown, [true, false, false, false, true]);
    }

    #[test]
    fn output_is_read_to_the_end_whatever_it_holds() {
        let (mut tally, mut shown) = (Tally::default(), Vec::new());
        let script = "printf 'test a ... FAILED\\n\\377\\nsuccesses:\\ntest b ... FAILED\\nSKIPPED c: d\\n\
            test result: FAILED. 3 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\\n'; exit 101";
        let mut command = Command::new("sh");
        let status = stream(command.args(["-c", script]), &mut tally, &mut shown).expect("sh runs");
        assert_eq!(status.code(), Some(101));
        assert_eq!((tally.passes(), tally.failures()), (3, 1));
        assert!(!String::from_utf8_lossy(&shown).contains("test b"));
        assert!(tally.close(false).0.contains("SKIPPED c: d"));
    }
}
