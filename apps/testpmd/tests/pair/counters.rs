//! What both ports count and say of known traffic.

use super::pcap;
use super::rig::{BACK, Call, FRONT, Folder, Pair, ask, figure, packets, until};

/// Frame lengths without CRC, and what DPDK calls their sizes.
const SIZES: &[(&str, &[usize])] = &[
    ("undersize", &[60, 63]),
    ("size_64", &[64, 64, 64]),
    ("size_65_127", &[65, 127]),
    ("size_128_255", &[128, 200, 255, 129]),
    ("size_256_511", &[256]),
    ("size_512_1023", &[512, 1023]),
    ("size_1024_1518", &[1024, 1500, 1518]),
    ("size_1519_max", &[1519, 1600]),
];

/// The second frame is broadcast, the third and the fourth are multicast.
fn frames() -> Vec<Vec<u8>> {
    let lengths = SIZES.iter().flat_map(|(_, lengths)| *lengths);
    let destinations = [2, 0xff, 1, 1];
    lengths
        .enumerate()
        .map(|(n, length)| {
            let mut frame = vec![0x5a; *length];
            let first = destinations.get(n).copied().unwrap_or(2);
            frame[..6].fill(if first == 0xff { 0xff } else { 0 });
            frame[0] = first;
            frame[12..14].copy_from_slice(&[0x88, 0xb5]);
            frame
        })
        .collect()
}

/// The counters of one direction of one port's queue 0.
fn buckets(text: &str, way: &str) -> Vec<Option<u64>> {
    let name = |size| format!("{way}_q0_{size}_packets");
    SIZES
        .iter()
        .map(|(size, _)| figure(text, &name(size)))
        .collect()
}

#[test]
fn sizes_are_counted_alike_on_both_ports_both_ways() {
    let frames = frames();
    let scratch = Folder::new("sizes-in");
    let input = scratch.path().join("in.pcap");
    pcap::write(&input, &frames);
    let capture = |name| format!("net_pcap0,rx_pcap={},tx_pcap={name}", input.display());
    let (of_front, of_back) = (capture("front.pcap"), capture("back.pcap"));
    let front_device = format!("{FRONT},count_groups=1");
    // What arrives before the other side's start is to be counted too.
    let options = &["-i", "--no-flush-rx"];
    let mut pair = Pair::of(
        "sizes",
        Call::of(&[&of_front, &front_device]).with(options),
        Call::of(&[BACK, &of_back]).with(options),
    );
    ask(&mut pair.front, "start");
    ask(&mut pair.back, "start");
    let all = frames.len() as u64;
    let (f, b) = (&mut pair.front, &mut pair.back);
    until(f, "all through", |run| packets(run, 1) == (all, all));
    until(b, "all through", |run| packets(run, 0) == (all, all));
    let want: Vec<_> = SIZES.iter().map(|(_, l)| Some(l.len() as u64)).collect();
    let bytes: u64 = frames.iter().map(|frame| frame.len() as u64).sum();
    for (run, port) in [(f, 1), (b, 0)] {
        let text = ask(run, &format!("show port xstats {port}"));
        for way in ["rx", "tx"] {
            assert_eq!(buckets(&text, way), want, "{text}");
            let value = |name: &str| figure(&text, &format!("{way}_{name}"));
            assert_eq!(value("good_packets"), Some(all));
            assert_eq!(value("good_bytes"), Some(bytes));
            assert_eq!(value("q0_broadcast_packets"), Some(1), "{text}");
            assert_eq!(value("q0_multicast_packets"), Some(2), "{text}");
        }
        assert_eq!(
            ask(run, &format!("clear port xstats {port}")),
            format!("clear port xstats {port}\ntestpmd> ")
        );
        let text = ask(run, &format!("show port xstats {port}"));
        for line in text
            .lines()
            .filter(|line| line.starts_with(['r', 't']) && line.contains("x_"))
        {
            assert!(line.ends_with(": 0"), "{line}");
        }
    }
    for run in [&mut pair.front, &mut pair.back] {
        ask(run, "stop");
        // A capture is whole when its port is stopped.
        ask(run, "port stop all");
    }
    // What arrived is what was sent, in its order.
    for name in ["front.pcap", "back.pcap"] {
        assert_eq!(pcap::read(&pair.folder.path().join(name)), frames);
    }
    pair.quit();
}

/// Arguments of the front end, and the path that both sides take.
const PATHS: &[(&str, &str)] = &[
    ("", "split in-order mergeable"),
    (",mrg_rxbuf=0", "split in-order non-mergeable"),
    (",in_order=0", "split mergeable"),
    (",mrg_rxbuf=0,in_order=0", "split non-mergeable"),
    (",packed_vq=1", "packed in-order mergeable"),
    (",packed_vq=1,mrg_rxbuf=0", "packed in-order non-mergeable"),
    (",packed_vq=1,in_order=0", "packed mergeable"),
    (
        ",packed_vq=1,mrg_rxbuf=0,in_order=0,queue_size=255",
        "packed non-mergeable",
    ),
];

/// The path is the end of what a port says of itself.
#[test]
fn paths_are_shown_by_both_ports() {
    for (n, (arguments, path)) in PATHS.iter().enumerate() {
        let device = format!("{FRONT}{arguments}");
        let mut pair = Pair::of(
            &format!("paths{n}"),
            Call::of(&[&device]),
            Call::of(&[BACK]),
        );
        for run in [&mut pair.front, &mut pair.back] {
            let text = ask(run, "show port info 0");
            let lines: Vec<&str> = text.lines().rev().skip(1).take(2).collect();
            let (tx, rx) = (lines[0], lines[1]);
            for (line, name) in [(rx, "Rx path: "), (tx, "Tx path: ")] {
                let said = line.strip_prefix(name).unwrap_or_else(|| panic!("{text}"));
                let said = said.split(" copy(").next().unwrap();
                assert_eq!(said, *path, "{device}: {text}");
            }
        }
        pair.quit();
    }
}
