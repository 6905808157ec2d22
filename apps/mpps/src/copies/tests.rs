//! Shares of known rates, the form of the tables, and one round in small.

use std::sync::Mutex;

use super::table::{Table, shares};
use super::{Loop, Shape, WAYS, Way, kinds, rates};
use crate::bench::Machine;
use mpps_os::Signals;

#[test]
fn shares_are_taken_round_by_round() {
    // The machine doubles its pace after the first round.
    let (slow, fast): (&[f64], &[f64]) = (&[5.0, 10.0, 10.0], &[10.0, 20.0, 20.0]);
    assert_eq!(shares(&[slow, fast]), [0.5, 1.0]);
    // Best in one round, and still not the best.
    assert_eq!(
        shares(&[&[12.0, 9.0, 9.0], &[10.0, 10.0, 10.0]]),
        [0.9, 1.0]
    );
    assert!(shares(&[]).is_empty());
}

#[test]
fn tables_fit_a_terminal_and_count_complete_rounds_alone() {
    let mut table = Table::of(
        vec!["libc", "inline", "erms", "avx2", "avx512"],
        &[64, 9000],
    );
    for round in 1..=3 {
        for (row, column) in (0..2).flat_map(|row| (0..5).map(move |column| (row, column))) {
            let rate = 100.0 + 10.0 * column as f64 + f64::from(round);
            table.add(row, column, [rate, 2.0 * rate, 3.0 * rate]);
        }
        if round < 3 {
            table.close_round();
        }
    }
    let text = table.text();
    for line in text.lines() {
        assert!(line.len() <= 80, "{} columns: {line}", line.len());
    }
    assert!(
        text.contains("  141.50 1.00") && text.contains("  101.50 0.72"),
        "{text}"
    );
    assert_eq!(text.matches("  9000").count(), WAYS.len());
    let json = table.json("split", "avx2");
    assert_eq!(json["rounds"], 2);
    assert_eq!(
        json["rates_mpps"]["enqueue"]["64"]["libc"],
        serde_json::json!([303.0, 306.0])
    );
}

/// Loops side by side would starve each other.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn every_kind_moves_packets_each_way() {
    let _alone = ALONE.lock();
    let (signals, machine) = (Signals::install().unwrap(), Machine::read().unwrap());
    for (at, (name, copier)) in kinds().into_iter().enumerate() {
        let shape = Shape {
            cpus: machine.pair,
            clock: machine.clock,
            size: if at % 2 == 0 { 9000 } else { 64 },
            packed: at % 2 == 0,
            copiers: [copier; 2],
        };
        let rates = rates(shape, &signals).unwrap();
        assert!(rates.iter().all(|rate| *rate > 0.0), "{name}: {rates:?}");
    }
}

#[test]
fn one_way_packets_are_counted_where_they_arrive() {
    let _alone = ALONE.lock();
    let (signals, machine) = (Signals::install().unwrap(), Machine::read().unwrap());
    let (_, copier) = kinds().remove(0);
    let shape = Shape {
        cpus: machine.pair,
        clock: machine.clock,
        size: 64,
        packed: false,
        copiers: [copier; 2],
    };
    let mut both = Loop::new(shape).unwrap();
    for way in [Way::FromVhost, Way::FromVirtioUser, Way::FromVhost] {
        both.set_way(way).unwrap();
        let before = both.received();
        both.run(true, false).unwrap();
        let begin = std::time::Instant::now();
        while both.received() == before && begin.elapsed().as_secs() < 20 {
            super::nap(std::time::Duration::from_millis(5), &signals).unwrap();
        }
        assert!(both.received() > before, "{way:?}: nothing moves");
        both.pause().unwrap();
        both.empty().unwrap();
    }
    both.set_way(Way::Round).unwrap();
    both.finish().unwrap();
}
