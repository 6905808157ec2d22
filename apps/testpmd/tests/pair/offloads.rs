//! Checksums and segments that one port leaves to the next: what a capture holds in the end is right, whoever did the
//! work, and whatever engines stood between.
//!
//! A front end reads frames with checksums of no meaning from a capture, and has csum leave them to its virtio-user port,
//! which hands them on unfinished. The program at the other end writes what it got to a capture of its own.

use std::path::Path;

use super::frames::{Packet, SEQUENCE, Spec, TCP, UDP, inner};
use super::pcap;
use super::rig::{BACK, Call, Folder, Pair, ask, linked, packets, until};
use super::run::Run;

pub(super) const FRONT: &str = "net_virtio_user1,path=./sock,server=1";

/// Frames of all kinds; the last one travels in a tunnel.
pub(super) fn specs() -> Vec<Spec> {
    let with = |name, is_v6, protocol, change: fn(&mut Spec)| {
        Spec::new(name, is_v6, protocol, 99).with(change)
    };
    vec![
        Spec::new("udp", false, UDP, 100),
        Spec::new("tcp", false, TCP, 101),
        Spec::new("udp6", true, UDP, 100),
        Spec::new("tcp6", true, TCP, 1001),
        Spec::new("empty", false, TCP, 0),
        with("options", false, TCP, |spec| spec.extras = 8),
        with("tag", false, UDP, |spec| spec.tags = 1),
        with("tags", true, TCP, |spec| spec.tags = 2),
        with("extension", true, UDP, |spec| spec.extras = 1),
        with("extensions", true, TCP, |spec| spec.extras = 2),
        with("no checksum", false, UDP, |spec| spec.field = 0),
        with("fragment", false, UDP, |spec| {
            spec.payload.resize(96, 1);
            spec.is_fragment = true;
        }),
        with("padded", false, UDP, |spec| {
            spec.payload.truncate(3);
            spec.padding = 15;
        }),
        Spec::new("nought", false, UDP, 100).summing_to_nought(),
        Spec::new("nought6", true, UDP, 100).summing_to_nought(),
        Spec::new("nought tcp", false, TCP, 100).summing_to_nought(),
        // Longer than an mbuf.
        Spec::new("long", false, TCP, 3000),
        Spec::new("long6", true, UDP, 5001),
        Spec::new("tunnel", false, TCP, 200),
    ]
}

pub(super) fn frames(specs: &[Spec]) -> Vec<Vec<u8>> {
    let (tunnelled, plain) = specs.split_last().unwrap();
    let mut frames: Vec<_> = plain.iter().map(Spec::frame).collect();
    frames.push(tunnelled.tunnelled());
    frames
}

/// Everything arrived, in order, and a receiver would take it.
pub(super) fn assert_whole(about: &str, specs: &[Spec], got: &[Vec<u8>], tags: usize) {
    assert_eq!(got.len(), specs.len(), "{about}");
    for (n, (spec, frame)) in specs.iter().zip(got).enumerate() {
        let about = format!("{about}: {}", spec.name);
        let is_tunnel = n + 1 == specs.len();
        let untagged = if is_tunnel {
            Packet::of(frame).assert_right(&about);
            inner(&frame[4 * tags..])
        } else {
            frame
        };
        let packet = Packet::of(untagged);
        packet.assert_right(&about);
        assert_eq!(packet.payload(), spec.payload, "{about}");
        if !is_tunnel {
            assert_eq!(packet.tags, spec.tags + tags, "{about}");
        }
        // Zero says "none" in UDP, and is a sum like any other in TCP.
        let zero = spec.field == 0 || spec.name == "nought tcp";
        assert_eq!(packet.field() == 0, zero, "{about}");
        if spec.is_fragment {
            assert_eq!(packet.field(), spec.field, "{about}: none of our business");
        }
    }
}

/// The front end, whose csum leaves to the port what that takes. `lines` more are asked of it while the port is stopped.
pub(super) fn set_up(front: &mut Run, lines: &[&str]) {
    ask(front, "port stop all");
    let always = [
        "csum set tcp hw 1",
        "csum set udp hw 1",
        "csum parse-tunnel on 0",
        "csum parse-tunnel on 1",
        "set fwd csum",
    ];
    for line in always.iter().chain(lines) {
        ask(front, line);
    }
    ask(front, "port start all");
    linked(front, 1);
}

/// What a way through two programs needs.
struct Way<'a> {
    name: &'a str,
    /// Of the front end's program.
    front: &'a str,
    front_lines: &'a [&'a str],
    /// The back end's devices, its options and what it is asked first.
    back: &'a [&'a str],
    options: &'a [&'a str],
    lines: &'a [&'a str],
    /// How many frames come out, and the number of the port that writes them.
    expected: u64,
    sink: u16,
    /// Features that the back end is to say it was asked for, and those that it isn't, by virtio's bits.
    features: (u64, u64),
}

/// Features of virtio 1.3, section 5.1.3.
pub(super) const CSUM: u64 = 1;
pub(super) const HOST_TSO: u64 = 1 << 11 | 1 << 12;

/// The features that a back end said its port's front end took.
pub(super) fn features(said: &str, port: u16) -> u64 {
    let words = format!("port {port}: the front end took features 0x");
    let (_, behind) = said.rsplit_once(&words).unwrap();
    let end = behind.find(|c: char| !c.is_ascii_hexdigit()).unwrap();
    u64::from_str_radix(&behind[..end], 16).unwrap()
}

impl Way<'_> {
    /// Sends frames; what the back end's program captured.
    fn captured(&self, frames: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let scratch = Folder::new(&format!("{}-in", self.name));
        let input = scratch.path().join("in.pcap");
        pcap::write(&input, frames);
        let source = format!("net_pcap0,rx_pcap={},tx_pcap=none.pcap", input.display());
        let mut pair = Pair::of(
            self.name,
            Call::of(&[&source, self.front]),
            Call::of(self.back).with(self.options),
        );
        set_up(&mut pair.front, self.front_lines);
        linked(&mut pair.back, 0);
        for line in self.lines {
            ask(&mut pair.back, line);
        }
        ask(&mut pair.back, "start");
        ask(&mut pair.front, "start");
        let (sink, expected) = (self.sink, self.expected);
        until(&mut pair.back, "all captured", |run| {
            packets(run, sink).1 >= expected
        });
        ask(&mut pair.back, "stop");
        ask(&mut pair.front, "stop");
        ask(&mut pair.back, "port stop all");
        let got = pcap::read(&pair.folder.path().join("out.pcap"));
        let (_, said) = pair.quit();
        let (with, without) = self.features;
        assert_eq!(
            features(&said, 0) & (with | without),
            with,
            "{}: {said}",
            self.name
        );
        got
    }
}

/// A capture that nobody reads from.
pub(super) fn sink(folder: &Path) -> String {
    let empty = folder.join("empty.pcap");
    pcap::write(&empty, &[]);
    format!("net_pcap0,rx_pcap={},tx_pcap=out.pcap", empty.display())
}

const ENGINES: &[&str] = &[
    "io",
    "mac",
    "macswap",
    "5tswap",
    "csum",
    "noisy",
    "mac retry",
];

/// What the front end left undone is done before it is written, by whichever engine it went.
#[test]
fn checksums_are_completed_behind_every_engine() {
    let specs = specs();
    let scratch = Folder::new("engines-sink");
    let sink = sink(scratch.path());
    for engine in ENGINES {
        let line = format!("set fwd {engine}");
        let way = Way {
            name: "engines",
            front: FRONT,
            front_lines: &[],
            back: &[BACK, &sink],
            options: &["-i", "--no-flush-rx"],
            lines: &[&line, "csum parse-tunnel on 0"],
            expected: specs.len() as u64,
            sink: 1,
            features: (CSUM, HOST_TSO),
        };
        assert_whole(engine, &specs, &way.captured(&frames(&specs)), 0);
    }
}

/// csum cuts what it sends into segments, so that headers lie in several.
#[test]
fn checksums_of_split_packets_are_completed() {
    let specs = specs();
    let scratch = Folder::new("split-sink");
    let sink = sink(scratch.path());
    for lines in [
        ["set txpkts 45,3,60", "set txsplit on"],
        ["set txpkts 64,100,200", "set txsplit rand"],
    ] {
        let way = Way {
            name: "split",
            front: FRONT,
            front_lines: &lines,
            back: &[BACK, &sink],
            options: &["-i", "--no-flush-rx", "--mbuf-size=1024"],
            lines: &["set fwd macswap"],
            expected: specs.len() as u64,
            sink: 1,
            features: (CSUM, HOST_TSO),
        };
        assert_whole(lines[1], &specs, &way.captured(&frames(&specs)), 0);
    }
}

/// The same by way of a ring port, which hands packets on as they are.
#[test]
fn checksums_are_completed_behind_a_ring() {
    let specs = specs();
    let scratch = Folder::new("ring-sink");
    let sink = sink(scratch.path());
    let way = Way {
        name: "ring",
        front: FRONT,
        front_lines: &[],
        back: &[BACK, "net_ring0", &sink],
        options: &["-i", "--no-flush-rx", "--port-topology=chained"],
        lines: &["set fwd macswap"],
        expected: specs.len() as u64,
        sink: 2,
        features: (CSUM, HOST_TSO),
    };
    assert_whole("ring", &specs, &way.captured(&frames(&specs)), 0);
}

/// TCP packets to be cut to 700 bytes, of these payloads.
const LARGE: &[(bool, usize, usize)] = &[
    (false, 4000, 0),
    (true, 4001, 0),
    (false, 7001, 1),
    (true, 700, 2),
    (false, 701, 0),
    (false, 10, 0),
    (true, 0, 0),
];

const SIZE: usize = 700;

pub(super) fn large() -> Vec<Spec> {
    let spec = |(is_v6, len, tags): &(bool, usize, usize)| {
        Spec::new("large", *is_v6, TCP, *len).with(|spec| spec.tags = *tags)
    };
    LARGE.iter().map(spec).collect()
}

pub(super) const fn pieces(len: usize) -> usize {
    if len == 0 { 1 } else { len.div_ceil(SIZE) }
}

/// Each packet's pieces are there, in order, and put together they are the packet.
pub(super) fn assert_pieces(about: &str, specs: &[Spec], got: &[Vec<u8>]) {
    let mut got = got.iter();
    for spec in specs {
        let about = format!("{about}: {} of {} bytes", spec.name, spec.payload.len());
        let (mut payload, mut next) = (Vec::<u8>::new(), SEQUENCE);
        let count = pieces(spec.payload.len());
        for piece in got.by_ref().take(count) {
            let packet = Packet::of(piece);
            packet.assert_right(&about);
            assert_eq!(packet.tags, spec.tags, "{about}");
            assert_eq!(packet.sequence(), next, "{about}");
            assert!(packet.payload().len() <= SIZE, "{about}");
            next = next.wrapping_add(packet.payload().len() as u32);
            payload.extend(packet.payload());
        }
        assert_eq!(payload, spec.payload, "{about}");
    }
    assert_eq!(got.len(), 0, "{about}");
}

/// `tso set`, to a back end that takes large packets whole and to one that doesn't: cut by the one program or the other.
#[test]
fn large_packets_are_cut_by_whoever_must() {
    let specs = large();
    let frames: Vec<_> = specs.iter().map(Spec::frame).collect();
    let expected = LARGE.iter().map(|(_, len, _)| pieces(*len) as u64).sum();
    let scratch = Folder::new("large-sink");
    let sink = sink(scratch.path());
    let takes = format!("{BACK},tso=1");
    for (back, engine, features) in [
        (takes.as_str(), "io", (CSUM | HOST_TSO, 0)),
        (&takes, "macswap", (CSUM | HOST_TSO, 0)),
        (&takes, "5tswap", (CSUM | HOST_TSO, 0)),
        (&takes, "csum", (CSUM | HOST_TSO, 0)),
        (BACK, "io", (CSUM, HOST_TSO)),
    ] {
        let line = format!("set fwd {engine}");
        let way = Way {
            name: "large",
            front: FRONT,
            front_lines: &["tso set 700 1"],
            back: &[back, &sink],
            options: &["-i", "--no-flush-rx"],
            lines: &[&line],
            expected,
            sink: 1,
            features,
        };
        let about = format!("{back} {engine}");
        assert_pieces(&about, &specs, &way.captured(&frames));
    }
}
