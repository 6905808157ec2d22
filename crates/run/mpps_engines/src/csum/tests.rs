//! Checksums broken and computed again, over every kind of header and any segments; what is left to a port; counters.
//!
//! The frames are those of the wire formats' tests, whose checksums were read by tcpdump too.

use proptest::prelude::*;

use mpps_dev::TxOffloads;
use mpps_mbuf::{Mbuf, OffloadFlags, Pool, TxOffload};

use super::Csum;
use crate::testing::{Bench, packets, pool, setup};
use crate::{StreamSetup, TxSplit, frames};

/// Frames with the offsets of their 16-bit checksums (SCTP's is two of them), as tunnels are parsed.
const FIELDS: &[(&[u8], &[usize])] = &[
    (frames::UDP, &[24, 40]),
    (frames::UDP_ZERO, &[24, 40]),
    (frames::TCP, &[24, 50]),
    (frames::TCP_OPTIONS, &[24, 54]),
    (frames::SCTP, &[24, 42, 44]),
    (frames::PING, &[24]),
    (frames::VLAN, &[28]),
    (frames::QINQ, &[68]),
    (frames::TCP6_EXTENSIONS, &[86]),
    (frames::FIRST_FRAGMENT, &[24]),
    (frames::LATER_FRAGMENT, &[24]),
    (frames::VXLAN, &[24, 40, 74, 90]),
    (frames::VXLAN_GPE, &[24, 40, 60, 76]),
    (frames::GENEVE, &[60, 102, 118]),
    (frames::GTP_U, &[24, 40, 64, 80]),
    (frames::GRE, &[24, 56, 72]),
    (frames::NVGRE, &[24, 66, 82]),
    (frames::IPIP, &[24, 44, 60]),
    (frames::SIX_IN_FOUR, &[24, 80]),
    (GRE_CHECKSUM, &[24, 38, 52, 68]),
];

/// GRE with a checksum, IPv4 and UDP inside.
const GRE_CHECKSUM: &[u8] = &[
    0x02, 0x00, 0x00, 0x00, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x00, 0x02, 0x08, 0x00, 0x45, 0x00,
    0x00, 0x3D, 0x12, 0x34, 0x40, 0x00, 0x40, 0x2F, 0x9C, 0x36, 0xC6, 0x12, 0x00, 0x01, 0xC6, 0x12,
    0x00, 0x02, 0x80, 0x00, 0x08, 0x00, 0x04, 0x46, 0x00, 0x00, 0x45, 0x00, 0x00, 0x21, 0x12, 0x34,
    0x40, 0x00, 0x40, 0x11, 0x9C, 0x70, 0xC6, 0x12, 0x00, 0x01, 0xC6, 0x12, 0x00, 0x02, 0x00, 0x09,
    0x00, 0x09, 0x00, 0x0D, 0x29, 0xC6, 0x69, 0x6E, 0x6E, 0x65, 0x72,
];

fn tunnel_setup(pool: &Pool) -> StreamSetup {
    let mut setup = setup(pool);
    setup.tx.checksum.parse_tunnel = true;
    setup.tx.checksum.mac_swap = false;
    setup
}

/// One packet's way through the engine.
fn through(setup: &StreamSetup, pool: &Pool, packet: Mbuf) -> (Vec<u8>, OffloadFlags, TxOffload) {
    let mut bench = Bench::new(pool, vec![], usize::MAX);
    bench.io.burst.push(packet).unwrap();
    let mut engine = Csum::new(setup).unwrap();
    engine.work(&mut bench.lcore, &mut bench.io);
    let packet = bench.io.burst.pop_front().unwrap();
    let bytes = packet.segments_data().flatten().copied().collect();
    let result = (bytes, packet.flags(), packet.tx_offload());
    drop(packet);
    bench.finish();
    result
}

fn chain(pool: &Pool, frame: &[u8], cuts: &[usize]) -> Mbuf {
    let bounds: Vec<usize> = [0]
        .iter()
        .chain(cuts)
        .chain([&frame.len()])
        .copied()
        .collect();
    let parts: Vec<Vec<u8>> = bounds
        .windows(2)
        .map(|pair| frame[pair[0]..pair[1]].to_vec())
        .collect();
    let mut segments = packets(pool, &parts).into_iter();
    let mut head = segments.next().unwrap();
    for segment in segments {
        head.chain(segment).unwrap();
    }
    head
}

fn put(frame: &mut [u8], at: usize, value: u16) {
    frame[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

fn word(frame: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([frame[at], frame[at + 1]])
}

/// One's complement sum word by word, not inverted.
fn by_the_book(parts: &[&[u8]]) -> u16 {
    let bytes = parts.concat();
    let mut sum = 0u32;
    for pair in bytes.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[test]
fn broken_checksums_are_mended() {
    let pool = pool();
    for (n, (frame, fields)) in FIELDS.iter().enumerate() {
        let mut broken = frame.to_vec();
        for at in *fields {
            put(&mut broken, *at, 0xdead);
        }
        let packet = chain(&pool, &broken, &[]);
        let (mended, flags, _) = through(&tunnel_setup(&pool), &pool, packet);
        assert_eq!(&mended, frame, "frame {n}");
        assert!(
            !flags.intersects(
                OffloadFlags::TX_IP_CKSUM
                    | OffloadFlags::TX_L4_MASK
                    | OffloadFlags::TX_OUTER_IP_CKSUM
            ),
            "frame {n}"
        );
    }
}

#[test]
fn payload_in_any_segments() {
    let pool = pool();
    for (n, (frame, fields)) in FIELDS.iter().enumerate() {
        let setup = tunnel_setup(&pool);
        let headers =
            mpps_wire::parse(frame, Some(&mpps_wire::TunnelPorts::REGISTERED)).payload_offset();
        for first in headers..frame.len() {
            for second in first..frame.len() {
                let mut broken = frame.to_vec();
                for at in *fields {
                    put(&mut broken, *at, 0xbeef);
                }
                let packet = chain(&pool, &broken, &[first, second]);
                let (mended, ..) = through(&setup, &pool, packet);
                assert_eq!(&mended, frame, "frame {n}, cut at {first} and {second}");
            }
        }
    }
}

#[test]
fn what_is_not_ip_or_not_whole_stays() {
    let pool = pool();
    let mut beyond = frames::UDP.to_vec();
    put(&mut beyond, 16, 0x22);
    let mut short = frames::TCP.to_vec();
    put(&mut short, 16, 39);
    let mut no_length = frames::TCP.to_vec();
    put(&mut no_length, 16, 0);
    let mut beyond6 = frames::TCP6_EXTENSIONS.to_vec();
    put(&mut beyond6, 18, 0x25);
    let odd = [
        frames::ARP.to_vec(),
        frames::MPLS.to_vec(),
        frames::PING6.to_vec(),
        frames::LATER_FRAGMENT6.to_vec(),
        vec![0; 60],
        vec![0xff; 60],
        vec![8; 13],
        vec![],
        beyond,
        short,
        no_length,
        beyond6,
        frames::UDP[..33].to_vec(),
    ];
    for frame in odd {
        let (sent, flags, _) = through(&tunnel_setup(&pool), &pool, chain(&pool, &frame, &[]));
        assert_eq!(sent, frame);
        assert!(!flags.intersects(OffloadFlags::TX_IP_CKSUM | OffloadFlags::TX_L4_MASK));
    }
}

#[test]
fn a_udp_length_that_lies_leaves_udp_alone() {
    let pool = pool();
    for length in [0, 7, 14, 0xffff] {
        let mut frame = frames::UDP.to_vec();
        put(&mut frame, 38, length);
        let (sent, ..) = through(&tunnel_setup(&pool), &pool, chain(&pool, &frame, &[]));
        assert_eq!(sent, frame, "length {length}");
    }
    // A shorter one is right (RFC 9868 puts options behind it), and says what is covered.
    let mut frame = frames::UDP.to_vec();
    put(&mut frame, 38, 11);
    let (sent, ..) = through(&tunnel_setup(&pool), &pool, chain(&pool, &frame, &[]));
    let pseudo = [&frame[26..34], &[0, 17, 0, 11]].concat();
    assert_eq!(by_the_book(&[&pseudo, &sent[34..45]]), 0xffff);
}

#[test]
fn only_udp_takes_zero_for_none() {
    let pool = pool();
    let mut none = frames::UDP.to_vec();
    put(&mut none, 40, 0);
    let (sent, ..) = through(&tunnel_setup(&pool), &pool, chain(&pool, &none, &[]));
    assert_eq!(sent, none);
    for (frame, fields) in [
        (frames::TCP, [24, 50, 50]),
        (frames::SCTP, [24, 42, 44]),
        (frames::TCP6_EXTENSIONS, [86; 3]),
    ] {
        let mut zeroed = frame.to_vec();
        for at in fields {
            put(&mut zeroed, at, 0);
        }
        let (sent, ..) = through(&tunnel_setup(&pool), &pool, chain(&pool, &zeroed, &[]));
        assert_eq!(sent, frame);
    }
    // An outer checksum of zero stays, the inner one is mended.
    let mut tunnel = frames::VXLAN.to_vec();
    put(&mut tunnel, 40, 0);
    let mut broken = tunnel.clone();
    put(&mut broken, 90, 1);
    let (sent, ..) = through(&tunnel_setup(&pool), &pool, chain(&pool, &broken, &[]));
    assert_eq!(sent, tunnel);
}

#[test]
fn without_tunnels_parsed_the_inner_packet_is_payload() {
    let pool = pool();
    let mut setup = tunnel_setup(&pool);
    setup.tx.checksum.parse_tunnel = false;
    let mut frame = frames::VXLAN.to_vec();
    put(&mut frame, 90, 0xdead);
    let (sent, _, lengths) = through(&setup, &pool, chain(&pool, &frame, &[]));
    assert_eq!(sent[84..], frame[84..]);
    let pseudo = [&frame[26..34], &[0, 17, 0, 63]].concat();
    assert_eq!(by_the_book(&[&pseudo, &sent[34..]]), 0xffff);
    assert_eq!(lengths, TxOffload::new(14, 20, 8));
}

#[test]
fn tunnel_ports_can_be_set() {
    let pool = pool();
    let mut setup = tunnel_setup(&pool);
    setup.settings.tunnel_ports = (4790, 7777);
    let mut frame = frames::GENEVE.to_vec();
    put(&mut frame, 56, 7777);
    put(&mut frame, 118, 0xdead);
    let (sent, ..) = through(&setup, &pool, chain(&pool, &frame, &[]));
    assert_eq!(word(&sent, 118), word(frames::GENEVE, 118));
}

#[test]
fn lengths_are_those_of_each_packet_alone() {
    // VXLAN, then GRE, then plain: nothing of one stays for the next.
    let pool = pool();
    let setup = tunnel_setup(&pool);
    for (frame, lengths) in [
        (frames::VXLAN, TxOffload::new(64, 20, 8)),
        (frames::GRE, TxOffload::new(46, 20, 8)),
        (frames::UDP, TxOffload::new(14, 20, 8)),
        (frames::TCP, TxOffload::new(14, 20, 32)),
        (frames::QINQ, TxOffload::new(22, 40, 8)),
        (frames::ARP, TxOffload::new(14, 0, 0)),
    ] {
        assert_eq!(through(&setup, &pool, chain(&pool, frame, &[])).2, lengths);
    }
}

#[test]
fn macs_are_those_of_engine_mac_unless_off() {
    let pool = pool();
    let mut setup = setup(&pool);
    let (sent, ..) = through(&setup, &pool, chain(&pool, frames::TCP, &[]));
    assert_eq!(sent[..12], [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0xa1]);
    assert_eq!(sent[12..], frames::TCP[12..]);
    setup.tx.checksum.mac_swap = false;
    let (sent, ..) = through(&setup, &pool, chain(&pool, frames::TCP, &[]));
    assert_eq!(sent, frames::TCP);
}

const ALL_INNER: TxOffloads = TxOffloads::IPV4_CKSUM
    .union(TxOffloads::UDP_CKSUM)
    .union(TxOffloads::TCP_CKSUM)
    .union(TxOffloads::SCTP_CKSUM);

#[test]
fn a_port_that_sums_gets_flags_and_prepared_fields() {
    let pool = pool();
    let mut setup = tunnel_setup(&pool);
    setup.tx.checksum.hardware = ALL_INNER;
    let ip = OffloadFlags::TX_IPV4 | OffloadFlags::TX_IP_CKSUM;
    // Addresses, protocol and L4 length, summed by hand.
    for (frame, field, l4, value) in [
        (frames::UDP, 40, OffloadFlags::TX_UDP_CKSUM, 0x8c46),
        (frames::TCP, 50, OffloadFlags::TX_TCP_CKSUM, 0x8c53),
        (frames::SCTP, 42, OffloadFlags::TX_SCTP_CKSUM, 0),
    ] {
        let (sent, flags, _) = through(&setup, &pool, chain(&pool, frame, &[]));
        assert_eq!(
            flags & (OffloadFlags::TX_L4_MASK | ip),
            ip | l4,
            "{flags:?}"
        );
        assert_eq!((word(&sent, 24), word(&sent, field)), (0, value));
    }
    let (sent, flags, _) = through(&setup, &pool, chain(&pool, frames::QINQ, &[]));
    assert_eq!(flags, OffloadFlags::TX_IPV6 | OffloadFlags::TX_UDP_CKSUM);
    // 2 * (2001 + 0db8) + 1 + 2 + 17 + 11.
    assert_eq!(word(&sent, 68), 0x5b91);
    // A tail of three bytes is none of SCTP's: the engine sums it.
    let mut odd = frames::SCTP.to_vec();
    odd.extend([1, 2, 3]);
    put(&mut odd, 16, 39);
    let (sent, flags, _) = through(&setup, &pool, chain(&pool, &odd, &[]));
    assert_eq!(flags, ip);
    let mut crc = sent[34..].to_vec();
    crc[8..12].fill(0);
    assert_eq!(
        mpps_wire::Crc32c::new().plus(&crc).value().to_le_bytes(),
        sent[42..46]
    );
}

#[test]
fn outer_headers_go_to_a_port_that_sums_them() {
    let pool = pool();
    let mut setup = tunnel_setup(&pool);
    setup.tx.checksum.hardware =
        ALL_INNER | TxOffloads::OUTER_IPV4_CKSUM | TxOffloads::OUTER_UDP_CKSUM;
    let (sent, flags, lengths) = through(&setup, &pool, chain(&pool, frames::VXLAN, &[]));
    assert_eq!(
        flags,
        OffloadFlags::TX_IPV4
            | OffloadFlags::TX_IP_CKSUM
            | OffloadFlags::TX_UDP_CKSUM
            | OffloadFlags::TX_OUTER_IPV4
            | OffloadFlags::TX_OUTER_IP_CKSUM
            | OffloadFlags::TX_OUTER_UDP_CKSUM
    );
    assert_eq!(lengths, TxOffload::new(30, 20, 8).with_outer(14, 20));
    assert_eq!(
        (word(&sent, 24), word(&sent, 74), word(&sent, 90)),
        (0, 0, 0x8c46)
    );
    assert_eq!(word(&sent, 40), 0x8c78, "pseudo header of 63 bytes");
}

#[test]
fn what_an_outer_sum_covers_is_not_left_to_the_port() {
    let pool = pool();
    let mut setup = tunnel_setup(&pool);
    setup.tx.checksum.hardware = ALL_INNER;
    let mut broken = frames::VXLAN.to_vec();
    for at in [24, 40, 74, 90] {
        put(&mut broken, at, 0xdead);
    }
    let (sent, flags, _) = through(&setup, &pool, chain(&pool, &broken, &[]));
    assert_eq!(sent, frames::VXLAN);
    assert_eq!(flags, OffloadFlags::TX_IPV4 | OffloadFlags::TX_OUTER_IPV4);
    // Without an outer checksum the inner ones are the port's.
    put(&mut broken, 40, 0);
    let (_, flags, _) = through(&setup, &pool, chain(&pool, &broken, &[]));
    assert!(flags.contains(OffloadFlags::TX_IP_CKSUM | OffloadFlags::TX_UDP_CKSUM));
}

#[test]
fn long_tcp_is_marked_for_segmentation() {
    let pool = pool();
    let mut setup = tunnel_setup(&pool);
    setup.tx.checksum.tso = 3;
    assert!((crate::find("csum").unwrap().make)(&setup).is_err());
    setup.tx.checksum.hardware = TxOffloads::TCP_TSO;
    let (sent, flags, lengths) = through(&setup, &pool, chain(&pool, frames::TCP, &[]));
    assert_eq!(
        flags,
        OffloadFlags::TX_IPV4 | OffloadFlags::TX_IP_CKSUM | OffloadFlags::TX_TCP_SEG
    );
    assert_eq!(lengths, TxOffload::new(14, 20, 32).with_tso(3));
    // The pseudo header without a length.
    assert_eq!((word(&sent, 24), word(&sent, 50)), (0, 0x8c2e));
    // Five bytes of payload fit a segment of five.
    setup.tx.checksum.tso = 5;
    let (sent, flags, _) = through(&setup, &pool, chain(&pool, frames::TCP, &[]));
    assert_eq!(
        (sent.as_slice(), flags),
        (frames::TCP, OffloadFlags::TX_IPV4)
    );
}

#[test]
fn packets_that_came_in_broken_are_counted() {
    let pool = pool();
    let mut received = packets(&pool, &vec![vec![0; 60]; 6]);
    let flags = [
        OffloadFlags::RX_IP_CKSUM_BAD,
        OffloadFlags::RX_IP_CKSUM_BAD | OffloadFlags::RX_L4_CKSUM_BAD,
        OffloadFlags::RX_OUTER_L4_CKSUM_BAD,
        OffloadFlags::RX_OUTER_IP_CKSUM_BAD | OffloadFlags::RX_IP_CKSUM_GOOD,
        OffloadFlags::RX_L4_CKSUM_BAD | OffloadFlags::RX_L4_CKSUM_GOOD,
        OffloadFlags::RX_IP_CKSUM_GOOD,
    ];
    for (packet, flags) in received.iter_mut().zip(flags) {
        packet.set_flags(flags);
    }
    let mut bench = Bench::new(&pool, received, usize::MAX);
    let mut engine = (crate::find("csum").unwrap().make)(&setup(&pool)).unwrap();
    assert_eq!(bench.run(&mut *engine, 1).len(), 6);
    let stats = &bench.io.stats;
    assert_eq!(
        [
            &stats.bad_ip_checksum,
            &stats.bad_l4_checksum,
            &stats.bad_outer_l4_checksum,
            &stats.bad_outer_ip_checksum
        ]
        .map(mpps_ring::Counter::get),
        [2, 1, 1, 1]
    );
    bench.finish();
}

#[test]
fn a_shared_packet_is_mended_in_a_copy() {
    let pool = pool();
    let mut broken = frames::TCP.to_vec();
    put(&mut broken, 50, 7);
    let mut received = packets(&pool, &vec![broken.clone(); 3]);
    let clone = pool.share(&mut received[1]).unwrap();
    let mut bench = Bench::new(&pool, received, usize::MAX);
    let mut engine = (crate::find("csum").unwrap().make)(&tunnel_setup(&pool)).unwrap();
    assert_eq!(bench.run(&mut *engine, 1), vec![frames::TCP.to_vec(); 3]);
    assert_eq!(clone.data(), broken);
    drop(clone);
    bench.finish();
}

#[test]
fn packets_are_split_as_listed() {
    let pool = pool();
    let mut setup = tunnel_setup(&pool);
    let frame: Vec<u8> = (0..2500).map(|n| n as u8).collect();
    let shape = |setup: &StreamSetup, frame: &[u8], cuts: &[usize]| {
        let mut bench = Bench::new(&pool, vec![], usize::MAX);
        bench.io.burst.push(chain(&pool, frame, cuts)).unwrap();
        let mut engine = Csum::new(setup).unwrap();
        engine.work(&mut bench.lcore, &mut bench.io);
        let packet = bench.io.burst.pop_front().unwrap();
        let lengths: Vec<usize> = packet.segments_data().map(<[u8]>::len).collect();
        let bytes: Vec<u8> = packet.segments_data().flatten().copied().collect();
        assert_eq!(bytes, frame);
        assert_eq!(packet.pkt_len() as usize, frame.len());
        drop(packet);
        bench.finish();
        lengths
    };
    setup.settings.txonly.lengths = vec![20, 30, 40];
    assert_eq!(shape(&setup, &frame[..100], &[]), [100], "off");
    setup.settings.txonly.split = TxSplit::On;
    assert_eq!(shape(&setup, &frame[..100], &[3]), [20, 30, 50]);
    assert_eq!(shape(&setup, &frame[..35], &[]), [20, 15]);
    assert_eq!(shape(&setup, &frame[..0], &[]), [0]);
    assert_eq!(shape(&setup, &frame, &[1000]), [20, 30, 2048, 402]);
    setup.settings.txonly.split = TxSplit::Random;
    let lengths = shape(&setup, &frame[..100], &[]);
    assert!([vec![100], vec![20, 80], vec![20, 30, 50]].contains(&lengths));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn the_quick_way_is_the_long_way(
        frame in proptest::sample::select(frames::ALL),
        changes in proptest::collection::vec((12usize..60, any::<u8>()), 0..3),
        tail in proptest::collection::vec(any::<u8>(), 0..300),
        length in proptest::option::of(20u16..400),
    ) {
        let mut frame = [frame, &tail].concat();
        for (at, value) in changes {
            let at = at % frame.len();
            frame[at] = value;
        }
        if let Some(length) = length {
            put(&mut frame, 16, length);
            put(&mut frame, 38, length.wrapping_sub(20));
        }
        let pool = pool();
        let mut results = [true, false].map(|is_quick| {
            let mut engine = Csum::new(&tunnel_setup(&pool)).unwrap();
            engine.is_quick &= is_quick;
            let mut packet = chain(&pool, &frame, &[]);
            engine.headers(std::slice::from_mut(&mut packet));
            (packet.data().to_vec(), packet.flags(), packet.tx_offload())
        });
        let [quick, long] = &mut results;
        prop_assert_eq!(quick, long);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_payload_in_any_segments(
        payload in proptest::collection::vec(any::<u8>(), 1..4000),
        cuts in proptest::collection::vec(0usize..4000, 2..5),
        padding in 0usize..20,
    ) {
        let pool = pool();
        let mut frame = frames::UDP[..42].to_vec();
        frame.extend(&payload);
        put(&mut frame, 16, 28 + payload.len() as u16);
        put(&mut frame, 38, 8 + payload.len() as u16);
        frame.extend(vec![0xee; padding]);
        // No segment is longer than an mbuf.
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| 42 + cut % (frame.len() - 42)).collect();
        cuts.extend((1..3).map(|n| (n * 1500).clamp(42, frame.len())));
        cuts.sort_unstable();
        let (sent, ..) = through(&tunnel_setup(&pool), &pool, chain(&pool, &frame, &cuts));
        let pseudo = [&sent[26..34], &[0, 17], &sent[38..40]].concat();
        prop_assert_eq!(by_the_book(&[&pseudo, &sent[34..42 + payload.len()]]), 0xffff);
        prop_assert_eq!(by_the_book(&[&sent[14..34]]), 0xffff);
        prop_assert_eq!(&sent[42..], &frame[42..]);
        prop_assert!(word(&sent, 40) != 0);
    }
}
