use super::*;
use crate::{TunnelPorts, frames, parse};
use core::net::{IpAddr, Ipv4Addr};
use proptest::prelude::*;

/// Microsoft, "Verifying the RSS Hash Calculation": destination, source, hash of addresses, hash with TCP ports.
const VECTORS: [(&str, u16, &str, u16, u32, u32); 8] = [
    (
        "161.142.100.80",
        1766,
        "66.9.149.187",
        2794,
        0x323E_8FC2,
        0x51CC_C178,
    ),
    (
        "65.69.140.83",
        4739,
        "199.92.111.2",
        14230,
        0xD718_262A,
        0xC626_B0EA,
    ),
    (
        "12.22.207.184",
        38024,
        "24.19.198.95",
        12898,
        0xD2D0_A5DE,
        0x5C2B_394A,
    ),
    (
        "209.142.163.6",
        2217,
        "38.27.205.30",
        48228,
        0x8298_9176,
        0xAFC7_327F,
    ),
    (
        "202.188.127.2",
        1303,
        "153.39.163.191",
        44251,
        0x5D18_09C5,
        0x10E8_28A2,
    ),
    (
        "3ffe:2501:200:3::1",
        1766,
        "3ffe:2501:200:1fff::7",
        2794,
        0x2CC1_8CD5,
        0x4020_7D3D,
    ),
    (
        "ff02::1",
        4739,
        "3ffe:501:8::260:97ff:fe40:efab",
        14230,
        0x0F0C_461C,
        0xDDE5_1BBF,
    ),
    (
        "fe80::200:f8ff:fe21:67cf",
        38024,
        "3ffe:1900:4545:3:200:f8ff:fe21:67cf",
        44251,
        0x4B61_E985,
        0x02D1_FEEF,
    ),
];

fn input(src: &str, dst: &str, symmetry: Symmetry) -> FlowInput {
    match (src.parse().unwrap(), dst.parse().unwrap()) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => FlowInput::v4(src.octets(), dst.octets(), symmetry),
        (IpAddr::V6(src), IpAddr::V6(dst)) => FlowInput::v6(src.octets(), dst.octets(), symmetry),
        _ => panic!("mixed families"),
    }
}

#[test]
fn microsofts_vectors() {
    let rss = Toeplitz::new(&MICROSOFT_KEY).unwrap();
    for (dst, dst_port, src, src_port, addresses, with_ports) in VECTORS {
        let input = input(src, dst, Symmetry::None);
        assert_eq!(
            toeplitz(&MICROSOFT_KEY, input.as_bytes()),
            addresses,
            "{src} -> {dst}"
        );
        assert_eq!(rss.hash(&input), addresses, "{src} -> {dst}");
        let input = input.with_ports(src_port, dst_port);
        assert_eq!(
            toeplitz(&MICROSOFT_KEY, input.as_bytes()),
            with_ports,
            "{src} -> {dst}"
        );
        assert_eq!(rss.hash(&input), with_ports, "{src} -> {dst}");
    }
}

#[test]
fn short_keys_are_refused() {
    assert_eq!(
        Toeplitz::new(&MICROSOFT_KEY[..39]).unwrap_err(),
        ShortKey(39)
    );
    assert!(
        ShortKey(39)
            .to_string()
            .contains("39 bytes is too short: at least 40")
    );
    assert!(Toeplitz::new(&[1; 52]).is_ok());
}

#[test]
fn key_bits_past_the_end_are_zero() {
    assert_eq!(toeplitz(&[], &[0xFF; 36]), 0);
    assert_eq!(toeplitz(&[0xFF], &[0x01]), 0x8000_0000);
}

#[test]
fn inputs_of_packets() {
    let plain = Symmetry::None;
    let of = |frame: &[u8], ports| {
        let layers = parse(frame, Some(&TunnelPorts::REGISTERED));
        FlowInput::of_packet(frame, &layers, ports, plain).map(|input| input.as_bytes().to_vec())
    };
    let addresses = vec![198, 18, 0, 1, 198, 18, 0, 2];
    let with_ports = [addresses.clone(), vec![0, 9, 0, 9]].concat();
    assert_eq!(of(frames::UDP, false), Some(addresses.clone()));
    assert_eq!(of(frames::UDP, true), Some(with_ports.clone()));
    assert_eq!(
        of(frames::SCTP, true),
        Some([addresses.clone(), vec![0x0B, 0x59, 0x0B, 0x59]].concat())
    );
    assert_eq!(of(frames::FIRST_FRAGMENT, true), Some(addresses.clone()));
    assert_eq!(of(frames::LATER_FRAGMENT, true), Some(addresses.clone()));
    assert_eq!(of(frames::PING, true), Some(addresses));
    assert_eq!(
        of(frames::NVGRE, true),
        Some(with_ports),
        "the inner packet's"
    );
    assert_eq!(of(frames::QINQ, true).map(|bytes| bytes.len()), Some(36));
    assert_eq!(of(frames::ARP, true), None);
}

#[test]
fn symmetric_inputs() {
    let (a, b) = (
        Ipv4Addr::new(10, 0, 0, 1).octets(),
        Ipv4Addr::new(9, 0, 0, 2).octets(),
    );
    let sorted = FlowInput::v4(a, b, Symmetry::Sort).with_ports(7, 8);
    assert_eq!(sorted.as_bytes(), [9, 0, 0, 2, 10, 0, 0, 1, 0, 7, 0, 8]);
    let xored = FlowInput::v4(a, b, Symmetry::Xor).with_ports(7, 8);
    assert_eq!(xored.as_bytes(), [3, 0, 0, 3, 3, 0, 0, 3, 0, 15, 0, 15]);
    for input in [
        FlowInput::v6([1; 16], [2; 16], Symmetry::None),
        FlowInput::v4([1; 4], [2; 4], Symmetry::None),
    ] {
        assert_eq!(
            input.with_ports(1, 2).with_ports(3, 4),
            input.with_ports(3, 4)
        );
    }
}

proptest! {
    #[test]
    fn tables_equal_the_definition(
        key in proptest::collection::vec(any::<u8>(), 40..53),
        src: [u8; 16], dst: [u8; 16], ports: (u16, u16), v4: bool, with_ports: bool,
    ) {
        let input = if v4 {
            FlowInput::v4([src[0], src[1], src[2], src[3]], [dst[0], dst[1], dst[2], dst[3]], Symmetry::None)
        } else {
            FlowInput::v6(src, dst, Symmetry::None)
        };
        let input = if with_ports { input.with_ports(ports.0, ports.1) } else { input };
        prop_assert_eq!(Toeplitz::new(&key).unwrap().hash(&input), toeplitz(&key, input.as_bytes()));
    }

    #[test]
    fn both_directions_hash_alike(src: [u8; 16], dst: [u8; 16], a: u16, b: u16, key: [u8; 40]) {
        for (key, symmetry) in [(key, Symmetry::Xor), (key, Symmetry::Sort), (SYMMETRIC_KEY, Symmetry::None)] {
            let rss = Toeplitz::new(&key).unwrap();
            let there = rss.hash(&FlowInput::v6(src, dst, symmetry).with_ports(a, b));
            let back = rss.hash(&FlowInput::v6(dst, src, symmetry).with_ports(b, a));
            prop_assert_eq!(there, back);
        }
    }
}
