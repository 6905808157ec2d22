//! `cargo xtask soak`: the long forms of the tests, by name. For nights and releases; CI runs the short ones.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::session::{self, Counter, Scenario};
use crate::shell::{self, Workspace};
use crate::tally;
use crate::{fuzz, harness, suite};

/// One long test.
struct Soak {
    name: &'static str,
    about: &'static str,
    run: fn(&Workspace) -> Result<(), String>,
}

const SOAKS: &[Soak] = &[
    Soak {
        name: "loom",
        about: "all loom models without a bound on preemptions",
        run: loom,
    },
    Soak {
        name: "proptest",
        about: "all property tests with 20,000 cases each",
        run: proptest,
    },
    Soak {
        name: "ignored",
        about: "tests that are marked #[ignore] because of their length",
        run: ignored,
    },
    Soak {
        name: "guests",
        about: "Linux guests in QEMU: all ways through the rings, streams, queues, reboots, firmware, kills",
        run: |workspace| end_to_end(workspace, "guests"),
    },
    Soak {
        name: "peers",
        about: "ours and DPDK's testpmd at either end: the ten paths, sizes, queues, chains, restarts",
        run: |workspace| end_to_end(workspace, "peers"),
    },
    Soak {
        name: "contents",
        about: "10^8 numbered packets (or MPPS_PACKETS) through each of the ten paths, in one process and with DPDK at either end",
        run: contents,
    },
    Soak {
        name: "chaos",
        about: "two joined programs, either killed 50 times under traffic, both rings: packets flow again, nothing leaks",
        run: |workspace| end_to_end(workspace, "chaos"),
    },
    Soak {
        name: "fuzz",
        about: "every fuzz target for five minutes or 10^7 executions, whichever is first",
        run: fuzz_all,
    },
    Soak {
        name: "a-a",
        about: "macswap over null ports against itself, 15 pairs: the median ratio must be 1 within 3 %",
        run: same,
    },
];

/// The verb.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    let names = shell::only_options(arguments, &["--list"], &[])?;
    if let Some(name) = names
        .iter()
        .find(|name| SOAKS.iter().all(|soak| soak.name != name.as_str()))
    {
        return Err(format!(
            "no soak '{name}'; `cargo xtask soak --list` names them"
        ));
    }
    let chosen = SOAKS
        .iter()
        .filter(|soak| names.is_empty() || names.iter().any(|name| name == soak.name));
    if arguments.iter().any(|argument| argument == "--list") {
        chosen.for_each(|soak| println!("{}: {}", soak.name, soak.about));
        return Ok(());
    }
    let workspace = Workspace::read()?;
    let (mut passed, mut failed) = (0, 0);
    for soak in chosen {
        println!("== {}: {}", soak.name, soak.about);
        match (soak.run)(&workspace) {
            Ok(()) => passed += 1,
            Err(why) => {
                println!("FAILED {}: {why}", soak.name);
                failed += 1;
            }
        }
    }
    println!("{}", tally::closing_line(passed, failed, 0));
    if failed == 0 {
        Ok(())
    } else {
        Err(format!("{failed} failed"))
    }
}

fn loom(workspace: &Workspace) -> Result<(), String> {
    for package in suite::loom_packages(workspace) {
        // Beyond the number of threads that loom allows, so no bound at all.
        shell::run(suite::loom_tests(workspace, &package).env("LOOM_MAX_PREEMPTIONS", "1000"))?;
    }
    Ok(())
}

fn cargo_test(workspace: &Workspace) -> Command {
    let mut command = shell::cargo();
    command
        .args(["test", "--workspace", "--no-fail-fast"])
        .current_dir(&workspace.root);
    command
}

fn proptest(workspace: &Workspace) -> Result<(), String> {
    let programs = workspace.release_programs()?;
    shell::run(
        cargo_test(workspace)
            .env("PROPTEST_CASES", "20000")
            .env("MPPS_BIN_DIR", programs),
    )
}

fn ignored(workspace: &Workspace) -> Result<(), String> {
    let programs = workspace.release_programs()?;
    let mut command = cargo_test(workspace);
    command
        .args([
            "--lib",
            "--bins",
            "--tests",
            "--",
            "--ignored",
            "--test-threads=1",
        ])
        .env("MPPS_BIN_DIR", programs);
    shell::run(&mut command)
}

/// One test after another: a guest under emulation, or two programs that poll, take all that the machine has.
fn end_to_end(workspace: &Workspace, theme: &str) -> Result<(), String> {
    let programs = workspace.release_programs()?;
    shell::run(end_to_end_tests(workspace, theme).env("MPPS_BIN_DIR", programs))
}

fn end_to_end_tests(workspace: &Workspace, theme: &str) -> Command {
    let mut command = shell::cargo();
    command
        .args([
            "test",
            "--package",
            "mpps_e2e",
            "--test",
            theme,
            "--no-fail-fast",
            "--",
        ])
        .args(["--include-ignored", "--test-threads=1", "--nocapture"])
        .current_dir(&workspace.root);
    command
}

fn contents(workspace: &Workspace) -> Result<(), String> {
    let harness = harness::program(workspace)?;
    let programs = workspace.release_programs()?;
    let packets = std::env::var("MPPS_PACKETS").unwrap_or_else(|_| "100000000".to_owned());
    let mut command = end_to_end_tests(workspace, "numbered");
    command
        .env("MPPS_BIN_DIR", programs)
        .env("MPPS_HARNESS", harness)
        .env("MPPS_PACKETS", packets);
    shell::run(&mut command)
}

fn fuzz_all(workspace: &Workspace) -> Result<(), String> {
    fuzz::fuzz(workspace, &[], Duration::from_secs(300))
}

const MACSWAP: Scenario = Scenario {
    name: "null-macswap",
    lcores: "0@1,1@0",
    vdevs: &["net_null0", "net_null1"],
    arguments: &["--forward-mode=macswap"],
    start: "start",
    counter: Counter::Received,
};

/// A program against itself: whatever this shows is the error of our own measuring.
fn same(workspace: &Workspace) -> Result<(), String> {
    let program = workspace.release_programs()?.join("testpmd");
    let median = median_of_pairs(&program, 15)?;
    println!("a-a: {median:.3}, 1 within 0.03");
    if (median - 1.0).abs() <= 0.03 {
        Ok(())
    } else {
        Err(format!("the median ratio is {median:.3}"))
    }
}

fn median_of_pairs(program: &Path, pairs: usize) -> Result<f64, String> {
    let rate = || session::rate(program, &MACSWAP, Duration::from_secs(2));
    let mut ratios = Vec::new();
    for pair in 0..pairs {
        let (first, second) = (rate()?, rate()?);
        ratios.push(if pair % 2 == 0 {
            first / second
        } else {
            second / first
        });
    }
    session::median(&ratios).ok_or_else(|| "no pair".to_owned())
}
