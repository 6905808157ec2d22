//! What the machine has: NUMA nodes, free huge pages, free memory; read from sysfs and procfs each time it is asked.
//!
//! Made and owned by the page source. Tests give it a root folder of their own, since no test machine has every shape.

use crate::cgroup;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Where the facts are read: `/`, or a copy in a test.
#[derive(Debug)]
pub(crate) struct Machine {
    root: PathBuf,
    nodes: Vec<u32>,
}

impl Machine {
    pub(crate) fn detect() -> Machine {
        Machine::at(PathBuf::from("/"))
    }

    /// A kernel without NUMA has no such folder, and is one node.
    pub(crate) fn at(root: PathBuf) -> Machine {
        let online =
            fs::read_to_string(root.join("sys/devices/system/node/online")).unwrap_or_default();
        let mut nodes = parse_list(&online);
        if nodes.is_empty() {
            nodes.push(0);
        }
        Machine { root, nodes }
    }

    /// The nodes that are online, ascending; at least one.
    pub(crate) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Page sizes of hugetlbfs, in bytes, ascending.
    pub(crate) fn huge_sizes(&self) -> Vec<u64> {
        let Ok(entries) = fs::read_dir(self.root.join("sys/kernel/mm/hugepages")) else {
            return Vec::new();
        };
        let mut sizes: Vec<u64> = entries
            .filter_map(|entry| {
                let name = entry.ok()?.file_name();
                let kib = name
                    .to_str()?
                    .strip_prefix("hugepages-")?
                    .strip_suffix("kB")?;
                kib.parse::<u64>()
                    .ok()?
                    .checked_mul(1 << 10)
                    .filter(|size| *size != 0)
            })
            .collect();
        sizes.sort_unstable();
        sizes
    }

    /// Huge pages of `size` that could be had on `node` (`None`: on any): free and not promised to another mapping,
    /// plus those the kernel may make beyond its pool, as far as our control group may have them.
    pub(crate) fn huge_free(&self, size: u64, node: Option<u32>) -> u64 {
        let free = self.huge_in_pool(size, node);
        if free == 0 {
            return 0;
        }
        cgroup::huge_left(&self.root, size).map_or(free, |bytes| free.min(bytes / size))
    }

    fn huge_in_pool(&self, size: u64, node: Option<u32>) -> u64 {
        let folder = format!("hugepages-{}kB", size >> 10);
        let all = self.root.join("sys/kernel/mm/hugepages").join(&folder);
        let free =
            number(&all.join("free_hugepages")).saturating_sub(number(&all.join("resv_hugepages")));
        let extra = number(&all.join("nr_overcommit_hugepages"))
            .saturating_sub(number(&all.join("surplus_hugepages")));
        match node {
            Some(node) if self.nodes.len() > 1 => {
                let here = self
                    .node_folder(node)
                    .join("hugepages")
                    .join(&folder)
                    .join("free_hugepages");
                free.min(number(&here))
            }
            _ => free + extra,
        }
    }

    /// Memory on `node` that could be had as ordinary pages, in bytes; `None`: on any node.
    pub(crate) fn memory_free(&self, node: Option<u32>) -> u64 {
        let free = match node {
            Some(node) if self.nodes.len() > 1 => {
                let text =
                    fs::read_to_string(self.node_folder(node).join("meminfo")).unwrap_or_default();
                // What the kernel's MemAvailable is made of, roughly: free pages and clean file pages.
                ["MemFree:", "Inactive(file):", "SReclaimable:"]
                    .iter()
                    .map(|key| kib_field(&text, key))
                    .sum()
            }
            _ => {
                let text = fs::read_to_string(self.root.join("proc/meminfo")).unwrap_or_default();
                kib_field(&text, "MemAvailable:")
            }
        };
        cgroup::memory_limit(&self.root).map_or(free, |limit| free.min(limit))
    }

    /// The folder where more huge pages of `size` can be asked for; with one node that of the whole machine.
    pub(crate) fn huge_knob(&self, size: u64, node: Option<u32>) -> String {
        let mut path = String::from("/sys/");
        let _ = match node {
            Some(node) if self.nodes.len() > 1 => write!(path, "devices/system/node/node{node}"),
            _ => write!(path, "kernel/mm"),
        };
        let _ = write!(path, "/hugepages/hugepages-{}kB/nr_hugepages", size >> 10);
        path
    }

    fn node_folder(&self, node: u32) -> PathBuf {
        self.root
            .join(format!("sys/devices/system/node/node{node}"))
    }
}

/// The number that a sysfs file holds; 0 when there is none.
fn number(path: &Path) -> u64 {
    fs::read_to_string(path)
        .ok()
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(0)
}

/// `0-2,5` as numbers; whatever isn't of this form is left out.
fn parse_list(text: &str) -> Vec<u32> {
    let mut list = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<u32>(), last.parse::<u32>()) {
            list.extend(first..=last.min(first.saturating_add(1023)));
        }
    }
    list
}

/// Finds `key` in the lines of a meminfo or smaps text and gives its value of KiB in bytes; 0 when it is missing.
pub(crate) fn kib_field(text: &str, key: &str) -> u64 {
    text.lines()
        .filter_map(|line| line.split_once(key))
        .filter_map(|(_, value)| value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok())
        .map(|kib| kib << 10)
        .next()
        .unwrap_or(0)
}

#[cfg(test)]
pub(crate) mod tests;
