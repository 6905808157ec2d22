use super::*;

/// A boot image of one setup sector besides the first, whose payload is 6 bytes long and 3 bytes into the code.
fn image() -> Vec<u8> {
    let mut image = vec![0; 2 * 512 + 3];
    image[SETUP_SECTORS] = 1;
    image[PAYLOAD_OFFSET] = 3;
    image[PAYLOAD_LENGTH] = 6;
    image.extend_from_slice(b"xz\x10\0\0\0behind");
    image
}

#[test]
fn the_payload_lies_where_the_header_says() {
    assert_eq!(payload(&image()), Some((&b"xz"[..], 16)));
}

#[test]
fn a_payload_beyond_the_end_is_none() {
    let mut image = image();
    image[PAYLOAD_OFFSET + 3] = 0xff;
    assert_eq!(payload(&image), None);
    assert_eq!(payload(&image[..600]), None);
    assert_eq!(payload(&image[..100]), None);
}

#[test]
fn what_isnt_packed_isnt_unpacked() {
    assert_eq!(unpack((b"plain", 5)), None);
}
