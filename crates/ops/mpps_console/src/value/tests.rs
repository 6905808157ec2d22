//! MAC addresses, ranges and comma lists.

use super::*;

#[test]
fn mac_addresses() {
    let mac = Some([0x02, 0, 0, 0, 0, 0x0a]);
    for text in [
        "02:00:00:00:00:0a",
        "2:0:0:0:0:A",
        "02-00-00-00-00-0a",
        "0200:0000:000a",
        "0200.0000.000a",
    ] {
        assert_eq!(parse_mac(text), mac, "{text}");
    }
    for text in [
        "",
        "02:00:00:00:00",
        "02:00:00:00:00:0g",
        "02:00:00:00:00:",
        "020:0:0:0:0:0",
        "+2:0:0:0:0:0",
        "200:0:a",
    ] {
        assert_eq!(parse_mac(text), None, "{text}");
    }
}

#[test]
fn ranges() {
    let ranges = Ranges::parse("0,2-4").expect("a list");
    assert_eq!(ranges.numbers().collect::<Vec<_>>(), [0, 2, 3, 4]);
    assert_eq!(ranges.count(), 4);
    assert_eq!(
        Ranges::parse("0-4294967295").expect("a list").count(),
        1 << 32
    );
    for text in [
        "",
        ",",
        "1,",
        "-",
        "1-",
        "-1",
        "3-1",
        "x",
        "4294967296",
        "1-2-3",
        "+1",
    ] {
        assert_eq!(Ranges::parse(text), None, "{text}");
    }
}

#[test]
fn comma_lists_answer_as_testpmd_does() {
    assert_eq!(comma_list("64,128", "segments", 8), Ok(vec![64, 128]));
    assert_eq!(comma_list("64,", "segments", 8), Ok(vec![64, 0]));
    assert_eq!(comma_list("99999999999", "segments", 8), Ok(vec![u32::MAX]));
    let error = |text| comma_list(text, "segments", 2).expect_err(text).to_string();
    assert_eq!(error("0,x"), "character x is not a decimal digit");
    assert_eq!(error("0-"), "character - is not a decimal digit");
    assert_eq!(error(",1"), "No valid value before comma");
    assert_eq!(error("1,2,3"), "Number of segments = 3 > 2 (maximum items)");
}
