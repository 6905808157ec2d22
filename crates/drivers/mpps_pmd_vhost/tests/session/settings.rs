//! What the program asks of the port: offloads, modes, addresses.

use mpps_dev::{RxOffloads, TxOffloads};
use mpps_mbuf::{Burst, OffloadFlags};
use mpps_wire::MacAddr;

use crate::front::{Front, PACKED, SPLIT};
use crate::rig::{Rig, eventually};

#[test]
fn what_a_back_end_cannot_do_is_refused() {
    let mut rig = Rig::new("", 1);
    rig.dev.set_promiscuous(true).unwrap();
    rig.dev.set_allmulticast(true).unwrap();
    let refusals = [
        rig.dev.set_promiscuous(false),
        rig.dev.set_allmulticast(false),
        rig.dev.set_mac(MacAddr([2, 0, 0, 0, 0, 1])),
        rig.dev.set_link(false),
    ];
    for (refused, what) in refusals.into_iter().zip([
        "leaving promiscuous mode",
        "leaving all-multicast mode",
        "setting the address",
        "setting the link",
    ]) {
        assert_eq!(refused.unwrap_err().what, what);
    }
    assert!(rig.dev.port().promiscuous() && rig.dev.port().allmulticast());
    rig.finish();
}

#[test]
fn offloads_are_those_of_dpdk() {
    for (args, checksums) in [("", true), (",legacy-ol-flags=1", false)] {
        let rig = Rig::new(args, 1);
        let (mut rx, mut tx) = (RxOffloads::VLAN_STRIP, TxOffloads::VLAN_INSERT);
        tx |= TxOffloads::MULTI_SEGS;
        if checksums {
            rx |= RxOffloads::UDP_CKSUM | RxOffloads::TCP_CKSUM;
            tx |= TxOffloads::UDP_CKSUM | TxOffloads::TCP_CKSUM;
        }
        assert_eq!(rig.dev.info().rx_offloads, rx);
        assert_eq!(rig.dev.info().tx_offloads, tx);
        rig.finish();
    }
}

/// A frame with or without a tag.
fn frame(tagged: bool) -> [u8; 64] {
    let mut bytes = [0x11; 64];
    let head = if tagged {
        [0x81, 0, 0x20, 5, 8, 6]
    } else {
        [8, 6, 0, 1, 8, 0]
    };
    bytes[12..18].copy_from_slice(&head);
    bytes
}

#[test]
fn a_tag_to_be_taken_out_is_taken_out() {
    for features in [SPLIT, PACKED] {
        let mut rig = Rig::new("", 1);
        rig.stop();
        let mut config = rig.dev.port().config().clone();
        config.rx_offloads = RxOffloads::VLAN_STRIP;
        rig.dev.configure(&config).unwrap();
        rig.start();
        let mut front = Front::up(&rig, features, 1);
        let mut sent = Burst::new(32);
        for tagged in [true, false, true] {
            let mut packet = front.caches.alloc_one(front.pool.id()).unwrap();
            assert!(packet.append(&frame(tagged)));
            sent.push(packet).unwrap();
        }
        front.pairs[0].tx.burst(&mut front.caches, &mut sent);
        // One that is there already isn't looked at.
        let mut out = Burst::new(32);
        let mut first = rig.pool.alloc().unwrap();
        assert!(first.append(&frame(true)));
        out.push(first).unwrap();
        assert!(eventually(|| {
            rig.receive(0, &mut out);
            out.len() == 4
        }));
        let stripped = OffloadFlags::RX_VLAN | OffloadFlags::RX_VLAN_STRIPPED;
        for (packet, tagged) in out.as_slice().iter().zip([false, true, false, true]) {
            assert_eq!(packet.flags().contains(stripped), tagged);
            if tagged {
                assert_eq!((packet.pkt_len(), packet.vlan()), (60, 0x2005));
                assert_eq!(
                    packet.data()[..14],
                    [[0x11; 12].as_slice(), &[8, 6]].concat()
                );
            } else {
                assert_eq!(packet.pkt_len(), 64);
            }
        }
        let stats = rig.dev.stats();
        assert_eq!((stats.ipackets, stats.ibytes), (3, 60 + 64 + 60));
        rig.lcore.free(&mut out);
        front.finish();
        rig.finish();
    }
}

#[test]
fn a_tag_to_be_inserted_is_inserted() {
    let mut rig = Rig::new("", 1);
    let mut front = Front::up(&rig, SPLIT, 1);
    let mut packet = rig.pool.alloc().unwrap();
    assert!(packet.append(&[0x11; 60]));
    packet.set_vlan(0x2005, 0);
    packet.set_flags(OffloadFlags::TX_VLAN);
    assert!(packet.flags().contains(OffloadFlags::TX_VLAN));
    let mut waiting = Burst::new(32);
    waiting.push(packet).unwrap();
    assert_eq!(rig.send(0, &mut waiting), 1);
    let mut out = Burst::new(32);
    front.pairs[0].rx.burst(&mut front.caches, &mut out);
    let packet = &out.as_slice()[0];
    assert_eq!(packet.pkt_len(), 64);
    assert_eq!(packet.data()[..12], [0x11; 12]);
    assert_eq!(packet.data()[12..16], [0x81, 0, 0x20, 5]);
    assert_eq!(packet.data()[16..], [0x11; 48]);
    front.caches.free(&mut out);
    front.finish();
    rig.finish();
}
