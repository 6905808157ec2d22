//! Every format, byte order and magic number against files made by hand; every fault with its place.

use super::samples::{Got, Pen, got, read};

const LITTLE: Pen = Pen { big: false };

#[test]
fn classic_in_both_orders_and_units() {
    for pen in Pen::BOTH {
        for (magic, unit) in [(0xa1b2_c3d4, 1000), (0xa1b2_3c4d, 1)] {
            let mut file = pen.classic(magic, (2, 4), 65535, 1);
            file.extend(pen.record(1_700_000_000, 123_456, 5, b"first"));
            file.extend(pen.record(0xffff_ffff, 999_999, 1500, b"cut"));
            file.extend(pen.record(0, 0, 0, b""));
            let (frames, end) = read(&file);
            assert_eq!(end, Ok(3));
            let fraction = 123_456 * unit;
            assert_eq!(
                frames[0],
                got(b"first", 5, 1_700_000_000_000_000_000 + fraction)
            );
            let last = 0xffff_ffff_u64 * 1_000_000_000 + 999_999 * unit;
            assert_eq!(frames[1], got(b"cut", 1500, last));
            assert_eq!(frames[2], got(b"", 0, 0));
        }
    }
}

#[test]
fn a_known_file_byte_by_byte() {
    #[rustfmt::skip]
    let file = [
        0xa1, 0xb2, 0x3c, 0x4d,  0, 2, 0, 4,  0, 0, 0, 0,  0, 0, 0, 0,  0, 4, 0, 0,  0, 0, 0, 1,
        0x65, 0x53, 0xf1, 0x00,  0, 0, 0, 7,  0, 0, 0, 2,  0, 0, 0, 2,  0xca, 0xfe,
    ];
    let (frames, end) = read(&file);
    assert_eq!(end, Ok(1));
    assert_eq!(frames, [got(&[0xca, 0xfe], 2, 1_700_000_000_000_000_007)]);
}

#[test]
fn lengths_of_old_versions_are_put_in_order() {
    // Before 2.3 the original length came first, in 2.3 it could be either.
    for (version, words) in [
        ((2, 2), [4, 3]),
        ((2, 3), [4, 3]),
        ((2, 3), [3, 4]),
        ((543, 0), [4, 3]),
    ] {
        let mut file = LITTLE.classic(0xa1b2_c3d4, version, 100, 1);
        file.extend(LITTLE.words(&[1, 2, words[0], words[1]]));
        file.extend(b"abc");
        assert_eq!(
            read(&file),
            (vec![got(b"abc", 4, 1_000_002_000)], Ok(1)),
            "{version:?}"
        );
    }
}

#[test]
fn frames_are_cut_to_the_snap_length_of_their_file() {
    let mut file = LITTLE.classic(0xa1b2_c3d4, (2, 4), 3, 1);
    file.extend(LITTLE.record(0, 0, 6, b"abcdef"));
    file.extend(LITTLE.record(0, 0, 2, b"gh"));
    let frames = read(&file).0;
    assert_eq!(frames, [got(b"abc", 6, 0), got(b"gh", 2, 0)]);
}

#[test]
fn fcs_bits_of_the_link_type_are_not_part_of_it() {
    let mut file = LITTLE.classic(0xa1b2_c3d4, (2, 4), 0, 0x3400_0001);
    file.extend(LITTLE.record(0, 0, 1, b"x"));
    assert_eq!(read(&file).1, Ok(1));
}

#[test]
fn pcapng_with_all_blocks_that_carry_frames() {
    for pen in Pen::BOTH {
        let mut file = pen.section();
        file.extend(pen.interface(1, 0, &[]));
        file.extend(pen.block(4, &[0; 7]));
        file.extend(pen.enhanced(0, 1_700_000_000_000_001, 5, b"hello"));
        file.extend(pen.simple(3, b"abc"));
        file.extend(pen.obsolete(0, 2_000_000, 9, b"old"));
        let (frames, end) = read(&file);
        assert_eq!(end, Ok(3));
        assert_eq!(frames[0], got(b"hello", 5, 1_700_000_000_000_001_000));
        let simple = Got {
            data: b"abc".to_vec(),
            original: 3,
            time: None,
        };
        assert_eq!(frames[1], simple);
        assert_eq!(frames[2], got(b"old", 9, 2_000_000_000));
    }
}

#[test]
fn sections_have_byte_orders_and_interfaces_of_their_own() {
    let mut file = Vec::new();
    for pen in Pen::BOTH {
        file.extend(pen.section());
        file.extend(pen.interface(1, 0, &[(9, &[9])]));
        file.extend(pen.interface(1, 2, &[(9, &[6]), (0, &[])]));
        file.extend(pen.enhanced(1, 7, 3, b"two"));
        file.extend(pen.enhanced(0, 7, 3, b"one"));
    }
    let frames = read(&file).0;
    let each = [got(b"tw", 3, 7000), got(b"one", 3, 7)];
    assert_eq!(frames, [each.clone(), each].concat());

    let at = file.len();
    file.extend(LITTLE.section());
    file.extend(LITTLE.enhanced(0, 7, 3, b"one"));
    let fault = format!(
        "at byte {}: a packet block names interface 0, the section has 0",
        at + 28
    );
    assert_eq!(read(&file).1, Err(fault));
}

#[test]
fn units_and_offsets_of_time() {
    for pen in Pen::BOTH {
        let offset = |seconds: i64| {
            if pen.big {
                seconds.to_be_bytes()
            } else {
                seconds.to_le_bytes()
            }
        };
        let cases: [(&[u8], i64, u64, u64); 9] = [
            (&[0], 0, 3, 3_000_000_000),
            (&[3], 0, 1, 1_000_000),
            (&[9], 5, 1, 5_000_000_001),
            (&[12], 0, 5_999, 5),
            (&[127], 0, u64::MAX, 0),
            (&[0x80 | 10], 0, 512, 500_000_000),
            (&[0xff], 0, u64::MAX, 0),
            (&[6], -10, 9_000_000, 0),
            (&[0], i64::MAX, u64::MAX, u64::MAX),
        ];
        for (resolution, seconds, ticks, nanoseconds) in cases {
            let mut file = pen.section();
            file.extend(pen.interface(
                1,
                0,
                &[(2, b"eth0"), (9, resolution), (14, &offset(seconds))],
            ));
            file.extend(pen.enhanced(0, ticks, 1, b"x"));
            assert_eq!(
                read(&file).0,
                [got(b"x", 1, nanoseconds)],
                "{resolution:?} {seconds} {ticks}"
            );
        }
    }
}

#[test]
fn other_link_types_are_named() {
    for (file, name) in [
        (LITTLE.classic(0xa1b2_c3d4, (2, 4), 0, 101), "RAW (101)"),
        (
            Pen { big: true }.classic(0xa1b2_3c4d, (2, 4), 0, 113),
            "LINUX_SLL (113)",
        ),
        (
            [LITTLE.section(), LITTLE.interface(105, 0, &[])].concat(),
            "IEEE802_11 (105)",
        ),
        (LITTLE.classic(0xa1b2_c3d4, (2, 4), 0, 9999), "number 9999"),
    ] {
        let error = read(&file).1.unwrap_err();
        assert!(
            error.ends_with(&format!(
                "link type {name}, but only ETHERNET (1) can be received"
            )),
            "{error}"
        );
    }
}

#[test]
fn faults_come_after_the_frames_before_them() {
    let good = [
        LITTLE.classic(0xa1b2_c3d4, (2, 4), 0, 1),
        LITTLE.record(0, 0, 2, b"ok"),
    ]
    .concat();
    let record = LITTLE.record(0, 0, 4, b"lost");
    let cases = [
        (
            record[..1].to_vec(),
            "the file ends inside the header of a record, after 1 of 16 bytes",
        ),
        (
            record[..19].to_vec(),
            "the file ends inside a record, after 19 of 20 bytes",
        ),
        (
            LITTLE.words(&[0, 0, 262_145, 0]),
            "a record claims 262145 bytes, the most is 262144",
        ),
        (
            LITTLE.words(&[0, 0, u32::MAX, 0]),
            "a record claims 4294967295 bytes, the most is 262144",
        ),
    ];
    for (tail, message) in cases {
        let (frames, end) = read(&[good.clone(), tail].concat());
        assert_eq!(frames, [got(b"ok", 2, 0)]);
        assert_eq!(end, Err(format!("at byte 42: {message}")));
    }
}

#[test]
fn faults_of_pcapng_have_their_place() {
    let good = [
        LITTLE.section(),
        LITTLE.interface(1, 0, &[]),
        LITTLE.enhanced(0, 0, 2, b"ok"),
    ]
    .concat();
    let mut torn = LITTLE.enhanced(0, 0, 2, b"no");
    let last = torn.len() - 4;
    torn[last] = 99;
    let mut section = LITTLE.section();
    section[8..12].fill(0);
    let mut version = LITTLE.section();
    version[12] = 3;
    let mut custom = LITTLE.block(0xbad, &[0; 8]);
    custom[16] = 24;
    let cases = [
        (torn, "a block's length is 36 at its head and 99 at its end"),
        (
            custom,
            "a block's length is 20 at its head and 24 at its end",
        ),
        (
            section,
            "a section's byte-order magic is 0x00000000, must be 0x1a2b3c4d in either order",
        ),
        (version, "pcapng version 3.0 is not known, 1.0 is"),
        (
            LITTLE.words(&[5, 8]),
            "a block of type 0x5 claims 8 bytes, must be a multiple of 4 from 12 on",
        ),
        (
            LITTLE.words(&[6, 0xffff_fffc]),
            "a block of type 0x6 claims 4294967292 bytes, must be a multiple of 4 from 32 to 524288",
        ),
        (
            LITTLE.words(&[5, 13]),
            "a block of type 0x5 claims 13 bytes, must be a multiple of 4 from 12 on",
        ),
        (
            LITTLE.block(6, &LITTLE.words(&[0, 0, 0, 5, 5, 0])),
            "a packet block claims a frame of 5 bytes and holds 4",
        ),
        (
            LITTLE.block(3, &LITTLE.words(&[5, 0])),
            "a packet block claims a frame of 5 bytes and holds 4",
        ),
        (
            LITTLE.block(6, &LITTLE.words(&[7, 0, 0, 0, 0])),
            "a packet block names interface 7, the section has 1",
        ),
        (
            LITTLE.words(&[5]),
            "the file ends inside the head of a block, after 4 of 8 bytes",
        ),
        (
            LITTLE.interface(113, 0, &[]),
            "link type LINUX_SLL (113), but only ETHERNET (1) can be received",
        ),
    ];
    for (tail, message) in cases {
        let (frames, end) = read(&[good.clone(), tail].concat());
        assert_eq!(frames, [got(b"ok", 2, 0)], "{message}");
        let error = end.unwrap_err();
        // A block that is skipped is found wanting at its end.
        let place = if message.contains("at its head and 24") {
            good.len() + 16
        } else {
            good.len()
        };
        assert_eq!(error, format!("at byte {place}: {message}"));
    }
}

#[test]
fn what_is_no_capture_is_refused() {
    for (file, message) in [
        (
            &b""[..],
            "at byte 0: the file ends inside the magic number of the file, after 0 of 4 bytes",
        ),
        (
            b"\xd4\xc3\xb2\xa1\x02",
            "at byte 0: the file ends inside the header of the file, after 5 of 24 bytes",
        ),
        (
            b"GIF89a",
            "at byte 0: not a capture file: it begins with 47 49 46 38, and neither pcap nor pcapng does",
        ),
    ] {
        assert_eq!(read(file).1, Err(message.to_owned()));
    }
    let archaic = LITTLE.classic(0xa1b2_c3d4, (1, 0), 0, 1);
    assert_eq!(
        read(&archaic).1,
        Err("at byte 0: pcap version 1.0 is not known, 2.4 is".to_owned())
    );
}
