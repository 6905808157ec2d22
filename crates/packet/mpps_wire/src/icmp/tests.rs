use super::*;
use crate::{Ipv6, frames, protocol};

#[test]
fn answers_a_ping() {
    let mut frame = frames::PING.to_vec();
    assert_eq!(checksum::checksum(&frame[34..]), 0);
    let icmp = Icmp::at_mut(&mut frame, 34).unwrap();
    assert!(icmp.is_echo_request());
    assert_eq!((icmp.identifier.get(), icmp.sequence.get()), (0x77, 1));
    icmp.answer(Icmp::ECHO_REPLY);
    assert!(!icmp.is_echo_request());
    assert_eq!(checksum::checksum(&frame[34..]), 0);
    assert_eq!(frame[38..], frames::PING[38..]);
}

#[test]
fn answers_a_ping_over_ipv6() {
    let mut frame = frames::PING6.to_vec();
    Icmp::at_mut(&mut frame, 54)
        .unwrap()
        .answer(Icmp::V6_ECHO_REPLY);
    assert_eq!(frame[54], 129);
    let pseudo = Ipv6::at(&frame, 14).unwrap().pseudo(protocol::ICMPV6, 11);
    assert_eq!(pseudo.plus(&frame[54..]).checksum(), 0);
}
