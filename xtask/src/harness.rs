//! The harness of `tests/harness`: a release program that puts ports together in one process, for checks that need to be
//! inside. This program isn't optimised, and the checks want the figures of the profile that is shipped.

use std::path::PathBuf;
use std::process::Command;

use crate::shell::{self, Workspace};

const PROGRAM: &str = "mpps_harness";

/// Where it lies; builds it. Beside the programs under test if somebody put it there.
pub(crate) fn program(workspace: &Workspace) -> Result<PathBuf, String> {
    let given = std::env::var_os("MPPS_BIN_DIR").map(|folder| PathBuf::from(folder).join(PROGRAM));
    if let Some(path) = given.filter(|path| path.is_file()) {
        return Ok(path);
    }
    let mut command = shell::cargo();
    command
        .args(["build", "--release", "--package", PROGRAM])
        .current_dir(&workspace.root);
    shell::run(&mut command)?;
    Ok(workspace.target.join("release").join(PROGRAM))
}

/// Runs it with these words; its lines, which are shown as well.
pub(crate) fn lines(workspace: &Workspace, words: &[&str]) -> Result<Vec<String>, String> {
    let text = shell::output(Command::new(program(workspace)?).args(words))?;
    print!("{text}");
    Ok(text.lines().map(str::to_owned).collect())
}
