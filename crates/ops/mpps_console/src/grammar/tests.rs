//! What lines match, in DPDK's words, and the grammar of grammars.

use proptest::prelude::*;

use super::compile::compile;
use super::*;
use crate::testing::{Recorder, reply, table};

#[test]
fn values_reach_the_command() {
    for (line, wanted) in [
        ("show port stats all", "show stats all"),
        ("show port info 0x1", "show info 1"),
        ("  show \t port  info\t010  # comment", "show info 8"),
        ("show port 1 rss reta 128 (0x1)", "reta 1 128 (0x1)"),
        ("set fwd mac", "mode mac"),
        ("set fwd mac retry", "mode mac retry"),
        ("set fwd  io#x", "mode io"),
        ("set burst 0b11", "burst 3"),
        ("set promisc 0 off", "promisc 0 false"),
        ("port config all rxd 512", "all rxd 512"),
        ("port stop 255", "stop 255"),
        (
            "mac_addr set 0 02:00:00:00:00:0a",
            "mac [02, 00, 00, 00, 00, 0a]",
        ),
        ("run 0,2-4", "run false 4 None"),
        ("run slow 0-4294967295 -7", "run true 4294967296 Some(-7)"),
        (
            "flow create 0 ingress  pattern eth / end ",
            "flow <create 0 ingress  pattern eth / end>",
        ),
        ("dump x", "dump x"),
        ("clear y", "clear y"),
        ("set portlist 0,1", "ports [0, 1]"),
        ("set portlist 0,x", "character x is not a decimal digit"),
    ] {
        assert_eq!(reply(line), format!("{wanted}\n"), "{line}");
    }
}

#[test]
fn nothing_comes_of_blanks_and_comments() {
    for line in ["", "   \t ", "#", "# quit", "  # show"] {
        assert_eq!(reply(line), "", "{line:?}");
    }
}

#[test]
fn errors_are_those_of_dpdk() {
    for line in [
        "nonsense",
        "sho port info 0",
        "0",
        "Show",
        "show2",
        "\u{e9}",
        "set-burst 1",
    ] {
        assert_eq!(reply(line), "Command not found\n", "{line}");
    }
    for line in [
        "show",
        "show port",
        "show port stats",
        "show port stats all x",
        "show port stats -1",
        "show port stats 65536",
        "show port info 99999999999999999999999999",
        "set fwd",
        "set fwd i#o",
        "set fwd nosuch",
        "set fwd mac retr",
        "set burst 08",
        "set burst 0X10",
        "set burst F",
        "set burst -1",
        "set verbose -0",
        "port start 256",
        "mac_addr set 0 02:00:00:00:00",
        "quit now",
        "help nosuch",
        "load",
        "flow",
        "run 3-1",
    ] {
        assert_eq!(reply(line), "Bad arguments\n", "{line}");
    }
}

#[test]
fn the_more_specific_row_wins() {
    assert_eq!(reply("set log global 3"), "global 3\n");
    assert_eq!(reply("set log globe 3"), "type globe 3\n");
}

#[test]
fn equally_specific_rows_are_ambiguous() {
    let row = |grammar| Row::new(grammar, "Does it", "control");
    let grammar = Grammar::new(
        vec![row("go <a:u16>"), row("go <b:u32>"), row("go <c:word>")],
        Vec::new(),
    );
    assert!(matches!(
        grammar.parse("go 1", &Recorder::default()),
        Verdict::Ambiguous
    ));
    assert!(matches!(
        grammar.parse("go 70000", &Recorder::default()),
        Verdict::Run { row: 1, .. }
    ));
    assert!(matches!(
        grammar.parse("go x", &Recorder::default()),
        Verdict::Run { row: 2, .. }
    ));
}

#[test]
fn lengths_are_bounded() {
    let word = |length: usize| reply(&format!("dump {}", "x".repeat(length)));
    assert_eq!(word(127).len(), "dump \n".len() + 127);
    assert_eq!(word(128), "Bad arguments\n");
    let rest = |length: usize| reply(&format!("flow {}", "x".repeat(length)));
    assert_eq!(rest(4095).len(), "flow <>\n".len() + 4095);
    assert_eq!(rest(4096), "Bad arguments\n");
    // More than 128 characters of core or port list are no reason to cut it.
    assert_eq!(
        reply(&format!("set portlist 0{}", ",0".repeat(200))),
        "Number of ports = 201 > 4 (maximum items)\n"
    );
}

#[test]
fn malformed_grammars_are_named() {
    for (grammar, what) in [
        ("", "is empty"),
        ("<a:u8>", "doesn't begin with a literal"),
        ("(a|<b:u8>) c", "doesn't begin with a literal"),
        ("[a] b", ""),
        ("[a]", "is empty"),
        ("a <b>", "has no type"),
        ("a <b:u7>", "no type \"u7\""),
        ("a <:u8>", "has no name"),
        ("a <b:u8", "a < is never closed"),
        ("a (b|c", "a ( is never closed"),
        ("a [b", "a [ is never closed"),
        ("a []", "an option is empty"),
        ("a <b:u8> <b:u8>", "<b> occurs twice"),
        ("a <b:rest> c", "isn't the last token"),
        ("a (b|c)d", "a blank is missing"),
        ("a [b] [c] [d] [e] [f]", "more than 4 options"),
        ("a b#c", "no literal"),
    ] {
        let result = compile(grammar);
        if what.is_empty() {
            assert!(result.is_ok(), "{grammar}");
        } else {
            let error = result.expect_err(grammar).to_string();
            assert!(error.contains(what), "{grammar}: {error}");
        }
    }
}

#[test]
fn a_thousand_rows_cost_a_start_little() {
    // No clock: what is lazy is that no row is compiled until its first word is typed.
    let table = table();
    let grammar = table.grammar();
    let _ = grammar.parse("set burst 1", &Recorder::default());
    let compiled = |word: &str| {
        grammar
            .rows_of(word)
            .iter()
            .all(|&row| grammar.rows[row].compiled.get().is_some())
    };
    assert!(compiled("set"));
    assert!(!compiled("show"));
}

proptest! {
    #[test]
    fn no_line_panics(line in ".{0,300}") {
        let _ = reply(&line);
        let table = table();
        let _ = table.grammar().explain(&line, &Recorder::default());
        let _ = table.grammar().complete(&line, &Recorder::default());
    }

    #[test]
    fn no_line_of_known_words_panics(words in prop::collection::vec(
        prop::sample::select(vec!["show", "port", "set", "fwd", "mac", "retry", "log", "0", "-1", "0x", "run", "slow", "1-2",
            "flow", "start", "tx_first", "help", "all", "config", "rxq", "#", "\t", "é", "02:00:00:00:00:01"]), 0..8)) {
        let line = words.join(" ");
        let _ = reply(&line);
        let table = table();
        let _ = table.grammar().explain(&line, &Recorder::default());
        for end in (0..=line.len()).filter(|&end| line.is_char_boundary(end)) {
            let completion = table.grammar().complete(&line[..end], &Recorder::default());
            prop_assert!(completion.start <= end);
        }
    }

    #[test]
    fn no_grammar_panics(text in "[a-c<>()|:\\[\\] u8@]{0,40}") {
        let _ = compile(text.leak());
    }
}
