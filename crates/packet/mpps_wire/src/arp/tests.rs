use super::*;
use crate::frames;

#[test]
fn reads_a_request_and_answers_it() {
    let mut frame = frames::ARP.to_vec();
    let arp = Arp::at_mut(&mut frame, 14).unwrap();
    assert!(arp.is_ethernet_ipv4());
    assert_eq!(arp.operation.get(), Arp::REQUEST);
    assert_eq!(arp.sender_mac(), MacAddr([2, 0, 0, 0, 0, 2]));
    assert_eq!(arp.target_mac(), MacAddr::ZERO);
    assert_eq!(
        (arp.sender_ip(), arp.target_ip()),
        ([198, 18, 0, 2].into(), [198, 18, 0, 1].into())
    );

    arp.answer(MacAddr([2, 0, 0, 0, 0, 9]));
    let want = [
        0, 1, 8, 0, 6, 4, 0, 2, // reply
        2, 0, 0, 0, 0, 9, 198, 18, 0, 1, // who has it
        2, 0, 0, 0, 0, 2, 198, 18, 0, 2, // who asked
    ];
    assert_eq!(frame[14..], want);
    assert!(Arp::at(&frame, 15).is_none());
}

#[test]
fn other_kinds_are_told_apart() {
    for (at, value) in [(15, 6), (16, 9), (18, 8), (19, 16)] {
        let mut frame = frames::ARP.to_vec();
        frame[at] = value;
        assert!(
            !Arp::at(&frame, 14).unwrap().is_ethernet_ipv4(),
            "byte {at}"
        );
    }
}
