//! Data-plane crates take few dependencies, each of which everyone here has read.

use super::{Finding, Tree};

const TIERS: &[&str] = &[
    "crates/sys",
    "crates/packet",
    "crates/dev",
    "crates/drivers",
];
const ALLOWED: &[&str] = &[
    "zerocopy",
    "bitflags",
    "crossbeam-utils",
    "rustix",
    "libc",
    "thiserror",
];
/// Beyond those, for tests: models of the memory order, and peers that others wrote.
const FOR_TESTS: &[&str] = &[
    "proptest",
    "loom",
    "vhost",
    "virtio-queue",
    "vm-memory",
    "vmm-sys-util",
];

pub(super) fn run(tree: &Tree) -> Result<Vec<Finding>, String> {
    let mut findings = Vec::new();
    for package in &tree.workspace.packages {
        let folder = package
            .folder()
            .strip_prefix(&tree.workspace.root)
            .unwrap_or(package.folder());
        if !TIERS.iter().any(|tier| folder.starts_with(tier)) {
            continue;
        }
        for dependency in package
            .dependencies
            .iter()
            .filter(|dependency| dependency.path.is_none())
        {
            if let Some(why) = judge(&dependency.name, dependency.kind.as_deref()) {
                findings.push(Finding::new(package.name.clone(), why));
            }
        }
    }
    Ok(findings)
}

/// `loom` replaces the atomics under `cfg(loom)`, so it stands among the ordinary dependencies of that target.
fn judge(name: &str, kind: Option<&str>) -> Option<String> {
    let known = ALLOWED.contains(&name)
        || name == "loom"
        || (kind == Some("dev") && FOR_TESTS.contains(&name));
    (!known).then(|| {
        format!(
            "depends on {name}; the data plane takes only {}",
            ALLOWED.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_kept() {
        assert_eq!(judge("rustix", None), None);
        assert_eq!(judge("proptest", Some("dev")), None);
        assert!(judge("proptest", None).is_some());
        assert_eq!(judge("vhost", Some("dev")), None);
        assert!(judge("vhost", None).is_some());
        assert!(judge("serde", None).is_some());
        assert!(judge("criterion", Some("dev")).is_some());
    }
}
