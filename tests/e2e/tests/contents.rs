//! What engines make or change, read back from the capture that a port writes.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::thread;
use std::time::Duration;

use mpps_e2e::capture;
use mpps_e2e::frame::{self, Mac, Udp, udp};
use mpps_e2e::machine::Folder;
use mpps_e2e::passage::{macs, sent};
use mpps_e2e::report::nics;
use mpps_e2e::session::{Session, words};

/// The peer of port 0 unless another is set.
const PEER: Mac = [2, 0, 0, 0, 0, 0];

/// Packets that `start tx_first 2` sends: what engine txonly makes, after these commands. And the port's address.
fn made(application: &[&str], commands: &[&str]) -> (Vec<Vec<u8>>, Mac) {
    let folder = Folder::new();
    let file = folder.file("out.pcap");
    let vdev = format!("net_pcap0,tx_pcap={file}");
    let mut options = vec!["-i", "--forward-mode=rxonly"];
    options.extend(application);
    let mut session = Session::start(&words(2, &[&vdev], &options));
    for command in commands {
        session.ask(command);
    }
    session.ask("start tx_first 2");
    session.ask("stop");
    let ended = session.quit();
    (sent(file.as_ref()), macs(&ended.stdout)[0])
}

/// Checks that a frame is a whole UDP packet of engine txonly and returns its fields.
fn check_made(frame: &[u8], len: usize, own: Mac, peer: Mac) -> Udp {
    assert_eq!(frame.len(), len);
    assert_eq!((&frame[..6], &frame[6..12]), (&peer[..], &own[..]));
    let udp = udp(frame).expect("UDP over IPv4, its header checksum right");
    // No type of service, identification 0, no fragment, 64 hops; no checksum of UDP.
    assert_eq!(
        frame[14..20],
        [&[0x45, 0][..], &((len - 14) as u16).to_be_bytes(), &[0, 0]].concat()
    );
    assert_eq!(
        (&frame[20..22], frame[22], &frame[40..42]),
        (&[0, 0][..], 64, &[0, 0][..])
    );
    assert_eq!(usize::from(udp.length), len - 34);
    udp
}

#[test]
fn txonly_makes_udp_packets() {
    let (frames, own) = made(&[], &[]);
    assert_eq!(frames.len(), 64);
    for frame in &frames {
        let udp = check_made(frame, 64, own, PEER);
        assert_eq!(
            (udp.from, udp.to),
            (
                (Ipv4Addr::new(198, 18, 0, 1), 9),
                (Ipv4Addr::new(198, 18, 0, 2), 9)
            )
        );
    }
}

#[test]
fn txonly_takes_addresses_ports_and_lengths() {
    let options = [
        "--eth-peer=0,50:00:00:00:00:01",
        "--tx-ip=10.2.0.12,10.2.0.11",
        "--tx-udp=49000,49001",
        "--txpkts=64,100,36",
        "--burst=7",
    ];
    let (frames, own) = made(&options, &[]);
    assert_eq!(frames.len(), 14);
    for frame in &frames {
        let udp = check_made(frame, 200, own, [0x50, 0, 0, 0, 0, 1]);
        let (from, to) = (Ipv4Addr::new(10, 2, 0, 12), Ipv4Addr::new(10, 2, 0, 11));
        assert_eq!((udp.from, udp.to), ((from, 49000), (to, 49001)));
    }
}

/// The source port tells flows apart: so many, each with right sums.
#[test]
fn txonly_makes_flows() {
    for (options, flows) in [
        (&["--txonly-multi-flow"][..], 64),
        (&["--txonly-multi-flow", "--txonly-flows=8"], 8),
    ] {
        let (frames, own) = made(options, &[]);
        let ports: Vec<u16> = frames
            .iter()
            .map(|frame| check_made(frame, 64, own, PEER).from.1)
            .collect();
        let expected: Vec<u16> = (0..64).map(|n| (n % flows + 0xc0) << 8 | 1).collect();
        assert_eq!(ports, expected, "{options:?}");
    }
}

/// A random number of segments: each length listed counts, and headers say the length that the packet has.
#[test]
fn txonly_splits_at_random() {
    let (frames, own) = made(&[], &["set txpkts 64,100,36", "set txsplit rand"]);
    let lengths: BTreeSet<usize> = frames.iter().map(Vec::len).collect();
    assert!(
        lengths.len() > 1 && lengths.is_subset(&[64, 164, 200].into()),
        "{lengths:?}"
    );
    for frame in &frames {
        check_made(frame, frame.len(), own, PEER);
    }
}

#[test]
fn flowgen_goes_through_its_flows() {
    let folder = Folder::new();
    let file = folder.file("out.pcap");
    let vdev = format!("net_pcap0,tx_pcap={file}");
    let options = ["-i", "--forward-mode=flowgen", "--flowgen-flows=5"];
    let mut session = Session::start(&words(2, &[&vdev], &options));
    session.ask("start");
    // Until it has begun, and no longer: what is made goes into a file.
    while nics(&session.ask("show port stats 0"))[0].tx[0] == 0 {}
    session.ask("stop");
    session.quit();
    let frames = sent(file.as_ref());
    assert!(!frames.is_empty());
    for (n, frame) in frames.iter().enumerate() {
        let udp = udp(frame).expect("UDP over IPv4, its header checksum right");
        assert_eq!((frame.len(), usize::from(udp.length)), (60, 26));
        assert_eq!(frame[..12], [0, 1, 2, 3, 4, 1, 0, 1, 2, 3, 4, 0]);
        let to = Ipv4Addr::new(10, 253, 0, (n % 5) as u8);
        assert_eq!(
            (udp.from, udp.to),
            ((Ipv4Addr::new(10, 254, 0, 0), 1000), (to, 1001)),
            "frame {n}"
        );
    }
}

/// Frames of lengths from 14 to 1,500, each with bytes of its own.
fn frames() -> Vec<Vec<u8>> {
    (0..50)
        .map(|n: usize| (0..14 + n * 30).map(|at| (at * 7 + n) as u8).collect())
        .collect()
}

/// What two ports make of these frames: port 0 receives them, port 1 writes what it sends. And port 1's address.
fn forwarded(application: &[&str]) -> (Vec<Vec<u8>>, Mac) {
    let folder = Folder::new();
    let [from, to] = ["in.pcap", "out.pcap"].map(|name| folder.file(name));
    capture::write(from.as_ref(), &frames());
    let vdevs = [
        format!("net_pcap0,rx_pcap={from}"),
        format!("net_pcap1,tx_pcap={to}"),
    ];
    let mut options = vec!["-i"];
    options.extend(application);
    let mut session = Session::start(&words(2, &vdevs.each_ref().map(String::as_str), &options));
    session.ask("start");
    session.wait("end of the file", |session| {
        session.stderr().contains(": end of ").then_some(())
    });
    // Time for what waits in a queue of engine noisy to be flushed.
    thread::sleep(Duration::from_millis(50));
    session.ask("stop");
    let ended = session.quit();
    (sent(to.as_ref()), macs(&ended.stdout)[1])
}

#[test]
fn io_changes_nothing() {
    for engine in ["io", "recycle_mbufs"] {
        let (sent, _) = forwarded(&[&format!("--forward-mode={engine}")]);
        assert!(sent == frames(), "{engine}");
    }
}

#[test]
fn mac_addresses_frames() {
    for (option, peer) in [
        ("--burst=32", [2, 0, 0, 0, 0, 1]),
        (
            "--eth-peer=1,02:aa:bb:cc:dd:ee",
            [2, 0xaa, 0xbb, 0xcc, 0xdd, 0xee],
        ),
    ] {
        let (sent, own) = forwarded(&["--forward-mode=mac", option]);
        let mut expected = frames();
        for frame in &mut expected {
            frame[..6].copy_from_slice(&peer);
            frame[6..12].copy_from_slice(&own);
        }
        assert!(sent == expected, "{option}");
    }
}

/// With a queue in between, packets leave late, in order, and none is left behind.
#[test]
fn noisy_delays_and_loses_nothing() {
    for queue in ["0", "16", "64"] {
        for (mode, change) in [
            ("io", <[u8]>::to_vec as fn(&[u8]) -> Vec<u8>),
            ("macswap", frame::macswap),
            ("5tswap", frame::five_tuple_swap),
        ] {
            let options = [
                "--forward-mode=noisy".to_owned(),
                format!("--noisy-forward-mode={mode}"),
                format!("--noisy-tx-sw-buffer-size={queue}"),
                "--noisy-tx-sw-buffer-flushtime=1".to_owned(),
                "--noisy-lkup-memory=1".to_owned(),
                "--noisy-lkup-num-reads-writes=2".to_owned(),
            ];
            let (sent, _) = forwarded(&options.each_ref().map(String::as_str));
            let expected: Vec<_> = frames().iter().map(|frame| change(frame)).collect();
            assert!(
                sent == expected,
                "{mode}, queue of {queue}: {} frames",
                sent.len()
            );
        }
    }
}

/// Every kernel does the same, whichever the machine can run.
#[test]
fn kernels_agree() {
    let expected: Vec<_> = frames().iter().map(|frame| frame::macswap(frame)).collect();
    for kernel in ["auto", "scalar", "x4"] {
        let (sent, _) = forwarded(&["--forward-mode=macswap", &format!("--macswap={kernel}")]);
        assert!(sent == expected, "--macswap={kernel}");
    }
    for kernel in ["auto", "libc", "inline"] {
        let (sent, _) = forwarded(&["--forward-mode=io", &format!("--copy={kernel}")]);
        assert!(sent == frames(), "--copy={kernel}");
    }
}
