use super::*;
use crate::frames;

#[test]
fn reads_and_swaps() {
    let mut frame = frames::VXLAN.to_vec();
    let udp = Udp::at_mut(&mut frame, 34).unwrap();
    assert_eq!(
        (udp.src_port.get(), udp.dst_port.get(), udp.length.get()),
        (50000, 4789, 63)
    );
    udp.swap_ports();
    assert_eq!(frame[34..38], [0x12, 0xB5, 0xC3, 0x50]);
    assert!(Udp::at(&frame[..41], 34).is_none());
}
