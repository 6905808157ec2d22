//! What Tab offers.

use crate::testing::{Recorder, table};

fn offered(line: &str) -> Vec<String> {
    let completion = table().grammar().complete(line, &Recorder::default());
    completion
        .candidates
        .into_iter()
        .map(|candidate| candidate.text)
        .collect()
}

#[test]
fn first_words() {
    assert_eq!(offered("s"), ["set", "show", "start"]);
    assert_eq!(offered("clea"), ["clear"]);
    assert!(offered("").contains(&"dump".to_owned()));
    assert_eq!(offered("nosuch"), [""; 0]);
    assert_eq!(offered("nosuch "), [""; 0]);
}

#[test]
fn literals_choices_and_values_in_order() {
    assert_eq!(offered("show port "), ["info", "stats", "xstats", "<port>"]);
    assert_eq!(offered("show port stats "), ["0", "1", "all"]);
    assert_eq!(offered("set fwd m"), ["mac", "macswap"]);
    assert_eq!(offered("set fwd mac "), ["retry", "[RETURN]"]);
    assert_eq!(offered("set promisc 0 o"), ["off", "on"]);
    assert_eq!(offered("set burst "), ["<n>"]);
    assert_eq!(offered("set burst 3"), [""; 0]);
    assert_eq!(offered("set burst 3 "), ["[RETURN]"]);
    assert_eq!(offered("set burst x "), [""; 0]);
    assert_eq!(offered("set log "), ["global", "<type>"]);
    assert_eq!(offered("help "), ["all", "control", "ports", "[RETURN]"]);
    assert_eq!(offered("flow create "), [""; 0]);
    assert_eq!(offered("run "), ["slow", "<what>"]);
}

#[test]
fn a_word_is_replaced_from_its_beginning() {
    let completion = table()
        .grammar()
        .complete("show port  in", &Recorder::default());
    assert_eq!(completion.start, 11);
    assert_eq!(
        table()
            .grammar()
            .complete("show port ", &Recorder::default())
            .start,
        10
    );
}

#[test]
fn nothing_in_a_comment() {
    assert_eq!(offered("show # "), [""; 0]);
}
