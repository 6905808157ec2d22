//! The workspace as cargo describes it, and programs run from it. Read once at the start of a verb; owns nothing that
//! outlives it.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

/// What `cargo metadata --no-deps` says, as far as the chores need it.
#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    #[serde(rename = "workspace_root")]
    pub(crate) root: PathBuf,
    #[serde(rename = "target_directory")]
    pub(crate) target: PathBuf,
    pub(crate) packages: Vec<Package>,
}

/// One member of the workspace.
#[derive(Debug, Deserialize)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    #[serde(rename = "manifest_path")]
    pub(crate) manifest: PathBuf,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) targets: Vec<Target>,
}

/// One line of a member's dependency tables.
#[derive(Debug, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// None for an ordinary one, else `dev` or `build`.
    pub(crate) kind: Option<String>,
    /// Set for members of the workspace.
    pub(crate) path: Option<PathBuf>,
}

/// A library, program or test of a member.
#[derive(Debug, Deserialize)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) kind: Vec<String>,
    #[serde(rename = "src_path")]
    pub(crate) source: PathBuf,
}

impl Workspace {
    /// Asks cargo, from the folder that the chores were started in.
    pub(crate) fn read() -> Result<Self, String> {
        let mut command = cargo();
        command.args(["metadata", "--no-deps", "--format-version", "1"]);
        let text = output(&mut command)?;
        serde_json::from_str(&text)
            .map_err(|error| format!("cargo metadata is not what was expected: {error}"))
    }

    /// The member of this name.
    pub(crate) fn package(&self, name: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.name == name)
    }

    /// Where the release programs are: `MPPS_BIN_DIR`, or cargo's release folder after building them there.
    pub(crate) fn release_programs(&self) -> Result<PathBuf, String> {
        if let Some(folder) = env::var_os("MPPS_BIN_DIR") {
            return Ok(PathBuf::from(folder));
        }
        let mut command = cargo();
        command
            .args([
                "build",
                "--release",
                "--package",
                "testpmd",
                "--package",
                "mpps",
            ])
            .current_dir(&self.root);
        run(&mut command)?;
        Ok(self.target.join("release"))
    }
}

impl Package {
    /// The folder that holds the member's manifest.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest.parent().unwrap_or(Path::new("."))
    }
}

/// The cargo that runs us.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Runs a program with our own output and fails unless it ends with 0.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let status = command
        .status()
        .map_err(|error| format!("{}: {error}", command_line(command)))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{}: {status}", command_line(command)))
    }
}

/// Runs a program and returns what it wrote to standard output; its errors go to ours.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    command.stderr(Stdio::inherit()).stdin(Stdio::null());
    let output = command
        .output()
        .map_err(|error| format!("{}: {error}", command_line(command)))?;
    if !output.status.success() {
        return Err(format!("{}: {}", command_line(command), output.status));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The command as a person would type it, for messages.
pub(crate) fn command_line(command: &Command) -> String {
    let mut line = command.get_program().to_string_lossy().into_owned();
    for argument in command.get_args() {
        line.push(' ');
        line.push_str(&argument.to_string_lossy());
    }
    line
}

/// Whether a program of this name is on the search path.
pub(crate) fn has_program(name: &str) -> bool {
    env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(name).is_file()))
}

/// Whether we run as root, told by who owns our entry in /proc.
pub(crate) fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|entry| entry.uid() == 0)
}

/// `rustc -V` reduced to its version number.
pub(crate) fn rustc_version() -> Result<String, String> {
    let text = output(
        Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("--version"),
    )?;
    text.split_whitespace()
        .nth(1)
        .map(str::to_owned)
        .ok_or_else(|| format!("rustc --version says '{}'", text.trim()))
}

/// Value of `--name VALUE` or `--name=VALUE` in a verb's arguments.
pub(crate) fn option<'a>(arguments: &'a [String], name: &str) -> Option<&'a str> {
    arguments.iter().enumerate().find_map(|(at, argument)| {
        let rest = argument.strip_prefix(name)?;
        if rest.is_empty() {
            arguments.get(at + 1).map(String::as_str)
        } else {
            rest.strip_prefix('=')
        }
    })
}

/// Refuses a word that a verb doesn't know, with those it does.
pub(crate) fn only_options(
    arguments: &[String],
    flags: &[&str],
    valued: &[&str],
) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let name = argument.split('=').next().unwrap_or(argument);
        if valued.contains(&name) {
            if !argument.contains('=') && rest.next().is_none() {
                return Err(format!("'{name}' needs a value"));
            }
        } else if argument.starts_with('-') && !flags.contains(&argument.as_str()) {
            let known = [flags, valued].concat().join(", ");
            return Err(format!(
                "'{argument}' is not an option here; there are: {known}"
            ));
        } else if !argument.starts_with('-') {
            words.push(argument.clone());
        }
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_are_found_in_both_spellings() {
        assert_eq!(option(&words("a --seconds 5"), "--seconds"), Some("5"));
        assert_eq!(option(&words("--seconds=7 a"), "--seconds"), Some("7"));
        assert_eq!(option(&words("--secondsx=7"), "--seconds"), None);
    }

    #[test]
    fn unknown_options_are_refused() {
        assert_eq!(
            only_options(
                &words("a --list --seconds 5 b"),
                &["--list"],
                &["--seconds"]
            ),
            Ok(words("a b"))
        );
        assert!(
            only_options(&words("--lst"), &["--list"], &[])
                .is_err_and(|why| why.contains("'--lst'"))
        );
        assert!(only_options(&words("--seconds"), &[], &["--seconds"]).is_err());
    }
}
