//! Example lines are what they say.

use super::*;
use crate::grammar::Verdict;
use crate::testing::{Recorder, session, table};

#[test]
fn unflawed_lines_match_their_row() {
    let table = table();
    let examples = table.grammar().examples(&Recorder::default());
    for example in examples.iter().filter(|example| example.flaw == Flaw::None) {
        // Another row may take the line where a word happens to be a literal there.
        let verdict = table.grammar().parse(&example.line, &Recorder::default());
        assert!(
            matches!(verdict, Verdict::Run { .. }),
            "{example:?}: {verdict:?}"
        );
    }
}

#[test]
fn every_row_and_flaw_occurs() {
    let table = table();
    let examples = table.grammar().examples(&Recorder::default());
    for (number, row) in table
        .grammar()
        .rows
        .iter()
        .enumerate()
        .filter(|(_, row)| !row.patterns().is_empty())
    {
        assert!(
            examples.iter().any(|example| example.row == number),
            "{}",
            row.grammar
        );
    }
    for flaw in [
        Flaw::TooFew,
        Flaw::TooMany,
        Flaw::Huge,
        Flaw::Negative,
        Flaw::NotANumber,
    ] {
        assert!(
            examples.iter().any(|example| example.flaw == flaw),
            "{flaw:?}"
        );
    }
}

#[test]
fn flawed_numbers_are_refused() {
    let table = table();
    let burst = |flaw| {
        let examples = table.grammar().examples(&Recorder::default());
        examples
            .into_iter()
            .filter(move |example| example.line.starts_with("set burst") && example.flaw == flaw)
    };
    for flaw in [
        Flaw::TooMany,
        Flaw::Huge,
        Flaw::Negative,
        Flaw::NotANumber,
        Flaw::TooFew,
    ] {
        assert!(burst(flaw).count() > 0, "{flaw:?}");
        for example in burst(flaw) {
            let verdict = table.grammar().parse(&example.line, &Recorder::default());
            assert!(
                matches!(verdict, Verdict::BadArguments),
                "{example:?}: {verdict:?}"
            );
        }
    }
}

#[test]
fn all_of_them_run() {
    let session = session();
    let mut host = Recorder::default();
    for example in session.table().grammar().examples(&Recorder::default()) {
        if !example.line.starts_with("load") {
            session
                .execute(&mut host, &example.line)
                .expect("a vector takes all");
        }
    }
}
