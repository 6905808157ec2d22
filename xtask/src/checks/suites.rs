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
    suite(
        "handover",
        "memory, features and rings change 10,000 times under traffic, polled and not, both layouts: every packet comes back once, in order",
        |_, subject| {
            tests(
                subject,
                &["--package", "mpps_pmd_vhost", "--test", "session"],
                &["changes_under_traffic_10000_times", "--ignored"],
                |_| {},
            )
        },
    ),
    suite(
        "contents",
        "numbered packets through the ten paths, checked at either end, in one process and with DPDK: each found once or counted; 10^5 a path",
        |_, subject| end_to_end(subject, "numbered", &[]),
    ),
    suite(
        "chaos",
        "either of two joined programs is killed under traffic: packets flow again, nothing leaks; times are those of `soak chaos`",
        |_, subject| end_to_end(subject, "chaos", &[]),
    ),
    suite(
        "double-fetch",
        "what a peer writes is read once for a decision: fuzz inputs replayed with memory that changes before each load",
        |_, subject| {
            let target = subject.workspace.target.join("double-fetch");
            tests(
                subject,
                &["--package", "mpps_fuzz", "--package", "mpps_shm", "--lib"],
                &["corpora_and_mutations", "double_fetch"],
                |command| {
                    command
                        .env("RUSTFLAGS", "--cfg mpps_double_fetch")
                        .env("CARGO_TARGET_DIR", &target);
                },
            )
        },
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

/// End-to-end tests of a theme, one after another.
fn end_to_end(subject: &Subject, theme: &str, filters: &[&str]) -> Result<f64, Miss> {
    let filters = [filters, &["--test-threads=1"]].concat();
    tests(
        subject,
        &["--package", "mpps_e2e", "--test", theme],
        &filters,
        |command| {
            command.env("MPPS_BIN_DIR", &subject.programs);
        },
    )
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
