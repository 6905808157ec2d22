//! Every command with too few, too many, negative, huge and senseless arguments, and with ports, queues and cores that
//! aren't there: an answer, never a panic, and nothing changed where the line is no command.

use mpps_console::{Flaw, Verdict, check_table};

use crate::rig::{Answer, Rig};

/// Whether the rig is still what lines expect: two ports that run, nothing forwarding.
fn is_fresh(rig: &Rig) -> bool {
    rig.app.port_ids() == [0, 1]
        && rig.app.forwarding.running.is_none()
        && rig.app.ports.iter().flatten().all(|slot| slot.is_started())
}

/// Runs a line that is a command. Where it was refused, nothing may have changed.
fn run(rig: &mut Rig, line: &str) -> Answer {
    let before = rig.configuration();
    let answer = rig.run(line);
    let notice = [
        "changes with the next start",
        "has no effect",
        "is visited from the next start",
        "Warning: hardware",
    ];
    let refused = answer.out.is_empty()
        && !answer.err.is_empty()
        && !notice.iter().any(|text| answer.err.contains(text));
    if refused {
        assert_eq!(
            rig.configuration(),
            before,
            "{line} was refused: {}",
            answer.err
        );
    }
    answer
}

#[test]
fn the_table_is_sound() {
    let rig = Rig::new("");
    assert_eq!(check_table(rig.session().table()), Vec::<String>::new());
}

#[test]
fn every_line_is_answered() {
    let mut rig = Rig::new("");
    let grammar = rig.session().table().grammar().clone();
    let examples = grammar.examples(&rig.app);
    assert!(examples.len() > 500, "{} examples", examples.len());
    for example in examples {
        if !is_fresh(&rig) {
            rig = Rig::new("");
        }
        let line = example.line.as_str();
        let runs = matches!(grammar.parse(line, &rig.app), Verdict::Run { .. });
        let before = (!runs).then(|| rig.configuration());
        let answer = run(&mut rig, line);
        if let Some(before) = before {
            assert!(
                answer.out.starts_with("Bad arguments")
                    || answer.out.starts_with("Command not found"),
                "{line}: {answer:?}"
            );
            assert_eq!(rig.configuration(), before, "{line}");
        } else {
            assert!(
                example.flaw != Flaw::TooMany || !line.ends_with(" extra"),
                "{line} takes one word more"
            );
        }
    }
}

/// The same with ports stopped, which lets the lines past the check that they are.
#[test]
fn every_line_is_answered_while_ports_are_stopped() {
    let stopped = || {
        let mut rig = Rig::new("");
        rig.run("port stop all");
        rig
    };
    let mut rig = stopped();
    let grammar = rig.session().table().grammar().clone();
    for example in grammar.examples(&rig.app) {
        let as_was = rig.app.port_ids() == [0, 1]
            && rig
                .app
                .ports
                .iter()
                .flatten()
                .all(|slot| !slot.is_started());
        if !as_was || rig.app.forwarding.running.is_some() {
            rig = stopped();
        }
        run(&mut rig, &example.line);
    }
}

/// The same while packets are forwarded.
#[test]
fn every_line_is_answered_while_forwarding() {
    let mut rig = Rig::new("");
    let grammar = rig.session().table().grammar().clone();
    for example in grammar.examples(&rig.app) {
        if rig.app.port_ids() != [0, 1]
            || !rig.app.ports.iter().flatten().all(|slot| slot.is_started())
        {
            rig = Rig::new("");
        }
        // Printing packets, and what prints per packet, would drown the test.
        if example.line.starts_with("set verbose") || example.line.starts_with("start tx_first") {
            continue;
        }
        if rig.app.forwarding.running.is_none() {
            rig.run("set fwd io");
            rig.run("start");
        }
        run(&mut rig, &example.line);
    }
}
