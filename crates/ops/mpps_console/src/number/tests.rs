//! Bases, ranges, and what is no number.

use super::*;

#[test]
fn the_bases_are_those_of_dpdk() {
    for (text, value) in [
        ("0", 0),
        ("00", 0),
        ("10", 10),
        ("010", 8),
        ("0x1F", 31),
        ("0xff", 255),
        ("0b11", 3),
    ] {
        assert_eq!(parse_number(text, Width::U16), Some(value), "{text}");
    }
}

#[test]
fn what_is_no_number() {
    for text in [
        "", "-", "0x", "0b", "0X10", "0B1", "08", "0b2", "F", "1a", "+1", "0x+1", "0x-1", "1.0",
        "-1", "--1", " 1",
    ] {
        assert_eq!(parse_number(text, Width::U64), None, "{text}");
    }
    assert_eq!(parse_number("-0x1", Width::I32), None);
}

#[test]
fn the_range_follows_the_type() {
    assert_eq!(parse_number("255", Width::U8), Some(255));
    assert_eq!(parse_number("256", Width::U8), None);
    assert_eq!(parse_number("65536", Width::U16), None);
    assert_eq!(parse_number("4294967296", Width::U32), None);
    assert_eq!(
        parse_number("18446744073709551615", Width::U64),
        Some(u64::MAX.into())
    );
    assert_eq!(parse_number("18446744073709551616", Width::U64), None);
    assert_eq!(
        parse_number("-2147483648", Width::I32),
        Some(i32::MIN.into())
    );
    assert_eq!(parse_number("-2147483649", Width::I32), None);
    assert_eq!(
        parse_number(
            "99999999999999999999999999999999999999999999999",
            Width::U64
        ),
        None
    );
}
