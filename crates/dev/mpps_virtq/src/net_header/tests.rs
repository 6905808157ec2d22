//! Headers of honest and of lying peers.

use mpps_mbuf::{Gso, GsoKind, Mbuf, OffloadFlags, PartialChecksum, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};
use proptest::prelude::*;

use super::{
    GSO_ECN, GSO_TCPV4, GSO_TCPV6, GSO_UDP, GSO_UDP_L4, NEEDS_CSUM, NetHeader, NetOffloads, Verdict,
};
use crate::Features;

fn pool() -> Pool {
    let config = PoolConfig {
        name: "net_header".to_owned(),
        size: 8,
        data_room: 2176,
        cache_size: 0,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

fn packet(pool: &Pool, len: usize) -> Mbuf {
    let mut packet = pool.alloc().unwrap();
    assert!(packet.append(&vec![0x5a; len]));
    packet
}

const ALL: Features = Features::TO_DEVICE_OFFLOADS.union(Features::TO_DRIVER_OFFLOADS);

const TCP: NetHeader = NetHeader {
    flags: NEEDS_CSUM,
    gso_type: GSO_TCPV4,
    hdr_len: 54,
    gso_size: 1448,
    csum_start: 34,
    csum_offset: 16,
    num_buffers: 0,
};

/// Verdict and metadata of a packet of 1000 bytes with this header.
fn apply(header: NetHeader, offloads: NetOffloads) -> (Verdict, OffloadFlags, Option<Gso>) {
    let pool = pool();
    let mut packet = packet(&pool, 1000);
    let verdict = NetHeader::apply(header.to_bytes(), &mut packet, offloads);
    (verdict, packet.flags(), packet.gso())
}

fn device(features: Features) -> NetOffloads {
    NetOffloads::to_device(features)
}

#[test]
fn bytes_are_where_the_specification_puts_them() {
    let bytes = [1, 0x84, 54, 0, 0xa8, 5, 34, 0, 16, 0, 1, 2];
    let header = NetHeader::from_bytes(bytes);
    assert_eq!(
        header,
        NetHeader {
            gso_type: GSO_TCPV6 | GSO_ECN,
            num_buffers: 0x201,
            ..TCP
        }
    );
    assert_eq!(header.to_bytes(), bytes);
}

#[test]
fn a_header_of_zeroes_says_nothing() {
    for offloads in [device(ALL), NetOffloads::to_driver(ALL)] {
        let (verdict, flags, _) = apply(NetHeader::default(), offloads);
        assert_eq!((verdict, flags), (Verdict::Accept, OffloadFlags::empty()));
    }
}

#[test]
fn a_checksum_and_a_size_become_a_debt_and_a_header_again() {
    let pool = pool();
    for (gso_type, kind) in [
        (0, None),
        (GSO_TCPV4, Some(GsoKind::TcpV4)),
        (GSO_TCPV6, Some(GsoKind::TcpV6)),
        (GSO_UDP_L4, Some(GsoKind::Udp)),
        (GSO_TCPV4 | GSO_ECN, Some(GsoKind::TcpV4)),
        (GSO_TCPV6 | GSO_ECN, Some(GsoKind::TcpV6)),
    ] {
        let mut header = NetHeader { gso_type, ..TCP };
        if kind.is_none() {
            (header.gso_size, header.hdr_len) = (0, 0);
        }
        let mut packet = packet(&pool, 1000);
        let verdict = NetHeader::apply(header.to_bytes(), &mut packet, device(ALL));
        assert_eq!(verdict, Verdict::Accept);
        let checksum = PartialChecksum {
            start: 34,
            offset: 16,
        };
        assert_eq!(packet.partial_checksum(), Some(checksum));
        assert_eq!(packet.gso().map(|gso| gso.kind), kind);
        assert_eq!(
            packet.gso().is_some_and(|gso| gso.ecn),
            gso_type & GSO_ECN != 0
        );
        assert!(!packet.flags().intersects(OffloadFlags::TX_REQUESTS));
        let offloads = NetOffloads::to_driver(ALL);
        assert!(!packet.flags().intersects(offloads.unfinished()));
        let sent = NetHeader::from_bytes(NetHeader::compose(&packet, offloads));
        assert_eq!(
            sent,
            NetHeader {
                num_buffers: 1,
                ..header
            }
        );
    }
}

// V-12
#[test]
fn v12_a_checksum_beyond_the_packet_is_a_bad_header() {
    for (csum_start, csum_offset, verdict) in [
        (34, 16, Verdict::Accept),
        (982, 16, Verdict::Accept),
        (983, 16, Verdict::BadHeader),
        (998, 0, Verdict::Accept),
        (999, 0, Verdict::BadHeader),
        (1000, 0, Verdict::BadHeader),
        (u16::MAX, 0, Verdict::BadHeader),
        (0, u16::MAX, Verdict::BadHeader),
        (u16::MAX, u16::MAX, Verdict::BadHeader),
        // Their sum is 4 in 16 bits.
        (34, u16::MAX - 29, Verdict::BadHeader),
    ] {
        let header = NetHeader {
            gso_type: 0,
            csum_start,
            csum_offset,
            ..TCP
        };
        let (got, flags, _) = apply(header, device(ALL));
        assert_eq!(got, verdict, "{csum_start} {csum_offset}");
        assert_eq!(
            flags.intersects(OffloadFlags::DEBT),
            verdict == Verdict::Accept
        );
    }
}

// V-25
#[test]
fn v25_a_size_of_zero_is_a_bad_header() {
    for gso_type in [GSO_TCPV4, GSO_TCPV6, GSO_UDP_L4, GSO_TCPV4 | GSO_ECN] {
        let header = NetHeader {
            gso_type,
            gso_size: 0,
            ..TCP
        };
        let (verdict, flags, gso) = apply(header, device(ALL));
        assert_eq!((verdict, gso), (Verdict::BadHeader, None));
        assert!(!flags.intersects(OffloadFlags::DEBT));
    }
}

#[test]
fn what_contradicts_itself_is_a_bad_header() {
    let bad = [
        ("cut, but no checksum", NetHeader { flags: 0, ..TCP }),
        (
            "headers longer than all",
            NetHeader {
                hdr_len: 1001,
                ..TCP
            },
        ),
        ("unknown type", NetHeader { gso_type: 2, ..TCP }),
        ("unknown type", NetHeader { gso_type: 6, ..TCP }),
        (
            "unknown type",
            NetHeader {
                gso_type: 0x7f,
                ..TCP
            },
        ),
        (
            "unknown bit",
            NetHeader {
                gso_type: 0x41,
                ..TCP
            },
        ),
        (
            "ECN of nothing",
            NetHeader {
                gso_type: GSO_ECN,
                ..TCP
            },
        ),
        (
            "ECN of UDP",
            NetHeader {
                gso_type: GSO_UDP_L4 | GSO_ECN,
                ..TCP
            },
        ),
    ];
    for (why, header) in bad {
        let (verdict, flags, _) = apply(header, device(ALL));
        assert_eq!(verdict, Verdict::BadHeader, "{why}");
        assert!(!flags.intersects(OffloadFlags::DEBT), "{why}");
    }
}

#[test]
fn what_was_not_negotiated_is_taken_for_zero() {
    let cases = [
        (Features::empty(), false, None),
        (Features::GUEST_CSUM.union(Features::HOST_TSO4), false, None),
        (Features::CSUM, true, None),
        (Features::CSUM.union(Features::GUEST_TSO4), true, None),
        (Features::CSUM.union(Features::HOST_TSO6), true, None),
        (Features::CSUM.union(Features::HOST_TSO4), true, Some(false)),
        (
            Features::CSUM
                .union(Features::HOST_TSO4)
                .union(Features::HOST_ECN),
            true,
            Some(true),
        ),
    ];
    for (features, csum, ecn) in cases {
        let header = NetHeader {
            gso_type: GSO_TCPV4 | GSO_ECN,
            ..TCP
        };
        let (verdict, flags, gso) = apply(header, device(features));
        assert_eq!(verdict, Verdict::Accept, "{features:?}");
        assert_eq!(flags.contains(OffloadFlags::RX_PARTIAL_CKSUM), csum);
        assert_eq!(gso.map(|gso| gso.ecn), ecn, "{features:?}");
    }
    // Nobody offers UFO.
    let header = NetHeader {
        gso_type: GSO_UDP,
        ..TCP
    };
    let (verdict, flags, gso) = apply(header, device(ALL));
    assert_eq!((verdict, gso), (Verdict::Accept, None));
    assert!(flags.contains(OffloadFlags::RX_PARTIAL_CKSUM));
}

#[test]
fn only_a_device_calls_a_checksum_good() {
    let header = NetHeader {
        flags: super::DATA_VALID,
        ..NetHeader::default()
    };
    let good = OffloadFlags::RX_L4_CKSUM_GOOD;
    assert_eq!(apply(header, NetOffloads::to_driver(ALL)).1, good);
    for offloads in [device(ALL), NetOffloads::to_driver(Features::empty())] {
        assert_eq!(apply(header, offloads).1, OffloadFlags::empty());
    }
}

#[test]
fn each_direction_has_features_of_its_own() {
    let all = NetOffloads::CSUM
        .union(NetOffloads::TSO4)
        .union(NetOffloads::TSO6)
        .union(NetOffloads::ECN)
        .union(NetOffloads::USO);
    assert_eq!(device(Features::TO_DEVICE_OFFLOADS), all);
    assert_eq!(device(Features::TO_DRIVER_OFFLOADS), NetOffloads::empty());
    assert_eq!(
        NetOffloads::to_driver(Features::TO_DRIVER_OFFLOADS),
        all | NetOffloads::TO_DRIVER
    );
    // TSO without checksum offload can't be.
    assert_eq!(
        device(Features::TO_DEVICE_OFFLOADS.difference(Features::CSUM)),
        NetOffloads::empty()
    );
    assert_eq!(NetOffloads::empty().unfinished(), OffloadFlags::UNFINISHED);
    assert!(!all.unfinished().intersects(OffloadFlags::DEBT));
    assert!(all.unfinished().contains(OffloadFlags::TX_REQUESTS));
}

#[test]
fn what_the_other_side_does_not_take_is_not_said() {
    let pool = pool();
    let mut packet = packet(&pool, 1000);
    NetHeader::apply(TCP.to_bytes(), &mut packet, device(ALL));
    let offloads = NetOffloads::to_driver(Features::GUEST_CSUM);
    assert!(packet.flags().intersects(offloads.unfinished()));
    let header = NetHeader::from_bytes(NetHeader::compose(&packet, offloads));
    assert_eq!((header.flags, header.gso_type, header.gso_size), (1, 0, 0));
    let nothing = NetHeader::compose(&packet, NetOffloads::empty());
    assert_eq!(nothing, [0; 12]);
}

// V-37
#[test]
fn v37_a_packet_in_one_buffer_takes_one_buffer() {
    let pool = pool();
    let mut packet = packet(&pool, 60);
    let to_driver = NetOffloads::to_driver(Features::MRG_RXBUF);
    assert_eq!(NetHeader::compose(&packet, to_driver)[10..], [1, 0]);
    assert_eq!(NetHeader::compose(&packet, device(ALL))[10..], [0, 0]);
    let checksum = PartialChecksum {
        start: 14,
        offset: 2,
    };
    packet.set_partial_checksum(checksum);
    let bytes = NetHeader::compose(&packet, NetOffloads::to_driver(ALL));
    assert_eq!(bytes, [1, 0, 0, 0, 0, 0, 14, 0, 2, 0, 1, 0]);
}

// V-39
#[test]
fn v39_a_packed_ring_has_the_long_header() {
    assert_eq!(Features::empty().header_len(), 10);
    for feature in [
        Features::RING_PACKED,
        Features::VERSION_1,
        Features::MRG_RXBUF,
    ] {
        assert_eq!(feature.header_len(), 12, "{feature:?}");
    }
}

// V-10
#[test]
fn v10_a_chain_without_a_packet_has_no_length() {
    for header_len in [10, 12] {
        for chain_len in 0..=header_len as u32 {
            assert_eq!(NetHeader::payload_len(chain_len, header_len), None);
        }
        assert_eq!(
            NetHeader::payload_len(header_len as u32 + 1, header_len),
            Some(1)
        );
        assert_eq!(
            NetHeader::payload_len(u32::MAX, header_len),
            Some(u32::MAX - header_len as u32)
        );
    }
}

proptest! {
    // Whatever a peer writes: a debt that is accepted lies within the packet, and nothing is asked of a port.
    #[test]
    fn any_header_is_judged(bytes: [u8; 12], bits: u64, len in 0usize..200, to_driver: bool) {
        let pool = pool();
        let mut packet = packet(&pool, len);
        let features = Features::from_bits_truncate(bits);
        let offloads = if to_driver {
            NetOffloads::to_driver(features)
        } else {
            NetOffloads::to_device(features)
        };
        let verdict = NetHeader::apply(bytes, &mut packet, offloads);
        prop_assert!(!packet.flags().intersects(OffloadFlags::TX_REQUESTS));
        prop_assert_eq!(packet.flags() & OffloadFlags::DEBT & !offloads.passed_on(), OffloadFlags::empty());
        if verdict == Verdict::BadHeader {
            prop_assert_eq!(packet.flags(), OffloadFlags::empty());
        }
        if let Some(checksum) = packet.partial_checksum() {
            prop_assert!(checksum.field() + 2 <= len);
        }
        if let Some(gso) = packet.gso() {
            prop_assert!(gso.size != 0 && packet.partial_checksum().is_some());
        }
        // What is passed on is what came, as far as it was negotiated.
        let sent = NetHeader::from_bytes(NetHeader::compose(&packet, offloads));
        let came = NetHeader::from_bytes(bytes);
        prop_assert_eq!(sent.flags & NEEDS_CSUM != 0, packet.partial_checksum().is_some());
        prop_assert!(sent.gso_type == 0 || sent.gso_size == came.gso_size);
    }
}
