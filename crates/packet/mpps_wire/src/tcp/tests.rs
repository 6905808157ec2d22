use super::*;
use crate::frames;

#[test]
fn reads_fields() {
    let tcp = Tcp::checked_at(frames::TCP, 34).unwrap();
    assert_eq!((tcp.src_port.get(), tcp.dst_port.get()), (0x8000, 80));
    assert_eq!((tcp.sequence.get(), tcp.acknowledgment.get()), (1, 2));
    assert_eq!((tcp.header_len(), tcp.flags), (32, Tcp::PSH | Tcp::ACK));
    assert_eq!(
        (tcp.window.get(), tcp.checksum.get(), tcp.urgent.get()),
        (1024, 0x9BCC, 0)
    );
}

#[test]
fn unsound_headers_are_not_there() {
    let mut frame = frames::TCP.to_vec();
    frame[46] = 0x40;
    assert!(
        Tcp::checked_at(&frame, 34).is_none(),
        "16 bytes are too few"
    );
    frame[46] = 0xF0;
    assert!(
        Tcp::checked_at(&frame, 34).is_none(),
        "60 bytes aren't there"
    );
    assert!(Tcp::checked_at(&frames::TCP[..65], 34).is_none());
    assert!(Tcp::checked_at(&frames::TCP[..66], 34).is_some());
}

#[test]
fn swaps_ports() {
    let mut frame = frames::TCP.to_vec();
    Tcp::at_mut(&mut frame, 34).unwrap().swap_ports();
    assert_eq!(frame[34..38], [0, 80, 0x80, 0]);
}
