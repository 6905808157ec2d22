//! Ports of capture files: arguments, queues, counters, starts and stops, and the faults that others had.

use crate::rig::{Folder, Rig, bytes, capture, device, parse, pool_of, probe};
use mpps_dev::{DevConfig, Driver, RxOffloads, RxQueueConfig};
use mpps_pmd_pcap::Pcap;

fn frames(count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|n| vec![n as u8; 60 + n % 1400]).collect()
}

#[test]
fn a_file_goes_through_frame_for_frame() {
    let folder = Folder::new("through");
    let frames = frames(1000);
    let rx = folder.file("a.pcap", &capture(&frames));
    let tx = folder.path("b.pcap");
    let mut rig = Rig::new(&device(&rx, &tx));
    // PC-12: nothing is thrown away at start.
    assert!(!rig.dev.info().flush_at_start);
    let bursts = rig.forward(0);
    assert_eq!(bursts, 1000usize.div_ceil(32));
    let stats = rig.dev.stats();
    let total: usize = frames.iter().map(Vec::len).sum();
    assert_eq!((stats.ipackets, stats.opackets), (1000, 1000));
    assert_eq!((stats.ibytes, stats.obytes), (total as u64, total as u64));
    assert_eq!((stats.ierrors, stats.oerrors, stats.rx_nombuf), (0, 0, 0));
    // The last burst wasn't full, so all is in the file while the port still runs.
    let written = parse(&std::fs::read(&tx).unwrap());
    assert!(written.iter().map(|frame| &frame.0).eq(frames.iter()));
    rig.end();
    assert_eq!(parse(&std::fs::read(&tx).unwrap()), written);
}

#[test]
fn long_frames_become_chains_and_zero_length_passes() {
    let folder = Folder::new("long");
    let lengths = [0, 1, 2048, 2049, 4096, 9000, 65_535, 262_144, 0, 60];
    let frames: Vec<Vec<u8>> = lengths
        .iter()
        .map(|len| (0..*len).map(|at| (at % 251) as u8).collect())
        .collect();
    let rx = folder.file("a.pcap", &capture(&frames));
    let tx = folder.path("b.pcap");
    let args = format!("{},snaplen=262144", device(&rx, &tx));
    for infinite in ["", ",infinite_rx=1"] {
        let mut rig = Rig::new(&format!("{args}{infinite}"));
        while rig.burst.len() < frames.len() {
            assert!(rig.rx(0) > 0);
        }
        let segments: Vec<u16> = rig.burst.as_slice().iter().map(|p| p.segments()).collect();
        assert_eq!(segments[..10], [1, 1, 1, 2, 2, 5, 32, 128, 1, 1]);
        for (packet, frame) in rig.burst.as_slice().iter().zip(&frames) {
            assert_eq!(packet.pkt_len() as usize, frame.len());
            assert!(bytes(packet) == *frame);
        }
        rig.tx(0);
        // PC-03: bytes of all segments.
        let total: usize = lengths.iter().sum();
        assert!(rig.dev.stats().obytes >= total as u64);
        rig.end();
        let written = parse(&std::fs::read(&tx).unwrap());
        assert!(
            written
                .iter()
                .map(|frame| &frame.0)
                .take(10)
                .eq(frames.iter())
        );
    }
}

#[test]
fn without_mbufs_frames_wait() {
    let folder = Folder::new("wait");
    let mut all = frames(20);
    all[13] = vec![7; 10_000];
    let rx = folder.file("a.pcap", &capture(&all));
    for infinite in ["", ",infinite_rx=1"] {
        let args = format!("net_pcap0,rx_pcap={}{infinite}", rx.display());
        let mut rig = Rig::with(&args, 1, pool_of(8, 2176), RxOffloads::empty());
        let mut got = Vec::new();
        for _ in 0..10 {
            rig.rx(0);
            assert_eq!(rig.rx(0), 0);
            got.extend(rig.burst.as_slice().iter().map(bytes));
            rig.free();
        }
        assert!(got.len() >= 20, "{}", got.len());
        assert!(got.iter().zip(all.iter().cycle()).all(|(a, b)| a == b));
        assert_eq!(rig.dev.stats().rx_nombuf, 0);
        assert_eq!(rig.dev.stats().ipackets, got.len() as u64);
        rig.end();
    }
}

#[test]
fn a_frame_beyond_the_whole_pool_is_counted_once() {
    let folder = Folder::new("beyond");
    let all = [vec![1; 60], vec![2; 100_000], vec![3; 60]];
    let rx = folder.file("a.pcap", &capture(&all));
    let args = format!("net_pcap0,rx_pcap={}", rx.display());
    let mut rig = Rig::with(&args, 1, pool_of(16, 2176), RxOffloads::empty());
    let got: Vec<_> = rig.drain(0).into_iter().map(|frame| frame.0).collect();
    assert_eq!(got, [vec![1; 60], vec![3; 60]]);
    assert_eq!(rig.dev.stats().rx_nombuf, 1);
    rig.end();
    // PC-02: for ever without it is no use, so that is refused with what is needed and what there is.
    let mut dev = probe(&format!("{args},infinite_rx=1")).unwrap();
    let config = DevConfig {
        rx: vec![RxQueueConfig {
            queue: Default::default(),
            pool: pool_of(16, 2176),
            offloads: RxOffloads::empty(),
            drop_en: false,
        }],
        ..Default::default()
    };
    dev.configure(&config).unwrap();
    let error = dev.start().err().unwrap().to_string();
    assert!(
        error.contains("needs 49 mbufs and the pool has 16"),
        "{error}"
    );
}

#[test]
fn a_loop_longer_than_the_pool_goes_on() {
    let folder = Folder::new("loop");
    let all = frames(1000);
    let rx = folder.file("a.pcap", &capture(&all));
    let args = format!("net_pcap0,rx_pcap={},infinite_rx=1", rx.display());
    let mut rig = Rig::with(&args, 1, pool_of(64, 2176), RxOffloads::empty());
    for turn in 0..100 {
        assert_eq!(rig.rx(0), 32);
        for (at, packet) in rig.burst.as_slice().iter().enumerate() {
            assert_eq!(packet.data(), all[(turn * 32 + at) % 1000]);
        }
        // No tx_pcap: freed and counted as sent.
        assert_eq!(rig.tx(0), 32);
    }
    let stats = rig.dev.stats();
    assert_eq!((stats.ipackets, stats.opackets), (3200, 3200));
    assert_eq!(stats.ibytes, stats.obytes);
    rig.end();
}

#[test]
fn timestamps_come_with_the_offload_alone() {
    let folder = Folder::new("stamps");
    let rx = folder.file("a.pcap", &capture(&frames(40)));
    for infinite in ["", ",infinite_rx=1"] {
        let args = format!("net_pcap0,rx_pcap={}{infinite}", rx.display());
        for (offloads, some) in [(RxOffloads::empty(), false), (RxOffloads::TIMESTAMP, true)] {
            let mut rig = Rig::with(&args, 1, pool_of(64, 2176), offloads);
            assert_eq!(rig.rx(0), 32);
            let times: Vec<_> = rig.burst.as_slice().iter().map(|p| p.timestamp()).collect();
            let expected: Vec<_> = (0..32).map(|n| some.then_some(n)).collect();
            assert_eq!(times, expected);
            rig.end();
        }
    }
}

#[test]
fn what_is_written_has_the_time_of_day() {
    let folder = Folder::new("time");
    let rx = folder.file("a.pcap", &capture(&frames(3)));
    let tx = folder.path("b.pcap");
    let mut rig = Rig::new(&device(&rx, &tx));
    let now = || {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        since.unwrap().as_nanos() as u64
    };
    let before = now();
    rig.forward(0);
    let after = now();
    let written = parse(&std::fs::read(&tx).unwrap());
    assert_eq!(written.len(), 3);
    assert!(
        written
            .iter()
            .all(|frame| (before..=after).contains(&frame.1))
    );
    rig.end();
}

#[test]
fn a_second_start_reads_again_and_appends() {
    let folder = Folder::new("again");
    let all = frames(50);
    let rx = folder.file("a.pcap", &capture(&all));
    let tx = folder.file("b.pcap", b"what was there before");
    let mut rig = Rig::new(&device(&rx, &tx));
    rig.rx(0);
    rig.tx(0);
    rig.stop();
    rig.start();
    rig.forward(0);
    let written = parse(&std::fs::read(&tx).unwrap());
    let expected = all[..32].iter().chain(&all);
    assert!(written.iter().map(|frame| &frame.0).eq(expected));
    assert_eq!(rig.dev.stats().opackets, 82);
    rig.dev.clear_stats();
    assert_eq!(rig.dev.stats().opackets, 0);
    rig.end();
    // A new device begins the file anew.
    let rig = Rig::new(&device(&rx, &tx));
    rig.end();
    assert_eq!(std::fs::read(&tx).unwrap().len(), 24);
}

#[test]
fn each_queue_has_its_files() {
    let folder = Folder::new("queues");
    let (one, two) = (vec![vec![1; 60]; 5], vec![vec![2; 61]; 9]);
    let (a, b) = (
        folder.file("a", &capture(&one)),
        folder.file("b", &capture(&two)),
    );
    let (c, d) = (folder.path("c"), folder.path("d"));
    let args = format!(
        "{},rx_pcap={},tx_pcap={}",
        device(&a, &c),
        b.display(),
        d.display()
    );
    let mut rig = Rig::with(&args, 2, pool_of(64, 2176), RxOffloads::empty());
    assert_eq!(
        (rig.dev.info().max_rx_queues, rig.dev.info().max_tx_queues),
        (2, 2)
    );
    rig.forward(1);
    rig.forward(0);
    assert_eq!(rig.dev.port().rx_counts(0).unwrap().packets, 5);
    assert_eq!(rig.dev.port().tx_counts(1).unwrap().bytes, 9 * 61);
    rig.end();
    assert_eq!(parse(&std::fs::read(&c).unwrap()).len(), 5);
    assert_eq!(parse(&std::fs::read(&d).unwrap()).len(), 9);
}

#[test]
fn a_port_without_rx_never_receives() {
    let folder = Folder::new("dummy");
    let tx = folder.path("b.pcap");
    let mut rig = Rig::new(&format!("eth_pcap7,tx_pcap={}", tx.display()));
    assert_eq!(rig.rx(0), 0);
    for _ in 0..3 {
        let mut packet = rig.pool.alloc().unwrap();
        assert!(packet.append(&[9; 64]));
        rig.burst.push(packet).unwrap();
    }
    assert_eq!(rig.tx(0), 3);
    assert!(rig.dev.link().up);
    rig.end();
    assert_eq!(parse(&std::fs::read(&tx).unwrap()).len(), 3);
}

#[test]
fn a_stopped_queue_moves_nothing() {
    let folder = Folder::new("stopped");
    let rx = folder.file("a.pcap", &capture(&frames(40)));
    for args in [
        device(&rx, &folder.path("b.pcap")),
        format!("net_pcap0,rx_pcap={},infinite_rx=1", rx.display()),
    ] {
        let mut rig = Rig::new(&args);
        let port = rig.dev.port();
        assert!(port.set_rx_started(0, false) && port.set_tx_started(0, false));
        assert_eq!(rig.rx(0), 0);
        rig.dev.port().set_rx_started(0, true);
        assert_eq!(rig.rx(0), 32);
        assert_eq!(rig.tx(0), 0);
        assert_eq!(rig.burst.len(), 32);
        rig.dev.port().set_tx_started(0, true);
        assert_eq!(rig.tx(0), 32);
        rig.end();
    }
}

#[test]
fn the_link_goes_down_at_the_end_where_asked_for() {
    let folder = Folder::new("eof");
    let rx = folder.file("a.pcap", &capture(&frames(5)));
    for (eof, up) in [("", true), (",eof=0", true), (",eof=1", false)] {
        let mut rig = Rig::new(&format!("net_pcap0,rx_pcap={}{eof}", rx.display()));
        assert!(rig.dev.link().up);
        rig.drain(0);
        assert_eq!(rig.dev.link().up, up, "{eof}");
        rig.stop();
        assert!(!rig.dev.link().up);
        rig.start();
        assert!(rig.dev.link().up);
        rig.end();
    }
}

#[test]
fn snaplen_cuts_what_is_written() {
    let folder = Folder::new("snap");
    let rx = folder.file("a.pcap", &capture(&[vec![5; 200], vec![6; 3000]]));
    let tx = folder.path("b.pcap");
    let mut rig = Rig::new(&format!("{},snaplen=100", device(&rx, &tx)));
    rig.forward(0);
    assert_eq!(rig.dev.stats().obytes, 3200);
    rig.end();
    let file = std::fs::read(&tx).unwrap();
    assert_eq!(file[16..20], [100, 0, 0, 0]);
    assert_eq!(file[36..40], 200u32.to_le_bytes());
    let lengths: Vec<_> = parse(&file).iter().map(|frame| frame.0.len()).collect();
    assert_eq!(lengths, [100, 100]);
}

#[test]
fn a_port_that_was_never_started_ends_cleanly() {
    // PC-04.
    let folder = Folder::new("never");
    let rx = folder.file("a.pcap", &capture(&frames(5)));
    for more in ["", ",infinite_rx=1"] {
        drop(probe(&format!("net_pcap0,rx_pcap={}{more}", rx.display())).unwrap());
    }
    let tx = folder.file("b.pcap", b"untouched");
    drop(probe(&device(&rx, &tx)).unwrap());
    // A file is emptied when its port starts, not before.
    assert_eq!(std::fs::read(&tx).unwrap(), b"untouched");
}

#[test]
fn the_driver_has_its_names() {
    assert_eq!(Pcap.name(), "net_pcap");
    assert_eq!(Pcap.aliases(), ["eth_pcap"]);
    let folder = Folder::new("names");
    let rx = folder.file("a.pcap", &capture(&frames(5)));
    let dev = probe(&format!("net_pcap0,rx_pcap={}", rx.display())).unwrap();
    assert_eq!(dev.port().mac().bytes()[..5], *b"\x02pcap");
    assert!(dev.port().promiscuous());
}
