//! The sanity check finds what it claims to find.

use super::*;
use crate::command::{Command, Outcome, Section};
use crate::testing;

static SECTIONS: [Section; 1] = [Section {
    name: "control",
    about: "Running",
}];

fn faults(rows: &[(&'static str, &'static str, &'static str)]) -> Vec<String> {
    let commands: Vec<Command<()>> = rows
        .iter()
        .map(|&(section, grammar, help)| Command::new(section, grammar, help, |_, _| Outcome::Done))
        .collect();
    check_table(&Table::new(&SECTIONS, &[commands.leak()]))
}

#[test]
fn a_sound_table_has_none() {
    // The nested option is malformed on purpose; see below.
    let found = check_table(&testing::table());
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("start [tx_first [<n:u32>]]"), "{found:?}");
}

#[test]
fn collisions() {
    let collide =
        |left, right| !faults(&[("control", left, "Does"), ("control", right, "Does")]).is_empty();
    assert!(collide("go x", "go x"));
    assert!(collide("go (x|y)", "go (y|z)"));
    assert!(collide("go <a:u8>", "go <b:u16>"));
    assert!(collide("go <a:(on|off)>", "go on"));
    assert!(collide("go x [y]", "go x"));
    assert!(collide("go <a:word> x", "go <b:list> x"));
    assert!(collide("go <a:rest>", "go <b:rest>"));
    assert!(collide("go <a:choice(m)>", "go <b:choice(m)>"));
    assert!(collide("(go|run) x", "run x"));
    assert!(!collide("go x", "go y"));
    assert!(!collide("go x", "go <a:word>"));
    assert!(!collide("go <a:u8>", "go all"));
    assert!(!collide("go x", "go x y"));
    assert!(!collide("go <a:choice(m)>", "go <b:choice(n)>"));
    assert!(!collide("go <a:rest>", "go <b:word> c"));
}

#[test]
fn other_faults() {
    assert!(faults(&[("nosuch", "go", "Does")])[0].contains("no section"));
    assert!(faults(&[("control", "go", "")])[0].contains("help"));
    assert!(faults(&[("control", "go", "Does.")])[0].contains("help"));
    assert!(faults(&[("control", "go <a>", "Does")])[0].contains("has no type"));
}
