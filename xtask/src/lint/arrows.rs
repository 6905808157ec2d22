//! Arrows point down: a crate sees its own tier and those below, as the folders lay them out. Run, drivers and ops don't
//! see each other, no driver sees another, and only what stands on top names drivers.

use std::path::Path;

use super::{Finding, Tree};

/// Programs that measure a tier from outside, and lie beside it: they put together what the apps do.
const HARNESSES: &[&str] = &["mpps_icount"];

/// Where a crate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tier {
    Sys,
    Packet,
    Dev,
    Drivers,
    Run,
    Ops,
    /// Programs and the lab.
    Top,
    /// Tests, fuzzing, chores: see everything, seen by nobody.
    Outside,
}

impl Tier {
    fn of(folder: &Path) -> Option<Self> {
        if HARNESSES.iter().any(|name| folder.ends_with(name)) {
            return Some(Self::Outside);
        }
        let mut parts = folder.iter().map(|part| part.to_str().unwrap_or_default());
        match (parts.next()?, parts.next()) {
            ("crates", Some("sys")) => Some(Self::Sys),
            ("crates", Some("packet")) => Some(Self::Packet),
            ("crates", Some("dev")) => Some(Self::Dev),
            ("crates", Some("drivers")) => Some(Self::Drivers),
            ("crates", Some("run")) => Some(Self::Run),
            ("crates", Some("ops")) => Some(Self::Ops),
            ("apps" | "lab", _) => Some(Self::Top),
            ("tests" | "fuzz" | "xtask", _) => Some(Self::Outside),
            _ => None,
        }
    }

    fn height(self) -> u8 {
        match self {
            Self::Sys => 0,
            Self::Packet => 1,
            Self::Dev => 2,
            Self::Drivers | Self::Run | Self::Ops => 3,
            Self::Top => 4,
            Self::Outside => 5,
        }
    }
}

/// A crate by name and folder under the root.
#[derive(Debug, Clone, Copy)]
struct End<'a> {
    name: &'a str,
    folder: &'a Path,
}

pub(super) fn run(tree: &Tree) -> Result<Vec<Finding>, String> {
    let root = &tree.workspace.root;
    let under = |path: &'_ Path| path.strip_prefix(root).unwrap_or(path).to_owned();
    let mut findings = Vec::new();
    for package in &tree.workspace.packages {
        let folder = under(package.folder());
        let from = End {
            name: &package.name,
            folder: &folder,
        };
        for dependency in &package.dependencies {
            let Some(path) = &dependency.path else {
                continue;
            };
            let target = under(path);
            let to = End {
                name: &dependency.name,
                folder: &target,
            };
            let for_tests = dependency.kind.as_deref() == Some("dev");
            findings.extend(
                judge(from, to, for_tests).map(|why| Finding::new(package.name.clone(), why)),
            );
        }
    }
    Ok(findings)
}

/// What is wrong with an arrow, if anything.
fn judge(from: End<'_>, to: End<'_>, for_tests: bool) -> Option<String> {
    let (Some(above), Some(below)) = (Tier::of(from.folder), Tier::of(to.folder)) else {
        return Some(format!(
            "'{}' or '{}' lies in no tier's folder",
            from.folder.display(),
            to.folder.display()
        ));
    };
    let named = format!("depends on {}", to.name);
    if below == Tier::Outside {
        return Some(format!("{named}, which is not part of the product"));
    }
    if below.height() > above.height() {
        return Some(format!(
            "{named}: the arrow points up from {above:?} to {below:?}"
        ));
    }
    if from.name == "mpps_console" && below.height() >= Tier::Dev.height() {
        return Some(format!("{named}: the console knows nothing of ports"));
    }
    // A test of an engine needs a port; the product's engines don't.
    if above.height() == 3 && below.height() == 3 && !for_tests {
        if above != below {
            return Some(format!(
                "{named}: run, drivers and ops don't see each other"
            ));
        }
        if above == Tier::Drivers && from.name != "mpps_drivers" {
            return Some(format!(
                "{named}: a driver doesn't see another; ask the app for a Probe"
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(from: &str, to: &str, for_tests: bool) -> Option<String> {
        let end = |path: &'static str| End {
            name: path.rsplit('/').next().unwrap_or(path),
            folder: Path::new(path),
        };
        judge(
            end(from.to_owned().leak()),
            end(to.to_owned().leak()),
            for_tests,
        )
    }

    #[test]
    fn downward_arrows_are_fine() {
        for (from, to) in [
            ("crates/dev/mpps_dev", "crates/packet/mpps_mbuf"),
            ("crates/packet/mpps_kernels", "crates/packet/mpps_mbuf"),
            (
                "crates/drivers/mpps_drivers",
                "crates/drivers/mpps_pmd_null",
            ),
            ("crates/run/mpps_worker", "crates/run/mpps_engines"),
            ("apps/testpmd", "crates/drivers/mpps_drivers"),
            ("apps/mpps", "lab"),
            ("fuzz", "crates/drivers/mpps_pmd_pcap"),
            ("crates/run/mpps_icount", "crates/drivers/mpps_pmd_null"),
        ] {
            assert_eq!(verdict(from, to, false), None, "{from} -> {to}");
        }
        assert_eq!(
            verdict(
                "crates/run/mpps_engines",
                "crates/drivers/mpps_pmd_null",
                true
            ),
            None
        );
    }

    #[test]
    fn other_arrows_are_found() {
        for (from, to) in [
            ("crates/sys/mpps_shm", "crates/packet/mpps_mbuf"),
            ("crates/dev/mpps_dev", "crates/drivers/mpps_pmd_null"),
            ("crates/run/mpps_worker", "crates/drivers/mpps_drivers"),
            ("crates/ops/mpps_console", "crates/run/mpps_worker"),
            ("crates/ops/mpps_console", "crates/dev/mpps_dev"),
            (
                "crates/drivers/mpps_pmd_null",
                "crates/drivers/mpps_pmd_ring",
            ),
            ("apps/testpmd", "tests/e2e"),
            ("crates/run/mpps_worker", "crates/run/mpps_icount"),
            ("apps/testpmd", "elsewhere/x"),
        ] {
            assert!(verdict(from, to, false).is_some(), "{from} -> {to}");
        }
        assert!(verdict("crates/dev/mpps_dev", "crates/drivers/mpps_pmd_null", true).is_some());
    }
}
