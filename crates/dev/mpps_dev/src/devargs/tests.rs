//! Device arguments as people write them.

use super::{ArgKind, ArgSpec, DevArgError, DevArgs};

const SPECS: &[ArgSpec] = &[
    ArgSpec {
        key: "size",
        kind: ArgKind::Number(1, 65535),
        repeats: false,
        help: "bytes",
    },
    ArgSpec {
        key: "copy",
        kind: ArgKind::Flag,
        repeats: false,
        help: "copy",
    },
    ArgSpec {
        key: "mode",
        kind: ArgKind::Choice(&["a", "b"]),
        repeats: false,
        help: "mode",
    },
    ArgSpec {
        key: "iface",
        kind: ArgKind::Text,
        repeats: true,
        help: "interface",
    },
];

fn parse(text: &str) -> DevArgs {
    text.parse().unwrap()
}

fn refusal(text: &str) -> String {
    parse(text).check("net_x", SPECS).unwrap_err().to_string()
}

#[test]
fn repeated_keys_keep_their_order() {
    let args = parse("eth_mvpp2,iface=eth0,iface=eth2");
    let checked = args.check("net_x", SPECS).unwrap();
    assert_eq!(checked.texts("iface").collect::<Vec<_>>(), ["eth0", "eth2"]);
    assert_eq!(args.text(), "iface=eth0,iface=eth2");
}

#[test]
fn brackets_and_parentheses_hold_commas() {
    let args =
        parse("net_vhost0,dmas=[txq0@0000:00:04.0;rxq,0],dev(net_ring0,a=1), conn_port=8086");
    let words: Vec<_> = args.iter().collect();
    assert_eq!(
        words,
        [
            ("dmas", Some("[txq0@0000:00:04.0;rxq,0]")),
            ("dev(net_ring0,a=1)", None),
            ("conn_port", Some("8086")),
        ]
    );
}

#[test]
fn lonely_brackets_are_pointed_at() {
    for text in ["a,b=[1", "a,b=1]", "a,b=(1]", "a)"] {
        assert!(
            matches!(text.parse::<DevArgs>(), Err(DevArgError::Bracket { .. })),
            "{text}"
        );
    }
    assert!(matches!(
        "".parse::<DevArgs>(),
        Err(DevArgError::NoName { .. })
    ));
    assert!(matches!(
        ",size=1".parse::<DevArgs>(),
        Err(DevArgError::NoName { .. })
    ));
    assert!(matches!(
        "a,=1".parse::<DevArgs>(),
        Err(DevArgError::NoKey { .. })
    ));
}

#[test]
fn values_are_held_against_the_table() {
    let args = parse("net_x0,size=0x40,copy,mode=b");
    let checked = args.check("net_x", SPECS).unwrap();
    assert_eq!(checked.number("size"), Some(64));
    assert!(checked.flag("copy"));
    assert_eq!(checked.text("mode"), Some("b"));
    assert!(
        !parse("n,copy=0")
            .check("net_x", SPECS)
            .unwrap()
            .flag("copy")
    );
}

#[test]
fn refusals_name_key_value_and_what_is_allowed() {
    assert_eq!(
        refusal("net_x0,size=abc"),
        "device net_x0: size=abc is not valid, size must be a number from 1 to 65535"
    );
    assert_eq!(
        refusal("net_x0,sise=1"),
        "device net_x0: unknown argument \"sise\"; net_x takes size, copy, mode, iface"
    );
    assert_eq!(
        refusal("net_x0,mode=c"),
        "device net_x0: mode=c is not valid, mode must be one of a, b"
    );
    assert_eq!(
        refusal("net_x0,iface"),
        "device net_x0: iface= is not valid, iface must be given a value"
    );
    assert_eq!(
        refusal("net_x0,size=1,size=2"),
        "device net_x0: size is given 2 times, once is allowed"
    );
    assert_eq!(
        refusal("net_x0,copy=2"),
        "device net_x0: copy=2 is not valid, copy must be 0 or 1"
    );
}

proptest::proptest! {
    #[test]
    fn no_text_panics(text in ".{0,60}") {
        if let Ok(args) = text.parse::<DevArgs>() {
            let _ = args.check("net_x", SPECS);
        }
    }
}
