//! Three programs in a row: what the first left undone travels on through the second, from one vhost port to another, if
//! the third takes it; else the second does it.

use super::frames::Spec;
use super::offloads::{
    CSUM, FRONT, assert_pieces, assert_whole, features, frames, large, pieces, set_up, sink, specs,
};
use super::pcap;
use super::rig::{BACK, Call, Folder, Pair, ask, linked, packets, quit, until};

/// Features of virtio 1.3, section 5.1.3.
const GUEST_CSUM: u64 = 1 << 1;
const GUEST_TSO: u64 = 1 << 7 | 1 << 8;

/// What the third takes: commands for its port 0, and the features that come of them.
struct Taker {
    lines: &'static [&'static str],
    features: u64,
}

const TAKERS: &[Taker] = &[
    Taker {
        lines: &[],
        features: 0,
    },
    Taker {
        lines: &[
            "port config 0 rx_offload udp_cksum on",
            "port config 0 rx_offload tcp_cksum on",
        ],
        features: GUEST_CSUM,
    },
    Taker {
        lines: &["port config 0 rx_offload tcp_lro on"],
        features: GUEST_CSUM | GUEST_TSO,
    },
];

/// Frames through all three; `lines` are asked of the second while its port 1 is stopped.
fn captured(
    input: &[Vec<u8>],
    first: &[&str],
    lines: &[&str],
    taker: &Taker,
    expected: u64,
) -> Vec<Vec<u8>> {
    let scratch = Folder::new("relay-in");
    let file = scratch.path().join("in.pcap");
    pcap::write(&file, input);
    let source = format!("net_pcap0,rx_pcap={},tx_pcap=none.pcap", file.display());
    let takes = format!("{BACK},tso=1");
    let options = &["-i", "--no-flush-rx"];
    let mut pair = Pair::of(
        "relay",
        Call::of(&[&source, FRONT]),
        Call::of(&[&takes, "net_vhost1,iface=sock2,tso=1"]).with(options),
    );
    let sink = sink(scratch.path());
    let devices = ["net_virtio_user0,path=./sock2", sink.as_str()];
    let mut third = Call::of(&devices).with(options).start(&pair.folder, 1);
    third.wait_for("testpmd> ", 1);
    for line in [&["port stop 0"], taker.lines, &["port start 0", "start"]].concat() {
        ask(&mut third, line);
    }
    ask(&mut pair.back, "port stop 1");
    for line in lines {
        ask(&mut pair.back, line);
    }
    ask(&mut pair.back, "port start 1");
    set_up(&mut pair.front, first);
    for port in [0, 1] {
        linked(&mut pair.back, port);
    }
    linked(&mut third, 0);
    ask(&mut pair.back, "start");
    ask(&mut pair.front, "start");
    until(&mut third, "all captured", |run| {
        packets(run, 1).1 >= expected
    });
    for run in [&mut pair.front, &mut pair.back, &mut third] {
        ask(run, "stop");
    }
    ask(&mut third, "port stop all");
    let got = pcap::read(&pair.folder.path().join("out.pcap"));
    let (_, said) = pair.quit();
    quit(third);
    assert_ne!(features(&said, 0) & CSUM, 0, "{said}");
    let taken = features(&said, 1) & (GUEST_CSUM | GUEST_TSO);
    assert_eq!(taken, taker.features, "{said}");
    got
}

#[test]
fn checksums_travel_or_are_completed() {
    let specs = specs();
    for taker in TAKERS {
        let got = captured(
            &frames(&specs),
            &[],
            &["set fwd macswap"],
            taker,
            specs.len() as u64,
        );
        assert_whole("relay", &specs, &got, 0);
    }
}

/// A tag is put in front of what is yet to be summed.
#[test]
fn checksums_travel_behind_a_tag() {
    let specs = specs();
    for taker in TAKERS {
        let got = captured(
            &frames(&specs),
            &[],
            &["tx_vlan set 1 77", "set fwd macswap"],
            taker,
            specs.len() as u64,
        );
        assert_whole("tagged relay", &specs, &got, 1);
    }
}

#[test]
fn large_packets_travel_or_are_cut() {
    let specs = large();
    let input: Vec<_> = specs.iter().map(Spec::frame).collect();
    let expected = specs
        .iter()
        .map(|spec| pieces(spec.payload.len()) as u64)
        .sum();
    for taker in TAKERS {
        let got = captured(
            &input,
            &["tso set 700 1"],
            &["set fwd 5tswap"],
            taker,
            expected,
        );
        assert_pieces("large relay", &specs, &got);
    }
}
