use super::*;
use crate::frames;
use proptest::prelude::*;

#[test]
fn reads_fields() {
    let ip = Ipv6::checked_at(frames::PING6, 14).unwrap();
    assert_eq!((ip.traffic_class(), ip.flow_label()), (0xAB, 0x12345));
    assert_eq!(
        (ip.payload_len.get(), ip.next_header, ip.hop_limit),
        (11, protocol::ICMPV6, 64)
    );
    assert_eq!(ip.source().to_string(), "2001:db8::1");
    assert_eq!(ip.destination().to_string(), "2001:db8::2");
    assert_eq!(
        ip.pseudo(protocol::ICMPV6, 11)
            .plus(&frames::PING6[54..])
            .checksum(),
        0
    );
    assert!(Ipv6::checked_at(frames::UDP, 14).is_none());
    assert!(Ipv6::checked_at(&frames::PING6[..53], 14).is_none());
}

#[test]
fn writes_a_header() {
    let ip = Ipv6::new(
        "2001:db8::1".parse().unwrap(),
        "2001:db8::2".parse().unwrap(),
        protocol::UDP,
        0x1234,
    );
    let bytes = ip.as_bytes();
    assert_eq!(bytes[..8], [0x60, 0, 0, 0, 0x12, 0x34, 17, 64]);
    assert_eq!(bytes[8..], frames::PING6[22..54]);
    let mut swapped = ip;
    swapped.swap_addresses();
    assert_eq!((swapped.src, swapped.dst), (ip.dst, ip.src));
}

#[test]
fn walks_options() {
    let walk = walk_extensions(frames::TCP6_EXTENSIONS, 54, protocol::HOP_BY_HOP);
    let want = Extensions {
        len: 16,
        count: 2,
        next_header: protocol::TCP,
        ..Extensions::default()
    };
    assert_eq!(walk, want);
}

#[test]
fn a_later_fragment_ends_the_walk() {
    let walk = walk_extensions(frames::LATER_FRAGMENT6, 54, protocol::FRAGMENT);
    assert_eq!((walk.len, walk.next_header), (8, protocol::UDP));
    assert!(walk.is_fragment && walk.is_later_fragment);
    let header = Ipv6Fragment::at(frames::LATER_FRAGMENT6, 54).unwrap();
    assert_eq!((header.offset(), header.identification.get()), (16, 7));
}

#[test]
fn atomic_fragments_are_whole() {
    let walk = walk_extensions(&[17, 0, 0, 0, 0, 0, 0, 7], 0, protocol::FRAGMENT);
    assert!(!walk.is_fragment && !walk.is_later_fragment && walk.next_header == protocol::UDP);
    let walk = walk_extensions(&[17, 0, 0, 1, 0, 0, 0, 7], 0, protocol::FRAGMENT);
    assert!(walk.is_fragment && !walk.is_later_fragment);
}

#[test]
fn routing_and_authentication() {
    let mut bytes = vec![protocol::AH, 2, 0, 1];
    bytes.resize(24, 0);
    bytes.extend([protocol::TCP, 4, 0, 0]);
    bytes.resize(48, 0);
    let walk = walk_extensions(&bytes, 0, protocol::ROUTING);
    assert_eq!(
        (walk.len, walk.count, walk.next_header, walk.is_routed),
        (48, 2, protocol::TCP, true)
    );
    bytes[3] = 0;
    assert!(!walk_extensions(&bytes, 0, protocol::ROUTING).is_routed);
    // The authentication header is cut off: it isn't counted.
    let walk = walk_extensions(&bytes[..47], 0, protocol::ROUTING);
    assert_eq!(
        (walk.len, walk.count, walk.next_header),
        (24, 1, protocol::AH)
    );
}

#[test]
fn eight_extensions_at_most() {
    let bytes = [0; 80];
    let walk = walk_extensions(&bytes, 0, protocol::HOP_BY_HOP);
    assert_eq!(
        (walk.len, walk.count, walk.next_header),
        (64, 8, protocol::HOP_BY_HOP)
    );
}

proptest! {
    #[test]
    fn walks_stay_within_any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0usize..220, kind: u8) {
        let walk = walk_extensions(&bytes, at, kind);
        prop_assert!(walk.len == 0 || at + usize::from(walk.len) <= bytes.len());
    }
}
