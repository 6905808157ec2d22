//! Counters: differences, and where they lie.

use super::{QueueCounts, QueueStats};

#[test]
fn counters_add_up_by_kind() {
    let stats = QueueStats::default();
    stats.count(3, 180);
    stats.count(1, 60);
    stats.errors.add(2);
    stats.missed.add(5);
    stats.no_mbuf.add(7);
    let counts = QueueCounts {
        packets: 4,
        bytes: 240,
        errors: 2,
        missed: 5,
        no_mbuf: 7,
    };
    assert_eq!(stats.read(), counts);
}

#[test]
fn a_baseline_takes_every_counter_to_zero_and_none_below() {
    let stats = QueueStats::default();
    stats.count(3, 180);
    stats.errors.add(1);
    stats.missed.add(1);
    stats.no_mbuf.add(1);
    let baseline = stats.read();
    assert_eq!(baseline.since(baseline), QueueCounts::default());
    stats.count(1, 60);
    let since = stats.read().since(baseline);
    assert_eq!((since.packets, since.bytes, since.errors), (1, 60, 0));
    // A reader that took the baseline between two of the owner's stores sees zero, not a number near 2^64.
    let ahead = QueueCounts {
        bytes: 1000,
        ..baseline
    };
    assert_eq!(stats.read().since(ahead).bytes, 0);
}

#[test]
fn counters_of_a_queue_fill_lines_of_their_own() {
    assert_eq!(align_of::<QueueStats>(), 128);
    assert_eq!(size_of::<QueueStats>(), 128);
}
