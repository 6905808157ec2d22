//! Unsafe is a licence: the crates that hold one are listed here, all others forbid it at every root.

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
                Some(source) => findings.extend(judge(source)),
                None => findings.push(Finding::new(
                    path.display().to_string(),
                    "this root is not among git's files",
                )),
            }
        }
    }
    Ok(findings)
}

fn judge(source: &Source) -> Option<Finding> {
    let forbids = source
        .lines
        .iter()
        .any(|line| line.code.replace(' ', "").contains(FORBID));
    (!forbids).then(|| {
        Finding::new(
            source.path.display().to_string(),
            format!("the crate has no licence, so it needs {FORBID}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(text: &str) -> Option<Finding> {
        judge(&Source::parse("src/lib.rs".into(), text))
    }

    #[test]
    fn a_root_that_forbids_is_fine() {
        assert_eq!(verdict("//! Doc.\n#![forbid(unsafe_code)]\n"), None);
    }

    #[test]
    fn a_root_that_only_says_so_is_found() {
        assert!(verdict("//! Doc.\n").is_some());
        assert!(verdict("// #![forbid(unsafe_code)]\n").is_some());
        assert!(verdict("#![deny(unsafe_code)]\n").is_some());
    }
}
