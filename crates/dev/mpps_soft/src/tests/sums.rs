//! Checksums that peers left to us.

use mpps_mbuf::{OffloadFlags, PartialChecksum};
use proptest::prelude::*;

use super::frames::{Field, Spec, naive, payload, tcp4};
use super::{Rig, bytes};
use crate::{Fault, complete_checksum};

fn debt(spec: &Spec) -> PartialChecksum {
    PartialChecksum {
        start: spec.l4() as u16,
        offset: spec.field_offset() as u16,
    }
}

fn udp4() -> Spec {
    Spec {
        is_udp: true,
        ..tcp4()
    }
}

fn tcp6() -> Spec {
    Spec {
        is_v6: true,
        ..tcp4()
    }
}

#[test]
fn a_checksum_is_completed_in_place() {
    let mut rig = Rig::new(64, 2176);
    for spec in [tcp4(), udp4(), tcp6()] {
        for len in [0, 1, 2, 3, 100, 1401] {
            let payload = payload(len);
            let mut packet = rig.packet(&spec.frame(&payload, Field::Pseudo), 2000);
            packet.set_partial_checksum(debt(&spec));
            let at = packet.data().as_ptr();
            let out = rig.finish_but(packet, OffloadFlags::empty()).unwrap();
            assert_eq!(out[0].data().as_ptr(), at, "copied");
            assert_eq!(out[0].flags(), OffloadFlags::empty());
            assert_eq!(bytes(&out[0]), spec.frame(&payload, Field::Sum), "{spec:?}");
            rig.caches.free_one({ out }.remove(0));
        }
    }
    assert!(rig.is_whole());
}

#[test]
fn what_clones_share_is_copied() {
    let mut rig = Rig::new(64, 2176);
    let unfinished = tcp4().frame(&payload(99), Field::Pseudo);
    let mut packet = rig.packet(&unfinished, 2000);
    packet.set_partial_checksum(debt(&tcp4()));
    let mut clone = rig.pool.share(&mut packet).unwrap();
    assert!(!complete_checksum(&mut clone) && clone.has_debt());
    let done = rig.finish(clone).unwrap();
    assert_eq!(done, [tcp4().frame(&payload(99), Field::Sum)]);
    assert_eq!(bytes(&packet), unfinished);
    // Alone again, it is finished where it is.
    assert!(complete_checksum(&mut packet) && !packet.has_debt());
    assert_eq!(bytes(&packet), done[0]);
    assert!(complete_checksum(&mut packet), "nothing is owed");
    drop(packet);
    assert!(rig.is_whole());
}

#[test]
fn a_field_behind_the_first_segment_is_written() {
    let mut rig = Rig::new(1024, 2176);
    let unfinished = tcp4().frame(&payload(301), Field::Pseudo);
    for segment in [1, 7, 50, 51, 52, 53, 1000] {
        let mut packet = rig.packet(&unfinished, segment);
        packet.set_partial_checksum(debt(&tcp4()));
        let is_in_place = segment >= 52;
        assert_eq!(complete_checksum(&mut packet), is_in_place, "{segment}");
        let done = rig.finish(packet).unwrap();
        assert_eq!(done, [tcp4().frame(&payload(301), Field::Sum)], "{segment}");
    }
    assert!(rig.is_whole());
}

#[test]
fn a_udp_checksum_is_never_zero() {
    let mut rig = Rig::new(8, 2176);
    // A payload of one word that makes the sum of all 0xffff.
    let spec = udp4();
    let with_zero = spec.frame(&[0, 0], Field::Sum);
    let word = [with_zero[40], with_zero[41]];
    let mut packet = rig.packet(&spec.frame(&word, Field::Pseudo), 2000);
    packet.set_partial_checksum(debt(&spec));
    let done = rig.finish(packet).unwrap();
    assert_eq!(done[0][40..42], [0xff, 0xff]);
    assert_eq!(done, [spec.frame(&word, Field::Sum)]);
}

// V-12: the crash was an underflow of the length that is summed.
#[test]
fn v12_a_field_beyond_the_packet_drops_it() {
    let mut rig = Rig::new(8, 2176);
    for (start, offset) in [(99, 0), (100, 0), (200, 16), (34, 65), (u16::MAX, u16::MAX)] {
        let mut packet = rig.packet(&[0; 100], 60);
        packet.set_partial_checksum(PartialChecksum { start, offset });
        assert!(!complete_checksum(&mut packet));
        assert_eq!(rig.finish(packet), Err(Fault::Checksum), "{start} {offset}");
    }
    assert!(rig.is_whole());
}

#[test]
fn without_an_mbuf_to_copy_into_the_packet_is_dropped() {
    let mut rig = Rig::new(2, 2176);
    let mut packet = rig.packet(&[0; 100], 60);
    packet.set_partial_checksum(PartialChecksum {
        start: 70,
        offset: 2,
    });
    assert_eq!(rig.finish(packet), Err(Fault::NoMbuf));
    assert!(rig.is_whole());
}

proptest! {
    // Any place, any segments: the inverted sum from there to the end, and nothing else has changed.
    #[test]
    fn any_field_gets_its_sum(
        content in prop::collection::vec(any::<u8>(), 2..400),
        start in 0u16..400,
        offset in 0u16..400,
        segment in 1usize..500,
        data_room in 129u16..700,
    ) {
        let mut rig = Rig::new(1024, data_room);
        let segment = segment.min(usize::from(data_room) - 128);
        let mut packet = rig.packet(&content, segment);
        let checksum = PartialChecksum { start, offset };
        packet.set_partial_checksum(checksum);
        let fits = checksum.fits(content.len() as u32);
        let done = rig.finish(packet);
        if fits {
            let done = done.unwrap().remove(0);
            let mut same = done.clone();
            let field = checksum.field();
            same[field..field + 2].copy_from_slice(&content[field..field + 2]);
            prop_assert_eq!(&same, &content);
            let value = u16::from_be_bytes([done[field], done[field + 1]]);
            let expected = !naive(&[&content[usize::from(start)..]]);
            prop_assert_eq!(value, if offset == 6 && expected == 0 { 0xffff } else { expected });
        } else {
            prop_assert_eq!(done, Err(Fault::Checksum));
        }
        prop_assert!(rig.is_whole());
    }
}
