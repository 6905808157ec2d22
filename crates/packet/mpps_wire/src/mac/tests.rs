use super::*;
use proptest::prelude::*;

#[test]
fn prints_upper_case_with_colons() {
    assert_eq!(MacAddr([2, 0, 0, 0, 0, 1]).to_string(), "02:00:00:00:00:01");
    assert_eq!(
        format!("{:?}", MacAddr([0xFA, 0xCE, 0xB0, 0x0C, 0xDE, 0xAD])),
        "FA:CE:B0:0C:DE:AD"
    );
    assert_eq!(format!("{:>19}", MacAddr::ZERO), "  00:00:00:00:00:00");
}

#[test]
fn reads_all_forms() {
    let want = Ok(MacAddr([0x02, 0x0A, 0x00, 0xBC, 0x00, 0x01]));
    for text in [
        "02:0a:00:BC:00:01",
        "2:a:0:bc:0:1",
        "02-0A-00-bc-00-01",
        "020a:00bc:0001",
        "020a-00bc-0001",
        "020a.00BC.0001",
    ] {
        assert_eq!(text.parse(), want, "{text}");
    }
}

#[test]
fn refuses_everything_else() {
    for text in [
        "",
        ":",
        "02",
        "020a00bc0001",
        "02:0a:00:bc:00",
        "02:0a:00:bc:00:01:02",
        "02:0a:00:bc:00:",
        ":02:0a:00:bc:00",
        "02:0a-00:bc:00:01",
        "02:0a:00:bc:00-01",
        "02.0a.00.bc.00.01",
        "002:0a:00:bc:00:01",
        "+2:0a:00:bc:00:01",
        "0x2:0a:00:bc:00:01",
        " 02:0a:00:bc:00:01",
        "02:0a:00:bc:00:01 ",
        "02:0a:00:bc:00:0g",
        "020a.00bc:0001",
        "020a.00bc.001",
        "020a.00bc.00012",
        "20a:bc:1",
        "02é0a",
    ] {
        let error = text.parse::<MacAddr>().expect_err(text);
        assert!(
            error
                .to_string()
                .starts_with(&format!("'{text}' is no MAC address")),
            "{error}"
        );
    }
}

#[test]
fn kinds() {
    assert!(MacAddr::BROADCAST.is_broadcast() && MacAddr::BROADCAST.is_multicast());
    assert!(!MacAddr([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE]).is_broadcast());
    assert!(MacAddr([1, 0, 0x5E, 0, 0, 1]).is_multicast());
    assert!(MacAddr::ZERO.is_zero() && !MacAddr::ZERO.is_assignable());
    assert!(MacAddr([2, 0, 0, 0, 0, 0]).is_assignable());
}

proptest! {
    #[test]
    fn text_round_trips(bytes: [u8; 6]) {
        prop_assert_eq!(MacAddr(bytes).to_string().parse(), Ok(MacAddr(bytes)));
    }

    #[test]
    fn random_is_local_unicast(seed: u64) {
        let mac = MacAddr::local_random(seed);
        prop_assert!(mac.is_local() && mac.is_unicast());
        prop_assert_eq!(mac, MacAddr::local_random(seed));
        prop_assert_ne!(mac, MacAddr::local_random(seed.wrapping_add(1)));
    }
}
