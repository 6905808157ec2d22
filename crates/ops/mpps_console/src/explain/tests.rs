//! Hints name the culprit and what would be right.

use super::*;
use crate::testing::{Recorder, table};

fn explained(line: &str) -> String {
    table()
        .grammar()
        .explain(line, &Recorder::default())
        .unwrap_or_default()
}

#[test]
fn the_culprit_and_what_is_right() {
    assert_eq!(
        explained("shwo port"),
        "no command begins with 'shwo'; did you mean 'show'?"
    );
    assert_eq!(
        explained("xyzzy"),
        "no command begins with 'xyzzy'; 'help all' lists the commands"
    );
    assert_eq!(
        explained("set fwd macswp"),
        "'macswp' after 'set fwd'; did you mean 'macswap'?"
    );
    assert_eq!(
        explained("set burst x"),
        "'x' after 'set burst'; right would be: <n>"
    );
    assert_eq!(explained("set burst"), "'set burst' goes on with: <n>");
    assert_eq!(
        explained("quit now"),
        "nothing may follow 'quit', there is 'now'"
    );
    assert_eq!(
        explained("show port stats 65536"),
        "'65536' after 'show port stats'; right would be: 0, 1, all"
    );
    assert_eq!(explained(""), "");
}

#[test]
fn distances() {
    assert_eq!(distance("show", "show"), 0);
    assert_eq!(distance("shwo", "show"), 1);
    assert_eq!(distance("", "abc"), 3);
    assert_eq!(distance("stat", "stats"), 1);
}
