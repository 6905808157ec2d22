//! What 5tswap changes, byte for byte, and what it leaves.

use crate::frames;
use crate::testing::{Bench, packets, pool, setup};

fn swapped(frame: &[u8]) -> Vec<u8> {
    let pool = pool();
    let mut bench = Bench::new(&pool, packets(&pool, &[frame.to_vec()]), usize::MAX);
    let sent = bench.run(
        &mut *(crate::find("5tswap").unwrap().make)(&setup(&pool)).unwrap(),
        1,
    );
    bench.finish();
    sent.into_iter().next().unwrap()
}

/// The frame with these ranges of equal length exchanged.
fn exchanged(frame: &[u8], pairs: &[(usize, usize, usize)]) -> Vec<u8> {
    let mut frame = frame.to_vec();
    for (a, b, len) in pairs {
        for n in 0..*len {
            frame.swap(a + n, b + n);
        }
    }
    frame
}

const MAC: (usize, usize, usize) = (0, 6, 6);

#[test]
fn ipv4_udp_and_tcp() {
    let five = [MAC, (26, 30, 4), (34, 36, 2)];
    for frame in [frames::UDP, frames::UDP_ZERO, frames::TCP, frames::VXLAN] {
        assert_eq!(swapped(frame), exchanged(frame, &five));
    }
    // The ports of this one differ.
    assert_eq!(swapped(frames::TCP)[34..38], [0x00, 0x50, 0x80, 0x00]);
}

#[test]
fn ipv4_options_are_stepped_over() {
    let frame = frames::TCP_OPTIONS;
    assert_eq!(
        swapped(frame),
        exchanged(frame, &[MAC, (26, 30, 4), (38, 40, 2)])
    );
}

#[test]
fn tags_are_stepped_over() {
    let one = exchanged(frames::VLAN, &[MAC, (30, 34, 4), (38, 40, 2)]);
    assert_eq!(swapped(frames::VLAN), one);
    let mut two = frames::QINQ.to_vec();
    two[62] = 0x12;
    assert_eq!(
        swapped(&two),
        exchanged(&two, &[MAC, (30, 46, 16), (62, 64, 2)])
    );
}

#[test]
fn behind_extension_headers_only_the_addresses() {
    let frame = frames::TCP6_EXTENSIONS;
    assert_eq!(swapped(frame), exchanged(frame, &[MAC, (22, 38, 16)]));
}

#[test]
fn fragments() {
    let first = frames::FIRST_FRAGMENT;
    let mut first = first.to_vec();
    first[35] = 7;
    assert_eq!(
        swapped(&first),
        exchanged(&first, &[MAC, (26, 30, 4), (34, 36, 2)])
    );
    for (frame, pair) in [
        (frames::LATER_FRAGMENT, (26, 30, 4)),
        (frames::LATER_FRAGMENT6, (22, 38, 16)),
    ] {
        assert_eq!(swapped(frame), exchanged(frame, &[MAC, pair]));
    }
}

#[test]
fn other_protocols_have_no_ports() {
    for (frame, pairs) in [
        (frames::SCTP, vec![MAC, (26, 30, 4)]),
        (frames::PING, vec![MAC, (26, 30, 4)]),
        (frames::ARP, vec![MAC]),
        (frames::MPLS, vec![MAC]),
    ] {
        assert_eq!(swapped(frame), exchanged(frame, &pairs));
    }
}

#[test]
fn cut_headers_stay() {
    let tcp = frames::TCP;
    assert_eq!(swapped(&tcp[..13]), &tcp[..13]);
    assert_eq!(swapped(&tcp[..33]), exchanged(&tcp[..33], &[MAC]));
    assert_eq!(
        swapped(&tcp[..53]),
        exchanged(&tcp[..53], &[MAC, (26, 30, 4)])
    );
    // A header length below five words isn't IPv4.
    let mut broken = tcp.to_vec();
    broken[14] = 0x44;
    assert_eq!(swapped(&broken), exchanged(&broken, &[MAC]));
}
