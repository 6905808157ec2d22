//! Checked against the recorded null session, and for the three switches.

use super::*;

const COUNTERS: [Xstat<'static>; 3] = [
    Xstat {
        name: "rx_good_packets",
        value: 0,
        enabled: None,
    },
    Xstat {
        name: "tx_good_packets",
        value: 7,
        enabled: Some(true),
    },
    Xstat {
        name: "rx_missed_errors",
        value: 1,
        enabled: Some(false),
    },
];

fn show(options: XstatsOptions) -> String {
    Xstats {
        port: 0,
        counters: Some(&COUNTERS),
        options,
    }
    .to_string()
}

#[test]
fn plain() {
    // The blank behind the port's number is part of the template: it is padded to two columns.
    let want = "###### NIC extended statistics for port 0 \nrx_good_packets: 0\ntx_good_packets: 7\nrx_missed_errors: 1\n";
    assert_eq!(show(XstatsOptions::default()), want);
}

#[test]
fn switches() {
    let shown = show(XstatsOptions {
        hide_zero: true,
        hide_disabled: true,
        show_state: true,
    });
    assert_eq!(
        shown,
        "###### NIC extended statistics for port 0 \nstate: E\ttx_good_packets: 7\n"
    );
    let shown = show(XstatsOptions {
        show_state: true,
        ..XstatsOptions::default()
    });
    assert!(
        shown.contains("\nstate: -\trx_good_packets: 0\n")
            && shown.contains("\nstate: D\trx_missed_errors: 1\n")
    );
}

#[test]
fn a_port_without_names_has_the_header_alone() {
    let text = Xstats {
        port: 3,
        counters: None,
        options: XstatsOptions::default(),
    }
    .to_string();
    assert_eq!(text, "###### NIC extended statistics for port 3 \n");
}

#[test]
fn rates_follow_the_option_s_order_and_skip_what_the_port_lacks() {
    let wanted = [
        "tx_good_packets".to_owned(),
        "nosuch".to_owned(),
        "rx_good_packets".to_owned(),
    ];
    let mut rates = XstatRates::default();
    let first = rates.rows(Duration::from_secs(1), &wanted, &COUNTERS);
    assert_eq!(
        first
            .iter()
            .map(|row| (row.name, row.rate))
            .collect::<Vec<_>>(),
        [("tx_good_packets", 0), ("rx_good_packets", 0)]
    );
    let later = [Xstat {
        value: 27,
        ..COUNTERS[1]
    }];
    let second = rates.rows(Duration::from_secs(3), &wanted, &later);
    assert_eq!(
        second,
        [XstatRate {
            name: "tx_good_packets",
            value: 27,
            rate: 10
        }]
    );
}
