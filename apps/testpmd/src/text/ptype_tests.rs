//! Frames by layer, and no panic on any bytes.

use proptest::prelude::*;

use super::*;

/// An Ethernet header with this type, then the rest.
fn frame(ether_type: u16, rest: &[&[u8]]) -> Vec<u8> {
    let mut bytes = vec![0; 12];
    bytes.extend(ether_type.to_be_bytes());
    rest.iter().for_each(|part| bytes.extend(*part));
    bytes
}

fn ipv4(protocol: u8, fragment: u16) -> Vec<u8> {
    let [high, low] = fragment.to_be_bytes();
    let mut header = vec![0x45, 0, 0, 40, 0, 0, high, low, 64, protocol];
    header.resize(20, 0);
    header
}

fn ipv6(next: u8) -> Vec<u8> {
    let mut header = vec![0x60, 0, 0, 0, 0, 20, next, 64];
    header.resize(40, 0);
    header
}

fn tcp(words: u8) -> Vec<u8> {
    let mut header = vec![0; usize::from(words) * 4];
    header[12] = words << 4;
    header
}

/// The names that the data path's classifier finds, which are the same wherever the frame is well-formed.
fn classified(bytes: &[u8]) -> String {
    mpps_wire::classify(bytes, Some(&mpps_wire::TunnelPorts::REGISTERED))
        .packet_type
        .to_string()
}

#[test]
fn the_classifier_of_the_data_path_agrees_on_well_formed_frames() {
    let udp = |port: u16| {
        let [high, low] = port.to_be_bytes();
        [0, 9, high, low, 0, 0, 0, 0]
    };
    let mut options = ipv4(17, 0);
    options[0] = 0x46;
    let inner = frame(0x86DD, &[&ipv6(6), &tcp(5)]);
    let gre = [0x20, 0, 0x08, 0x00, 0, 0, 0, 1];
    let frames = [
        frame(0x0806, &[&[0; 28]]),
        frame(0x8847, &[&[0; 40]]),
        frame(0x0800, &[&ipv4(6, 0x4000), &tcp(8)]),
        frame(0x0800, &[&ipv4(17, 0), &udp(53)]),
        frame(0x0800, &[&ipv4(132, 0), &[0; 12]]),
        frame(0x0800, &[&options, &[0; 4], &udp(53)]),
        frame(0x0800, &[&ipv4(17, 0x2000), &[0; 8]]),
        frame(0x86DD, &[&ipv6(17), &udp(53)]),
        frame(0x86DD, &[&ipv6(0), &[6, 0, 0, 0, 0, 0, 0, 0], &tcp(5)]),
        frame(0x86DD, &[&ipv6(44), &[17, 0, 0, 0, 0, 0, 0, 0], &[0; 8]]),
        frame(0x8100, &[&[0, 5, 0x08, 0x00], &ipv4(17, 0), &udp(53)]),
        frame(
            0x88A8,
            &[&[0, 5, 0x81, 0x00], &[0, 6, 0x86, 0xDD], &ipv6(59)],
        ),
        frame(0x0800, &[&ipv4(4, 0), &ipv4(6, 0), &tcp(5)]),
        frame(0x0800, &[&ipv4(41, 0), &ipv6(6), &tcp(5)]),
        frame(0x0800, &[&ipv4(47, 0), &gre, &ipv4(17, 0), &udp(53)]),
        frame(
            0x0800,
            &[&ipv4(17, 0), &udp(4789), &[8, 0, 0, 0, 0, 0, 5, 0], &inner],
        ),
        frame(
            0x0800,
            &[
                &ipv4(17, 0),
                &udp(6081),
                &[0, 0, 0x65, 0x58, 0, 0, 5, 0],
                &inner,
            ],
        ),
    ];
    for bytes in &frames {
        assert_eq!(
            sw_ptype(bytes).to_string(),
            classified(bytes),
            "{bytes:02x?}"
        );
    }
}

/// Names, then the lengths of the layers that are there.
fn seen(bytes: &[u8]) -> (String, Vec<u16>) {
    let found = sw_ptype(bytes);
    (
        found.to_string(),
        found.lengths().into_iter().flatten().collect(),
    )
}

fn want(names: &str, lengths: &[u16]) -> (String, Vec<u16>) {
    (names.to_owned(), lengths.to_vec())
}

#[test]
fn plain_layers() {
    assert_eq!(seen(&frame(0x0806, &[&[0; 28]])), want("L2_ETHER ", &[14]));
    assert_eq!(
        seen(&frame(0x0800, &[&ipv4(1, 0), &[0; 8]])),
        want("L2_ETHER L3_IPV4 ", &[14, 20])
    );
    let bytes = frame(0x0800, &[&ipv4(6, 0x4000), &tcp(8)]);
    assert_eq!(
        seen(&bytes),
        want("L2_ETHER L3_IPV4 L4_TCP ", &[14, 20, 32])
    );
    let bytes = frame(0x0800, &[&ipv4(17, 0), &[0; 8]]);
    assert_eq!(seen(&bytes), want("L2_ETHER L3_IPV4 L4_UDP ", &[14, 20, 8]));
    let bytes = frame(0x0800, &[&ipv4(132, 0), &[0; 12]]);
    assert_eq!(
        seen(&bytes),
        want("L2_ETHER L3_IPV4 L4_SCTP ", &[14, 20, 12])
    );
    let bytes = frame(0x86DD, &[&ipv6(6), &tcp(5)]);
    assert_eq!(
        seen(&bytes),
        want("L2_ETHER L3_IPV6 L4_TCP ", &[14, 40, 20])
    );
}

#[test]
fn options_and_extensions() {
    let mut options = ipv4(17, 0);
    options[0] = 0x46;
    let bytes = frame(0x0800, &[&options, &[0; 4], &[0; 8]]);
    assert_eq!(
        seen(&bytes),
        want("L2_ETHER L3_IPV4_EXT L4_UDP ", &[14, 24, 8])
    );
    let hop_by_hop = [6, 0, 0, 0, 0, 0, 0, 0];
    let bytes = frame(0x86DD, &[&ipv6(0), &hop_by_hop, &tcp(5)]);
    assert_eq!(
        seen(&bytes),
        want("L2_ETHER L3_IPV6_EXT L4_TCP ", &[14, 48, 20])
    );
}

#[test]
fn extension_chains_that_lead_nowhere() {
    // ESP is named an extension, and ends the walk.
    assert_eq!(
        seen(&frame(0x86DD, &[&ipv6(50), &[0; 20]])),
        want("L2_ETHER L3_IPV6_EXT ", &[14, 40])
    );
    let again = [0, 0, 0, 0, 0, 0, 0, 0];
    let bytes = frame(0x86DD, &[&ipv6(0), &again.repeat(6), &tcp(5)]);
    assert_eq!(
        seen(&bytes),
        want("L2_ETHER L3_IPV6_EXT ", &[14, 40]),
        "more than five"
    );
    assert_eq!(
        seen(&frame(0x86DD, &[&ipv6(43)])),
        want("L2_ETHER L3_IPV6_EXT ", &[14, 40]),
        "cut off"
    );
}

#[test]
fn fragments() {
    for fragment in [0x2000, 0x0001] {
        let bytes = frame(0x0800, &[&ipv4(17, fragment), &[0; 8]]);
        assert_eq!(
            seen(&bytes),
            want("L2_ETHER L3_IPV4 L4_FRAG ", &[14, 20, 0])
        );
    }
    let header = [17, 0, 0, 0, 0, 0, 0, 0];
    let bytes = frame(0x86DD, &[&ipv6(44), &header, &[0; 8]]);
    assert_eq!(
        seen(&bytes),
        want("L2_ETHER L3_IPV6_EXT L4_FRAG ", &[14, 48, 0])
    );
}

#[test]
fn tags() {
    let bytes = frame(0x8100, &[&[0, 5, 0x08, 0x00], &ipv4(17, 0), &[0; 8]]);
    assert_eq!(
        seen(&bytes),
        want("L2_ETHER_VLAN L3_IPV4 L4_UDP ", &[18, 20, 8])
    );
    let bytes = frame(
        0x88A8,
        &[&[0, 5, 0x81, 0x00], &[0, 6, 0x86, 0xDD], &ipv6(59)],
    );
    assert_eq!(seen(&bytes), want("L2_ETHER_QINQ L3_IPV6 ", &[22, 40]));
}

#[test]
fn tunnels() {
    let bytes = frame(0x0800, &[&ipv4(4, 0), &ipv4(6, 0), &tcp(5)]);
    assert_eq!(
        seen(&bytes),
        want(
            "L2_ETHER L3_IPV4 TUNNEL_IP INNER_L3_IPV4 INNER_L4_TCP ",
            &[14, 20, 0, 20, 20]
        )
    );
    let gre = [0x20, 0, 0x08, 0x00, 0, 0, 0, 1];
    let bytes = frame(0x0800, &[&ipv4(47, 0), &gre, &ipv4(17, 0), &[0; 8]]);
    assert_eq!(
        seen(&bytes),
        want(
            "L2_ETHER L3_IPV4 TUNNEL_GRE INNER_L3_IPV4 INNER_L4_UDP ",
            &[14, 20, 8, 20, 8]
        )
    );
    let udp = [0, 9, 0x12, 0xB5, 0, 0, 0, 0];
    let inner = frame(0x0800, &[&ipv4(17, 0), &[0; 8]]);
    let bytes = frame(
        0x0800,
        &[&ipv4(17, 0), &udp, &[8, 0, 0, 0, 0, 0, 5, 0], &inner],
    );
    let names = "L2_ETHER L3_IPV4 L4_UDP TUNNEL_VXLAN INNER_L2_ETHER INNER_L3_IPV4 INNER_L4_UDP ";
    assert_eq!(seen(&bytes), want(names, &[14, 20, 8, 8, 30, 20, 8]));
}

#[test]
fn geneve_with_options() {
    let udp = [0, 9, 0x17, 0xC1, 0, 0, 0, 0];
    let inner = frame(0x86DD, &[&ipv6(6), &tcp(5)]);
    let header = [1, 0, 0x65, 0x58, 0, 0, 5, 0, 0, 0, 0, 0];
    let bytes = frame(0x0800, &[&ipv4(17, 0), &udp, &header, &inner]);
    let names = "L2_ETHER L3_IPV4 L4_UDP TUNNEL_GENEVE INNER_L2_ETHER INNER_L3_IPV6 INNER_L4_TCP ";
    assert_eq!(seen(&bytes), want(names, &[14, 20, 8, 12, 34, 40, 20]));
}

#[test]
fn an_echo_request_is_taken_for_an_inner_ipv4_header() {
    // Type 8, code 0, checksum, identifier, sequence number 1; then data.
    let echo = |sequence: u8| {
        frame(
            0x0800,
            &[&ipv4(1, 0), &[8, 0, 0, 0, 0, 7, 0, sequence], &[0; 56]],
        )
    };
    let names = "L2_ETHER L3_IPV4 INNER_L4_FRAG ";
    assert_eq!(
        seen(&echo(1)),
        want(names, &[14, 20, 0]),
        "as the recorded verbose session has it"
    );
    assert_eq!(seen(&echo(0)), want("L2_ETHER L3_IPV4 ", &[14, 20]));
}

#[test]
fn what_is_cut_off_leaves_the_layers_before() {
    assert_eq!(seen(&[0; 13]), want("UNKNOWN", &[]));
    let bytes = frame(0x0800, &[&ipv4(6, 0), &tcp(5)]);
    assert_eq!(seen(&bytes[..33]), want("L2_ETHER ", &[14]));
    assert_eq!(seen(&bytes[..53]), want("L2_ETHER L3_IPV4 ", &[14, 20]));
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0_usize..8) {
        // Real types now and then, so that the walk gets past Ethernet.
        let types = [0x0800_u16, 0x86DD, 0x8100, 0x88A8, 0x0806, 0x8847, 0, 0xFFFF];
        let bytes = frame(types[at], &[&bytes]);
        let lengths: usize = sw_ptype(&bytes).lengths().into_iter().flatten().map(usize::from).sum();
        prop_assert!(lengths < 100_000);
    }
}
