use super::*;
use crate::frames;
use proptest::prelude::*;

#[test]
fn reads_fields() {
    let ip = Ipv4::checked_at(frames::UDP, 14).unwrap();
    assert_eq!(
        (ip.header_len(), ip.total_len.get(), ip.payload_len()),
        (20, 33, Some(13))
    );
    assert_eq!(
        (ip.identification.get(), ip.flags_offset.get()),
        (0x1234, Ipv4::DONT_FRAGMENT)
    );
    assert_eq!((ip.ttl, ip.protocol, ip.tos), (64, protocol::UDP, 0));
    assert_eq!(ip.source().to_string(), "198.18.0.1");
    assert_eq!(ip.destination().to_string(), "198.18.0.2");
    assert!(!ip.is_fragment());
    assert_eq!(Ipv4::options(frames::UDP, 14), Some(&[][..]));
}

#[test]
fn options_and_fragments() {
    assert_eq!(
        Ipv4::checked_at(frames::TCP_OPTIONS, 14)
            .unwrap()
            .header_len(),
        24
    );
    assert_eq!(
        Ipv4::options(frames::TCP_OPTIONS, 14),
        Some(&[0x94, 4, 0, 0][..])
    );
    let first = Ipv4::checked_at(frames::FIRST_FRAGMENT, 14).unwrap();
    assert!(first.is_fragment() && first.fragment_offset() == 0);
    let later = Ipv4::checked_at(frames::LATER_FRAGMENT, 14).unwrap();
    assert!(later.is_fragment() && later.fragment_offset() == 16);
}

#[test]
fn unsound_headers_are_not_there() {
    for version_ihl in [0x00, 0x35, 0x44, 0x40, 0x65, 0xFF] {
        let mut frame = frames::UDP.to_vec();
        frame[14] = version_ihl;
        assert!(Ipv4::checked_at(&frame, 14).is_none(), "{version_ihl:#x}");
        assert!(!Ipv4::fill_checksum(&mut frame, 14) && !Ipv4::checksum_is_good(&frame, 14));
    }
    // 60 bytes of header, 33 are there.
    let mut frame = frames::UDP.to_vec();
    frame[14] = 0x4F;
    assert!(Ipv4::checked_at(&frame, 14).is_none());
    assert!(Ipv4::checked_at(frames::UDP, frames::UDP.len() + 1).is_none());
}

#[test]
fn fills_the_checksum_whatever_it_held() {
    for frame in [frames::UDP, frames::TCP_OPTIONS, frames::LATER_FRAGMENT] {
        assert!(Ipv4::checksum_is_good(frame, 14));
        let mut copy = frame.to_vec();
        copy[24..26].copy_from_slice(&[0xAB, 0xCD]);
        assert!(!Ipv4::checksum_is_good(&copy, 14));
        assert!(Ipv4::fill_checksum(&mut copy, 14));
        assert_eq!(copy, frame);
    }
}

#[test]
fn swapping_keeps_the_checksum() {
    let mut frame = frames::UDP.to_vec();
    Ipv4::at_mut(&mut frame, 14).unwrap().swap_addresses();
    assert_eq!(frame[26..34], [198, 18, 0, 2, 198, 18, 0, 1]);
    assert!(Ipv4::checksum_is_good(&frame, 14));
}

proptest! {
    #[test]
    fn ttl_update_keeps_the_checksum(header: [u8; 20]) {
        let mut header = header;
        header[0] = 0x45;
        Ipv4::fill_checksum(&mut header, 0);
        let ttl = header[8];
        let changed = Ipv4::at_mut(&mut header, 0).unwrap().decrement_ttl();
        prop_assert_eq!(changed, ttl != 0);
        prop_assert_eq!(header[8], ttl.saturating_sub(1));
        prop_assert!(Ipv4::checksum_is_good(&header, 0));
    }
}
