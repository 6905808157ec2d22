//! The tokenizer against a small table: what getopt_long takes, and what it should have said.

use proptest::prelude::*;

use super::*;

const OWN: &[Spec] = &[
    flag("interactive", "a flag").short('i'),
    flag("auto-start", "a flag").short('a'),
    value("nb-cores", "N", "a number"),
    value("nb-ports", "N", "a number"),
    value("burst", "N", "a number"),
    value("lcores", "LIST", "a list").short('l'),
    optional("huge-unlink", "WHEN", "a word").short('u'),
    flag("enable-hw-vlan", "a flag"),
    flag("enable-hw-vlan-strip", "a flag"),
    value("numa-mem", "MB", "an amount"),
    value("numa-size", "MB", "the same").means("numa-mem"),
    value("memory-channels", "N", "a number").short('n').exact(),
    flag("macswap-own", "ours").exact(),
    flag("interact", "gone").past(),
];
const FOREIGN: &[Spec] = &[
    value("vdev", "DEVICE", "elsewhere"),
    flag("no-pci", "elsewhere").short('A'),
];

fn table() -> Table {
    Table::new(Part::App, OWN.iter().collect(), FOREIGN.iter().collect())
}

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

/// `name=value` of each option; the name is the row's.
fn read_line(line: &str) -> Result<Vec<String>, ArgError> {
    let (table, words) = (table(), words(line));
    let shown = Tokens::new(&table, &words).map(|token| {
        token.map(|given| match given.value {
            Some(value) => format!("{}={value}", given.spec.long),
            None => given.spec.long.to_owned(),
        })
    });
    shown.collect()
}

fn error(line: &str) -> String {
    read_line(line).unwrap_err().to_string()
}

#[test]
fn what_getopt_long_takes() {
    for (line, options) in [
        ("--burst=64", vec!["burst=64"]),
        ("--burst 64", vec!["burst=64"]),
        ("--burst=", vec!["burst="]),
        ("--burst=a=b", vec!["burst=a=b"]),
        ("--bu 64", vec!["burst=64"]),
        ("--nb-c=2 --nb-p 3", vec!["nb-cores=2", "nb-ports=3"]),
        ("-ia", vec!["interactive", "auto-start"]),
        ("-i -a", vec!["interactive", "auto-start"]),
        ("-il0,2", vec!["interactive", "lcores=0,2"]),
        ("-l0,2", vec!["lcores=0,2"]),
        ("-l 0,2", vec!["lcores=0,2"]),
        ("-l=0,2", vec!["lcores=0,2"]),
        ("-l -1", vec!["lcores=-1"]),
        ("-u", vec!["huge-unlink"]),
        ("-unever", vec!["huge-unlink=never"]),
        ("--huge-unlink", vec!["huge-unlink"]),
        ("--huge-unlink=never", vec!["huge-unlink=never"]),
        // An exact name wins over those that it begins.
        ("--enable-hw-vlan", vec!["enable-hw-vlan"]),
        ("--i --a", vec!["interactive", "auto-start"]),
        // Two names of one thing are not ambiguous.
        ("--numa 5", vec!["numa-mem=5"]),
        // Names of the past give way to those of today, and are still there in full.
        ("--inter", vec!["interactive"]),
        ("--interact", vec!["interact"]),
        // A letter that no name of its own begins with.
        ("--l 3", vec!["lcores=3"]),
        (
            "-n4 --macswap-own",
            vec!["memory-channels=4", "macswap-own"],
        ),
        // Ambiguous as an abbreviation, so the letter counts.
        ("--n 4", vec!["memory-channels=4"]),
        ("-i --", vec!["interactive"]),
    ] {
        assert_eq!(read_line(line).unwrap(), options, "{line}");
    }
}

/// A line, and what is said about it.
const REFUSALS: &[(&str, &str)] = &[
    (
        "i --burst=4",
        "stray word `i` among the testpmd options; did you mean `-i`?",
    ),
    (
        "ia",
        "stray word `ia` among the testpmd options; did you mean `-ia`?",
    ),
    (
        "-i nb-cores=2",
        "stray word `nb-cores=2` among the testpmd options; did you mean `--nb-cores=2`?",
    ),
    (
        "nb-core=2",
        "stray word `nb-core=2` among the testpmd options; did you mean `--nb-cores=2`?",
    ),
    (
        "-i 5",
        "stray word `5` among the testpmd options; --interactive takes no value",
    ),
    (
        "--huge-unlink never",
        "stray word `never` among the testpmd options; a value of --huge-unlink is written --huge-unlink=never",
    ),
    (
        "\u{2013}i",
        "stray word `\u{2013}i` among the testpmd options; its dash is not the ASCII `-`",
    ),
    (
        "-",
        "stray word `-` among the testpmd options; every word has to be an option or the value of one",
    ),
    (
        "-- x",
        "stray word `x` among the testpmd options; every word has to be an option or the value of one",
    ),
    (
        "--bursts=4",
        "unknown testpmd option `--bursts`; did you mean `--burst`?",
    ),
    (
        "--nosuch",
        "unknown testpmd option `--nosuch`; `-- --help` lists what there is",
    ),
    (
        "--macswap=1",
        "unknown testpmd option `--macswap`; `--macswap-own` can't be shortened",
    ),
    (
        "-burst=3",
        "unknown testpmd option `-burst=3`; did you mean `--burst=3`?",
    ),
    (
        "-x",
        "unknown testpmd option `-x`; `-- --help` lists what there is",
    ),
    (
        "-ix",
        "unknown testpmd option `-x` in `-ix`; `-- --help` lists what there is",
    ),
    (
        "--vdev=net_null0",
        "`--vdev` is an EAL option; put it before `--`",
    ),
    ("-A", "`-A` is an EAL option; put it before `--`"),
    (
        "--nb=3",
        "`--nb` is short for `--nb-cores` or `--nb-ports`; write more of it",
    ),
    ("--burst", "`--burst` needs a value: `--burst=N`"),
    (
        "--burst --nb-cores=3",
        "`--burst` needs a value: `--burst=N`; the next word is the option `--nb-cores=3`",
    ),
    (
        "--interactive=yes",
        "`--interactive` takes no value, but was given `yes`",
    ),
    ("-i=yes", "`-i` takes no value, but was given `yes`"),
    (
        "--enable-hw-vlan-strip--nb-cores=2",
        "`--enable-hw-vlan-strip` and `--nb-cores=2` are glued together; put a blank between them",
    ),
    (
        "--burst=64--nb-cores=2",
        "`--burst=64` and `--nb-cores=2` are glued together; put a blank between them",
    ),
    (
        "--=3",
        "unknown testpmd option `--`; `-- --help` lists what there is",
    ),
    (
        "--no\nsuch",
        "unknown testpmd option `--no\\nsuch`; `-- --help` lists what there is",
    ),
];

#[test]
fn every_refusal_points_at_the_word_and_says_what_would_be_right() {
    for (line, text) in REFUSALS {
        assert_eq!(error(line), *text, "{line}");
    }
}

#[test]
fn nearest_spellings() {
    let names = ["forward-mode", "portmask", "portlist", "rxq"];
    assert_eq!(nearest("foward-mode", names), Some("forward-mode"));
    assert_eq!(nearest("portmaks", names), Some("portmask"));
    assert_eq!(nearest("rxg", names), Some("rxq"));
    assert_eq!(nearest("nothing-like-it", names), None);
    assert_eq!(nearest("", names), None);
}

#[test]
fn notices_are_said_once_and_share_a_line_for_a_shared_reason() {
    let mut notices = Notices::default();
    notices.no_effect("--txpt", "registers");
    notices.note("a line");
    notices.no_effect("--txht", "registers");
    notices.no_effect("--txpt", "registers");
    notices.note("a line");
    let lines: Vec<String> = notices.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        ["--txpt, --txht have no effect here: registers", "a line"]
    );
}

fn given(text: &str) -> Given<'_> {
    Given {
        spec: &OWN[4],
        row: 4,
        spelled: "--burst".to_owned(),
        value: Some(text),
    }
}

#[test]
fn values_are_whole_texts() {
    assert_eq!(given("512").number(0..=512u16), Ok(512));
    assert_eq!(given(" 7 ").number(0..=512u16), Ok(7));
    for text in [
        "513",
        "-1",
        "abc",
        "64x",
        "",
        "0x10",
        "99999999999999999999",
        "1.5",
        "+1",
    ] {
        let error = given(text).number(0..=512u16).unwrap_err().to_string();
        assert!(error.ends_with("; give 0 to 512"), "{error}");
    }
    assert_eq!(given("1,2,3").numbers(0..=9u8, 3), Ok(vec![1, 2, 3]));
    for text in ["", "1,", ",1", "1,,2", "1,2,3,4", "1;2"] {
        assert!(given(text).numbers(0..=9u8, 3).is_err(), "{text}");
    }
    for (text, mask) in [("0x1f", 31), ("1F", 31), ("0XfFfFfFfFfFfFfFfF", u64::MAX)] {
        assert_eq!(given(text).hex(), Ok(mask));
    }
    for text in ["", "0x", "g", "0x1ffffffffffffffff", "-1", "+f"] {
        assert!(given(text).hex().is_err(), "{text}");
    }
    for (text, n) in [("0x10", 16), ("010", 8), ("10", 10), ("0", 0)] {
        assert_eq!(given(text).any_base(text, 0..=99), Ok(n));
    }
    for text in ["", "0x", "08", "x", "100", "-1"] {
        assert!(given(text).any_base(text, 0..=99).is_err(), "{text}");
    }
    assert_eq!(given("b").choice(&[("a", 1), ("b", 2)]), Ok(2));
    let error = given("chaned").choice(&[("paired", 1), ("chained", 2)]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "--burst: `chaned` is unknown; did you mean `chained`? There are paired, chained"
    );
}

proptest! {
    #[test]
    fn no_words_panic_and_errors_are_one_line(
        line in proptest::collection::vec("-{0,3}[a-z=\\-]{0,12}[0-9,\u{e9}\n]{0,2}|\\PC{0,8}", 0..6)
    ) {
        let table = table();
        for token in Tokens::new(&table, &line) {
            if let Err(error) = token {
                prop_assert!(!error.to_string().contains('\n'));
            }
        }
    }

    #[test]
    fn any_prefix_that_is_unique_is_taken(at in 0usize..9, cut in 1usize..20) {
        let name = OWN[at].long;
        let short = &name[..cut.min(name.len())];
        let rivals = OWN[..11].iter().filter(|s| s.long.starts_with(short)).count();
        let line = [format!("--{short}"), "1".to_owned()];
        let table = table();
        let first = Tokens::new(&table, &line).next();
        let exact = OWN.iter().any(|s| s.long == short && s.long != name);
        if rivals == 1 && !exact {
            prop_assert_eq!(first.unwrap().unwrap().spec.long, name);
        }
    }
}
