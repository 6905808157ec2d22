//! Packets that owe a checksum, or are yet to be cut, through every engine that passes packets on: whatever the engine
//! changes, what leaves can be finished and is right then.

use std::sync::{Arc, Mutex};

use mpps_dev::{Lcore, TxOffloads, TxQueue};
use mpps_mbuf::{Burst, Gso, GsoKind, Mbuf, OffloadFlags, PartialChecksum, Pool};
use mpps_wire::{Ipv4, Layers, parse};

use crate::testing::{Bench, pool, setup};
use crate::{EngineSpec, StreamSetup, frames};

/// What was sent: flags as they were, and the frames that came of it once finished.
#[derive(Default)]
struct Seen {
    flags: Vec<OffloadFlags>,
    gso: Vec<Option<Gso>>,
    frames: Vec<Vec<u8>>,
}

/// A transmit queue that finishes what it sends.
struct Wire(Arc<Mutex<Seen>>);

impl TxQueue for Wire {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        let mut seen = self.0.lock().unwrap();
        let n = pkts.len();
        while let Some(packet) = pkts.pop_front() {
            seen.flags.push(packet.flags());
            seen.gso.push(packet.gso());
            let pool = packet.pool();
            mpps_soft::finish(packet, lcore.caches(), pool, &mut |done: Mbuf| {
                let bytes = done.segments_data().flatten().copied().collect();
                seen.frames.push(bytes);
            })
            .unwrap();
        }
        n
    }
}

/// The packets' way through an engine.
fn through(spec: &EngineSpec, setup: &StreamSetup, pool: &Pool, packets: Vec<Mbuf>) -> Seen {
    beside(spec, setup, pool, packets, Vec::new())
}

/// The same while there are clones.
fn beside(
    spec: &EngineSpec,
    setup: &StreamSetup,
    pool: &Pool,
    packets: Vec<Mbuf>,
    clones: Vec<Mbuf>,
) -> Seen {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let mut bench = Bench::new(pool, packets, 0);
    bench.io.tx = Some(Box::new(Wire(seen.clone())));
    let mut engine = (spec.make)(setup).unwrap();
    for _ in 0..3 {
        engine.step(&mut bench.lcore, &mut bench.io);
    }
    drop((engine, clones));
    bench.finish();
    std::mem::take(&mut *seen.lock().unwrap())
}

/// Where the checksum of a frame is, and its field given the sum of the pseudo header.
fn unfinished(frame: &[u8]) -> (Vec<u8>, PartialChecksum) {
    let mut frame = frame.to_vec();
    let layers = parse(&frame, None);
    let offset = if layers.l4_proto == 17 { 6 } else { 16 };
    let checksum = PartialChecksum {
        start: layers.l4_offset() as u16,
        offset,
    };
    let total = layers.l4_total(&frame, frame.len()).unwrap();
    let pseudo = layers.pseudo(&frame, total).unwrap().folded();
    frame[checksum.field()..checksum.field() + 2].copy_from_slice(&pseudo.to_be_bytes());
    (frame, checksum)
}

fn packet(pool: &Pool, bytes: &[u8]) -> Mbuf {
    let mut packet = pool.alloc().unwrap();
    assert!(packet.append(bytes));
    packet
}

fn is_right(frame: &[u8]) -> bool {
    let layers: Layers = parse(frame, None);
    let total = layers.l4_total(frame, frame.len()).unwrap();
    let l4 = &frame[layers.l4_offset()..layers.l4_offset() + total];
    let sum = layers.pseudo(frame, total).unwrap().plus(l4);
    sum.checksum() == 0 && (!layers.is_ipv4() || Ipv4::checksum_is_good(frame, layers.l3_offset()))
}

const FRAMES: &[&[u8]] = &[
    frames::UDP,
    frames::TCP,
    frames::TCP_OPTIONS,
    frames::QINQ,
    frames::TCP6_EXTENSIONS,
];

const PASSING: &[&str] = &[
    "io",
    "mac",
    "macswap",
    "5tswap",
    "noisy",
    "csum",
    "recycle_mbufs",
];

// V-44: nothing is asked of the port that the program didn't ask for, and what the sender left to others gets done.
#[test]
fn v44_a_checksum_left_to_others_is_right_in_the_end() {
    let pool = pool();
    for name in PASSING {
        let spec = crate::find(name).unwrap();
        // Once alone, once with clones that share the data.
        for is_shared in [false, true] {
            let mut clones = Vec::new();
            let packets = FRAMES.iter().map(|frame| {
                let (bytes, checksum) = unfinished(frame);
                assert!(is_right(frame) && !is_right(&bytes));
                let mut packet = packet(&pool, &bytes);
                packet.set_partial_checksum(checksum);
                if is_shared {
                    clones.push(pool.share(&mut packet).unwrap());
                }
                packet
            });
            let packets = packets.collect();
            let seen = beside(spec, &setup(&pool), &pool, packets, clones);
            assert_eq!(seen.frames.len(), FRAMES.len(), "{name}");
            assert!(seen.frames.iter().all(|frame| is_right(frame)), "{name}");
            let has_debt = |flags: &OffloadFlags| flags.intersects(OffloadFlags::DEBT);
            assert!(
                seen.flags
                    .iter()
                    .all(|flags| has_debt(flags) == (*name != "csum")),
                "{name}"
            );
            let asked = OffloadFlags::TX_REQUESTS;
            assert!(
                !seen.flags.iter().any(|flags| flags.intersects(asked)),
                "{name}"
            );
        }
    }
}

#[test]
fn a_port_that_computes_checksums_is_asked_to_by_csum_alone() {
    let pool = pool();
    let mut setup = setup(&pool);
    setup.tx.checksum.hardware = TxOffloads::TCP_CKSUM | TxOffloads::UDP_CKSUM;
    let (bytes, checksum) = unfinished(frames::TCP);
    let mut one = packet(&pool, &bytes);
    one.set_partial_checksum(checksum);
    let seen = through(crate::find("csum").unwrap(), &setup, &pool, vec![one]);
    assert!(seen.flags[0].contains(OffloadFlags::TX_TCP_CKSUM));
    assert!(!seen.flags[0].intersects(OffloadFlags::DEBT));
    assert!(is_right(&seen.frames[0]));
}

#[test]
fn a_packet_that_is_to_be_cut_stays_one() {
    let pool = pool();
    for name in PASSING {
        let (bytes, checksum) = unfinished(frames::TCP);
        let mut large = packet(&pool, &bytes);
        let rest = packet(&pool, &[0x55; 2000]);
        large.chain(rest).unwrap();
        let gso = Gso {
            kind: GsoKind::TcpV4,
            ecn: false,
            size: 536,
            header_len: 54,
        };
        large.set_gso(checksum, gso);
        let mut setup = setup(&pool);
        if *name == "csum" {
            // Neither does a segment size of the program's own change the sender's.
            setup.tx.checksum.hardware = TxOffloads::TCP_TSO;
            setup.tx.checksum.tso = 100;
        }
        let seen = through(crate::find(name).unwrap(), &setup, &pool, vec![large]);
        assert_eq!(seen.gso, [Some(gso)], "{name}");
        let payload = frames::TCP.len() - 54 + 2000;
        assert_eq!(seen.frames.len(), payload.div_ceil(536), "{name}");
        assert!(seen.frames.iter().all(|frame| is_right(frame)), "{name}");
    }
}

#[test]
fn an_answer_has_a_whole_checksum() {
    let pool = pool();
    let spec = crate::find("icmpecho").unwrap();
    let mut bytes = frames::PING.to_vec();
    // ICMP has no pseudo header.
    bytes[36..38].fill(0);
    let checksum = PartialChecksum {
        start: 34,
        offset: 2,
    };
    let ping = || {
        let mut ping = packet(&pool, &bytes);
        ping.set_partial_checksum(checksum);
        ping
    };
    let gso = Gso {
        kind: GsoKind::Udp,
        ecn: false,
        size: 8,
        header_len: 0,
    };
    let mut absurd = ping();
    absurd.set_gso(checksum, gso);
    let mut setup = setup(&pool);
    setup.tx.port = 0;
    let seen = through(spec, &setup, &pool, vec![ping(), absurd]);
    assert_eq!(seen.frames.len(), 1, "what is to be cut is no ping");
    assert_eq!(mpps_wire::checksum::checksum(&seen.frames[0][34..]), 0);
    assert!(!seen.flags[0].intersects(OffloadFlags::UNFINISHED));
}
