//! Checked against the recorded null and stats-period sessions.

use super::*;

fn stats(packets: u64, bytes: u64) -> DeviceStats {
    DeviceStats {
        ipackets: packets,
        opackets: packets,
        ibytes: bytes,
        obytes: bytes,
        ..DeviceStats::default()
    }
}

#[test]
fn a_port_that_has_done_nothing() {
    let block = NicStats {
        port: 0,
        stats: DeviceStats::default(),
        rates: Rates::default(),
        xstats: &[],
    };
    let want = [
        "",
        "  ######################## NIC statistics for port 0  ########################",
        "  RX-packets: 0          RX-missed: 0          RX-bytes:  0",
        "  RX-errors: 0",
        "  RX-nombuf:  0         ",
        "  TX-packets: 0          TX-errors: 0          TX-bytes:  0",
        "",
        "  Throughput (since last show)",
        "  Rx-pps:            0          Rx-bps:            0",
        "  Tx-pps:            0          Tx-bps:            0",
        "  ############################################################################",
        "",
    ];
    assert_eq!(block.to_string(), want.join("\n"));
}

#[test]
fn the_second_screen_of_stats_period() {
    let stats = DeviceStats {
        ipackets: 17_599_584,
        ibytes: 1_126_373_376,
        opackets: 17_118_784,
        obytes: 1_095_602_176,
        ..DeviceStats::default()
    };
    let rates = Rates {
        rx_pps: 17_114_593,
        rx_bps: 8_762_671_688,
        tx_pps: 17_114_593,
        tx_bps: 8_762_671_688,
    };
    let text = format!(
        "{SCREEN_HEAD}{}",
        NicStats {
            port: 0,
            stats,
            rates,
            xstats: &[]
        }
    );
    let want = [
        "\x1b[2J\x1b[1;1H",
        "Port statistics ====================================",
        "  ######################## NIC statistics for port 0  ########################",
        "  RX-packets: 17599584   RX-missed: 0          RX-bytes:  1126373376",
        "  RX-errors: 0",
        "  RX-nombuf:  0         ",
        "  TX-packets: 17118784   TX-errors: 0          TX-bytes:  1095602176",
        "",
        "  Throughput (since last show)",
        "  Rx-pps:     17114593          Rx-bps:   8762671688",
        "  Tx-pps:     17114593          Tx-bps:   8762671688",
        "  ############################################################################",
        "",
    ];
    assert_eq!(text, want.join("\n"));
}

#[test]
fn display_xstats_adds_its_table_in_front_of_the_footer() {
    let xstats = [XstatRate {
        name: "rx_good_packets",
        value: 1_234,
        rate: 567,
    }];
    let text = NicStats {
        port: 12,
        stats: DeviceStats::default(),
        rates: Rates::default(),
        xstats: &xstats,
    }
    .to_string();
    let tail = [
        "  Tx-pps:            0          Tx-bps:            0",
        "",
        "                               Value            Rate (since last show)",
        "  rx_good_packets                  1234             567",
        "  ############################################################################",
        "",
    ];
    assert!(text.ends_with(&tail.join("\n")), "{text}");
    assert!(
        text.starts_with("\n  ######################## NIC statistics for port 12 ####"),
        "{text}"
    );
}

#[test]
fn the_first_show_has_no_rate() {
    let mut state = RateState::default();
    assert_eq!(
        state.rates(Duration::from_secs(9), &stats(1_000, 64_000)),
        Rates::default()
    );
}

#[test]
fn rates_are_whole_and_bits_are_eight_times_whole_bytes() {
    let mut state = RateState::default();
    state.rates(Duration::from_secs(1), &stats(0, 0));
    let rates = state.rates(Duration::from_secs(4), &stats(10, 100));
    // 100 bytes in 3 s are 33 whole bytes a second, 264 bits, not 266.
    assert_eq!(
        rates,
        Rates {
            rx_pps: 3,
            rx_bps: 264,
            tx_pps: 3,
            tx_bps: 264
        }
    );
}

#[test]
fn a_counter_that_went_backwards_has_rate_0() {
    let mut state = RateState::default();
    state.rates(Duration::from_secs(1), &stats(500, 5_000));
    assert_eq!(
        state.rates(Duration::from_secs(2), &stats(20, 200)),
        Rates::default()
    );
    // And the state has followed it down.
    assert_eq!(
        state.rates(Duration::from_secs(3), &stats(30, 200)).rx_pps,
        10
    );
}

#[test]
fn no_time_passed_is_no_division_by_zero() {
    let mut state = RateState::default();
    state.rates(Duration::from_secs(1), &stats(0, 0));
    assert_eq!(
        state.rates(Duration::from_secs(1), &stats(5, 5)),
        Rates::default()
    );
}

#[test]
fn since_keeps_ierrors_absolute() {
    let now = DeviceStats {
        ierrors: 7,
        oerrors: 9,
        ipackets: 10,
        ..DeviceStats::default()
    };
    let baseline = DeviceStats {
        ierrors: 5,
        oerrors: 4,
        ipackets: 30,
        ..DeviceStats::default()
    };
    let since = now.since(&baseline);
    assert_eq!((since.ierrors, since.oerrors, since.ipackets), (7, 5, 0));
}

#[test]
fn clearing_answers_with_an_empty_line_in_front() {
    assert_eq!(
        StatsCleared(1).to_string(),
        "\n  NIC statistics for port 1 cleared\n"
    );
}
