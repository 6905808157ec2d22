//! What a program asks of a port that can't do it.

use mpps_mbuf::{GsoKind, Mbuf, OffloadFlags, PartialChecksum, TxOffload};
use mpps_wire::{Crc32c, Sctp};
use proptest::prelude::*;

use super::frames::{Field, Spec, naive, payload, tcp4};
use super::{Rig, bytes};
use crate::Fault;

const JUNK: Field = Field::Junk(0xbeef);

fn lengths(spec: &Spec) -> TxOffload {
    let l3 = (spec.l4() - spec.l3()) as u16;
    TxOffload::new(spec.l3() as u16, l3, spec.l4_len() as u16)
}

fn l4_request(spec: &Spec) -> OffloadFlags {
    let family = if spec.is_v6 {
        OffloadFlags::TX_IPV6
    } else {
        OffloadFlags::TX_IPV4 | OffloadFlags::TX_IP_CKSUM
    };
    let l4 = if spec.is_udp {
        OffloadFlags::TX_UDP_CKSUM
    } else {
        OffloadFlags::TX_TCP_CKSUM
    };
    family | l4
}

/// A frame whose IPv4 checksum is wrong, too.
fn spoilt(spec: &Spec, payload: &[u8]) -> Vec<u8> {
    let mut frame = spec.frame(payload, JUNK);
    if !spec.is_v6 {
        let at = spec.l3() + 10;
        frame[at..at + 2].copy_from_slice(&[0x12, 0x34]);
    }
    frame
}

fn specs() -> Vec<Spec> {
    let mut all = Vec::new();
    for is_udp in [false, true] {
        all.push(Spec { is_udp, ..tcp4() });
        all.push(Spec {
            is_udp,
            options: vec![1; 8],
            tags: vec![(0x8100, 9)],
            ..tcp4()
        });
        all.push(Spec {
            is_udp,
            is_v6: true,
            ..tcp4()
        });
        all.push(Spec {
            is_udp,
            is_v6: true,
            extensions: vec![(0, 24)],
            ..tcp4()
        });
    }
    all
}

// V-46: what the IPv4 field held isn't summed in.
#[test]
fn v46_checksums_are_computed_whatever_the_fields_hold() {
    let mut rig = Rig::new(64, 2176);
    for spec in specs() {
        for len in [0, 1, 500, 1001] {
            for segment in [2000, 60, 13] {
                let frame = spoilt(&spec, &payload(len));
                let mut packet = rig.packet(&frame, segment.max(len / 40));
                packet.set_offload(l4_request(&spec), lengths(&spec));
                let done = rig.finish(packet).unwrap();
                assert_eq!(done, [spec.frame(&payload(len), Field::Sum)], "{spec:?}");
            }
        }
    }
    assert!(rig.is_whole());
}

// V-45: a peer that completes the checksum gets a field with the sum of the pseudo header.
#[test]
fn v45_the_pseudo_header_is_filled_in_for_a_peer() {
    let mut rig = Rig::new(64, 2176);
    for spec in specs() {
        let mut packet = rig.packet(&spoilt(&spec, &payload(333)), 2000);
        packet.set_offload(l4_request(&spec), lengths(&spec));
        let out = rig
            .finish_but(packet, OffloadFlags::RX_PARTIAL_CKSUM)
            .unwrap();
        assert_eq!(
            bytes(&out[0]),
            spec.frame(&payload(333), Field::Pseudo),
            "{spec:?}"
        );
        let owed = PartialChecksum {
            start: spec.l4() as u16,
            offset: spec.field_offset() as u16,
        };
        assert_eq!(out[0].partial_checksum(), Some(owed));
        assert!(!out[0].flags().intersects(OffloadFlags::TX_REQUESTS));
    }
}

#[test]
fn padding_is_not_summed() {
    let mut rig = Rig::new(64, 2176);
    for passed_on in [OffloadFlags::empty(), OffloadFlags::DEBT] {
        let mut frame = spoilt(&tcp4(), b"x");
        frame.extend([0xee; 5]);
        let mut packet = rig.packet(&frame, 2000);
        packet.set_offload(l4_request(&tcp4()), lengths(&tcp4()));
        let out = rig.finish_but(packet, passed_on).unwrap();
        // A peer would sum it, so the checksum isn't left to it.
        assert!(!out[0].has_debt());
        let mut expected = tcp4().frame(b"x", Field::Sum);
        expected.extend([0xee; 5]);
        assert_eq!(bytes(&out[0]), expected);
    }
}

#[test]
fn segmentation_is_asked_for_with_a_size() {
    let mut rig = Rig::new(256, 2176);
    let ask = |packet: &mut Mbuf, spec: &Spec| {
        let cut = if spec.is_udp {
            OffloadFlags::TX_UDP_SEG
        } else {
            OffloadFlags::TX_TCP_SEG
        };
        packet.set_offload(l4_request(spec) | cut, lengths(spec).with_tso(1201));
    };
    for spec in specs() {
        let mut packet = rig.packet(&spoilt(&spec, &payload(4999)), 2000);
        ask(&mut packet, &spec);
        assert_eq!(
            rig.finish(packet).unwrap(),
            spec.pieces(&payload(4999), 1201),
            "{spec:?}"
        );
        // The same left to a peer.
        let mut packet = rig.packet(&spoilt(&spec, &payload(4999)), 2000);
        ask(&mut packet, &spec);
        let out = rig.finish_but(packet, OffloadFlags::DEBT).unwrap();
        assert_eq!(
            bytes(&out[0]),
            spec.frame(&payload(4999), Field::Pseudo),
            "{spec:?}"
        );
        let gso = out[0].gso().unwrap();
        assert_eq!(
            (gso.size, usize::from(gso.header_len)),
            (1201, spec.l4() + spec.l4_len())
        );
        assert_eq!(gso.kind == GsoKind::Udp, spec.is_udp);
    }
}

// W-17: longer than an IP length says.
#[test]
fn w17_a_large_packet_beyond_64_kib_is_cut() {
    let mut rig = Rig::new(256, 2176);
    let content = payload(90_000);
    for passed_on in [OffloadFlags::empty(), OffloadFlags::DEBT] {
        let mut packet = rig.packet(&tcp4().frame(&content, JUNK), 2000);
        let flags = l4_request(&tcp4()) | OffloadFlags::TX_TCP_SEG;
        packet.set_offload(flags, lengths(&tcp4()).with_tso(1448));
        let out = rig.finish_but(packet, passed_on).unwrap();
        let all: Vec<_> = out.iter().map(bytes).collect();
        assert_eq!(all, tcp4().pieces(&content, 1448));
    }
}

#[test]
fn sctp_gets_its_crc() {
    let mut rig = Rig::new(16, 2176);
    let mut frame = tcp4().frame(&payload(40), JUNK);
    frame[23] = 132;
    let mut expected = frame.clone();
    expected[42..46].fill(0);
    let crc = Crc32c::new().plus(&expected[34..]).value();
    expected[42..46].copy_from_slice(&crc.to_le_bytes());
    for segment in [2000, 44, 3] {
        let mut packet = rig.packet(&frame, segment.max(8));
        packet.set_offload(
            OffloadFlags::TX_IPV4 | OffloadFlags::TX_SCTP_CKSUM,
            TxOffload::new(14, 20, 12),
        );
        assert_eq!(rig.finish(packet).unwrap()[0], expected);
    }
    let field = <Sctp as mpps_wire::Header>::at(&expected, 34)
        .unwrap()
        .checksum;
    assert_eq!(field.get(), crc);
}

#[test]
fn a_tunnel_has_its_outer_checksums_summed_last() {
    let mut rig = Rig::new(16, 2176);
    let inner = Spec {
        is_v6: true,
        ..tcp4()
    };
    let outer = Spec {
        is_udp: true,
        ..tcp4()
    };
    let vxlan = [8, 0, 0, 0, 0, 0, 42, 0];
    let within = |frame: Vec<u8>| [&vxlan[..], &frame].concat();
    let frame = spoilt(&outer, &within(inner.frame(&payload(77), JUNK)));
    let expected = outer.frame(&within(inner.frame(&payload(77), Field::Sum)), Field::Sum);
    for passed_on in [OffloadFlags::empty(), OffloadFlags::DEBT] {
        let mut packet = rig.packet(&frame, 2000);
        let flags = OffloadFlags::TX_IPV6
            | OffloadFlags::TX_TCP_CKSUM
            | OffloadFlags::TX_OUTER_IPV4
            | OffloadFlags::TX_OUTER_IP_CKSUM
            | OffloadFlags::TX_OUTER_UDP_CKSUM;
        packet.set_offload(flags, TxOffload::new(8 + 8 + 14, 40, 20).with_outer(14, 20));
        let out = rig.finish_but(packet, passed_on).unwrap();
        assert_eq!(bytes(&out[0]), expected);
    }
}

#[test]
fn tags_are_put_in_and_debts_move_along() {
    let mut rig = Rig::new(64, 2176);
    let spec = tcp4();
    let qinq = Spec {
        tags: vec![(0x88a8, 0x2007), (0x8100, 5)],
        ..tcp4()
    };
    let vlan = Spec {
        tags: vec![(0x8100, 5)],
        ..tcp4()
    };
    for (asked, tagged) in [
        (OffloadFlags::TX_VLAN, &vlan),
        (OffloadFlags::TX_QINQ, &qinq),
    ] {
        for segment in [2000, 12, 5] {
            let content = payload(200);
            let mut packet = rig.packet(&spec.frame(&content, Field::Pseudo), segment);
            packet.set_partial_checksum(PartialChecksum {
                start: 34,
                offset: 16,
            });
            packet.set_flags(asked);
            packet.set_vlan(5, 0x2007);
            let out = rig.finish_but(packet, OffloadFlags::DEBT).unwrap();
            assert_eq!(bytes(&out[0]), tagged.frame(&content, Field::Pseudo));
            let done = rig.finish({ out }.remove(0)).unwrap();
            assert_eq!(done, [tagged.frame(&content, Field::Sum)]);
        }
    }
    let mut packet = rig.packet(&spec.frame(&payload(3000), Field::Pseudo), 2000);
    super::cutting::owe(&mut packet, &spec, 1000);
    packet.set_flags(OffloadFlags::TX_VLAN);
    packet.set_vlan(5, 0);
    assert_eq!(
        rig.finish(packet).unwrap(),
        vlan.pieces(&payload(3000), 1000)
    );
    assert!(rig.is_whole());
}

// W-18: a tag where there is no headroom, or where clones share the data: the copy is what is sent, the original is free.
#[test]
fn w18_a_tag_without_headroom() {
    let mut rig = Rig::new(64, 2176);
    let spec = tcp4();
    let tagged = Spec {
        tags: vec![(0x8100, 5)],
        ..tcp4()
    };
    let frame = spec.frame(b"tag", Field::Sum);
    let mut packet = rig.packet(&frame, 2000);
    assert!(packet.prepend(128).is_some() && packet.headroom() == 0);
    packet.data_mut().unwrap().copy_within(128.., 0);
    assert!(packet.resize(frame.len() as u16));
    let mut clone = rig.pool.share(&mut packet).unwrap();
    for packet in [&mut packet, &mut clone] {
        packet.set_flags(OffloadFlags::TX_VLAN);
        packet.set_vlan(5, 0);
    }
    for packet in [clone, packet] {
        assert_eq!(
            rig.finish(packet).unwrap(),
            [tagged.frame(b"tag", Field::Sum)]
        );
    }
    assert!(rig.is_whole());
}

// V-49: lengths that say more than the packet has.
#[test]
fn v49_truncated_headers_are_refused() {
    let mut rig = Rig::new(16, 2176);
    for spec in specs() {
        let frame = spec.frame(&[], JUNK);
        for len in 1..frame.len() {
            let mut packet = rig.packet(&frame[..len], 2000);
            packet.set_offload(l4_request(&spec), lengths(&spec));
            let done = rig.finish(packet);
            let whole = spec.l4() + if spec.is_udp { 8 } else { 18 };
            assert_eq!(done.is_err(), len < whole, "{len} of {spec:?}");
            let mut packet = rig.packet(&frame[..len], 2000);
            packet.set_offload(OffloadFlags::TX_TCP_SEG, lengths(&spec).with_tso(100));
            assert!(rig.finish(packet).is_err());
        }
    }
    for (l2, l3) in [(0, 0), (13, 20), (14, 24), (14, 511), (127, 0)] {
        let mut packet = rig.packet(&tcp4().frame(b"abc", JUNK), 2000);
        packet.set_offload(l4_request(&tcp4()), TxOffload::new(l2, l3, 20));
        assert_eq!(rig.finish(packet), Err(Fault::Request), "{l2} {l3}");
    }
    assert!(rig.is_whole());
}

proptest! {
    // A program that asks for anything of anything: no panic, no leak; what isn't asked for isn't touched.
    #[test]
    fn any_request_is_survived(
        content in prop::collection::vec(any::<u8>(), 1..300),
        flags: u64,
        lens in any::<(u16, u16, u16, u16, u16, u16)>(),
        segment in 1usize..300,
        passed_on: u64,
    ) {
        let mut rig = Rig::new(2048, 512);
        let mut packet = rig.packet(&content, segment);
        let flags = OffloadFlags::from_bits_truncate(flags);
        let word = TxOffload::new(lens.0, lens.1, lens.2).with_tso(lens.3).with_outer(lens.4, lens.5);
        packet.set_offload(flags, word);
        let passed_on = OffloadFlags::from_bits_truncate(passed_on) & OffloadFlags::DEBT;
        if let Ok(out) = rig.finish_but(packet, passed_on)
            && !flags.intersects(OffloadFlags::UNFINISHED)
        {
            prop_assert_eq!(bytes(&out[0]), content);
        }
        prop_assert!(rig.is_whole());
    }

    #[test]
    fn any_honest_request_is_done(
        udp: bool, v6: bool, options in 0usize..10, len in 0usize..1500, segment in 1usize..1600,
    ) {
        let spec = Spec {
            is_udp: udp,
            is_v6: v6,
            options: vec![1; options * 4],
            ..tcp4()
        };
        let mut rig = Rig::new(4096, 2176);
        let mut packet = rig.packet(&spoilt(&spec, &payload(len)), segment);
        packet.set_offload(l4_request(&spec), lengths(&spec));
        let done = rig.finish(packet).unwrap();
        prop_assert_eq!(&done[0], &spec.frame(&payload(len), Field::Sum));
        if !v6 {
            prop_assert_eq!(naive(&[&done[0][14..spec.l4()]]), 0xffff);
        }
    }
}
