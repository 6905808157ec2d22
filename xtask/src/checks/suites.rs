//! Promises that whole groups of tests keep: each check runs its group and counts what passed.

use std::process::Stdio;
use std::time::Instant;

use super::planted::Folder;
use super::{Bound, Check, Miss, Plant, Subject};
use crate::shell;
use crate::tally::Tally;

const fn suite(
    name: &'static str,
    proves: &'static str,
    run: fn(&Check, &Subject) -> Result<f64, Miss>,
) -> Check {
    Check {
        name,
        proves,
        bound: Bound::AtLeast(1.0, " tests passed"),
        run,
        plant: Plant::Expectation,
    }
}

pub(super) const CHECKS: &[Check] = &[
    suite(
        "loom",
        "rings, counters and the gate keep their promises in every interleaving that loom tries",
        |_, subject| {
            let target = subject.workspace.target.join("loom");
            tests(
                subject,
                &[
                    "--release",
                    "--package",
                    "mpps_ring",
                    "--test",
                    "loom_ring",
                    "--test",
                    "loom_gate",
                ],
                &[],
                |command| {
                    command
                        .env("RUSTFLAGS", "--cfg loom")
                        .env("CARGO_TARGET_DIR", &target);
                },
            )
        },
    ),
    suite(
        "conformance",
        "null, ring and pcap ports pass the conformance kit",
        |_, subject| {
            let packages = [
                "--package",
                "mpps_pmd_null",
                "--package",
                "mpps_pmd_ring",
                "--package",
                "mpps_pmd_pcap",
            ];
            tests(
                subject,
                &[&packages[..], &["--test", "conformance"]].concat(),
                &[],
                |_| {},
            )
        },
    ),
    suite(
        "shared-lines",
        "no cache line is written by two workers",
        |_, subject| {
            tests(
                subject,
                &[
                    "--package",
                    "mpps_mbuf",
                    "--package",
                    "mpps_worker",
                    "--package",
                    "mpps_dev",
                    "--lib",
                ],
                &["line"],
                |_| {},
            )
        },
    ),
    suite(
        "kernels",
        "every vector kernel does what its scalar twin does, at every length and alignment",
        |_, subject| tests(subject, &["--package", "mpps_kernels"], &[], |_| {}),
    ),
    Check {
        name: "first-run",
        proves: "from a clean clone `cargo run --release` starts its measurement",
        bound: Bound::Below(240.0, " s"),
        run: first_run,
        plant: Plant::Expectation,
    },
];

/// Runs tests and counts those that passed. A planted fault is a name that no test has: a group without tests proves
/// nothing, and has to be seen as such.
fn tests(
    subject: &Subject,
    which: &[&str],
    filters: &[&str],
    prepare: impl FnOnce(&mut std::process::Command),
) -> Result<f64, Miss> {
    let mut command = shell::cargo();
    command.arg("test").args(which).arg("--").args(filters);
    if subject.planted {
        command.arg("no_test_has_this_name").arg("--exact");
    }
    command
        .current_dir(&subject.workspace.root)
        .stderr(Stdio::inherit());
    prepare(&mut command);
    let output = command.output().map_err(|error| error.to_string())?;
    let mut tally = Tally::default();
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .for_each(|line| tally.read_line(line));
    if !output.status.success() || tally.failures() > 0 {
        return Err(Miss::Failed("tests failed".to_owned()));
    }
    Ok(tally.passes() as f64)
}

/// Clones the repository as committed, builds it with an empty target folder and runs the main job.
fn first_run(_: &Check, subject: &Subject) -> Result<f64, Miss> {
    let folder = Folder::new("first-run")?;
    let clone = folder.path().join("clone");
    let mut git = std::process::Command::new("git");
    git.args(["clone", "--quiet"])
        .arg(&subject.workspace.root)
        .arg(&clone);
    shell::run(&mut git)?;
    let begin = Instant::now();
    let mut command = shell::cargo();
    command.args(["run", "--release", "--quiet", "--", "--seconds", "2"]);
    command
        .current_dir(&clone)
        .env_remove("CARGO_TARGET_DIR")
        .env("CARGO_TARGET_DIR", folder.path().join("target"));
    shell::run(&mut command)?;
    let seconds = begin.elapsed().as_secs_f64() - 2.0;
    Ok(if subject.planted {
        seconds + 240.0
    } else {
        seconds
    })
}
