//! The promises that scripts rely on: what other people's parsers cut out of our blocks, with matchers written by hand.
//!
//! Sources: DTS (`types.py` patterns), the rapid and Kubernetes packet tests that read fields by position, CSIT's phrases.

use std::time::Duration;

use super::*;

/// The number behind a label and any blanks, as `label\s+(\d+)` finds it; with `\s*` when the blanks are missing.
fn number(text: &str, label: &str) -> Option<u64> {
    let rest = text.split_once(label)?.1.trim_start_matches([' ', '\t']);
    rest.split(|c: char| !c.is_ascii_digit())
        .next()?
        .parse()
        .ok()
}

/// Fields 1, 3 and 5 of a line of exactly six, as awk-like readers take them.
fn three_of_six(line: &str) -> Option<[u64; 3]> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [_, first, _, second, _, third] = fields[..] else {
        return None;
    };
    Some([
        first.parse().ok()?,
        second.parse().ok()?,
        third.parse().ok()?,
    ])
}

fn device() -> DeviceStats {
    DeviceStats {
        ipackets: 123_456_789,
        opackets: 98_765_432,
        ibytes: 64_000_000_001,
        obytes: 7,
        imissed: 42,
        ierrors: 0,
        oerrors: 3,
        rx_nombuf: 0,
    }
}

fn report() -> String {
    let stream = |rx, tx| StreamCounters {
        rx: (rx, 0),
        tx: (tx, 0),
        fwd_dropped: 5,
        ..StreamCounters::default()
    };
    let ports = [0, 1].map(|port| PortCounters {
        port,
        now: device(),
        baseline: DeviceStats::default(),
    });
    fwd_report(&FwdInput {
        mode: "io",
        streams: &[stream(0, 1), stream(1, 0)],
        ports: &ports,
        cycles_hz: None,
    })
    .to_string()
}

#[test]
fn a_port_s_block_is_framed_by_22_and_76_dashes() {
    let text = report();
    let lines: Vec<&str> = text.lines().collect();
    let dashes = "-".repeat(22);
    let at = lines
        .iter()
        .position(|line| *line == format!("  {dashes} Forward statistics for port 0  {dashes}"));
    let at = at.expect("header");
    assert_eq!(
        lines[at + 3],
        format!("  {}", "-".repeat(76)),
        "nothing but two lines in a block without errors"
    );
    assert_eq!(
        three_of_six(lines[at + 1]),
        Some([123_456_789, 42, 123_456_831])
    );
    assert_eq!(
        three_of_six(lines[at + 2]),
        Some([98_765_432, 8, 98_765_440])
    );
}

#[test]
fn the_accumulated_block_has_six_fields_right_behind_its_header() {
    let text = report();
    let lines: Vec<&str> = text.lines().collect();
    let plus = "+".repeat(15);
    let header = format!("  {plus} Accumulated forward statistics for all ports{plus}");
    let at = lines
        .iter()
        .position(|line| *line == header)
        .expect("header");
    assert_eq!(
        three_of_six(lines[at + 1]),
        Some([246_913_578, 84, 246_913_662])
    );
    assert_eq!(
        three_of_six(lines[at + 2]),
        Some([197_530_864, 16, 197_530_880])
    );
    assert_eq!(lines[at + 3], format!("  {}", "+".repeat(76)));
    assert!(text.ends_with("++\n"), "no cycles line unless recording");
}

#[test]
fn port_stats_have_every_pattern_of_dts() {
    let mut state = RateState::default();
    state.rates(Duration::from_secs(1), &DeviceStats::default());
    let rates = state.rates(Duration::from_secs(2), &device());
    let text = NicStats {
        port: 0,
        stats: device(),
        rates,
        xstats: &[],
    }
    .to_string();
    assert_eq!(number(&text, "NIC statistics for port"), Some(0));
    for (label, want) in [
        ("RX-packets:", 123_456_789),
        ("RX-missed:", 42),
        ("RX-bytes:", 64_000_000_001),
        ("RX-errors:", 0),
        ("RX-nombuf:", 0),
        ("TX-packets:", 98_765_432),
        ("TX-errors:", 3),
        ("TX-bytes:", 7),
        ("Rx-pps:", 123_456_789),
        ("Rx-bps:", 512_000_000_008),
        ("Tx-pps:", 98_765_432),
        ("Tx-bps:", 56),
    ] {
        assert_eq!(number(&text, label), Some(want), "{label}");
    }
    let hashes: Vec<usize> = text
        .lines()
        .map(|line| line.matches('#').count())
        .filter(|n| *n > 0)
        .collect();
    assert_eq!(hashes, [48, 76]);
}

#[test]
fn stream_headers_keep_their_blanks() {
    let stream = StreamCounters {
        rx: (0, 1),
        tx: (1, 12),
        rx_packets: 1,
        ..StreamCounters::default()
    };
    let text = StreamFwd {
        counters: stream,
        csum: false,
    }
    .to_string();
    let want = "------- Forward Stats for RX Port= 0/Queue= 1 -> TX Port= 1/Queue=12 -------";
    assert_eq!(text.lines().nth(1), Some(&*format!("  {want}")));
    assert_eq!(number(&text, "RX-packets:"), Some(1));
}

#[test]
fn port_info_has_every_label_of_dts() {
    let text = port_info();
    for label in [
        "Connect to socket:",
        "memory allocation on the socket:",
        "MTU:",
        "Maximum number of MAC addresses:",
        "Maximum number of MAC addresses of hash filtering:",
        "Minimum size of RX buffer:",
        "Maximum configurable length of RX packet:",
        "Maximum configurable size of LRO aggregated packet:",
        "Current number of RX queues:",
        "Max possible RX queues:",
        "Max possible number of RXDs per queue:",
        "Min possible number of RXDs per queue:",
        "RXDs number alignment:",
        "Current number of TX queues:",
        "Max possible TX queues:",
        "Max possible number of TXDs per queue:",
        "Min possible number of TXDs per queue:",
        "TXDs number alignment:",
        "Max segment number per packet:",
        "Max segment number per MTU/TSO:",
    ] {
        assert!(number(&text, &format!("\n{label}")).is_some(), "{label}");
    }
    for line in [
        "Link status: up",
        "Link duplex: full-duplex",
        "Autoneg status: Off",
        "Link speed: 10 Gbps",
        "Promiscuous mode: enabled",
        "Allmulticast mode: disabled",
        "Device error handling mode: none",
    ] {
        assert!(text.lines().any(|have| have == line), "{line}");
    }
    let mac = text
        .split_once("MAC address: ")
        .expect("label")
        .1
        .lines()
        .next()
        .expect("value");
    assert!(
        mac.split(':').count() == 6
            && mac
                .bytes()
                .all(|b| b == b':' || b.is_ascii_digit() || b.is_ascii_uppercase())
    );
    let capabilities = text.split_once("Device capabilities: 0x").expect("label").1;
    assert!(capabilities.starts_with("0(") && number(&text, "Infos for port") == Some(0));
}

fn port_info() -> String {
    let desc = DescriptorLimits {
        max: 4096,
        min: 64,
        align: 1,
    };
    PortInfo {
        port: 0,
        mac: mpps_wire::MacAddr([0xAB, 0xCD, 0xEF, 0, 0x1A, 0xFF]),
        device: "net_null0",
        driver: "net_null",
        firmware: None,
        devargs: None,
        socket: SocketId(Some(0)),
        memory_socket: SocketId(Some(0)),
        link: Link {
            up: true,
            speed_mbps: 10_000,
            full_duplex: true,
            autoneg: false,
        },
        lanes: None,
        mtu: [1500, 68, 9000],
        promiscuous: true,
        allmulticast: false,
        max_macs: 1,
        max_hash_macs: 0,
        vlan: Some(VlanOffload::default()),
        hash_key_size: 40,
        reta_size: 128,
        rss_types: 0xa38c,
        min_rx_buffer: 64,
        max_rx_buffer: None,
        max_rx_length: 9728,
        max_lro: 0,
        rx_split: RxSplit::default(),
        max_vfs: 0,
        max_vmdq_pools: 0,
        rx_queues: [1, 8],
        rx_desc: desc,
        tx_queues: [1, 8],
        tx_desc: desc,
        segments: SegmentLimits {
            packet: 64,
            mtu: 64,
        },
        capabilities: 0,
        switch: None,
        error_handling: ErrorHandling::None,
        private: PrivateInfo::None,
        rx_path: Some("scalar"),
        tx_path: None,
    }
    .to_string()
}

#[test]
fn phrases_that_decide_success() {
    let replies = [
        (
            Reply::FwdMode("io", false).to_string(),
            "Set io packet forwarding mode",
        ),
        (Reply::Verbose(0, 1).to_string(), "Change verbose level"),
        (
            Reply::RetaSize(0, 64).to_string(),
            "The reta size of port 0 is",
        ),
        (Reply::FlowValidated.to_string(), "Flow rule validated"),
        (Reply::FlowCreated(12).to_string(), "Flow rule #12 created"),
        (Reply::FlowDestroyed(12).to_string(), "destroyed"),
        (
            Refusal::AlreadyStarted.to_string(),
            "Packet forwarding already started",
        ),
        (
            Refusal::NotStarted.to_string(),
            "Packet forwarding not started",
        ),
        (Refusal::NoPort(9).to_string(), "Invalid port"),
        (Refusal::StopPort(3).to_string(), "Please stop port 3 first"),
        (Refusal::VlanId(4096).to_string(), "Invalid vlan_id"),
        (
            Refusal::MacAddr("File exists").to_string(),
            "mac_addr_cmd error:",
        ),
        (
            Refusal::Checksum("UDP", 0).to_string(),
            "checksum offload is not supported by port 0",
        ),
        (
            StatsCleared(0).to_string(),
            "NIC statistics for port 0 cleared",
        ),
        (Lifecycle::Closed(0).to_string(), "Port 0 is closed"),
        (Lifecycle::Stopped.to_string(), "Done."),
        (Lifecycle::Bye.to_string(), "Bye..."),
        (
            Event {
                port: 2,
                name: Event::LINK,
            }
            .to_string(),
            "Port 2: link state change event",
        ),
    ];
    for (have, want) in replies {
        assert!(have.contains(want), "{want:?} in {have:?}");
    }
}
