//! What a port is refused with, and what becomes of frames that a file doesn't take.

use std::os::fd::AsRawFd;

use mpps_dev::DevConfig;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, memfd_create};

use crate::rig::{Folder, Rig, capture, parse, probe};

fn frames(count: usize) -> Vec<[u8; 60]> {
    (0..count).map(|n| [n as u8; 60]).collect()
}

#[test]
fn what_arguments_are_refused_with() {
    let folder = Folder::new("refused");
    let a = folder.file("a.pcap", &capture(&frames(5)));
    let empty = folder.file("empty.pcap", &capture::<Vec<u8>>(&[]));
    let mut raw = capture(&frames(1));
    raw[20] = 101;
    let raw = folder.file("raw.pcap", &raw);
    let text = folder.file("text", b"#!/bin/sh");
    let (a, empty, raw, text) = (a.display(), empty.display(), raw.display(), text.display());
    let seventeen = format!(",rx_pcap={a}").repeat(17);
    for (args, message) in [
        (String::new(), "neither rx_pcap=FILE nor tx_pcap=FILE".to_owned()),
        (",iface=eth0".into(), "iface=eth0: net_pcap has no kernel interfaces, only files; give rx_pcap=FILE and tx_pcap=FILE instead".into()),
        (format!(",rx_pcap={a},tx_iface=eth1"), "tx_iface=eth1: net_pcap has no kernel interfaces".into()),
        (",rx_iface=eth1".into(), "rx_iface=eth1: ".into()),
        (",rx_iface_in=eth1".into(), "rx_iface_in=eth1: ".into()),
        (format!(",rx_pcap={a},phy_mac=1"), "leave phy_mac out".into()),
        (format!(",rx_pcap={a},infinite_rx=1,eof=1"), "exclude each other".into()),
        (format!(",rx_pcap={a},snaplen=262145"), "snaplen must be a number from 1 to 262144".into()),
        (format!(",rx_pcap={a},speed=9"), "unknown argument \"speed\"".into()),
        (seventeen, "rx_pcap is given 17 times, at most 16".into()),
        (format!(",tx_pcap={a},infinite_rx=1"), "infinite_rx=1 needs a file to receive from".into()),
        (format!(",rx_pcap={a},tx_pcap={a}"), "the port has this file open already".into()),
        (format!(",tx_pcap={a},tx_pcap={a}"), "the port has this file open already".into()),
        (format!(",rx_pcap={empty},infinite_rx=1"), format!("{empty}: no frames in it to receive over and over")),
        (format!(",rx_pcap={raw}"), format!("{raw}: link type RAW (101), but only ETHERNET (1) can be received")),
        (format!(",rx_pcap={text}"), format!("{text}: at byte 0: not a capture file: it begins with 23 21 2f 62")),
        (",rx_pcap=/nonexistent/x.pcap".into(), "/nonexistent/x.pcap: No such file or directory".into()),
        (",tx_pcap=/nonexistent/x.pcap".into(), "/nonexistent/x.pcap: No such file or directory".into()),
        (",rx_pcap=/dev/zero".into(), "/dev/zero: is not a regular file".into()),
        (",rx_pcap=/tmp".into(), "/tmp: is not a regular file".into()),
    ] {
        let error = probe(&format!("net_pcap0{args}")).err().unwrap();
        assert!(error.contains(&message), "{args}: {error}");
        assert!(error.starts_with("device net_pcap0: ") && !error.contains('\n'), "{error}");
    }
    // An empty file is a file, as long as it need not go on for ever.
    probe(&format!("net_pcap0,rx_pcap={empty},phy_mac=0")).unwrap();
}

#[test]
fn two_ports_do_not_write_one_file() {
    let folder = Folder::new("shared");
    let tx = folder.path("b.pcap");
    let first = probe(&format!("net_pcap0,tx_pcap={}", tx.display())).unwrap();
    let error = probe(&format!("net_pcap1,tx_pcap={}", tx.display()))
        .err()
        .unwrap();
    assert!(error.contains("is in use by another port"), "{error}");
    drop(first);
    probe(&format!("net_pcap1,tx_pcap={}", tx.display())).unwrap();
    let _ = probe("net_pcap0,tx_pcap=/dev/null").unwrap();
}

#[test]
fn a_full_disk_is_told_and_harms_nothing() {
    // The header already doesn't fit: the start says so.
    let mut dev = probe("net_pcap0,tx_pcap=/dev/full").unwrap();
    let config = DevConfig {
        tx: vec![Default::default()],
        ..Default::default()
    };
    dev.configure(&config).unwrap();
    let error = dev.start().err().unwrap().to_string();
    assert!(
        error.contains("/dev/full: No space left on device"),
        "{error}"
    );
}

#[test]
fn what_a_file_does_not_take_counts_as_errors() {
    let folder = Folder::new("sealed");
    let all = frames(100);
    let rx = folder.file("a.pcap", &capture(&all));
    // A file that the kernel lets grow until it is told not to: a disk that becomes full.
    let file = memfd_create("sealed", MemfdFlags::ALLOW_SEALING).unwrap();
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    let mut rig = Rig::new(&format!(
        "net_pcap0,rx_pcap={},tx_pcap={path}",
        rx.display()
    ));
    assert_eq!(rig.rx(0), 32);
    assert_eq!(rig.tx(0), 32);
    fcntl_add_seals(&file, SealFlags::GROW).unwrap();
    rig.forward(0);
    // The first burst was due at once and is in the file; the last, which wasn't full, was tried and refused.
    let stats = rig.dev.stats();
    assert_eq!((stats.opackets, stats.oerrors), (96, 4));
    assert_eq!(stats.obytes, 96 * 60);
    for _ in 0..3 {
        let mut packet = rig.pool.alloc().unwrap();
        assert!(packet.append(&[9; 64]));
        rig.burst.push(packet).unwrap();
        assert_eq!(rig.tx(0), 1);
    }
    assert_eq!(rig.dev.stats().oerrors, 7);
    rig.end();
    assert_eq!(parse(&std::fs::read(path).unwrap()).len(), 32);
}
