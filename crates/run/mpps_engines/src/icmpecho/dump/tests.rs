//! The blocks as DPDK's testpmd 22.11 printed them for the same frames.

use super::{Dump, PROTOCOLS, protocol_name};
use crate::frames;
use crate::testing::{packets, pool};

fn block(frame: &[u8]) -> String {
    let pool = pool();
    let packet = packets(&pool, &[frame.to_vec()]).remove(0);
    Dump {
        port: 0,
        packet: &packet,
    }
    .to_string()
}

const ETHERNET: &str = "  ETH:  src=02:00:00:00:00:02 dst=02:00:00:00:00:01";

#[test]
fn arp() {
    assert_eq!(
        block(frames::ARP),
        format!(
            "\nPort 0 pkt-len=42 nb-segs=1\n{ETHERNET} type=0x0806\n  \
             ARP:  hrd=1 proto=0x0800 hln=6 pln=4 op=1 (ARP Request)\n        \
             sha=02:00:00:00:00:02 sip=198.18.0.2\n        \
             tha=00:00:00:00:00:00 tip=198.18.0.1\n"
        )
    );
    let mut other = frames::ARP.to_vec();
    other[15] = 7;
    assert!(block(&other).ends_with("op=1 (ARP Request)\n\n"));
    other[21] = 9;
    assert!(block(&other).contains("op=9 (Peer Identify Reply)"));
}

#[test]
fn ipv4() {
    assert_eq!(
        block(frames::PING),
        format!(
            "\nPort 0 pkt-len=50 nb-segs=1\n{ETHERNET} type=0x0800\n  \
             IPV4: src=198.18.0.1 dst=198.18.0.2 proto=1 (ICMP)\n  \
             ICMP: echo request seq id=1\n"
        )
    );
    assert_eq!(
        block(frames::VLAN),
        format!(
            "\nPort 0 pkt-len=46 nb-segs=1\n{ETHERNET} [vlan id=5] type=0x0800\n  \
             IPV4: src=198.18.0.1 dst=198.18.0.2 proto=17 (UDP)\n"
        )
    );
}

#[test]
fn other_frames_show_what_they_have() {
    assert_eq!(
        block(frames::QINQ),
        format!("\nPort 0 pkt-len=73 nb-segs=1\n{ETHERNET} type=0x88a8\n")
    );
    assert_eq!(block(&[1; 13]), "\nPort 0 pkt-len=13 nb-segs=1\n");
    assert!(block(&frames::ARP[..30]).ends_with("type=0x0806\n"));
}

#[test]
fn protocols() {
    assert_eq!(PROTOCOLS.len(), 102);
    for (number, name) in [
        (0, "IP6HOPOPTS"),
        (5, "UNASSIGNED"),
        (41, "IPv6_HDR"),
        (47, "GRE"),
        (89, "OSPFIGP"),
        (101, "IPCOMP"),
        (102, "UNASSIGNED"),
        (104, "PIM"),
        (132, "SCTP"),
        (254, "UNASSIGNED"),
        (255, "RAW"),
    ] {
        assert_eq!(protocol_name(number), name);
    }
}
