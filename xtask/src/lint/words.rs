//! The repository speaks of the project alone: no path of somebody's machine, no host that a package came from.

use std::path::Path;

use super::{Finding, Tree};

/// Split in two so that this file doesn't find itself.
const WORDS: &[[&str; 2]] = &[
    ["/wor", "k/"],
    ["/root", "/"],
    ["/home", "/"],
    ["index.crates", ".io"],
    ["static.crates", ".io"],
    ["deb.debian", ".org"],
    ["pypi", ".org"],
    ["registry.npmjs", ".org"],
    ["proxy.golang", ".org"],
];
/// Cargo writes where each crate came from; licences have their own addresses; corpora are what users and strangers wrote.
const EXEMPT: &[&str] = &[
    "Cargo.lock",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "fuzz/corpus",
    "tests/corpus",
];

pub(super) fn run(tree: &Tree) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    for path in tree
        .files
        .iter()
        .filter(|path| EXEMPT.iter().all(|exempt| !path.starts_with(exempt)))
    {
        let text = super::read(&tree.workspace.root.join(path))?;
        findings.extend(judge(path, &text));
    }
    Ok(findings)
}

fn judge(path: &Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, line) in text.lines().enumerate() {
        for word in WORDS.iter().map(|halves| halves.concat()) {
            if stands_alone(line, &word) {
                findings.push(Finding::new(
                    format!("{}:{}", path.display(), at + 1),
                    format!("'{word}' doesn't belong here"),
                ));
            }
        }
    }
    findings
}

/// Whether the word begins a path or a host; `docs/` before it makes it part of a longer path.
fn stands_alone(line: &str, word: &str) -> bool {
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn project_words_are_fine() {
        assert!(
            judge(
                Path::new("a.md"),
                "See docs/work/flow.md and /sys/devices.\n"
            )
            .is_empty()
        );
    }

    #[test]
    fn machine_words_are_found() {
        let text = format!(
            "cd {}main\nfetch from {}\n",
            WORDS[0].concat(),
            WORDS[3].concat()
        );
        assert_eq!(judge(Path::new("a.md"), &text).len(), 2);
    }
}
