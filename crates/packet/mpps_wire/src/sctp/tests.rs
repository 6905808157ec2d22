use super::*;
use crate::frames;
use proptest::prelude::*;

/// One bit at a time.
fn naive(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0x82F6_3B78 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

#[test]
fn known_values() {
    // RFC 3720, appendix B.4.
    assert_eq!(Crc32c::new().plus(&[0; 32]).value(), 0x8A91_36AA);
    assert_eq!(Crc32c::new().plus(&[0xFF; 32]).value(), 0x62A8_AB43);
    let up: Vec<u8> = (0..32).collect();
    assert_eq!(Crc32c::new().plus(&up).value(), 0x46DD_794E);
    assert_eq!(Crc32c::default().value(), 0);
}

#[test]
fn checksum_of_a_packet() {
    let mut packet = frames::SCTP[34..].to_vec();
    let sctp = Sctp::at_mut(&mut packet, 0).unwrap();
    assert_eq!(
        (sctp.src_port.get(), sctp.dst_port.get(), sctp.tag.get()),
        (2905, 2905, 0xDEAD_BEEF)
    );
    let sent = sctp.checksum.get();
    sctp.checksum.set(0);
    let value = Crc32c::new().plus(&packet).value();
    assert_eq!(value, sent);
    Sctp::at_mut(&mut packet, 0).unwrap().checksum.set(value);
    assert_eq!(packet, frames::SCTP[34..]);
}

#[test]
fn swaps_ports() {
    let mut bytes = [0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0];
    Sctp::at_mut(&mut bytes, 0).unwrap().swap_ports();
    assert_eq!(bytes[..4], [0, 2, 0, 1]);
}

proptest! {
    #[test]
    fn equals_naive_over_any_cuts(parts in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..60), 0..5)) {
        let crc = parts.iter().fold(Crc32c::new(), |crc, part| crc.plus(part));
        prop_assert_eq!(crc.value(), naive(&parts.concat()));
    }
}
