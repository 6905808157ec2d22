//! `cargo xtask audit`: licences, advisories, bans and sources of the dependencies, by cargo-deny and `deny.toml`.

use std::process::Stdio;

use crate::shell::{self, Workspace};

/// The verb.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    shell::only_options(arguments, &[], &[])?;
    let workspace = Workspace::read()?;
    let installed = shell::cargo()
        .args(["deny", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|it| it.success());
    if !installed {
        return Err(
            "cargo-deny is not installed; `cargo install --locked cargo-deny` brings it".to_owned(),
        );
    }
    shell::run(
        shell::cargo()
            .args(["deny", "--all-features", "check"])
            .current_dir(&workspace.root),
    )
}
