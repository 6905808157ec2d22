//! The rules of the burst list, and C's text for a division by zero.

use proptest::prelude::*;

use super::*;

fn spread(counts: &[(usize, u64)]) -> BurstSpread {
    let mut all = vec![0; 513];
    counts.iter().for_each(|&(size, count)| all[size] = count);
    BurstSpread(all)
}

fn line(counts: &[(usize, u64)]) -> String {
    BurstLine {
        direction: Direction::Rx,
        spread: &spread(counts),
    }
    .to_string()
}

#[test]
fn nothing_counted_prints_nothing() {
    assert_eq!(line(&[]), "");
    assert_eq!(
        BurstLine {
            direction: Direction::Tx,
            spread: &BurstSpread::default()
        }
        .to_string(),
        ""
    );
}

#[test]
fn only_empty_bursts() {
    // As recorded in the null session.
    assert_eq!(
        line(&[(0, 6_525_994)]),
        "  RX-bursts : 6525994 [100% of 0 pkts]\n"
    );
}

#[test]
fn zero_comes_first_even_when_rare() {
    assert_eq!(
        line(&[(32, 10)]),
        "  RX-bursts : 10 [0% of 0 pkts + 100% of 32 pkts]\n"
    );
    assert_eq!(
        line(&[(0, 1), (32, 999)]),
        "  RX-bursts : 1000 [0% of 0 pkts + 100% of 32 pkts]\n"
    );
}

#[test]
fn two_most_frequent_then_others() {
    let want =
        "  RX-bursts : 100 [10% of 0 pkts + 50% of 32 pkts + 30% of 4 pkts + 10% of other]\n";
    assert_eq!(line(&[(0, 10), (4, 30), (8, 6), (16, 4), (32, 50)]), want);
}

#[test]
fn ties_go_to_the_smaller_size() {
    let want = "  RX-bursts : 4 [0% of 0 pkts + 25% of 1 pkts + 25% of 2 pkts + 50% of other]\n";
    assert_eq!(line(&[(1, 1), (2, 1), (3, 1), (512, 1)]), want);
}

#[test]
fn percents_are_cut_and_the_last_takes_the_rest() {
    assert_eq!(
        line(&[(0, 1), (1, 1), (2, 1)]),
        "  RX-bursts : 3 [33% of 0 pkts + 33% of 1 pkts + 34% of 2 pkts]\n"
    );
}

proptest! {
    #[test]
    fn percents_sum_to_100_and_the_list_closes(counts in prop::collection::vec((0_usize..513, 0_u64..1 << 40), 1..40)) {
        let text = line(&counts);
        let total: u64 = spread(&counts).0.iter().sum();
        if total == 0 {
            prop_assert_eq!(text, "");
            return Ok(());
        }
        let head = format!("  RX-bursts : {total} [");
        let list = text.strip_prefix(&head).and_then(|rest| rest.strip_suffix("]\n")).expect("frame");
        let entries: Vec<&str> = list.split(" + ").collect();
        let percents = entries.iter().map(|entry| entry.split('%').next().and_then(|n| n.parse::<u64>().ok()));
        prop_assert_eq!(percents.map(|n| n.expect("number")).sum::<u64>(), 100);
        prop_assert!(entries[0].ends_with("of 0 pkts") && (1..=4).contains(&entries.len()));
        let sizes = spread(&counts).0.iter().skip(1).filter(|count| **count > 0).count();
        prop_assert_eq!(entries.len() == 4, sizes > 2);
        prop_assert_eq!(entries.len() == 4, list.ends_with("% of other"));
    }
}

#[test]
fn cycles() {
    let line = CyclesLine {
        busy_cycles: 1_234_567,
        packets: 10_000,
        mode: "macswap",
        hz: 2_499_999_999,
    };
    let want = "\n  CPU cycles/packet=123.46 (busy cycles=1234567 / total macswap packets=10000) at 2499 MHz Clock\n";
    assert_eq!(line.to_string(), want);
}

#[test]
fn cycles_of_no_packet_read_as_c_prints_them() {
    let line = |busy_cycles| {
        CyclesLine {
            busy_cycles,
            packets: 0,
            mode: "io",
            hz: 1_000_000,
        }
        .to_string()
    };
    assert_eq!(
        line(5),
        "\n  CPU cycles/packet=INF (busy cycles=5 / total io packets=0) at 1 MHz Clock\n"
    );
    assert_eq!(
        line(0),
        "\n  CPU cycles/packet=-NAN (busy cycles=0 / total io packets=0) at 1 MHz Clock\n"
    );
}
