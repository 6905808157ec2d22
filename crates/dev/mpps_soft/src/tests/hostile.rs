//! Headers of strangers: nothing panics, nothing leaks, nothing leaves unfinished.

use mpps_mbuf::{Gso, GsoKind, PartialChecksum};
use proptest::prelude::*;

use super::Rig;
use super::cutting::owe;
use super::frames::{Field, Spec, payload, tcp4};
use crate::Fault;

#[test]
fn lengths_beyond_the_packet_are_not_believed() {
    let mut rig = Rig::new(64, 2176);
    // IP says more than there is: the pieces say what they have.
    let mut frame = tcp4().frame(&payload(2000), Field::Pseudo);
    frame[16..18].copy_from_slice(&[0xff, 0xff]);
    let mut packet = rig.packet(&frame, 1000);
    owe(&mut packet, &tcp4(), 900);
    assert_eq!(rig.finish(packet), Ok(tcp4().pieces(&payload(2000), 900)));
    // TCP and IP headers that would end behind the packet.
    for (at, value) in [(46, 0xf0), (46, 0x40), (14, 0x4f), (14, 0x44), (14, 0x55)] {
        let mut frame = tcp4().frame(&[], Field::Pseudo);
        frame[at] = value;
        let mut packet = rig.packet(&frame, 1000);
        owe(&mut packet, &tcp4(), 900);
        assert_eq!(rig.finish(packet), Err(Fault::Headers), "{at} {value}");
    }
    assert!(rig.is_whole());
}

#[test]
fn headers_without_end_are_refused() {
    let mut rig = Rig::new(64, 2176);
    let specs = [
        Spec {
            tags: vec![(0x8100, 1); 9],
            ..tcp4()
        },
        Spec {
            is_v6: true,
            extensions: vec![(0, 8), (60, 504)],
            ..tcp4()
        },
        Spec {
            is_v6: true,
            extensions: vec![(60, 8); 9],
            ..tcp4()
        },
    ];
    for spec in &specs {
        let mut packet = rig.packet(&spec.frame(&payload(2000), Field::Pseudo), 2000);
        owe(&mut packet, spec, 900);
        assert_eq!(rig.finish(packet), Err(Fault::Headers), "{spec:?}");
    }
}

#[test]
fn the_checksum_of_something_else_is_refused() {
    let mut rig = Rig::new(64, 2176);
    for (start, offset) in [(33, 16), (34, 6), (54, 16), (0, 0)] {
        let mut packet = rig.packet(&tcp4().frame(&payload(2000), Field::Pseudo), 2000);
        owe(&mut packet, &tcp4(), 900);
        let gso = packet.gso().unwrap();
        packet.set_gso(PartialChecksum { start, offset }, gso);
        assert_eq!(rig.finish(packet), Err(Fault::Headers));
    }
}

proptest! {
    #[test]
    fn any_debt_of_any_bytes_is_survived(
        content in prop::collection::vec(any::<u8>(), 1..300),
        start in 0u16..400,
        offset in 0u16..400,
        size in 0u16..400,
        kind in prop::sample::select(vec![None, Some(GsoKind::TcpV4), Some(GsoKind::TcpV6), Some(GsoKind::Udp)]),
        segment in 1usize..300,
    ) {
        let mut rig = Rig::new(2048, 512);
        let mut packet = rig.packet(&content, segment);
        let checksum = PartialChecksum { start, offset };
        match kind {
            None => packet.set_partial_checksum(checksum),
            Some(kind) => packet.set_gso(checksum, Gso { kind, ecn: false, size, header_len: 0 }),
        }
        let _ = rig.finish(packet);
        prop_assert!(rig.is_whole());
    }

    // Real headers with some bytes spoilt.
    #[test]
    fn spoilt_headers_are_survived(
        udp: bool, v6: bool, at in prop::collection::vec((12usize..100, any::<u8>()), 0..6), size in 1u16..2000, len in 0usize..6000,
    ) {
        let mut rig = Rig::new(8192, 2176);
        let spec = Spec { is_udp: udp, is_v6: v6, extensions: vec![(0, 8)], ..tcp4() };
        let mut frame = spec.frame(&payload(len), Field::Pseudo);
        for (at, value) in at {
            if let Some(byte) = frame.get_mut(at) {
                *byte = value;
            }
        }
        let whole = frame.len();
        let mut packet = rig.packet(&frame, 2000);
        owe(&mut packet, &spec, size);
        if let Ok(pieces) = rig.finish(packet) {
            prop_assert!(pieces.iter().all(|piece| piece.len() <= whole));
        }
        prop_assert!(rig.is_whole());
    }
}
