//! Names that say nothing: a crate or module called so collects what nobody could place.

use super::source::Source;
use super::{Finding, Tree};

const BANNED: &[&str] = &[
    "util", "utils", "common", "base", "misc", "helper", "helpers",
];

pub(super) fn run(tree: &Tree) -> Result<Vec<Finding>, String> {
    let crates = tree
        .workspace
        .packages
        .iter()
        .filter(|package| package.name.split(['_', '-']).any(banned));
    let mut findings: Vec<Finding> = crates
        .map(|package| Finding::new(package.name.clone(), "the crate's name says nothing"))
        .collect();
    findings.extend(tree.sources.iter().flat_map(judge));
    Ok(findings)
}

fn banned(word: &str) -> bool {
    BANNED.contains(&word)
}

/// By the file's own name, its folders', and the modules declared in it.
fn judge(source: &Source) -> Vec<Finding> {
    let place = source.path.display().to_string();
    let stem = source.path.with_extension("");
    let of_path = stem.iter().any(|part| part.to_str().is_some_and(banned));
    let mut findings: Vec<Finding> = of_path
        .then(|| Finding::new(place, "the path's name says nothing"))
        .into_iter()
        .collect();
    for (at, line) in source.lines.iter().enumerate() {
        let mut words = line
            .code
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|word| !word.is_empty());
        if words.any(|word| word == "mod") && words.next().is_some_and(banned) {
            findings.push(Finding::new(
                source.place(at),
                "the module's name says nothing",
            ));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(path: &str, text: &str) -> usize {
        judge(&Source::parse(path.into(), text)).len()
    }

    #[test]
    fn telling_names_are_fine() {
        assert_eq!(
            verdict(
                "src/baseline.rs",
                "mod utility_poles;\nlet base = 1; // mod util\n"
            ),
            0
        );
    }

    #[test]
    fn names_that_say_nothing_are_found() {
        assert_eq!(verdict("src/util.rs", ""), 1);
        assert_eq!(verdict("src/common/ring.rs", ""), 1);
        assert_eq!(
            verdict("src/a.rs", "pub(crate) mod misc;\nmod base {\n}\n"),
            2
        );
    }
}
