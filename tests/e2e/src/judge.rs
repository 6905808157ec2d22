//! What libpcap makes of a file: `tcpdump -r FILE -w -` writes any capture it can read as a classic one.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::capture::{self, Capture};
use crate::machine::{Lacks, skip};

/// Whether tcpdump is installed; says that the test is skipped where it isn't.
pub fn has_tcpdump(test: &str) -> bool {
    let has = Command::new("tcpdump").arg("--version").output().is_ok();
    if !has {
        skip(test, "tcpdump is not installed", Lacks::Package);
    }
    has
}

/// A file as tcpdump reads it. None where it refuses the file.
///
/// # Panics
/// When tcpdump can't be started.
pub fn tcpdump(path: &Path) -> Option<Capture> {
    let mut command = Command::new("tcpdump");
    command
        .args(["-w", "-", "-r"])
        .arg(path)
        .stderr(Stdio::null());
    let output = command.output().expect("tcpdump starts");
    let capture = capture::parse(&output.stdout);
    capture.link.is_some().then_some(capture)
}
