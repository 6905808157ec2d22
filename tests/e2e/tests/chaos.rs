//! Either of two joined processes is killed under traffic and started again, over and over: packets flow again, the one
//! that lives keeps its counters, its descriptors and mappings, and its other port loses nothing.
//!
//! The short form asks only that packets flow again at all; `--ignored` holds the times against what is promised.

use std::fs;
use std::time::{Duration, Instant};

use mpps_e2e::paths::PATHS;
use mpps_e2e::peer::{End, Joint, Whose, Wiring};
use mpps_e2e::report::{Nic, forwarded};

/// What must not grow with the number of peers that a process has lost: open files and mappings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    files: usize,
    mappings: usize,
}

impl Held {
    fn by(end: &End) -> Self {
        let id = end.id();
        let files = fs::read_dir(format!("/proc/{id}/fd")).expect("it runs");
        let mappings = fs::read_to_string(format!("/proc/{id}/maps")).expect("it runs");
        Self {
            files: files.count(),
            mappings: mappings.lines().count(),
        }
    }
}

fn never_backwards(before: &Nic, after: &Nic) {
    let pairs = [(before.rx, after.rx), (before.tx, after.tx)];
    let fell = pairs.iter().any(|(before, after)| {
        before
            .iter()
            .zip(after)
            .any(|(before, after)| after < before)
    });
    assert!(!fell, "{before:?}, then {after:?}");
}

/// Kills one end, starts it again and waits until packets flow; says how long that took.
fn kill(joint: &mut Joint, back_dies: bool) -> Duration {
    let survivor = if back_dies {
        &mut joint.front
    } else {
        &mut joint.back
    };
    let before = survivor.nic(0);
    let begin = Instant::now();
    if back_dies {
        joint.renew_back();
    } else {
        joint.renew_front();
    }
    joint.wait_for_link();
    let (survivor, new) = if back_dies {
        (&mut joint.front, &mut joint.back)
    } else {
        (&mut joint.back, &mut joint.front)
    };
    new.ask("start tx_first 32");
    // Sent once: a link that is up has buffers for what comes.
    new.until("packets again", |end| end.nic(0).rx[0] > 0);
    let took = begin.elapsed();
    never_backwards(&before, &survivor.nic(0));
    took
}

/// Kills `rounds` times one end and `rounds` times the other; how long it took until packets flowed again.
fn series(path: &'static str, back_dies: bool, rounds: usize) -> Vec<Duration> {
    let path = PATHS.iter().find(|one| one.name == path).expect("a path");
    let wiring = Wiring {
        beside: &["net_null0"],
        ..Wiring::new(Whose::Ours, Whose::Ours, path)
    };
    let mut joint = Joint::start(wiring);
    joint.flow(1000);
    let (mut times, mut held) = (Vec::new(), None);
    for _ in 0..rounds {
        times.push(kill(&mut joint, back_dies));
        let survivor = if back_dies { &joint.front } else { &joint.back };
        // The first new peer may bring what the process keeps from then on.
        let now = Held::by(survivor);
        assert_eq!(*held.get_or_insert(now), now, "{}", wiring.name());
    }
    let survivor = if back_dies {
        &mut joint.front
    } else {
        &mut joint.back
    };
    let rows = forwarded(&survivor.ask("stop"));
    let beside = rows.iter().find(|row| row.port == Some(1));
    let beside = beside.expect("statistics of the other port");
    assert!(beside.rx[0] > 0, "{beside:?}");
    assert_eq!([beside.rx[1], beside.tx[1]], [0, 0], "{beside:?}");
    // The back end began with 32 bursts of 32.
    let first = if back_dies { 0 } else { 1024 };
    assert_eq!(beside.rx[0] + first, beside.tx[0], "{beside:?}");
    // Says if a packet buffer is still in use.
    joint.quit();
    times
}

#[test]
fn the_back_end_is_killed() {
    series("split-in-order-mergeable", true, 2);
}

#[test]
fn the_front_end_is_killed() {
    series("split-in-order-mergeable", false, 2);
}

#[test]
#[ignore = "minutes; the long form of both others"]
fn killed_fifty_times_a_side_on_both_rings() {
    let mut times = Vec::new();
    for path in ["split-in-order-mergeable", "packed-in-order-mergeable"] {
        for back_dies in [true, false] {
            times.extend(series(path, back_dies, 50));
        }
    }
    times.sort();
    let (median, longest) = (times[times.len() / 2], times[times.len() - 1]);
    println!("packets again after {median:?} in the median, {longest:?} at most");
    assert!(median <= Duration::from_millis(200), "{median:?}");
    assert!(longest <= Duration::from_secs(2), "{longest:?}");
}
