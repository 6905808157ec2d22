//! RSS names and the table.

use super::*;

#[test]
fn groups_have_the_field_s_bits() {
    assert_eq!(rss_type("ip"), Some(0xa38c));
    assert_eq!(rss_type("udp"), Some(0x2_0820));
    // What `--rss-udp` asks for.
    assert_eq!(0xa38c | 0x2_0820, 0x2_abac);
    assert_eq!(rss_type("tcp"), Some(1 << 4 | 1 << 10 | 1 << 16));
    assert_eq!(rss_type("sctp"), Some(1 << 6 | 1 << 12));
    assert_eq!(rss_type("tunnel"), Some(1 << 19 | 1 << 20 | 1 << 21));
    assert_eq!(rss_type("vlan"), Some(1 << 25 | 1 << 26));
    assert_eq!(
        (
            rss_type("none"),
            rss_type("l3-src-only"),
            rss_type("nosuch")
        ),
        (Some(0), Some(1 << 63), None)
    );
}

#[test]
fn supported_types_wrap_as_recorded() {
    // Bits 2 to 21 and mpls: what a null port says.
    let text = RssNames::Supported(0x3f_fffc | 1 << 33).to_string();
    let want = "  ipv4  ipv4-frag  ipv4-tcp  ipv4-udp  ipv4-sctp  ipv4-other
  ipv6  ipv6-frag  ipv6-tcp  ipv6-udp  ipv6-sctp  ipv6-other
  l2-payload  ipv6-ex  ipv6-tcp-ex  ipv6-udp-ex  port  vxlan
  geneve  nvgre  mpls
";
    assert_eq!(text, want);
    assert_eq!(
        RssNames::Supported(1 << 22).to_string(),
        "  user-defined-22\n"
    );
}

#[test]
fn hash_functions() {
    assert_eq!(RssHash::Disabled.to_string(), "RSS disabled\n");
    assert_eq!(
        RssHash::Functions {
            types: 0,
            key: Some(&[1])
        }
        .to_string(),
        "RSS disabled\n"
    );
    assert_eq!(
        RssHash::Algorithm("toeplitz").to_string(),
        "RSS algorithm:\n  toeplitz\n"
    );
    let text = RssHash::Functions {
        types: 0x2_0820,
        key: Some(&[0x6D, 0x5A, 0x00, 0x0F]),
    }
    .to_string();
    assert_eq!(
        text,
        "RSS functions:\n  udp  ipv4-udp  ipv6-udp  ipv6-udp-ex\nRSS key:\n6D5A000F\n"
    );
    assert_eq!(
        RssHash::Functions {
            types: 1 << 2,
            key: None
        }
        .to_string(),
        "RSS functions:\n  ipv4\n"
    );
}

#[test]
fn redirection_table() {
    let table: Vec<u16> = (0..128).map(|at| at % 4).collect();
    let text = RetaRows {
        table: &table,
        masks: &[0b11, 1 << 63],
    }
    .to_string();
    let want = "RSS RETA configuration: hash index=0, queue=0
RSS RETA configuration: hash index=1, queue=1
RSS RETA configuration: hash index=127, queue=3
";
    assert_eq!(text, want);
}
