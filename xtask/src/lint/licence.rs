//! Unsafe is a licence: the crates that hold one are listed here, all others forbid it at the root of each library and
//! program. Tests and examples may leave that out as long as they have none.

use std::path::PathBuf;

use super::source::Source;
use super::{Finding, Tree};

/// Crates that may contain unsafe code. A new one needs a decision in docs/adr.
const LICENSED: &[&str] = &[
    "mpps_shm",
    "mpps_cpu",
    "mpps_ring",
    "mpps_os",
    "mpps_mbuf",
    "mpps_kernels",
    "mpps_virtq",
];
/// Kinds of targets that are part of the product, as cargo calls them.
const SHIPPED: &[&str] = &["lib", "bin", "proc-macro", "cdylib", "staticlib"];
const FORBID: &str = "#![forbid(unsafe_code)]";

pub(super) fn run(tree: &Tree) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    for package in &tree.workspace.packages {
        if LICENSED.contains(&package.name.as_str()) {
            continue;
        }
        for target in &package.targets {
            let path: PathBuf = target
                .source
                .strip_prefix(&tree.workspace.root)
                .unwrap_or(&target.source)
                .to_owned();
            match tree.sources.iter().find(|source| source.path == path) {
                Some(source) => findings.extend(judge(
                    source,
                    target
                        .kind
                        .iter()
                        .any(|kind| SHIPPED.contains(&kind.as_str())),
                )),
                None => findings.push(Finding::new(
                    path.display().to_string(),
                    "this root is not among git's files",
                )),
            }
        }
    }
    Ok(findings)
}

fn judge(source: &Source, shipped: bool) -> Option<Finding> {
    let word = |code: &str| {
        code.split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .any(|word| word == "unsafe")
    };
    let forbids = source
        .lines
        .iter()
        .any(|line| line.code.replace(' ', "").contains(FORBID));
    let fine = forbids || (!shipped && !source.lines.iter().any(|line| word(&line.code)));
    let place = source.path.display().to_string();
    (!fine).then(|| {
        Finding::new(
            place,
            format!("the crate has no licence, so it needs {FORBID}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str, shipped: bool) -> Option<Finding> {
        judge(&Source::parse("src/lib.rs".into(), text), shipped)
    }

    #[test]
    fn a_root_that_forbids_is_fine() {
        assert_eq!(verdict("//! Doc.\n#![forbid(unsafe_code)]\n", true), None);
        assert_eq!(verdict("//! A test of unsafe things.\n", false), None);
    }

    #[test]
    fn a_root_that_only_says_so_is_found() {
        assert!(verdict("//! Doc.\n", true).is_some());
        assert!(verdict("// #![forbid(unsafe_code)]\n", true).is_some());
        assert!(verdict("#![deny(unsafe_code)]\n", true).is_some());
        assert!(verdict("fn a() { unsafe { b() } }\n", false).is_some());
    }
}
