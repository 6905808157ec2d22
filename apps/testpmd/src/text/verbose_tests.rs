//! Checked against the recorded verbose session.

use super::super::ptype::sw_ptype;
use super::*;

/// Ethernet, IPv6 and TCP with ten words: port 80.
fn ipv6_tcp() -> Vec<u8> {
    let mut frame = vec![
        0x94, 0x3F, 0xC2, 0xD3, 0x52, 0xBD, 0xAC, 0x1F, 0x6B, 0xAC, 0x27, 0xDA, 0x86, 0xDD,
    ];
    frame.extend([0x60, 0, 0, 0, 0, 40, 6, 64]);
    frame.resize(54, 0);
    frame.extend([0xA8, 0xF2, 0, 80, 0, 0, 0, 0, 0, 0, 0, 0, 0xA0]);
    frame.resize(94, 0);
    frame
}

fn dump(frame: &[u8]) -> PacketDump<'static> {
    let mac = |at: usize| MacAddr(*frame[at..].first_chunk().expect("six bytes"));
    PacketDump {
        received: true,
        queue: 0,
        src: mac(6),
        dst: mac(0),
        pool: "mb_pool_0",
        ether_type: u16::from_be_bytes([frame[12], frame[13]]),
        length: u32::try_from(frame.len()).expect("short"),
        segments: 1,
        rss_hash: None,
        mark: None,
        timestamp: None,
        vlan: None,
        hw_ptype: None,
        sw_ptype: sw_ptype(frame),
        destination: dump_destination(frame, false),
        flags: RX_NO_OFFLOAD,
    }
}

#[test]
fn head() {
    let head = BurstHead {
        port: 0,
        queue: 0,
        received: true,
        packets: 32,
    };
    assert_eq!(head.to_string(), "port 0/queue 0: received 32 packets\n");
    assert_eq!(
        BurstHead {
            received: false,
            packets: 1,
            ..head
        }
        .to_string(),
        "port 0/queue 0: sent 1 packets\n"
    );
}

#[test]
fn the_recorded_ipv6_packet() {
    let want = "  src=AC:1F:6B:AC:27:DA - dst=94:3F:C2:D3:52:BD - pool=mb_pool_0 - type=0x86dd - length=94 - nb_segs=1 \
                - sw ptype: L2_ETHER L3_IPV6 L4_TCP  - l2_len=14 - l3_len=40 - l4_len=40 - Destination TCP port=80 \
                - Receive queue=0x0\n  ol_flags: RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN \
                RTE_MBUF_F_RX_OUTER_L4_CKSUM_UNKNOWN \n";
    assert_eq!(dump(&ipv6_tcp()).to_string(), want);
}

#[test]
fn what_a_port_adds_stands_in_order() {
    let full = PacketDump {
        received: false,
        queue: 10,
        rss_hash: Some(0xBEEF),
        mark: Some(0x12),
        timestamp: Some(99),
        vlan: Some(VlanTags::Two(5, 6)),
        hw_ptype: Some("L2_ETHER L3_IPV6 "),
        destination: Some(Destination::Udp(4789)),
        flags: TX_NO_OFFLOAD,
        ..dump(&ipv6_tcp())
    };
    let text = full.to_string();
    let want = " - nb_segs=1 - RSS hash=0xbeef - RSS queue=0xa - FDIR matched ID=0x12 - timestamp 99  \
                - QinQ VLAN tci=0x5, VLAN tci outer=0x6 - hw ptype: L2_ETHER L3_IPV6  - sw ptype: ";
    assert!(text.contains(want), "{text}");
    let want =
        " - Destination UDP port=4789 - Send queue=0xa\n  ol_flags: RTE_MBUF_F_TX_L4_NO_CKSUM \n";
    assert!(text.ends_with(want), "{text}");
    let text = PacketDump {
        vlan: Some(VlanTags::One(0x123)),
        ..full
    }
    .to_string();
    assert!(text.contains("  - VLAN tci=0x123 - hw ptype"), "{text}");
}

#[test]
fn destination_goes_by_the_port_s_packet_type() {
    let mut frame = vec![0; 14];
    frame.extend([0x45, 0, 0, 28, 0, 0, 0x40, 0, 64, 17]);
    frame.resize(34, 0);
    frame.extend([0, 9, 0, 53, 0, 8, 0, 0]);
    assert_eq!(dump_destination(&frame, true), Some(Destination::Udp(53)));
    assert_eq!(
        dump_destination(&frame, false),
        None,
        "read as IPv6, as the recorded session shows"
    );
    assert_eq!(dump_destination(&frame[..37], true), None, "too short");
    assert_eq!(
        dump_destination(&ipv6_tcp(), false),
        Some(Destination::Tcp(80))
    );
    assert_eq!(dump_destination(&[], true), None);
}
