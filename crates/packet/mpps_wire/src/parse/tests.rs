use super::*;
use crate::checksum::Sum;
use crate::{Crc32c, frames};
use proptest::prelude::*;

const PORTS: Option<&TunnelPorts> = Some(&TunnelPorts::REGISTERED);

/// (l2_len, ethertype, l3_len, l4_proto, l4_len)
fn lengths(layers: Layers) -> (u16, u16, u16, u8, u8) {
    (
        layers.l2_len,
        layers.ethertype,
        layers.l3_len,
        layers.l4_proto,
        layers.l4_len,
    )
}

#[test]
fn plain_packets() {
    let v4 = ethertype::IPV4;
    assert_eq!(lengths(parse(frames::UDP, None)), (14, v4, 20, 17, 8));
    assert_eq!(lengths(parse(frames::TCP, None)), (14, v4, 20, 6, 32));
    assert_eq!(
        lengths(parse(frames::TCP_OPTIONS, None)),
        (14, v4, 24, 6, 20)
    );
    assert_eq!(lengths(parse(frames::SCTP, None)), (14, v4, 20, 132, 12));
    assert_eq!(lengths(parse(frames::PING, None)), (14, v4, 20, 1, 0));
    assert_eq!(
        lengths(parse(frames::PING6, None)),
        (14, ethertype::IPV6, 40, 58, 0)
    );
    assert_eq!(
        lengths(parse(frames::TCP6_EXTENSIONS, None)),
        (14, ethertype::IPV6, 56, 6, 20)
    );
    assert_eq!(
        lengths(parse(frames::ARP, None)),
        (14, ethertype::ARP, 0, 0, 0)
    );
    assert_eq!(
        lengths(parse(frames::MPLS, PORTS)),
        (14, ethertype::MPLS, 0, 0, 0)
    );
}

#[test]
fn tagged_packets() {
    let one = parse(frames::VLAN, PORTS);
    assert_eq!(lengths(one), (18, ethertype::IPV4, 20, 17, 8));
    assert_eq!((one.vlan.count, one.vlan.outer_tci), (1, 0x6005));
    let two = parse(frames::QINQ, PORTS);
    assert_eq!(lengths(two), (22, ethertype::IPV6, 40, 17, 8));
    assert_eq!((two.vlan.outer_tci, two.vlan.inner_tci), (100, 200));
}

#[test]
fn fragments() {
    let first = parse(frames::FIRST_FRAGMENT, PORTS);
    assert_eq!((first.fragment, first.l4_len), (Fragment::First, 8));
    for frame in [frames::LATER_FRAGMENT, frames::LATER_FRAGMENT6] {
        let later = parse(frame, PORTS);
        assert_eq!(
            (later.fragment, later.l4_proto, later.l4_len),
            (Fragment::Later, 17, 0)
        );
        assert!(later.is_fragment());
    }
}

#[test]
fn tunnels() {
    use TunnelKind::*;
    // (frame, kind, outer L3, outer L4, tunnel header, l2_len, inner L3)
    let table = [
        (frames::VXLAN, Vxlan, 20, 8, 8, 30, 20),
        (frames::VXLAN_GPE, VxlanGpe, 20, 8, 8, 16, 20),
        (frames::GENEVE, Geneve, 40, 8, 16, 38, 20),
        (frames::GTP_U, GtpU, 20, 8, 12, 20, 20),
        (frames::GRE, Gre, 20, 0, 12, 12, 20),
        (frames::NVGRE, Nvgre, 20, 0, 8, 22, 20),
        (frames::IPIP, Ip, 20, 0, 0, 0, 20),
        (frames::SIX_IN_FOUR, Ip, 20, 0, 0, 0, 40),
    ];
    for (frame, kind, outer_l3, outer_l4, header, l2, l3) in table {
        let layers = parse(frame, PORTS);
        let tunnel = layers.tunnel.expect("a tunnel");
        assert_eq!(
            (tunnel.kind, tunnel.outer_l2_len, tunnel.outer_l3_len),
            (kind, 14, outer_l3)
        );
        assert_eq!(
            (tunnel.outer_l4_len, tunnel.header_len),
            (outer_l4, header),
            "{kind:?}"
        );
        assert_eq!(
            (layers.l2_len, layers.l3_len, layers.l4_proto, layers.l4_len),
            (l2, l3, 17, 8),
            "{kind:?}"
        );
        assert_eq!(layers.outer(), Some(parse(frame, None)), "{kind:?}");
    }
}

#[test]
fn only_known_ports_and_whole_packets_are_tunnels() {
    let elsewhere = TunnelPorts {
        vxlan: 8472,
        ..TunnelPorts::REGISTERED
    };
    assert_eq!(parse(frames::VXLAN, Some(&elsewhere)).tunnel, None);
    let mut fragment = frames::VXLAN.to_vec();
    fragment[20] = 0x20;
    assert_eq!(parse(&fragment, PORTS).tunnel, None);
    assert_eq!(
        parse(&frames::VXLAN[..60], PORTS),
        parse(frames::VXLAN, None),
        "the inner Ethernet header is cut off"
    );
    let cut = parse(&frames::VXLAN[..70], PORTS);
    assert_eq!(
        (cut.tunnel.is_some(), cut.l3_len),
        (true, 0),
        "the inner IP header is cut off"
    );
}

#[test]
fn what_carries_no_ip_is_no_tunnel() {
    let mut frame = frames::GRE.to_vec();
    frame[36..38].copy_from_slice(&[0x88, 0x47]);
    assert_eq!(parse(&frame, PORTS), parse(&frame, None), "MPLS in GRE");
    let mut frame = frames::IPIP.to_vec();
    frame[34] = 0x65;
    assert_eq!(
        parse(&frame, PORTS),
        parse(&frame, None),
        "version 6 where 4 was announced"
    );
    let cut = parse(&frames::IPIP[..40], PORTS);
    assert_eq!(
        (cut.tunnel.is_some(), cut.l3_len),
        (true, 0),
        "cut off, but IPv4"
    );
}

/// The frames' own checksums, inner and outer, come out right over what `parse` found.
#[test]
fn checksums_of_all_frames() {
    let mut checked = 0;
    for frame in frames::ALL {
        let layers = parse(frame, PORTS);
        for layers in [Some(layers), layers.outer()].into_iter().flatten() {
            assert!(!layers.is_ipv4() || crate::Ipv4::checksum_is_good(frame, layers.l3_offset()));
            checked += usize::from(l4_is_good(frame, &layers));
        }
    }
    assert_eq!(checked, 19);
}

fn l4_is_good(frame: &[u8], layers: &Layers) -> bool {
    if layers.is_fragment() || layers.l4_len == 0 {
        return false;
    }
    let total = layers
        .l4_total(frame, frame.len())
        .expect("consistent lengths");
    let l4 = &frame[layers.l4_offset()..][..total];
    if layers.l4_proto == protocol::SCTP {
        let zeroed = Crc32c::new().plus(&l4[..8]).plus(&[0; 4]).plus(&l4[12..]);
        assert_eq!(zeroed.value().to_le_bytes(), l4[8..12]);
        return true;
    }
    if layers.l4_proto == protocol::UDP && l4[6..8] == [0, 0] {
        return false;
    }
    assert_eq!(layers.pseudo(frame, total).unwrap().plus(l4).checksum(), 0);
    true
}

#[test]
fn a_sum_of_zero_is_sent_as_ones() {
    let mut frame = frames::UDP_ZERO.to_vec();
    assert_eq!(frame[40..42], [0xFF, 0xFF]);
    frame[40..42].fill(0);
    let layers = parse(&frame, None);
    let sum: Sum = layers.pseudo(&frame, 10).unwrap().plus(&frame[34..]);
    assert_eq!((sum.checksum(), sum.udp_checksum()), (0, 0xFFFF));
}

#[test]
fn lengths_that_contradict_have_no_total() {
    let mut frame = frames::UDP.to_vec();
    let total = |frame: &[u8], packet_len| parse(frame, None).l4_total(frame, packet_len);
    assert_eq!(total(&frame, frame.len()), Some(13));
    assert_eq!(
        total(&frame, frame.len() - 1),
        None,
        "longer than the packet"
    );
    frame.extend([0; 20]);
    assert_eq!(
        total(&frame, frame.len()),
        Some(13),
        "padding isn't payload"
    );
    frame[16..18].copy_from_slice(&[0, 27]);
    assert_eq!(total(&frame, frame.len()), None, "shorter than the headers");
    let mut jumbo = frames::PING6.to_vec();
    jumbo[18..20].fill(0);
    assert_eq!(total(&jumbo, jumbo.len()), None, "a jumbogram");
}

#[test]
fn routed_packets_have_no_pseudo_header() {
    let mut frame = frames::TCP6_EXTENSIONS.to_vec();
    assert!(parse(&frame, None).pseudo(&frame, 20).is_some());
    // The hop-by-hop header becomes a routing header with a segment left.
    frame[20] = protocol::ROUTING;
    frame[57] = 1;
    let layers = parse(&frame, None);
    assert!(layers.is_routed && layers.l4_len == 20 && layers.pseudo(&frame, 20).is_none());
}

/// What must hold for any input: nothing that `parse` says lies outside of the bytes.
fn check(bytes: &[u8]) {
    for ports in [None, PORTS] {
        let layers = parse(bytes, ports);
        for layers in [Some(layers), layers.outer()].into_iter().flatten() {
            assert!(layers.payload_offset() <= bytes.len());
            assert!(layers.l4_len == 0 || layers.l3_len != 0);
            let _ = layers
                .l4_total(bytes, bytes.len())
                .map(|total| layers.pseudo(bytes, total));
        }
        assert!(ports.is_some() || layers.tunnel.is_none());
    }
    // The short cut for common packets is no other answer.
    if plain(bytes).is_some() {
        assert_eq!(parse(bytes, None), parse_any(bytes, None));
        assert_eq!(parse(bytes, PORTS), parse_any(bytes, PORTS));
    }
}

#[test]
fn every_prefix_of_every_frame() {
    for frame in frames::ALL {
        for len in 0..=frame.len() {
            check(&frame[..len]);
        }
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        check(&bytes);
    }

    #[test]
    fn frames_with_damage(
        which in 0..frames::ALL.len(),
        damage in proptest::collection::vec((0usize..120, any::<u8>()), 0..6),
        cut in 0usize..160,
    ) {
        let mut frame = frames::ALL[which].to_vec();
        for (at, value) in damage {
            if let Some(byte) = frame.get_mut(at) {
                *byte = value;
            }
        }
        check(&frame[..cut.min(frame.len())]);
    }
}
