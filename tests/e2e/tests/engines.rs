//! Every engine over software ports: counters add up, nothing is lost, `stop` is quick.

use std::thread;
use std::time::{Duration, Instant};

use mpps_e2e::capture;
use mpps_e2e::report::{Forwarded, accumulated, forwarded, nics, streamed};
use mpps_e2e::session::{Session, words};

/// What an engine's counters must say after it has run between two null ports.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// All that is received is sent or dropped.
    Forwards,
    /// It receives and sends nothing.
    Receives,
    /// It sends and receives nothing.
    Sends,
    /// It does both, neither following from the other.
    Both,
}

/// The engines that work over any port. Null ports bring no requests for icmpecho to answer.
const ENGINES: &[(&str, Counts)] = &[
    ("io", Counts::Forwards),
    ("mac", Counts::Forwards),
    ("macswap", Counts::Forwards),
    ("flowgen", Counts::Both),
    ("rxonly", Counts::Receives),
    ("txonly", Counts::Sends),
    ("csum", Counts::Forwards),
    ("icmpecho", Counts::Receives),
    ("noisy", Counts::Forwards),
    ("5tswap", Counts::Forwards),
    ("recycle_mbufs", Counts::Forwards),
    ("shared_rxq", Counts::Receives),
];

const NULLS: [&str; 2] = ["net_null0", "net_null1"];

fn pause() {
    thread::sleep(Duration::from_millis(100));
}

/// Starts, waits a little, stops; returns the sum over all ports, and how long `stop` took.
fn run(session: &mut Session, start: &str) -> (Forwarded, Duration) {
    let answer = session.ask(start);
    assert!(
        answer.contains(" packet forwarding") && answer.contains(" - ports="),
        "{start}: {answer}"
    );
    pause();
    let begin = Instant::now();
    let answer = session.ask("stop");
    (accumulated(&answer), begin.elapsed())
}

fn check(name: &str, counts: Counts, sum: Forwarded) {
    let (rx, tx) = (sum.rx[0], sum.tx[0]);
    let fits = match counts {
        Counts::Forwards => rx > 0 && tx > 0 && rx == sum.tx[2],
        Counts::Receives => rx > 0 && tx == 0,
        Counts::Sends => rx == 0 && tx > 0,
        Counts::Both => rx > 0 && tx > 0,
    };
    let adds_up = [sum.rx, sum.tx]
        .iter()
        .all(|[passed, dropped, total]| passed + dropped == *total);
    assert!(fits && adds_up, "{name}: {sum:?}");
}

#[test]
fn engines_count_what_they_do() {
    let mut session = Session::start(&words(2, &NULLS, &["-i"]));
    for (name, counts) in ENGINES {
        let answer = session.ask(&format!("set fwd {name}"));
        assert!(
            answer.contains(&format!("Set {name} packet forwarding mode")),
            "{answer}"
        );
        session.ask("clear port stats all");
        let (sum, _) = run(&mut session, "start");
        check(name, *counts, sum);
        let nics = nics(&session.ask("show port stats all"));
        let ports = [0, 1].map(|n| nics.iter().map(|nic| [nic.rx, nic.tx][n][0]).sum::<u64>());
        // A receiver of shared queues counts for the polling stream and for that of the packet's port.
        if *name != "shared_rxq" {
            assert_eq!(
                ports,
                [sum.rx[0], sum.tx[0]],
                "{name}: port counters against streams"
            );
        }
    }
    session.quit();
}

#[test]
fn engines_take_every_burst() {
    for (name, counts) in ENGINES {
        let mode = format!("--forward-mode={name}");
        let mut session = Session::start(&words(2, &NULLS, &["-i", "--burst=1", &mode]));
        for burst in [1, 3, 256, 512] {
            let answer = session.ask(&format!("set burst {burst}"));
            assert!(
                answer.contains(&format!("Number of packets per burst set to {burst}")),
                "{answer}"
            );
            let (sum, _) = run(&mut session, "start");
            check(name, *counts, sum);
        }
        session.quit();
    }
}

#[test]
fn engines_try_again_where_asked() {
    let mut session = Session::start(&words(2, &NULLS, &["-i"]));
    for (name, counts) in ENGINES.iter().filter(|(name, _)| *name != "rxonly") {
        let answer = session.ask(&format!("set fwd {name} retry"));
        assert!(
            answer.contains(&format!("Set {name} packet forwarding mode with retry")),
            "{answer}"
        );
        let (sum, _) = run(&mut session, "start");
        check(name, *counts, sum);
    }
    session.quit();
}

/// Ports without timestamps refuse the engine that needs them, and the console goes on.
#[test]
fn engine_ieee1588_is_refused() {
    let mut session = Session::start(&words(2, &NULLS, &["-i", "--forward-mode=ieee1588"]));
    session.ask("start");
    let said = session.stderr();
    assert!(said.contains("Packet forwarding is not ready"), "{said}");
    assert!(
        said.lines()
            .any(|line| line.starts_with("mpps: ") && line.contains("timestamp")),
        "{said}"
    );
    session.ask("set fwd io");
    check("io", Counts::Forwards, run(&mut session, "start").0);
    session.quit();
}

/// Ten times each, over ports of every kind and with all that could hold a worker up.
#[test]
fn stop_is_quick_whatever_the_ports() {
    let folder = mpps_e2e::machine::Folder::new();
    let file = folder.file("frames.pcap");
    let frames: Vec<_> = (0..3).map(|n| vec![n; 60]).collect();
    capture::write(file.as_ref(), &frames);
    let infinite = format!("net_pcap0,rx_pcap={file},infinite_rx=1");
    let cases: [(&[&str], &[&str]); 5] = [
        (&NULLS, &["-i"]),
        (&["net_ring0", "net_ring1"], &["-i"]),
        (&[&infinite, "net_null0"], &["-i", "--forward-mode=csum"]),
        (
            &NULLS,
            &[
                "-i",
                "--rxq=8",
                "--txq=8",
                "--forward-mode=txonly",
                "--txpkts=1518",
            ],
        ),
        (
            &["net_null0,no-rx=1", "net_null1"],
            &[
                "-i",
                "--forward-mode=noisy",
                "--noisy-tx-sw-buffer-size=1024",
                "--noisy-tx-sw-buffer-flushtime=5",
            ],
        ),
    ];
    for (vdevs, application) in cases {
        let mut session = Session::start(&words(2, vdevs, application));
        let mut times: Vec<Duration> = (0..10).map(|_| run(&mut session, "start").1).collect();
        times.sort();
        // One in two: the machine may be busy with other things at any single time.
        assert!(
            times[4] < Duration::from_millis(100),
            "{vdevs:?} {application:?}: {times:?}"
        );
        session.quit();
    }
}

#[test]
fn tx_first_sends_so_many_bursts_a_stream() {
    let mut session = Session::start(&words(2, &NULLS, &["-i", "--forward-mode=rxonly"]));
    for (start, bursts) in [
        ("start tx_first", 1),
        ("start tx_first 3", 3),
        ("start tx_first 0", 0),
    ] {
        session.ask(start);
        pause();
        let rows = forwarded(&session.ask("stop"));
        let sent: Vec<u64> = rows.iter().map(|row| row.tx[2]).collect();
        assert_eq!(sent, [32 * bursts, 32 * bursts, 64 * bursts], "{start}");
    }
    session.ask("set burst 5");
    session.ask("start tx_first 2");
    assert_eq!(accumulated(&session.ask("stop")).tx[0], 2 * 5 * 2);
    session.quit();
}

/// What circulates through ring ports is there when forwarding stops, and goes on at the next start. Two rings that are
/// full to the brim drop one burst: it is taken from one and finds no room in the other.
#[test]
fn rings_keep_what_circulates() {
    for (rings, dropped) in [(&["net_ring0"][..], 0), (&["net_ring0", "net_ring1"], 32)] {
        let mut session = Session::start(&words(2, rings, &["-i", "--no-flush-rx"]));
        let (sum, _) = run(&mut session, "start tx_first 32");
        assert_eq!(sum.tx[1], dropped, "{sum:?}");
        let inside = sum.tx[0] - sum.rx[0];
        assert_eq!(inside, 1024 * rings.len() as u64 - dropped, "{sum:?}");
        for _ in 0..3 {
            let (sum, _) = run(&mut session, "start");
            assert!(sum.rx[0] > 0 && sum.rx == sum.tx, "{sum:?}");
        }
        let nics = nics(&session.ask("show port stats all"));
        let total = [0, 1].map(|n| nics.iter().map(|nic| [nic.rx, nic.tx][n][0]).sum::<u64>());
        assert_eq!(total[1] - total[0], inside);
        session.quit();
    }
}

/// A ring that nobody empties fills, and what doesn't fit is dropped and counted.
#[test]
fn full_rings_drop() {
    for mode in ["set fwd txonly", "set fwd txonly retry"] {
        let mut session = Session::start(&words(2, &["net_ring0"], &["-i"]));
        session.ask(mode);
        let (sum, _) = run(&mut session, "start");
        assert!(
            (1..=1024).contains(&sum.tx[0]) && sum.tx[1] > 0,
            "{mode}: {sum:?}"
        );
        assert_eq!(sum.tx[0] + sum.tx[1], sum.tx[2], "{mode}");
        session.quit();
    }
}

#[test]
fn more_streams_than_ports_are_shown_one_by_one() {
    for cores in [1, 2] {
        let application = ["-i", "--rxq=4", "--txq=4", &format!("--nb-cores={cores}")];
        let mut session = Session::start(&words(3, &NULLS, &application));
        let start = session.ask("start");
        assert!(
            start.contains(&format!("ports=2 - cores={cores} - streams=8 ")),
            "{start}"
        );
        pause();
        let stop = session.ask("stop");
        let (streams, sum) = (streamed(&stop), accumulated(&stop));
        let mut ends: Vec<_> = streams
            .iter()
            .map(|stream| (stream.from, stream.to))
            .collect();
        ends.sort();
        let expected = |port, queue| ((port, queue), (1 - port, queue));
        let expected: Vec<_> = (0..2)
            .flat_map(|port| (0..4).map(move |queue| expected(port, queue)))
            .collect();
        assert_eq!(ends, expected);
        assert_eq!(
            streams.iter().map(|stream| stream.rx).sum::<u64>(),
            sum.rx[0]
        );
        assert_eq!(
            streams.iter().map(|stream| stream.tx).sum::<u64>(),
            sum.tx[0]
        );
        assert!(
            streams
                .iter()
                .all(|stream| stream.rx > 0 && stream.rx == stream.tx + stream.dropped)
        );
        session.quit();
    }
}

#[test]
fn topologies_pair_three_ports() {
    let ports = ["net_null0", "net_null1", "net_null2"];
    for (topology, pairs) in [
        ("paired", [(0, 1), (1, 0), (2, 2)]),
        ("chained", [(0, 1), (1, 2), (2, 0)]),
        ("loop", [(0, 0), (1, 1), (2, 2)]),
    ] {
        let option = format!("--port-topology={topology}");
        let mut session = Session::start(&words(2, &ports, &["-i", &option]));
        let start = session.ask("start");
        let mut found: Vec<(u16, u16)> = start.lines().filter_map(stream_of).collect();
        found.sort();
        assert_eq!(found, pairs, "{topology}: {start}");
        pause();
        let rows = forwarded(&session.ask("stop"));
        assert!(
            rows.iter().all(|row| row.rx[0] > 0 && row.tx[0] > 0),
            "{topology}: {rows:?}"
        );
        session.quit();
    }
}

/// `RX P=0/Q=0 (socket 0) -> TX P=1/Q=0 (socket 0) peer=...`: the two ports.
fn stream_of(line: &str) -> Option<(u16, u16)> {
    let (rx, tx) = line.trim().strip_prefix("RX P=")?.split_once(" -> TX P=")?;
    let port = |text: &str| text.split('/').next()?.parse().ok();
    Some((port(rx)?, port(tx)?))
}

/// Ports stop, start, close while forwarding is off, are refused while it is on; packets flow again afterwards.
#[test]
fn ports_come_and_go_between_runs() {
    let mut session = Session::start(&words(2, &NULLS, &["-i"]));
    for _ in 0..3 {
        check("io", Counts::Forwards, run(&mut session, "start").0);
        session.ask("port stop all");
        session.ask("start");
        assert!(session.stderr().contains("Not all ports were started"));
        session.ask("port start all");
    }
    session.ask("start");
    session.ask("start");
    assert!(
        session
            .stderr()
            .contains("Packet forwarding already started")
    );
    session.ask("port stop 0");
    pause();
    let sum = accumulated(&session.ask("stop"));
    check("io", Counts::Forwards, sum);
    session.ask("stop");
    assert!(session.stderr().contains("Packet forwarding not started"));
    session.quit();
}
