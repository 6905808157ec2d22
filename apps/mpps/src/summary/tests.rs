//! The text fits a terminal and leaves out what isn't there; the JSON has the same figures.

use std::time::Duration;

use mpps_os::Signal;
use serde_json::json;

use super::Findings;
use crate::balance::Balance;
use crate::latency::Latency;
use crate::versus::{Memory, Versus};

/// Figures as long as they come.
fn all() -> Findings {
    Findings {
        loops: vec![99.25, 101.5, 100.75],
        limits: vec![125.5, 126.5, 127.5],
        shares: vec![0.75, 0.8, 0.81],
        cycles: Some([(123.4, 234.5), (123.4, 234.5)]),
        latency: Some(Latency {
            percentiles: [812, 12_345, 1_234_567].map(Duration::from_nanos),
            rounds: 1_000_000,
        }),
        balance: Some(Balance {
            made: 1024,
            found: 1000,
            dropped: 24,
            sent: 123_456_789_012,
            received: 123_456_789_012,
        }),
        versus: Some(Versus {
            name: "dpdk-testpmd".to_owned(),
            version: Some("DPDK 22.11.5".to_owned()),
            ours: None,
            memory: Memory::Ordinary,
            rates: vec![[30.0, 10.0], [28.0, 14.0], [25.0, 10.0]],
        }),
        broken: None,
    }
}

#[test]
fn the_text_fits_eighty_columns_and_has_every_figure() {
    let text = all().text();
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.len());
    }
    for figure in [
        "100.75 Mpps (99.25 to 101.50 in 3 s)",
        "virtio-user 123.4 of 234.5",
        "p50 0.81, p99 12.35, p99.9 1235 us",
        "80 % (75 to 81) of a bare unchecked ring pair's 126.50 Mpps",
        "123456789012 sent = 123456789012 received",
        "1024 made = 1000 found whole at the end + 24 dropped",
        "2.50 times dpdk-testpmd (2.00 to 3.00), 3 rounds of 1 s",
        "ours   28.00 Mpps (25.00 to 30.00), in this process",
        "theirs 10.00 Mpps (10.00 to 14.00), DPDK 22.11.5",
        "--no-huge -m 128",
    ] {
        assert!(text.contains(figure), "no {figure:?} in {text}");
    }
}

#[test]
fn what_was_broken_off_tells_what_there_is() {
    let findings = Findings {
        loops: vec![12.0],
        broken: Some(Signal::Interrupt),
        ..Findings::default()
    };
    let text = findings.text();
    assert!(
        text.contains("12.00 Mpps") && !text.contains("latency"),
        "{text}"
    );
    assert_eq!(Findings::default().text(), "");
    let value = findings.json(json!({}));
    assert_eq!(value["broken_off"], "SIGINT");
    assert!(value["latency_us"].is_null() && value["versus"].is_null());
}

#[test]
fn the_json_has_the_figures_of_the_text() {
    let value = all().json(json!({ "bytes": 64 }));
    assert_eq!(value["scenario"]["bytes"], 64);
    assert_eq!(value["rates_mpps"], json!([99.25, 101.5, 100.75]));
    assert_eq!(value["cycles_a_packet"]["vhost"]["in_all"], 234.5);
    assert_eq!(value["latency_us"]["p50"], 0.812);
    assert_eq!(value["balance"]["sent"], 123_456_789_012_u64);
    assert_eq!(value["versus"]["ratios"], json!([3.0, 2.0, 2.5]));
    assert_eq!(value["versus"]["ours_mpps"], json!([30.0, 28.0, 25.0]));
    assert!(value["broken_off"].is_null());
}
