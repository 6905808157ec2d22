use super::*;
use crate::{TunnelPorts, frames};
use proptest::prelude::*;

/// What DPDK 22.11 prints behind `sw ptype: ` for these very frames.
const DPDK_PRINTS: &[(&[u8], &str)] = &[
    (
        frames::UDP,
        "L2_ETHER L3_IPV4 L4_UDP  - l2_len=14 - l3_len=20 - l4_len=8",
    ),
    (
        frames::TCP,
        "L2_ETHER L3_IPV4 L4_TCP  - l2_len=14 - l3_len=20 - l4_len=32",
    ),
    (
        frames::TCP_OPTIONS,
        "L2_ETHER L3_IPV4_EXT L4_TCP  - l2_len=14 - l3_len=24 - l4_len=20",
    ),
    (
        frames::SCTP,
        "L2_ETHER L3_IPV4 L4_SCTP  - l2_len=14 - l3_len=20 - l4_len=12",
    ),
    (frames::PING, "L2_ETHER L3_IPV4  - l2_len=14 - l3_len=20"),
    (frames::PING6, "L2_ETHER L3_IPV6  - l2_len=14 - l3_len=40"),
    (frames::ARP, "L2_ETHER  - l2_len=14"),
    (frames::MPLS, "L2_ETHER  - l2_len=14"),
    (
        frames::VLAN,
        "L2_ETHER_VLAN L3_IPV4 L4_UDP  - l2_len=18 - l3_len=20 - l4_len=8",
    ),
    (
        frames::QINQ,
        "L2_ETHER_QINQ L3_IPV6 L4_UDP  - l2_len=22 - l3_len=40 - l4_len=8",
    ),
    (
        frames::TCP6_EXTENSIONS,
        "L2_ETHER L3_IPV6_EXT L4_TCP  - l2_len=14 - l3_len=56 - l4_len=20",
    ),
    (
        frames::FIRST_FRAGMENT,
        "L2_ETHER L3_IPV4 L4_FRAG  - l2_len=14 - l3_len=20 - l4_len=0",
    ),
    (
        frames::LATER_FRAGMENT,
        "L2_ETHER L3_IPV4 L4_FRAG  - l2_len=14 - l3_len=20 - l4_len=0",
    ),
    (
        frames::LATER_FRAGMENT6,
        "L2_ETHER L3_IPV6_EXT L4_FRAG  - l2_len=14 - l3_len=48 - l4_len=0",
    ),
    (
        frames::VXLAN,
        "L2_ETHER L3_IPV4 L4_UDP  - l2_len=14 - l3_len=20 - l4_len=8",
    ),
    (
        frames::GRE,
        "L2_ETHER L3_IPV4 TUNNEL_GRE INNER_L3_IPV4 INNER_L4_UDP  - l2_len=14 - l3_len=20 - tunnel_len=12 - inner_l3_len=20 - inner_l4_len=8",
    ),
    (
        frames::NVGRE,
        "L2_ETHER L3_IPV4 TUNNEL_NVGRE INNER_L2_ETHER INNER_L3_IPV4 INNER_L4_UDP  - l2_len=14 - l3_len=20 - tunnel_len=8 - inner_l2_len=14 - inner_l3_len=20 - inner_l4_len=8",
    ),
    (
        frames::IPIP,
        "L2_ETHER L3_IPV4 TUNNEL_IP INNER_L3_IPV4 INNER_L4_UDP  - l2_len=14 - l3_len=20 - tunnel_len=0 - inner_l3_len=20 - inner_l4_len=8",
    ),
    (
        frames::SIX_IN_FOUR,
        "L2_ETHER L3_IPV4 TUNNEL_IP INNER_L3_IPV6 INNER_L4_UDP  - l2_len=14 - l3_len=20 - tunnel_len=0 - inner_l3_len=40 - inner_l4_len=8",
    ),
];

#[test]
fn prints_what_dpdk_prints() {
    for (frame, text) in DPDK_PRINTS {
        assert_eq!(classify(frame, None).to_string(), *text);
    }
}

#[test]
fn a_tag_behind_a_tag_is_inner() {
    let mut frame = frames::VLAN.to_vec();
    frame.splice(12..12, [0x81, 0x00, 0x00, 0x01]);
    let text = "L2_ETHER_VLAN INNER_L2_ETHER_VLAN INNER_L3_IPV4 INNER_L4_UDP  - l2_len=18 - inner_l2_len=4 - inner_l3_len=20 - inner_l4_len=8";
    assert_eq!(classify(&frame, None).to_string(), text);
    assert_eq!(
        classify(&frame[..16], None).to_string(),
        "L2_ETHER_VLAN  - l2_len=14"
    );
    assert_eq!(
        classify(&frame[..18], None).to_string(),
        "L2_ETHER_VLAN  - l2_len=18"
    );
}

#[test]
fn a_lone_service_tag() {
    let mut frame = frames::VLAN.to_vec();
    frame[12..14].copy_from_slice(&[0x88, 0xA8]);
    let text = "L2_ETHER_QINQ L3_IPV4 L4_UDP  - l2_len=18 - l3_len=20 - l4_len=8";
    assert_eq!(classify(&frame, None).to_string(), text);
}

#[test]
fn extension_headers_as_dpdk_walks_them() {
    // A chain of hop-by-hop headers, then UDP.
    let chain = |count: usize| {
        let mut frame = frames::TCP6_EXTENSIONS[..54].to_vec();
        for left in (0..count).rev() {
            frame.extend([if left == 0 { 17 } else { 0 }, 0, 1, 4, 0, 0, 0, 0]);
        }
        frame.extend([0; 8]);
        classify(&frame, None).to_string()
    };
    assert_eq!(
        chain(4),
        "L2_ETHER L3_IPV6_EXT L4_UDP  - l2_len=14 - l3_len=72 - l4_len=8"
    );
    assert_eq!(chain(5), "L2_ETHER L3_IPV6_EXT  - l2_len=14 - l3_len=40");
    let mut ah = frames::TCP6_EXTENSIONS.to_vec();
    ah[20] = 51;
    assert_eq!(
        classify(&ah, None).to_string(),
        "L2_ETHER L3_IPV6_EXT  - l2_len=14 - l3_len=40"
    );
}

#[test]
fn udp_tunnels_where_asked() {
    let ports = Some(&TunnelPorts::REGISTERED);
    let vxlan = classify(frames::VXLAN, ports);
    let names = "L2_ETHER L3_IPV4 L4_UDP TUNNEL_VXLAN INNER_L2_ETHER INNER_L3_IPV4 INNER_L4_UDP ";
    assert_eq!(vxlan.packet_type.to_string(), names);
    assert_eq!(
        (
            vxlan.lengths.l4_len,
            vxlan.lengths.tunnel_len,
            vxlan.lengths.inner_l2_len
        ),
        (8, 8, 14)
    );
    for (frame, kind) in [
        (frames::VXLAN_GPE, PacketType::TUNNEL_VXLAN_GPE),
        (frames::GENEVE, PacketType::TUNNEL_GENEVE),
        (frames::GTP_U, PacketType::TUNNEL_GTPU),
    ] {
        let found = classify(frame, ports).packet_type;
        assert!(found.is(PacketType::TUNNEL_MASK, kind), "{found}");
        assert!(
            found.is(PacketType::INNER_L4_MASK, PacketType::INNER_L4_UDP),
            "{found}"
        );
    }
}

#[test]
fn what_is_malformed_is_not_named() {
    assert_eq!(classify(&[], None), Classified::default());
    assert_eq!(classify(&[2; 13], None).to_string(), "UNKNOWN");
    let mut frame = frames::UDP.to_vec();
    frame[14] = 0x65;
    assert_eq!(classify(&frame, None).to_string(), "L2_ETHER  - l2_len=14");
    // The inner TCP header is cut off; what came before stays named.
    let mut frame = frames::GRE[..70].to_vec();
    frame[55] = 6;
    let text = "L2_ETHER L3_IPV4 TUNNEL_GRE INNER_L3_IPV4  - l2_len=14 - l3_len=20 - tunnel_len=12 - inner_l3_len=20";
    assert_eq!(classify(&frame, None).to_string(), text);
}

#[test]
fn names_by_layer() {
    assert_eq!(PacketType::from_bits(!0).bits(), PacketType::ALL_MASK);
    let unknown = PacketType::from_bits(0xFFFF_FFFF).to_string();
    assert_eq!(
        unknown,
        "L2_UNKNOWN L3_UNKNOWN L4_UNKNOWN TUNNEL_UNKNOWN INNER_L2_UNKNOWN INNER_L3_UNKNOWN INNER_L4_UNKNOWN "
    );
    for (kind, name) in PacketType::NAMES {
        assert_eq!(kind.to_string(), format!("{name} "));
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = classify(&bytes, Some(&TunnelPorts::REGISTERED)).to_string();
    }

    #[test]
    fn frames_with_damage(which in 0..frames::ALL.len(), at in 12usize..90, value: u8, cut in 0usize..160) {
        let mut frame = frames::ALL[which].to_vec();
        if let Some(byte) = frame.get_mut(at) {
            *byte = value;
        }
        let found = classify(&frame[..cut.min(frame.len())], Some(&TunnelPorts::REGISTERED));
        prop_assert_eq!(found.packet_type.has(PacketType::L2_MASK), cut.min(frame.len()) >= 14);
    }
}
