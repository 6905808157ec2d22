//! What ports cost that have nothing to do, and how soon they are done with a packet that comes alone.

use super::{Bound, Check, Miss, Plant, Subject};
use crate::harness;

pub(super) const CHECKS: &[Check] = &[LONE, IDLE];

const LONE: Check = Check {
    name: "lone-latency",
    proves: "no batch holds a packet back: a lone one goes once round vhost and virtio-user, p50 of the slower layout; p99 and p99.9 are shown",
    bound: Bound::Below(5.0, " us"),
    run: lone_latency,
    plant: Plant::Expectation,
};

fn lone_latency(_: &Check, subject: &Subject) -> Result<f64, Miss> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return Err(Miss::Skipped("one CPU only".to_owned()));
    }
    // The fault: the other end looks only every ten microseconds.
    let words: &[&str] = if subject.planted {
        &["lone", "--burden", "10000"]
    } else {
        &["lone"]
    };
    let lines = harness::lines(&subject.workspace, words)?;
    highest(&lines, ": p50 ", " us").ok_or_else(|| Miss::Failed(format!("no times in {lines:?}")))
}

const IDLE: Check = Check {
    name: "idle-port",
    proves: "an idle vhost or virtio-user port, with a peer or without, costs the poll loop so much a turn: slope from 1 to 64 ports, \
        median of five, the dearest kind",
    bound: Bound::Below(15.0, " ns"),
    run: idle_port,
    plant: Plant::Expectation,
};

fn idle_port(_: &Check, subject: &Subject) -> Result<f64, Miss> {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return Err(Miss::Skipped("one CPU only".to_owned()));
    }
    // The fault: each visit wastes as much as it may cost.
    let words: &[&str] = if subject.planted {
        &["idle", "--burden", "15"]
    } else {
        &["idle"]
    };
    let lines = harness::lines(&subject.workspace, words)?;
    highest(&lines, ": slope ", " ns")
        .ok_or_else(|| Miss::Failed(format!("no slopes in {lines:?}")))
}

/// The highest of the figures between these words, one a line: `KIND: slope 8.04 ns a port, ...`.
fn highest(lines: &[String], before: &str, after: &str) -> Option<f64> {
    let figures = lines.iter().map(|line| {
        let (_, rest) = line.split_once(before)?;
        rest.split_once(after)?.0.parse::<f64>().ok()
    });
    let figures: Option<Vec<f64>> = figures.collect();
    figures?.into_iter().reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::highest;

    fn dearest(lines: &[String]) -> Option<f64> {
        highest(lines, ": slope ", " ns")
    }

    #[test]
    fn the_dearest_counts_and_a_line_without_slope_is_none() {
        let line = |text: &str| text.to_owned();
        let both = [
            line("vhost-split: slope 17.55 ns a port, 17.52 to 17.59; more"),
            line("vhost-packed: slope 8.10 ns a port, 8 to 9; more"),
        ];
        assert_eq!(dearest(&both), Some(17.55));
        assert_eq!(dearest(&[both[0].clone(), line("odd")]), None);
        assert_eq!(dearest(&[]), None);
    }
}
