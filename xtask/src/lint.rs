//! `cargo xtask lint`: the rules of the project that the compiler and clippy don't know. Each rule is a file; it reads the
//! tree and returns findings, and is tried on a good and a bad sample in its tests.

mod arrows;
mod comments;
mod deps;
mod hot;
mod licence;
mod names;
mod size;
mod source;
mod words;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::shell::{self, Workspace};
use source::Source;

/// A place that breaks a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) place: String,
    pub(crate) what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.place, self.what)
    }
}

impl Finding {
    fn new(place: impl Into<String>, what: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            what: what.into(),
        }
    }
}

/// What the rules look at; read once.
pub(crate) struct Tree {
    pub(crate) workspace: Workspace,
    /// Files that git knows or would take, relative to the root.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) sources: Vec<Source>,
    /// Accept new entries in the list of long functions and files.
    pub(crate) new_size_reasons: bool,
}

struct Rule {
    name: &'static str,
    about: &'static str,
    run: fn(&Tree) -> Result<Vec<Finding>, String>,
}

const RULES: &[Rule] = &[
    Rule {
        name: "arrows",
        about: "dependencies point down; run, drivers and ops don't see each other",
        run: arrows::run,
    },
    Rule {
        name: "licence",
        about: "unsafe code only in the licensed crates",
        run: licence::run,
    },
    Rule {
        name: "names",
        about: "no crate or module named util, common, base or misc",
        run: names::run,
    },
    Rule {
        name: "size",
        about: "functions up to 60 lines, files up to 400, or a reason",
        run: size::run,
    },
    Rule {
        name: "comments",
        about: "orderings name their partner, unsafe blocks who keeps the invariant",
        run: comments::run,
    },
    Rule {
        name: "deps",
        about: "data-plane crates take few dependencies",
        run: deps::run,
    },
    Rule {
        name: "hot",
        about: "no call inside a hot loop of the release program but to the named cold functions",
        run: hot::run,
    },
    Rule {
        name: "words",
        about: "nothing of the machine that a file was written on",
        run: words::run,
    },
];

/// The verb.
pub(crate) fn run(arguments: &[String]) -> Result<(), String> {
    shell::only_options(arguments, &["--new-size-reasons", "--list"], &[])?;
    let flag = |name: &str| arguments.iter().any(|argument| argument == name);
    if flag("--list") {
        RULES
            .iter()
            .for_each(|rule| println!("{}: {}", rule.name, rule.about));
        return Ok(());
    }
    let tree = Tree::read(flag("--new-size-reasons"))?;
    let mut broken = 0;
    for rule in RULES {
        let findings = (rule.run)(&tree)?;
        for finding in &findings {
            println!("{}: {finding}", rule.name);
        }
        broken += findings.len();
        println!(
            "lint {}: {}",
            rule.name,
            if findings.is_empty() {
                "clean".into()
            } else {
                findings.len().to_string()
            }
        );
    }
    if broken == 0 {
        Ok(())
    } else {
        Err(format!("{broken} findings"))
    }
}

impl Tree {
    fn read(new_size_reasons: bool) -> Result<Self, String> {
        let workspace = Workspace::read()?;
        let mut git = Command::new("git");
        git.args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ])
        .current_dir(&workspace.root);
        let listed = shell::output(&mut git)?;
        let files = listed
            .split('\0')
            .filter(|name| !name.is_empty())
            .map(PathBuf::from);
        // A file that is deleted but not committed yet is still listed.
        let files: Vec<PathBuf> = files
            .filter(|path| workspace.root.join(path).is_file())
            .collect();
        let mut sources = Vec::new();
        for path in files
            .iter()
            .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        {
            sources.push(Source::parse(
                path.clone(),
                &read(&workspace.root.join(path))?,
            ));
        }
        Ok(Self {
            workspace,
            files,
            sources,
            new_size_reasons,
        })
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read(path)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .map_err(|error| format!("{}: {error}", path.display()))
}
