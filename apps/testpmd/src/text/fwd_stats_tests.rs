//! The formulas, and the blocks against recorded sessions.

use super::*;

fn stream<'a>(rx: u16, tx: u16, counts: (u64, u64, u64)) -> StreamCounters<'a> {
    let (rx_packets, tx_packets, fwd_dropped) = counts;
    StreamCounters {
        rx: (rx, 0),
        tx: (tx, 0),
        rx_packets,
        tx_packets,
        fwd_dropped,
        ..StreamCounters::default()
    }
}

fn port(port: u16, now: DeviceStats) -> PortCounters {
    PortCounters {
        port,
        now,
        baseline: DeviceStats::default(),
    }
}

fn report(mode: &str, streams: &[StreamCounters<'_>], ports: &[PortCounters]) -> String {
    fwd_report(&FwdInput {
        mode,
        streams,
        ports,
        cycles_hz: None,
    })
    .to_string()
}

#[test]
fn the_recorded_virtio_user_session() {
    let now = DeviceStats {
        ipackets: 29_252_192,
        opackets: 29_251_424,
        ..DeviceStats::default()
    };
    let text = report(
        "io",
        &[stream(0, 0, (29_252_192, 29_251_424, 768))],
        &[port(0, now)],
    );
    let want = "
  ---------------------- Forward statistics for port 0  ----------------------
  RX-packets: 29252192       RX-dropped: 0             RX-total: 29252192
  TX-packets: 29251424       TX-dropped: 768           TX-total: 29252192
  ----------------------------------------------------------------------------

  +++++++++++++++ Accumulated forward statistics for all ports+++++++++++++++
  RX-packets: 29252192       RX-dropped: 0             RX-total: 29252192
  TX-packets: 29251424       TX-dropped: 768           TX-total: 29252192
  ++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++
";
    assert_eq!(text, want);
}

#[test]
fn every_figure_comes_from_its_counter() {
    let counts =
        |[ipackets, opackets, imissed, ierrors, oerrors, rx_nombuf]: [u64; 6]| DeviceStats {
            ipackets,
            opackets,
            imissed,
            ierrors,
            oerrors,
            rx_nombuf,
            ..DeviceStats::default()
        };
    let (now, baseline) = (
        counts([110, 220, 33, 5, 44, 9]),
        counts([10, 20, 3, 5, 4, 1]),
    );
    let ports = [
        PortCounters {
            port: 0,
            now,
            baseline,
        },
        port(1, DeviceStats::default()),
    ];
    // Port 0 is sent to by port 1's stream, whose drops are port 0's.
    let streams = [stream(0, 1, (1, 1, 7)), stream(1, 0, (1, 1, 2))];
    let report = fwd_report(&FwdInput {
        mode: "io",
        streams: &streams,
        ports: &ports,
        cycles_hz: None,
    });
    let row = &report.ports[0];
    assert_eq!(
        row.stats,
        counts([100, 200, 30, 5, 40, 8]),
        "ierrors alone is absolute"
    );
    assert_eq!((row.tx_dropped, report.ports[1].tx_dropped), (2 + 40, 7));
    assert_eq!(
        report.total,
        Accumulated {
            rx: 100,
            rx_dropped: 30,
            tx: 200,
            tx_dropped: 49,
            rx_nombuf: 8
        }
    );
    let text = report.to_string();
    assert!(
        text.contains(
            "RX-total: 130\n  RX-error: 5\n  RX-nombufs: 8             \n  TX-packets: 200"
        ),
        "{text}"
    );
    assert!(
        text.contains("TX-total: 249\n  RX-nombufs: 8             \n  ++++"),
        "{text}"
    );
}

#[test]
fn error_lines_need_an_error() {
    let errors = DeviceStats {
        ierrors: 2,
        ..DeviceStats::default()
    };
    let text = report("io", &[stream(0, 0, (0, 0, 0))], &[port(0, errors)]);
    assert!(
        text.contains("  RX-error: 2\n  RX-nombufs: 0             \n"),
        "{text}"
    );
    assert_eq!(
        text.matches("RX-nombufs").count(),
        1,
        "the sum has its line only when it isn't 0"
    );
    let text = report(
        "io",
        &[stream(0, 0, (0, 0, 0))],
        &[port(0, DeviceStats::default())],
    );
    assert!(!text.contains("RX-error") && !text.contains("RX-nombufs"));
}

#[test]
fn stream_blocks_need_more_streams_than_ports_and_something_counted() {
    let streams = [
        stream(0, 1, (10, 9, 1)),
        stream(1, 0, (0, 0, 0)),
        StreamCounters {
            rx: (0, 1),
            tx: (1, 1),
            ..stream(0, 1, (5, 5, 0))
        },
    ];
    let ports = [
        port(0, DeviceStats::default()),
        port(1, DeviceStats::default()),
    ];
    let want = "
  ------- Forward Stats for RX Port= 0/Queue= 0 -> TX Port= 1/Queue= 0 -------
  RX-packets: 10             TX-packets: 9              TX-dropped: 1             \n
  ------- Forward Stats for RX Port= 0/Queue= 1 -> TX Port= 1/Queue= 1 -------
  RX-packets: 5              TX-packets: 5              TX-dropped: 0             \n
  ---------------------- Forward statistics for port 0  ----------------------
";
    let text = report("io", &streams, &ports);
    assert!(text.starts_with(want), "{text}");
    assert!(!report("io", &streams[..2], &ports).contains("Forward Stats for RX"));
}

#[test]
fn csum_mode_adds_the_bad_ones() {
    let bad = BadChecksums {
        ip: 1,
        l4: 2,
        outer_l4: 3,
        outer_ip: 4,
    };
    let streams = [
        StreamCounters {
            bad,
            ..stream(0, 0, (9, 9, 0))
        },
        stream(0, 0, (0, 0, 0)),
    ];
    let text = report("csum", &streams, &[port(0, DeviceStats::default())]);
    let want = "TX-dropped: 0               RX- bad IP checksum: 1               Rx- bad L4 checksum: 2              \
                 Rx- bad outer L4 checksum: 3             \n RX- bad outer IP checksum: 4             \n";
    assert!(text.contains(want), "{text}");
    let want = "RX-total: 0\n  Bad-ipcsum: 1              Bad-l4csum: 2             Bad-outer-l4csum: 3             \n  \
                Bad-outer-ipcsum: 4             \n  TX-packets: 0";
    assert!(text.contains(want), "{text}");
    assert!(!report("io", &streams, &[port(0, DeviceStats::default())]).contains("csum"));
}

#[test]
fn burst_lines_stand_with_the_port_when_each_has_one_stream() {
    let (rx, tx) = (BurstSpread(vec![4]), BurstSpread(vec![0, 2]));
    let recorded = |from, to| StreamCounters {
        bursts: Some((&rx, &tx)),
        ..stream(from, to, (2, 2, 0))
    };
    let ports = [
        port(0, DeviceStats::default()),
        port(1, DeviceStats::default()),
    ];
    let text = report("io", &[recorded(0, 1), recorded(1, 0)], &ports);
    let want = "TX-total: 0\n  RX-bursts : 4 [100% of 0 pkts]\n  TX-bursts : 2 [0% of 0 pkts + 100% of 1 pkts]\n  ----";
    assert_eq!(text.matches(want).count(), 2, "{text}");
    let text = report("io", &[recorded(0, 0), recorded(0, 0)], &ports[..1]);
    assert_eq!(
        text.matches("TX-dropped: 0             \n  RX-bursts : 4")
            .count(),
        2,
        "now with the streams: {text}"
    );
    assert_eq!(text.matches("RX-bursts").count(), 2, "{text}");
}

#[test]
fn cycles_count_sent_packets_where_none_are_received() {
    let now = DeviceStats {
        ipackets: 10,
        opackets: 40,
        ..DeviceStats::default()
    };
    let busy = StreamCounters {
        busy_cycles: 400,
        ..stream(0, 0, (0, 0, 0))
    };
    let line = |mode, now| {
        let input = FwdInput {
            mode,
            streams: &[busy],
            ports: &[port(0, now)],
            cycles_hz: Some(2_000_000_000),
        };
        fwd_report(&input)
            .cycles
            .map(|line| (line.packets, line.busy_cycles))
    };
    assert_eq!(line("txonly", now), Some((40, 400)));
    assert_eq!(line("flowgen", now), Some((40, 400)));
    assert_eq!(line("io", now), Some((10, 400)));
    assert_eq!(
        line("io", DeviceStats::default()),
        None,
        "nothing moved, no line"
    );
}
