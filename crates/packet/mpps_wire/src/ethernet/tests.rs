use super::*;
use crate::frames;

#[test]
fn reads_and_writes_fields() {
    let mut frame = frames::UDP.to_vec();
    let eth = Ethernet::at_mut(&mut frame, 0).unwrap();
    assert_eq!(
        (eth.dst(), eth.src()),
        (MacAddr([2, 0, 0, 0, 0, 1]), MacAddr([2, 0, 0, 0, 0, 2]))
    );
    assert_eq!(eth.ethertype.get(), ethertype::IPV4);
    eth.swap_addresses();
    eth.ethertype.set(ethertype::ARP);
    assert_eq!(frame[..14], [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 6]);
    let eth = Ethernet::at_mut(&mut frame, 0).unwrap();
    eth.set_dst(MacAddr::BROADCAST);
    eth.set_src(MacAddr([6; 6]));
    assert_eq!(
        *eth,
        Ethernet::new(MacAddr::BROADCAST, MacAddr([6; 6]), ethertype::ARP)
    );
    assert_eq!(
        frame[..12],
        [255, 255, 255, 255, 255, 255, 6, 6, 6, 6, 6, 6]
    );
}

#[test]
fn walks_tags() {
    let link = walk_ethernet(frames::VLAN, 0).unwrap();
    let vlan = VlanTags {
        count: 1,
        outer_tci: 0x6005,
        inner_tci: 0x6005,
    };
    assert_eq!(
        link,
        LinkLayer {
            len: 18,
            ethertype: ethertype::IPV4,
            vlan
        }
    );
    let tag = Vlan::at(frames::VLAN, 14).unwrap();
    assert_eq!((tag.id(), tag.priority()), (5, 3));

    let link = walk_ethernet(frames::QINQ, 0).unwrap();
    let vlan = VlanTags {
        count: 2,
        outer_tci: 100,
        inner_tci: 200,
    };
    assert_eq!(
        link,
        LinkLayer {
            len: 22,
            ethertype: ethertype::IPV6,
            vlan
        }
    );
}

#[test]
fn a_ninth_tag_is_payload() {
    let mut frame = vec![0; 12];
    for _ in 0..9 {
        frame.extend([0x91, 0x00, 0x00, 0x07]);
    }
    frame.extend([0x08, 0x00]);
    let link = walk_ethernet(&frame, 0).unwrap();
    assert_eq!(
        (link.len, link.ethertype, link.vlan.count),
        (14 + 32, ethertype::QINQ_OLD, 8)
    );
    let link = walk_ethernet(&frame[4..], 0).unwrap();
    assert_eq!(link.vlan.count, 8);
}

#[test]
fn cut_off_tags_are_not_there() {
    assert_eq!(walk_ethernet(&frames::VLAN[..13], 0), None);
    let link = walk_ethernet(&frames::QINQ[..20], 0).unwrap();
    assert_eq!(
        (link.len, link.ethertype, link.vlan.count),
        (18, ethertype::VLAN, 1)
    );
}
