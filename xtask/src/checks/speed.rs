//! Packet rates against DPDK's testpmd, and of two workers against one. Ratios only: absolute rates drift with the machine.

use std::env;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use super::{Bound, Check, Miss, Plant, Subject};
use crate::session::{self, Counter, Scenario};
use crate::shell;

/// Takes most of CPU 0 away from the program for as long as it runs.
pub(super) const SLOW: Plant = Plant::Script(
    "taskset -c 0 nice -n -20 sh -c 'while kill -0 $0; do :; done' $$ 2>/dev/null & hog=$!\n\
     \"$REAL\" \"$@\"; end=$?; kill $hog; exit $end",
);
/// The same on CPU 1, where the second worker is.
const SLOW_SECOND: Plant = Plant::Script(
    "taskset -c 1 nice -n -20 sh -c 'while kill -0 $0; do :; done' $$ 2>/dev/null & hog=$!\n\
     \"$REAL\" \"$@\"; end=$?; kill $hog; exit $end",
);

pub(super) const CHECKS: &[Check] = &[
    against_dpdk(
        "speed-null-io",
        2.0,
        "null ports, io: at least twice the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-null-mac",
        2.0,
        "null ports, mac: at least twice the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-null-macswap",
        2.0,
        "null ports, macswap: at least twice the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-null-txonly",
        2.0,
        "null ports, txonly: at least twice the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-null-flowgen",
        2.0,
        "null ports, flowgen: at least twice the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-null-rxonly",
        1.5,
        "null ports, rxonly: at least 1.5 times the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-null-csum",
        1.5,
        "null ports, csum: at least 1.5 times the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-ring-io",
        0.6,
        "ring ports, io: at least 0.6 times the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-vhost-virtio-io",
        2.0,
        "vhost and virtio-user, io: at least 2 times the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-vhost-virtio-macswap",
        2.0,
        "vhost and virtio-user, macswap: at least 2 times the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-vhost-virtio-nomrg",
        2.0,
        "vhost and virtio-user, nomrg: at least 2 times the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-vhost-virtio-noinorder",
        2.0,
        "vhost and virtio-user, noinorder: at least 2 times the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-vhost-virtio-2q",
        2.0,
        "vhost and virtio-user, 2q: at least 2 times the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-vhost-virtio-512",
        2.0,
        "vhost and virtio-user, 512: at least 2 times the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-vhost-virtio-packed",
        1.8,
        "vhost and virtio-user, packed: at least 1.8 times the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-vhost-virtio-256",
        1.8,
        "vhost and virtio-user, 256: at least 1.8 times the rate of DPDK 22.11",
    ),
    against_dpdk(
        "speed-vhost-virtio-1518",
        1.6,
        "vhost and virtio-user, 1518: at least 1.6 times the rate of DPDK 22.11",
    ),
    Check {
        name: "speed-2core",
        proves: "null ports, macswap: two workers move at least 1.8 times what one does, median of five pairs",
        bound: Bound::AtLeast(1.8, "x"),
        run: two_cores,
        plant: SLOW_SECOND,
    },
];

const ROUNDS: usize = 5;
const NULL_PORTS: &[&str] = &["net_null0", "net_null1"];

const ONE_CORE: Scenario = Scenario {
    name: "null-macswap",
    lcores: "0@1,1@0",
    vdevs: NULL_PORTS,
    arguments: &["--forward-mode=macswap"],
    start: "start",
    counter: Counter::Received,
};

const TWO_CORES: Scenario = Scenario {
    name: "null-macswap-2core",
    lcores: "0@0,1@0,2@1",
    arguments: &["--forward-mode=macswap", "--nb-cores=2"],
    ..ONE_CORE
};

const fn against_dpdk(name: &'static str, floor: f64, proves: &'static str) -> Check {
    Check {
        name,
        proves,
        bound: Bound::AtLeast(floor, "x"),
        run: duel,
        plant: SLOW,
    }
}

fn duel(check: &Check, subject: &Subject) -> Result<f64, Miss> {
    let scenario = check.name.trim_start_matches("speed-");
    let output = run_script(subject, scenario, &[])?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    print!("{text}");
    if let (Some(ours), Some(theirs)) = (span(&text, scenario, "A"), span(&text, scenario, "B")) {
        // The machine may be quick in some rounds and slow in others: like is set against like.
        println!(
            "{scenario} best/best {:.3}, worst/worst {:.3}",
            ours.1 / theirs.1,
            ours.0 / theirs.0
        );
    }
    let ratio = median_ratio(&text, scenario)
        .ok_or_else(|| format!("no ratio in what the duel printed: {text:?}"))?;
    if output.status.success() {
        Ok(ratio)
    } else {
        Err(Miss::Failed(format!(
            "a run failed; ratio {ratio} of the rest"
        )))
    }
}

/// The duel is a script handed in from outside, so that the judge is not the judged.
pub(super) fn run_script(subject: &Subject, scenario: &str, more: &[&str]) -> Result<Output, Miss> {
    let script = env::var_os("MPPS_DUEL").map(PathBuf::from);
    let Some(script) = script else {
        return Err(Miss::Skipped(
            "MPPS_DUEL doesn't name the duel script".to_owned(),
        ));
    };
    let script = if script.is_dir() {
        script.join("duel.py")
    } else {
        script
    };
    if !script.is_file() {
        return Err(Miss::Failed(format!(
            "MPPS_DUEL: there is no '{}'",
            script.display()
        )));
    }
    for program in ["dpdk-testpmd", "python3"] {
        if !shell::has_program(program) {
            return Err(Miss::Skipped(format!("{program} is not installed")));
        }
    }
    if !shell::is_root() {
        return Err(Miss::Skipped(
            "DPDK's testpmd needs root for its hugepages".to_owned(),
        ));
    }
    let mut command = Command::new("python3");
    command
        .arg(script)
        .args([scenario, "--rounds", &ROUNDS.to_string()])
        .args(["--b", "dpdk-testpmd", "--a"])
        .arg(subject.testpmd())
        .args(more)
        .stderr(Stdio::inherit());
    command
        .output()
        .map_err(|error| Miss::Failed(error.to_string()))
}

/// `null-io A/B ratio median 2.345  min 2.100  max 2.500`
fn median_ratio(text: &str, scenario: &str) -> Option<f64> {
    let start = format!("{scenario} A/B ratio median ");
    text.lines().find_map(|line| {
        line.strip_prefix(&start)?
            .split_whitespace()
            .next()?
            .parse()
            .ok()
    })
}

/// Lowest and highest of `null-io A   Mpps median 2.00  min 1.00  max 3.00  (5 runs)`.
fn span(text: &str, scenario: &str, kind: &str) -> Option<(f64, f64)> {
    let words = text.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words
            .starts_with(&[scenario, kind, "Mpps"])
            .then_some(words)
    })?;
    let behind = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1)?.parse().ok()
    };
    Some((behind("min")?, behind("max")?))
}

fn two_cores(_: &Check, subject: &Subject) -> Result<f64, Miss> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return Err(Miss::Skipped("one CPU only".to_owned()));
    }
    let (program, time) = (subject.testpmd(), Duration::from_secs(2));
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        // In turn, so that a machine whose speed drifts hurts both alike.
        let (one, two) = if round % 2 == 0 {
            let one = session::rate(&program, &ONE_CORE, time)?;
            (one, session::rate(&program, &TWO_CORES, time)?)
        } else {
            let two = session::rate(&program, &TWO_CORES, time)?;
            (session::rate(&program, &ONE_CORE, time)?, two)
        };
        ratios.push(two / one);
    }
    session::median(&ratios).ok_or_else(|| Miss::Failed("no run".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ratio_is_found() {
        let text = "null-io A   Mpps median   210.00  min 1 max 2  (5 runs)\nnull-io A/B ratio median 2.345  min 2.100  max 2.500\n";
        assert_eq!(median_ratio(text, "null-io"), Some(2.345));
        assert_eq!(super::span(text, "null-io", "A"), Some((1.0, 2.0)));
        assert_eq!(super::span(text, "null-io", "B"), None);
    }

    #[test]
    fn another_scenario_or_no_number_is_no_ratio() {
        assert_eq!(
            median_ratio("null-mac A/B ratio median 2.345  min", "null-io"),
            None
        );
        assert_eq!(
            median_ratio("null-io A/B ratio median fast", "null-io"),
            None
        );
        assert_eq!(median_ratio("", "null-io"), None);
    }
}
