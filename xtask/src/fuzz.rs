//! `cargo xtask fuzz`: builds the targets of `fuzz/` with libFuzzer, coverage and AddressSanitizer on the installed stable
//! toolchain, and runs them. The toolchain's door to its own sanitizers is opened here and nowhere else.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::shell::{self, Package, Workspace};

/// The crate of the targets.
const CRATE: &str = "mpps_fuzz";
/// What libFuzzer needs to see of the code: edges, counters, comparisons. Sanitizer and checks find the rest.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
    -Cllvm-args=-sanitizer-coverage-trace-compares -Zsanitizer=address -Cdebug-assertions=yes -Coverflow-checks=yes \
    --cfg mpps_double_fetch";
/// The release profile is made for speed of the product; this one for a build of seconds.
const PROFILE: [&str; 4] = [
    "--config=profile.release.lto='off'",
    "--config=profile.release.codegen-units=16",
    "--config=profile.release.debug='line-tables-only'",
    "--config=profile.release.opt-level=2",
];

/// Executions after which a target has had enough, however much time is left.
const MOST: u64 = 10_000_000;

/// The verb.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let names = shell::only_options(arguments, &["--list"], &["--seconds"])?;
    let workspace = Workspace::read()?;
    if arguments.iter().any(|argument| argument == "--list") {
        targets(package(&workspace)?)
            .iter()
            .for_each(|target| println!("{target}"));
        return Ok(());
    }
    let seconds = shell::option(arguments, "--seconds").unwrap_or("60");
    let seconds: u64 = seconds
        .parse()
        .map_err(|_| format!("--seconds: '{seconds}' is not a whole number"))?;
    fuzz(&workspace, &names, Duration::from_secs(seconds))
}

/// Runs the named targets, or all, for a time each. Inputs that fail are left in `fuzz/artifacts`, new ones of interest
/// in the target folder; nothing is added to the committed corpora.
pub(crate) fn fuzz(workspace: &Workspace, names: &[String], time: Duration) -> Result<(), String> {
    let package = package(workspace)?;
    let known = targets(package);
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        return Err(format!(
            "no fuzz target '{name}'; there are {}",
            known.join(", ")
        ));
    }
    let host = host()?;
    build(workspace, &host)?;
    let programs = workspace.target.join("fuzz").join(&host).join("release");
    let (mut failed, mut table) = (Vec::new(), Vec::new());
    for name in known
        .iter()
        .filter(|name| names.is_empty() || names.contains(name))
    {
        println!("== {name}: {} s", time.as_secs());
        let mut command = fuzzer(
            &programs.join(name),
            package.folder(),
            &workspace.target,
            name,
            time,
        )?;
        let outcome = watched(&mut command)?;
        let result = if outcome.well { "clean" } else { "FAILED" };
        let Outcome {
            executions,
            coverage,
            ..
        } = outcome;
        table.push(format!("{name:20} {executions:>12} {coverage:>9} {result}"));
        if !outcome.well {
            failed.push(name.clone());
        }
    }
    println!(
        "{:20} {:>12} {:>9} result",
        "target", "executions", "coverage"
    );
    table.iter().for_each(|line| println!("{line}"));
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("failed: {}", failed.join(", ")))
    }
}

/// How a target's run ended.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    executions: u64,
    /// Edges.
    coverage: u64,
    well: bool,
}

impl Outcome {
    /// `#4096 pulse  cov: 512 ft: 900 ...` or `stat::number_of_executed_units: 4096`
    fn read_line(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            let place = match word {
                "cov:" => &mut self.coverage,
                "stat::number_of_executed_units:" => &mut self.executions,
                _ => continue,
            };
            if let Some(number) = words.next().and_then(|word| word.parse().ok()) {
                *place = number;
            }
        }
    }
}

/// Runs a target, passes its lines on and reads them.
fn watched(command: &mut Command) -> Result<Outcome, String> {
    let error = |error: std::io::Error| error.to_string();
    let mut child = command.stderr(Stdio::piped()).spawn().map_err(error)?;
    let mut outcome = Outcome::default();
    if let Some(pipe) = child.stderr.take() {
        for line in BufReader::new(pipe).split(b'\n') {
            let line = String::from_utf8_lossy(&line.map_err(error)?).into_owned();
            eprintln!("{line}");
            outcome.read_line(&line);
        }
    }
    outcome.well = child.wait().map_err(error)?.success();
    Ok(outcome)
}

fn package(workspace: &Workspace) -> Result<&Package, String> {
    workspace
        .package(CRATE)
        .ok_or_else(|| format!("the workspace has no member {CRATE}"))
}

fn targets(package: &Package) -> Vec<String> {
    let programs = package
        .targets
        .iter()
        .filter(|target| target.kind.iter().any(|kind| kind == "bin"));
    programs.map(|target| target.name.clone()).collect()
}

/// The target triple of the installed compiler. Naming it keeps the flags away from build scripts.
fn host() -> Result<String, String> {
    let text = shell::output(Command::new("rustc").arg("-vV"))?;
    text.lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned)
        .ok_or_else(|| "rustc names no host".to_owned())
}

fn build(workspace: &Workspace, host: &str) -> Result<(), String> {
    let mut command = shell::cargo();
    command
        .args([
            "build",
            "--release",
            "--package",
            CRATE,
            "--features",
            "libfuzzer",
            "--bins",
            "--target",
            host,
        ])
        .args(PROFILE)
        .current_dir(&workspace.root)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("RUSTFLAGS", FLAGS)
        .env("CARGO_TARGET_DIR", workspace.target.join("fuzz"));
    shell::run(&mut command)
}

fn fuzzer(
    program: &Path,
    fuzz: &Path,
    target: &Path,
    name: &str,
    time: Duration,
) -> Result<Command, String> {
    let fresh = target.join("fuzz/corpus").join(name);
    let artifacts = fuzz.join("artifacts").join(name);
    for folder in [&fresh, &artifacts] {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut command = Command::new(program);
    command
        .arg(format!("-max_total_time={}", time.as_secs()))
        .arg(format!("-runs={MOST}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()))
        .args(["-timeout=10", "-rss_limit_mb=2048", "-print_final_stats=1"])
        .arg(fresh)
        .arg(fuzz.join("corpus").join(name));
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::Outcome;

    #[test]
    fn executions_and_coverage_are_read() {
        let mut outcome = Outcome::default();
        for line in [
            "#2048\tpulse  cov: 510 ft: 900 corp: 3/9b",
            "#4096\tDONE   cov: 512 ft: 901 corp: 3/9b lim: 4 exec/s: 2048 rss: 40Mb",
            "stat::number_of_executed_units: 4096",
            "cov: many",
        ] {
            outcome.read_line(line);
        }
        let expected = Outcome {
            executions: 4096,
            coverage: 512,
            well: false,
        };
        assert_eq!(outcome, expected);
    }
}
