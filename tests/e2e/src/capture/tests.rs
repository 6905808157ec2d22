use super::*;

/// A record of two frames, of these header fields' byte order.
fn file(order: fn(u32) -> [u8; 4], magic: u32) -> Vec<u8> {
    let mut file = order(magic).to_vec();
    let version = order(0x0002_0004);
    // Two shorts, 2 and 4, in the file's order.
    file.extend(if version[0] == 0 {
        [0, 2, 0, 4]
    } else {
        [2, 0, 4, 0]
    });
    for word in [0, 0, 65535, ETHERNET] {
        file.extend(order(word));
    }
    for frame in [&b"abc"[..], b"defgh"] {
        let length = frame.len() as u32;
        for word in [1, 2, length, length + 1] {
            file.extend(order(word));
        }
        file.extend(frame);
    }
    file
}

#[test]
fn both_byte_orders_and_both_time_units() {
    for magic in [0xa1b2_c3d4, 0xa1b2_3c4d] {
        for order in [u32::to_le_bytes, u32::to_be_bytes] {
            let capture = parse(&file(order, magic));
            assert_eq!((capture.link, capture.fault), (Some(ETHERNET), None));
            assert_eq!(capture.frames, [b"abc".to_vec(), b"defgh".to_vec()]);
        }
    }
}

#[test]
fn frames_before_a_cut_stay() {
    let whole = file(u32::to_le_bytes, 0xa1b2_c3d4);
    let cut = parse(&whole[..whole.len() - 1]);
    assert_eq!((cut.frames.len(), cut.fault), (1, Some("cut in a frame")));
    let cut = parse(&whole[..whole.len() - 6]);
    assert_eq!(
        (cut.frames.len(), cut.fault),
        (1, Some("cut in a record header"))
    );
    assert_eq!(parse(b"nonsense").link, None);
}
