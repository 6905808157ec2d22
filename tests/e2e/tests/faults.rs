//! Faults that were found in DPDK's testpmd, each as a session that must go well here.

use std::thread;
use std::time::Duration;

use mpps_e2e::capture;
use mpps_e2e::machine::Folder;
use mpps_e2e::report::{Forwarded, accumulated, forwarded, nics};
use mpps_e2e::session::{Session, words};

const NULLS: [&str; 2] = ["net_null0", "net_null1"];

fn pause() {
    thread::sleep(Duration::from_millis(50));
}

/// Rows of ports add up to the sum, and no counter has gone below zero.
fn check_rows(text: &str) -> Forwarded {
    let mut rows = forwarded(text);
    let sum = rows.pop().expect("a sum");
    for n in 0..3 {
        assert_eq!(
            rows.iter().map(|row| row.rx[n]).sum::<u64>(),
            sum.rx[n],
            "{text}"
        );
        assert_eq!(
            rows.iter().map(|row| row.tx[n]).sum::<u64>(),
            sum.tx[n],
            "{text}"
        );
        assert!(sum.rx[n] < 1 << 62 && sum.tx[n] < 1 << 62, "{text}");
    }
    sum
}

/// Counters are cleared while packets flow, several times over.
#[test]
fn cleared_counters_start_from_zero() {
    let mut session = Session::start(&words(2, &NULLS, &["-i"]));
    for _ in 0..5 {
        session.ask("start");
        pause();
        let before = check_rows(&session.ask("show fwd stats all"));
        session.ask("clear port stats all");
        session.ask("clear fwd stats all");
        let after = check_rows(&session.ask("show fwd stats all"));
        assert!(after.rx[0] < before.rx[0] * 2, "{before:?} {after:?}");
        session.ask("clear port xstats all");
        check_rows(&session.ask("stop"));
        for nic in nics(&session.ask("show port stats all")) {
            assert!(
                nic.rx.iter().chain(&nic.tx).all(|count| *count < 1 << 62),
                "{nic:?}"
            );
        }
    }
    session.quit();
}

/// Drops of ports and of all ports are counted alike, where there are some.
#[test]
fn drops_add_up() {
    let rings = ["net_ring0", "net_ring1", "net_ring2"];
    let mut session = Session::start(&words(2, &rings, &["-i", "--forward-mode=txonly"]));
    for _ in 0..2 {
        session.ask("start");
        pause();
        let sum = check_rows(&session.ask("stop"));
        assert!(sum.tx[1] > 0, "{sum:?}");
    }
    session.quit();
}

/// What can't be changed while packets flow is refused, and `stop` still works.
#[test]
fn a_running_session_refuses_to_change() {
    let mut session = Session::start(&words(3, &NULLS, &["-i"]));
    session.ask("start");
    for command in [
        "set nbcore 2",
        "set nbport 1",
        "port config all rxq 2",
        "port stop all",
        "port detach 0",
    ] {
        let before = session.stderr().len();
        let out = session.ask(command);
        let said = format!("{out}{}", &session.stderr()[before..]).to_lowercase();
        assert!(
            said.contains("stop") || said.contains("first"),
            "{command}: {said}"
        );
    }
    pause();
    let sum = accumulated(&session.ask("stop"));
    assert!(sum.rx[0] > 0 && sum.rx[0] == sum.tx[2]);
    session.quit();
}

/// Ports, queues and values that there aren't.
#[test]
fn numbers_out_of_range_are_survived() {
    let mut session = Session::start(&words(2, &NULLS, &["-i"]));
    for command in [
        "show port 0 rxq 99 desc used count",
        "show port 99 rxq 0 desc used count",
        "show rxq info 0 99",
        "show txq info 99 0",
        "show port info 99",
        "show port stats 65535",
        "tx_vlan set 99 5",
        "port config mtu 99 1500",
        "port config 99 rss-hash-key ipv4 00",
        "port config 0 rxq 99 ring_size 64",
        "port 99 rxq 0 start",
        "port 0 rxq 99 stop",
        "port start 250",
        "set burst 0",
        "set burst 513",
        "set nbcore 0",
        "set nbcore 99",
        "set portlist 0,1,2,3",
        "set txpkts 1",
        "set txpkts 65536",
        "start tx_first 4294967296",
        "csum set ip hw 99",
        "no such command",
    ] {
        let (before, answer) = (session.stderr().len(), session.ask(command));
        let said = &session.stderr()[before..];
        assert!(
            !answer.trim_end_matches("testpmd> ").trim().is_empty() || !said.is_empty(),
            "{command}: no answer"
        );
    }
    let list: Vec<String> = (0..200).map(|_| "1".to_owned()).collect();
    session.ask(&format!("set corelist {}", list.join(",")));
    session.ask("start");
    pause();
    assert!(accumulated(&session.ask("stop")).rx[0] > 0);
    session.quit();
}

#[test]
fn options_that_once_failed_forward() {
    let cases: [(&[&str], bool); 5] = [
        (&["-i", "--no-numa", "--forward-mode=txonly"], false),
        (&["-i", "--mbuf-size=2048,512"], true),
        (
            &[
                "-i",
                "--mbuf-size=2176",
                "--mbcache=512",
                "--forward-mode=mac",
            ],
            true,
        ),
        (&["-i", "--rxq=3", "--txq=3", "--nb-cores=2"], true),
        (&["-i", "--portlist=1,0", "--port-topology=chained"], true),
    ];
    for (options, receives) in cases {
        let mut session = Session::start(&words(3, &NULLS, options));
        session.ask("start");
        pause();
        let sum = check_rows(&session.ask("stop"));
        assert!(
            sum.tx[0] > 0 && (sum.rx[0] > 0) == receives,
            "{options:?}: {sum:?}"
        );
        session.quit();
    }
}

/// Bursts of the largest size are recorded, and cycles are counted by packets sent where none are received.
#[test]
fn bursts_and_cycles_are_recorded() {
    let options = [
        "-i",
        "--burst=512",
        "--record-burst-stats",
        "--record-core-cycles",
    ];
    let mut session = Session::start(&words(2, &NULLS, &options));
    for mode in ["io", "txonly"] {
        session.ask(&format!("set fwd {mode}"));
        session.ask("start");
        pause();
        let stop = session.ask("stop");
        let bursts = if mode == "io" {
            "RX-bursts"
        } else {
            "TX-bursts"
        };
        assert!(
            stop.contains(&format!("{bursts} : ")) || stop.contains(bursts),
            "{mode}: {stop}"
        );
        let cycles = stop
            .split_once("CPU cycles/packet=")
            .map(|(_, rest)| rest.split(' ').next());
        let cycles: f64 = cycles
            .flatten()
            .and_then(|word| word.parse().ok())
            .expect("cycles");
        assert!(cycles > 0.0 && cycles < 1e5, "{mode}: {stop}");
    }
    session.quit();
}

/// All queues of a port count, and a port without a file to send to counts whole packets, chains too.
#[test]
fn every_queue_and_every_segment_counts() {
    let mut session = Session::start(&words(2, &NULLS, &["-i", "--rxq=3", "--txq=3"]));
    session.ask("start");
    pause();
    let sum = accumulated(&session.ask("stop"));
    let nics = self::nics(&session.ask("show port stats all"));
    assert_eq!(nics.iter().map(|nic| nic.tx[0]).sum::<u64>(), sum.tx[0]);
    assert!(nics.iter().all(|nic| nic.tx[2] == nic.tx[0] * 64));
    session.quit();

    let folder = Folder::new();
    let file = folder.file("long.pcap");
    capture::write(file.as_ref(), &[vec![1; 9000], vec![2; 60]]);
    let mut session = Session::start(&words(2, &[&format!("net_pcap0,rx_pcap={file}")], &["-i"]));
    session.ask("start");
    session.wait("end of the file", |session| {
        session.stderr().contains(": end of ").then_some(())
    });
    session.ask("stop");
    let nics = self::nics(&session.ask("show port stats all"));
    assert_eq!((nics[0].rx, nics[0].tx), ([2, 0, 9060], [2, 0, 9060]));
    session.quit();
}

/// A file to repeat for ever that has more frames than there are mbufs is gone through whole, and again.
#[test]
fn a_file_longer_than_the_pool_is_repeated() {
    let folder = Folder::new();
    let file = folder.file("long.pcap");
    capture::write(file.as_ref(), &vec![vec![0; 60]; 9000]);
    let vdev = format!("net_pcap0,rx_pcap={file},infinite_rx=1");
    let mut session = Session::start(&words(2, &[&vdev], &["-i"]));
    session.ask("start");
    thread::sleep(Duration::from_millis(200));
    let sum = accumulated(&session.ask("stop"));
    assert!(sum.rx[0] > 2 * 9000 && sum.rx[0] == sum.tx[0], "{sum:?}");
    session.quit();
}

/// A stopped queue isn't polled; started again, it is.
#[test]
fn stopped_queues_are_left_alone() {
    let mut session = Session::start(&words(2, &NULLS, &["-i"]));
    session.ask("port 0 rxq 0 stop");
    session.ask("start");
    pause();
    let rows = forwarded(&session.ask("stop"));
    assert_eq!((rows[0].rx[0], rows[1].tx[0]), (0, 0), "{rows:?}");
    assert!(rows[1].rx[0] > 0, "{rows:?}");
    session.ask("port 0 rxq 0 start");
    session.ask("start");
    pause();
    assert!(forwarded(&session.ask("stop"))[0].rx[0] > 0);
    session.quit();
}

/// `quit` while packets flow; and ports that are all closed before.
#[test]
fn quit_is_clean_from_every_state() {
    let mut session = Session::start(&words(2, &["net_null0", "net_ring0"], &["-i"]));
    session.ask("start tx_first 8");
    pause();
    let ended = session.quit();
    assert!(accumulated(&ended.stdout).tx[0] > 0);
    let mut session = Session::start(&words(2, &NULLS, &["-i"]));
    session.ask("port stop all");
    session.ask("port close all");
    session.quit();
}
