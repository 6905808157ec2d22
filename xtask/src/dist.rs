//! `cargo xtask dist`: an archive for people who don't build: the two programs, man pages, licences, the readme.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{self, Workspace};

/// Copied where they exist.
const TEXTS: &[&str] = &["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];
const PROGRAMS: &[&str] = &["testpmd", "mpps"];

/// The verb.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    shell::only_options(arguments, &[], &[])?;
    let workspace = Workspace::read()?;
    let version = &workspace
        .package("testpmd")
        .ok_or("the workspace has no testpmd")?
        .version;
    let name = format!("mpps-{version}-{}-linux", std::env::consts::ARCH);
    let programs = workspace.release_programs()?;
    let dist = workspace.target.join("dist");
    let stage = dist.join(&name);
    if stage.exists() {
        fs::remove_dir_all(&stage).map_err(|error| format!("{}: {error}", stage.display()))?;
    }
    for program in PROGRAMS {
        copy(&programs.join(program), &stage.join("bin"))?;
    }
    for text in TEXTS {
        let from = workspace.root.join(text);
        if text.starts_with("LICENSE") || from.exists() {
            copy(&from, &stage)?;
        }
    }
    for page in man_pages(&workspace.root.join("docs/man")) {
        copy(&page, &stage.join("share/man/man1"))?;
    }
    let archive = dist.join(format!("{name}.tar.gz"));
    // Owner and order are fixed so that two builds of one commit give one archive.
    let mut tar = Command::new("tar");
    tar.args([
        "--create",
        "--gzip",
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--file",
    ]);
    shell::run(tar.arg(&archive).arg("--directory").arg(&dist).arg(&name))?;
    println!("{}", archive.display());
    Ok(())
}

fn copy(from: &Path, folder: &Path) -> Result<(), String> {
    let name = from
        .file_name()
        .ok_or_else(|| format!("'{}' is not a file", from.display()))?;
    fs::create_dir_all(folder)
        .and_then(|()| fs::copy(from, folder.join(name)))
        .map(|_| ())
        .map_err(|error| format!("{}: {error}", from.display()))
}

fn man_pages(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    entries
        .filter(|path| path.extension().is_some_and(|end| end == "1"))
        .collect()
}
