//! What the control groups of this process still allow (Documentation/admin-guide/cgroup-v2.rst and cgroup-v1 of the
//! kernel).
//!
//! A container on a machine with many free huge pages may be allowed none of them: Kubernetes gives a pod that doesn't
//! ask for huge pages a limit of 0. The free ones must not be trusted then. Stateless, read each time.

use std::fs;
use std::path::{Path, PathBuf};

/// How a figure's files are called in both versions.
struct Names {
    controller: &'static str,
    /// Most and current use, version 2.
    unified: (String, String),
    /// The same, version 1.
    legacy: (String, String),
}

/// Bytes of huge pages of `size` that may still be taken; `None`: no limit.
pub(crate) fn huge_left(root: &Path, size: u64) -> Option<u64> {
    let label = match size {
        n if n >= 1 << 30 => format!("{}GB", n >> 30),
        n if n >= 1 << 20 => format!("{}MB", n >> 20),
        n => format!("{}KB", n >> 10),
    };
    // Pages in use and pages promised to a mapping are limited apart.
    ["", "rsvd."]
        .iter()
        .filter_map(|kind| left(root, &huge_names(&label, kind)))
        .min()
}

fn huge_names(label: &str, kind: &str) -> Names {
    let name = |what: &str| format!("hugetlb.{label}.{kind}{what}");
    Names {
        controller: "hugetlb",
        unified: (name("max"), name("current")),
        legacy: (name("limit_in_bytes"), name("usage_in_bytes")),
    }
}

/// Bytes of ordinary memory that may be in use at all; `None`: no limit. What is in use counts files that would be
/// given up, so it isn't subtracted.
pub(crate) fn memory_limit(root: &Path) -> Option<u64> {
    let names = Names {
        controller: "memory",
        unified: ("memory.max".to_owned(), String::new()),
        legacy: ("memory.limit_in_bytes".to_owned(), String::new()),
    };
    left(root, &names)
}

/// The tightest of all groups from ours up to the root of the hierarchy.
fn left(root: &Path, names: &Names) -> Option<u64> {
    let groups = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let mounts = root.join("sys/fs/cgroup");
    let of_line = |line: &str| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        if controllers.is_empty() {
            let tops = [mounts.clone(), mounts.join("unified")];
            return tops
                .iter()
                .filter_map(|top| tightest(top, path, &names.unified))
                .min();
        }
        let ours = controllers
            .split(',')
            .any(|controller| controller == names.controller);
        ours.then(|| tightest(&mounts.join(names.controller), path, &names.legacy))
            .flatten()
    };
    groups.lines().filter_map(of_line).min()
}

/// In a container the path may lead out of what is mounted; the mount's top is our own group then.
fn tightest(top: &Path, path: &str, (most, used): &(String, String)) -> Option<u64> {
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != "..")
        .collect();
    let groups = (0..=parts.len()).map(|depth| parts[..depth].iter().collect::<PathBuf>());
    let figure = |group: &Path, name: &str| {
        let text = fs::read_to_string(top.join(group).join(name)).ok()?;
        text.trim().parse::<u64>().ok()
    };
    // "max" isn't a number, and no limit.
    groups
        .filter_map(|group| {
            Some(figure(&group, most)?.saturating_sub(figure(&group, used).unwrap_or(0)))
        })
        .min()
}

#[cfg(test)]
mod tests;
