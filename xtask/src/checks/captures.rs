//! Real captures through every engine: the judging is done by the end-to-end tests of that name.

use std::fs;
use std::process::Stdio;

use super::planted::Folder;
use super::{Bound, Check, Miss, Plant, Subject};
use crate::tally::Tally;
use crate::{session, shell};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "captures",
    proves: "every Ethernet capture goes rx_pcap -> engine -> tx_pcap frame for frame; others are refused; none crashes",
    bound: Bound::AtLeast(1.0, " tests passed"),
    run: captures,
    // Forwards without swapping, which the frame-by-frame comparison has to see.
    plant: Plant::Script(
        "for word do shift; case $word in *macswap*) word=$(echo \"$word\" | sed s/macswap/io/);; esac\n\
         set -- \"$@\" \"$word\"; done\nexec \"$REAL\" \"$@\"",
    ),
}];

fn captures(_: &Check, subject: &Subject) -> Result<f64, Miss> {
    let folder = Folder::new("captures")?;
    let log = folder.path().join("skipped");
    let mut command = shell::cargo();
    command
        .args([
            "test",
            "--package",
            "mpps_e2e",
            "--",
            "captures",
            "--test-threads=1",
        ])
        .current_dir(&subject.workspace.root)
        .env("MPPS_BIN_DIR", &subject.programs)
        .env("MPPS_SKIP_LOG", &log)
        .stderr(Stdio::inherit());
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout);
    if let Some(line) = fs::read_to_string(&log)
        .ok()
        .and_then(|log| log.lines().next().map(str::to_owned))
    {
        return Err(Miss::Skipped(line.replace('\t', ", ")));
    }
    verdict(&text, output.status.success())
}

/// Tests passed; a run without any test of that name is no proof.
fn verdict(text: &str, success: bool) -> Result<f64, Miss> {
    let mut tally = Tally::default();
    text.lines().for_each(|line| tally.read_line(line));
    if !success || tally.failures() > 0 {
        return Err(Miss::Failed(format!(
            "tests failed: {}",
            session::tail(text)
        )));
    }
    Ok(tally.passes() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passed_tests_are_the_figure() {
        let text = "test captures_macswap ... ok\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out";
        assert_eq!(verdict(text, true), Ok(1.0));
    }

    #[test]
    fn failures_and_empty_runs_prove_nothing() {
        let text = "test a ... FAILED\ntest result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 9 filtered out";
        assert!(verdict(text, false).is_err());
        assert_eq!(
            verdict(
                "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out",
                true
            ),
            Ok(0.0)
        );
        assert!(verdict("error: could not compile", false).is_err());
    }
}
