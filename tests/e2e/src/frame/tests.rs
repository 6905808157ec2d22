use super::*;

/// Ethernet, IPv4 from 10.0.0.1 to 10.0.0.2, 8 bytes of ICMP echo request.
fn ping() -> Vec<u8> {
    let mut frame = b"\x02\x00\x00\x00\x00\x01\x02\x00\x00\x00\x00\x02\x08\x00".to_vec();
    frame.extend(
        b"\x45\x00\x00\x1c\x00\x00\x00\x00\x40\x01\x00\x00\x0a\x00\x00\x01\x0a\x00\x00\x02",
    );
    let sum = checksum([&frame[14..34]]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame.extend(b"\x08\x00\xf7\xfe\x00\x01\x00\x00");
    frame
}

#[test]
fn sum_of_rfc_1071() {
    assert_eq!(
        checksum([&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7][..]]),
        !0xddf2
    );
    assert_eq!(checksum([&[0x12][..]]), !0x1200);
}

#[test]
fn a_ping_is_answered() {
    let answer = icmpecho(&ping(), [9; 6]).expect("an answer");
    assert_eq!(answer[..6], ping()[6..12]);
    assert_eq!(answer[26..34], [10, 0, 0, 2, 10, 0, 0, 1]);
    assert_eq!(answer[34..38], [0, 0, 0xff, 0xfe]);
    assert_eq!(icmpecho(&answer, [9; 6]), None);
}

#[test]
fn wrong_sums_and_other_changes_are_seen() {
    let (to, from, before) = ([1; 6], [3; 6], ping());
    let mut judged = Judged::default();
    let mut after = before.clone();
    after[..6].fill(1);
    after[6..12].fill(3);
    assert_eq!(judge_csum(&before, &after, to, from, &mut judged), Ok(()));
    assert_eq!(
        judged,
        Judged {
            ip: 1,
            ..Judged::default()
        }
    );
    for at in [0, 6, 15, 24, 41] {
        let mut wrong = after.clone();
        wrong[at] ^= 1;
        assert!(
            judge_csum(&before, &wrong, to, from, &mut judged).is_err(),
            "byte {at}"
        );
    }
}

#[test]
fn five_fields_are_swapped_and_swapped_back() {
    let mut udp = ping();
    udp[23] = UDP;
    let swapped = five_tuple_swap(&udp);
    assert_eq!(
        swapped[26..38],
        [10, 0, 0, 2, 10, 0, 0, 1, 0xf7, 0xfe, 8, 0]
    );
    assert_eq!(five_tuple_swap(&swapped), udp);
    assert_eq!(macswap(&[1, 2, 3]), [1, 2, 3]);
}
