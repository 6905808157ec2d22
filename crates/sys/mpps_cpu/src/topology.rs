//! Which CPUs there are, where they sit, and which of them are ours.
//!
//! Read from sysfs once at start; a snapshot, hotplug isn't followed. What a file doesn't tell (no sysfs in the
//! container, no NUMA in the kernel) has the value of a plain machine: one node, one package, no SMT siblings.

use crate::affinity::current_affinity;
use crate::cpu_set::CpuSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Where the kernel's files are; tests put trees of their own there.
#[derive(Debug, Clone)]
pub struct Roots {
    /// Usually `/sys/devices/system`.
    pub system: PathBuf,
    /// Usually `/sys/fs/cgroup`.
    pub cgroup: PathBuf,
    /// Usually `/proc/self/cgroup`.
    pub membership: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self {
            system: "/sys/devices/system".into(),
            cgroup: "/sys/fs/cgroup".into(),
            membership: "/proc/self/cgroup".into(),
        }
    }
}

/// One logical CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cpu {
    /// Its number.
    pub id: usize,
    /// Its NUMA node.
    pub node: usize,
    /// Its package (socket).
    pub package: usize,
    /// Its core, counted within the package; may have gaps.
    pub core: usize,
    /// All CPUs of the same core, itself included.
    pub siblings: CpuSet,
}

/// The machine's CPUs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    cpus: Vec<Cpu>,
    online: CpuSet,
    allowed: CpuSet,
    nodes: CpuSet,
}

impl Topology {
    /// The machine as the calling thread sees it.
    ///
    /// # Errors
    /// When the kernel doesn't tell the thread's affinity.
    pub fn read() -> io::Result<Self> {
        Ok(Self::read_from(&Roots::default(), &current_affinity()?))
    }

    /// The machine that the files under `roots` describe, for a thread with this affinity.
    #[must_use]
    pub fn read_from(roots: &Roots, affinity: &CpuSet) -> Self {
        let cpu_root = roots.system.join("cpu");
        let online = read_list(&cpu_root.join("online"))
            .filter(|cpus| !cpus.is_empty())
            .unwrap_or_else(|| affinity.clone());
        let nodes = read_nodes(&roots.system.join("node"));
        let node_of = |cpu| {
            nodes
                .iter()
                .find(|(_, cpus)| cpus.contains(cpu))
                .map_or(0, |&(node, _)| node)
        };
        let cpus = online
            .iter()
            .map(|id| read_cpu(&cpu_root, id, node_of(id)))
            .collect();
        Self {
            cpus,
            allowed: allowed(roots, &online, affinity),
            online,
            nodes: nodes.iter().map(|&(node, _)| node).collect(),
        }
    }

    /// All online CPUs, lowest first.
    #[must_use]
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// The CPU with this number, if it is online.
    #[must_use]
    pub fn cpu(&self, id: usize) -> Option<&Cpu> {
        self.cpus
            .binary_search_by_key(&id, |cpu| cpu.id)
            .ok()
            .map(|at| &self.cpus[at])
    }

    /// The numbers of all online CPUs.
    #[must_use]
    pub fn online(&self) -> &CpuSet {
        &self.online
    }

    /// The CPUs that this process may use: online, in its affinity, in its cgroup.
    #[must_use]
    pub fn allowed(&self) -> &CpuSet {
        &self.allowed
    }

    /// The NUMA node of an online CPU.
    #[must_use]
    pub fn node_of(&self, cpu: usize) -> Option<usize> {
        self.cpu(cpu).map(|cpu| cpu.node)
    }

    /// The numbers of the NUMA nodes; at least one, perhaps with gaps.
    #[must_use]
    pub fn nodes(&self) -> &CpuSet {
        &self.nodes
    }

    /// How many NUMA nodes there are, at least one.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }
}

/// A file with a list of CPUs or nodes; nothing when it is missing or doesn't hold one.
fn read_list(path: &Path) -> Option<CpuSet> {
    fs::read_to_string(path).ok()?.parse().ok()
}

/// A file with one number; sysfs writes -1 for "unknown".
fn read_number(path: &Path) -> Option<usize> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The online NUMA nodes with their CPUs, lowest first; a single node without CPUs when the kernel has none.
fn read_nodes(root: &Path) -> Vec<(usize, CpuSet)> {
    let online = read_list(&root.join("online"))
        .filter(|nodes| !nodes.is_empty())
        .unwrap_or_else(|| CpuSet::from_iter([0]));
    let cpus = |node| read_list(&root.join(format!("node{node}/cpulist"))).unwrap_or_default();
    online.iter().map(|node| (node, cpus(node))).collect()
}

fn read_cpu(root: &Path, id: usize, node: usize) -> Cpu {
    let topology = root.join(format!("cpu{id}/topology"));
    let number = |name: &str| read_number(&topology.join(name));
    // The second name is the one of kernels before 5.3.
    let mut siblings = read_list(&topology.join("core_cpus_list"))
        .or_else(|| read_list(&topology.join("thread_siblings_list")))
        .unwrap_or_default();
    siblings.insert(id);
    Cpu {
        id,
        node,
        package: number("physical_package_id").unwrap_or(0),
        core: number("core_id").unwrap_or(id),
        siblings,
    }
}

/// The CPUs that are online, in the affinity and in the cgroup. An affinity within the cgroup is what the kernel gives; a
/// cgroup file that contradicts it altogether isn't ours and is passed over.
fn allowed(roots: &Roots, online: &CpuSet, affinity: &CpuSet) -> CpuSet {
    let ours = affinity.intersection(online);
    let membership = fs::read_to_string(&roots.membership).unwrap_or_default();
    let cgroup = cpuset_files(&membership)
        .iter()
        .find_map(|file| read_list(&roots.cgroup.join(file)).filter(|cpus| !cpus.is_empty()));
    let limited = cgroup
        .map(|cpus| ours.intersection(&cpus))
        .unwrap_or_default();
    if limited.is_empty() { ours } else { limited }
}

/// The files that may hold this process's CPUs, likeliest first, relative to the cgroup mount, from the text of
/// `/proc/self/cgroup` (`hierarchy:controllers:path`, cgroups(7)). In a container the path may be the host's, and the
/// container's own group is then what is mounted at the root.
fn cpuset_files(membership: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in membership.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(hierarchy), Some(controllers), Some(path)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let path = path.trim_start_matches('/');
        // A path that leads out of the mount is another namespace's.
        let group = if path.split('/').any(|part| part == "..") {
            ""
        } else {
            path
        };
        if controllers
            .split(',')
            .any(|controller| controller == "cpuset")
        {
            for dir in [group, ""] {
                files.push(Path::new("cpuset").join(dir).join("cpuset.effective_cpus"));
                files.push(Path::new("cpuset").join(dir).join("cpuset.cpus"));
            }
        } else if hierarchy == "0" && controllers.is_empty() {
            for mount in ["", "unified"] {
                files.push(Path::new(mount).join(group).join("cpuset.cpus.effective"));
            }
            files.push("cpuset.cpus.effective".into());
        }
    }
    files
}

#[cfg(test)]
mod tests;
