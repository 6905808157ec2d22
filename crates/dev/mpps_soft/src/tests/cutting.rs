//! Large packets, cut, against packets built small.

use mpps_mbuf::{Gso, GsoKind, Mbuf, OffloadFlags, PartialChecksum};
use proptest::prelude::*;

use super::Rig;
use super::frames::{Field, Spec, payload, tcp4};
use crate::Fault;

pub(crate) fn owe(packet: &mut Mbuf, spec: &Spec, size: u16) {
    let checksum = PartialChecksum {
        start: spec.l4() as u16,
        offset: spec.field_offset() as u16,
    };
    let kind = match (spec.is_udp, spec.is_v6) {
        (true, _) => GsoKind::Udp,
        (false, false) => GsoKind::TcpV4,
        (false, true) => GsoKind::TcpV6,
    };
    let gso = Gso {
        kind,
        ecn: spec.tcp_flags & 0x80 != 0,
        size,
        header_len: (spec.l4() + spec.l4_len()) as u16,
    };
    packet.set_gso(checksum, gso);
}

/// The pieces of a packet with this payload in segments of `segment`.
fn cut(
    rig: &mut Rig,
    spec: &Spec,
    len: usize,
    size: u16,
    segment: usize,
) -> Result<Vec<Vec<u8>>, Fault> {
    let mut packet = rig.packet(&spec.frame(&payload(len), Field::Pseudo), segment);
    owe(&mut packet, spec, size);
    rig.finish(packet)
}

fn check(spec: &Spec, len: usize, size: u16) {
    let mut rig = Rig::new(2048, 2176);
    let pieces = cut(&mut rig, spec, len, size, 2000).unwrap();
    assert_eq!(
        pieces,
        spec.pieces(&payload(len), usize::from(size)),
        "{spec:?} {len} {size}"
    );
    assert!(rig.is_whole());
}

#[test]
fn tcp_is_cut_as_if_it_had_been_sent_small() {
    for flags in [0x10, 0x18, 0x19, 0xd8, 0x99] {
        for is_v6 in [false, true] {
            let spec = Spec {
                tcp_flags: flags,
                is_v6,
                tcp_options: 12,
                ..tcp4()
            };
            for len in [0, 1, 1447, 1448, 1449, 2896, 5001, 65_000] {
                check(&spec, len, 1448);
            }
        }
    }
}

#[test]
fn udp_is_cut_into_datagrams() {
    for is_v6 in [false, true] {
        let spec = Spec {
            is_udp: true,
            is_v6,
            ..tcp4()
        };
        for (len, size) in [
            (0, 100),
            (999, 1000),
            (1001, 1000),
            (65_000, 1472),
            (65_000, 1201),
        ] {
            check(&spec, len, size);
        }
    }
}

#[test]
fn headers_may_be_longer_than_usual() {
    let tagged = vec![(0x88a8, 0x2005), (0x8100, 0x6123)];
    let specs = [
        Spec {
            tags: vec![(0x8100, 5)],
            ..tcp4()
        },
        Spec {
            tags: tagged.clone(),
            ..tcp4()
        },
        Spec {
            tags: tagged,
            is_v6: true,
            ..tcp4()
        },
        Spec {
            options: vec![1; 40],
            ..tcp4()
        },
        Spec {
            tcp_options: 40,
            ..tcp4()
        },
        // Hop-by-hop options, destination options of 40 bytes.
        Spec {
            is_v6: true,
            extensions: vec![(0, 8), (60, 40)],
            ..tcp4()
        },
        Spec {
            is_v6: true,
            is_udp: true,
            extensions: vec![(0, 16)],
            ..tcp4()
        },
    ];
    for spec in &specs {
        check(spec, 4001, 1399);
    }
}

// CWR on the first piece alone, FIN and PSH on the last alone (RFC 3168, 6.1.2).
#[test]
fn ecn_is_said_once() {
    let spec = Spec {
        tcp_flags: 0xd9,
        ..tcp4()
    };
    let mut rig = Rig::new(64, 2176);
    let pieces = cut(&mut rig, &spec, 3000, 1000, 2000).unwrap();
    let flags: Vec<u8> = pieces.iter().map(|piece| piece[47]).collect();
    assert_eq!(flags, [0xd0, 0x50, 0x59]);
}

// W-17: a length that doesn't fit the IP header of the whole is no reason for a wrong one in the pieces.
#[test]
fn w17_lengths_are_those_of_the_pieces() {
    let mut rig = Rig::new(512, 2176);
    let spec = Spec {
        identification: 7,
        ..tcp4()
    };
    let content = payload(100_000);
    for claimed in [0, 40, 0xffff] {
        let mut frame = spec.frame(&content, Field::Pseudo);
        frame[16..18].copy_from_slice(&u16::to_be_bytes(claimed));
        let mut packet = rig.packet(&frame, 2000);
        owe(&mut packet, &spec, 1448);
        let pieces = rig.finish(packet).unwrap();
        assert_eq!(pieces, spec.pieces(&content, 1448), "{claimed}");
    }
    // Longer than the other side's buffers need be: cut, though it could be passed on.
    let mut packet = rig.packet(&spec.frame(&content, Field::Pseudo), 2000);
    owe(&mut packet, &spec, 1448);
    let all = rig.finish_but(packet, OffloadFlags::DEBT).unwrap();
    assert_eq!(all.len(), content.len().div_ceil(1448));
}

#[test]
fn what_the_other_side_takes_is_passed_on_whole() {
    let mut rig = Rig::new(64, 2176);
    let spec = tcp4();
    let frame = spec.frame(&payload(4000), Field::Pseudo);
    let mut packet = rig.packet(&frame, 2000);
    owe(&mut packet, &spec, 1448);
    let owed = (packet.partial_checksum(), packet.gso());
    let out = rig.finish_but(packet, OffloadFlags::DEBT).unwrap();
    assert_eq!((out[0].partial_checksum(), out[0].gso()), owed);
    assert_eq!(super::bytes(&out[0]), frame);
    // The checksum alone isn't enough.
    let packet = { out }.remove(0);
    let out = rig
        .finish_but(packet, OffloadFlags::RX_PARTIAL_CKSUM)
        .unwrap();
    assert_eq!(out.len(), 3);
}

#[test]
fn pieces_longer_than_an_mbuf_are_chains() {
    let mut rig = Rig::new(4096, 256);
    let pieces = cut(&mut rig, &tcp4(), 9000, 4000, 100).unwrap();
    assert_eq!(pieces, tcp4().pieces(&payload(9000), 4000));
    assert!(rig.is_whole());
}

// V-25: of no size, and of sizes that would make a packet thousands.
#[test]
fn v25_sizes_that_cannot_be_are_refused() {
    let mut rig = Rig::new(64, 2176);
    for (len, size) in [(3000, 0), (0, 0), (3000, 1), (60_000, 40)] {
        let done = cut(&mut rig, &tcp4(), len, size, 2000);
        assert_eq!(done, Err(Fault::Size), "{len} {size}");
    }
    assert!(rig.is_whole());
}

#[test]
fn a_packet_of_another_kind_is_refused() {
    let mut rig = Rig::new(64, 2176);
    let tcp = tcp4();
    let others = [
        Spec {
            is_v6: true,
            ..tcp4()
        },
        Spec {
            is_udp: true,
            ..tcp4()
        },
    ];
    for other in &others {
        let mut packet = rig.packet(&other.frame(&payload(3000), Field::Pseudo), 2000);
        owe(&mut packet, &tcp, 1000);
        assert_eq!(rig.finish(packet), Err(Fault::Headers));
    }
    let mut frame = tcp.frame(&payload(3000), Field::Pseudo);
    // More fragments.
    frame[20] |= 0x20;
    let mut packet = rig.packet(&frame, 2000);
    owe(&mut packet, &tcp, 1000);
    assert_eq!(rig.finish(packet), Err(Fault::Headers));
    assert!(rig.is_whole());
}

#[test]
fn a_dry_pool_loses_the_tail_and_leaks_nothing() {
    let mut rig = Rig::new(6, 2176);
    let mut packet = rig.packet(&tcp4().frame(&payload(5000), Field::Pseudo), 2000);
    owe(&mut packet, &tcp4(), 1000);
    assert_eq!(rig.finish(packet), Err(Fault::NoMbuf));
    assert!(rig.is_whole());
}

fn any_spec() -> impl Strategy<Value = Spec> {
    let tags = prop::collection::vec(
        (
            prop::sample::select(vec![0x8100u16, 0x88a8, 0x9100]),
            any::<u16>(),
        ),
        0..3,
    );
    let extensions = prop::collection::vec(
        (
            prop::sample::select(vec![0u8, 60]),
            (1usize..6).prop_map(|n| n * 8),
        ),
        0..3,
    );
    (
        (tags, any::<bool>(), 0usize..11, extensions),
        (
            any::<bool>(),
            0usize..11,
            any::<u8>(),
            any::<u32>(),
            any::<u16>(),
        ),
    )
        .prop_map(
            |(
                (tags, is_v6, options, extensions),
                (is_udp, tcp_options, tcp_flags, sequence, identification),
            )| Spec {
                tags,
                is_v6,
                options: vec![1; options * 4],
                extensions,
                is_udp,
                tcp_options: tcp_options * 4,
                tcp_flags,
                sequence,
                identification,
            },
        )
}

proptest! {
    #[test]
    fn any_packet_is_cut_right(
        spec in any_spec(),
        len in 0usize..20_000,
        size in 1u16..9000,
        segment in 1usize..4000,
        data_room in 150u16..4000,
    ) {
        prop_assume!(len / usize::from(size) < 1300);
        let segment = segment.min(usize::from(data_room) - 128).max(len / 1000 + 1);
        prop_assume!(segment <= usize::from(data_room) - 128);
        let mut rig = Rig::new(60_000, data_room);
        let pieces = cut(&mut rig, &spec, len, size, segment);
        prop_assert_eq!(pieces, Ok(spec.pieces(&payload(len), usize::from(size))));
        prop_assert!(rig.is_whole());
    }
}
