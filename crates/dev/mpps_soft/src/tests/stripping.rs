//! Tags taken out: the packet is the one without the tag, the tag is told, and what is owed moves along.

use mpps_mbuf::{OffloadFlags, PartialChecksum};

use super::frames::{Field, Spec, payload, tcp4};
use super::{Rig, bytes};
use crate::strip_tags;

fn tagged(tags: &[(u16, u16)]) -> Spec {
    Spec {
        tags: tags.to_vec(),
        ..tcp4()
    }
}

#[test]
fn the_outer_tag_goes_and_is_told() {
    let mut rig = Rig::new(64, 2176);
    let content = payload(200);
    let plain = tcp4().frame(&content, Field::Sum);
    let one = tagged(&[(0x8100, 0x2005)]);
    let two = tagged(&[(0x8100, 0x2005), (0x8100, 7)]);
    let service = tagged(&[(0x88a8, 9)]);
    let mut all = [
        rig.packet(&one.frame(&content, Field::Sum), 2000),
        rig.packet(&plain, 2000),
        rig.packet(&two.frame(&content, Field::Sum), 100),
        rig.packet(&service.frame(&content, Field::Sum), 2000),
    ];
    assert_eq!(strip_tags(&mut all), 2);
    let stripped = OffloadFlags::RX_VLAN | OffloadFlags::RX_VLAN_STRIPPED;
    for at in [0, 2] {
        assert_eq!(all[at].vlan(), 0x2005);
        assert!(all[at].flags().contains(stripped));
    }
    for at in [1, 3] {
        assert!(!all[at].flags().intersects(stripped));
    }
    assert_eq!(bytes(&all[0]), plain);
    assert_eq!(bytes(&all[1]), plain);
    let inner = tagged(&[(0x8100, 7)]);
    assert_eq!(bytes(&all[2]), inner.frame(&content, Field::Sum));
    assert_eq!(bytes(&all[3]), service.frame(&content, Field::Sum));
    drop(all);
    assert!(rig.is_whole());
}

#[test]
fn what_is_owed_moves_along() {
    let mut rig = Rig::new(64, 2176);
    let spec = tagged(&[(0x8100, 5)]);
    let content = payload(200);
    let mut packet = rig.packet(&spec.frame(&content, Field::Pseudo), 2000);
    packet.set_partial_checksum(PartialChecksum {
        start: 38,
        offset: 16,
    });
    assert_eq!(strip_tags(std::slice::from_mut(&mut packet)), 1);
    let done = rig.finish(packet).unwrap();
    assert_eq!(done, [tcp4().frame(&content, Field::Sum)]);
    // A large one.
    let mut packet = rig.packet(&spec.frame(&payload(3000), Field::Pseudo), 2000);
    super::cutting::owe(&mut packet, &spec, 1000);
    assert_eq!(strip_tags(std::slice::from_mut(&mut packet)), 1);
    let done = rig.finish(packet).unwrap();
    assert_eq!(done, tcp4().pieces(&payload(3000), 1000));
    assert!(rig.is_whole());
}

#[test]
fn what_cannot_lose_its_tag_keeps_it() {
    let mut rig = Rig::new(64, 2176);
    let frame = tagged(&[(0x8100, 5)]).frame(&payload(100), Field::Sum);
    for (len, segment) in [(1, 1), (13, 20), (17, 20), (100, 17)] {
        let part = &frame[..len];
        let mut packet = rig.packet(part, segment);
        assert_eq!(strip_tags(std::slice::from_mut(&mut packet)), 0, "{len}");
        assert_eq!(bytes(&packet), part);
    }
    // Data that clones share.
    let mut packet = rig.packet(&frame, 2000);
    let clone = rig.pool.share(&mut packet).unwrap();
    assert_eq!(strip_tags(std::slice::from_mut(&mut packet)), 0);
    drop(clone);
    // A checksum that begins within the addresses.
    packet.set_partial_checksum(PartialChecksum {
        start: 3,
        offset: 1,
    });
    assert_eq!(strip_tags(std::slice::from_mut(&mut packet)), 0);
    assert_eq!(bytes(&packet), frame);
    drop(packet);
    assert!(rig.is_whole());
}
