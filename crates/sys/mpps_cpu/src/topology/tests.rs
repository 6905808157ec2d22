use super::{Roots, Topology, cpuset_files};
use crate::{CpuSet, current_affinity};
use proptest::prelude::*;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A tree of files under the temporary directory, gone at the end of the test.
struct Tree(PathBuf);

impl Tree {
    fn new(files: &[(&str, &str)]) -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "mpps-topology-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let root = std::env::temp_dir().join(name);
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self(root)
    }

    fn read(&self, affinity: &str) -> Topology {
        let roots = Roots {
            system: self.0.join("system"),
            cgroup: self.0.join("cgroup"),
            membership: self.0.join("membership"),
        };
        Topology::read_from(&roots, &set(affinity))
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn set(list: &str) -> CpuSet {
    list.parse().unwrap()
}

/// Two nodes and packages (node numbers with a gap), SMT, one CPU offline.
const SERVER: &[(&str, &str)] = &[
    ("system/cpu/online", "0-2,4-7\n"),
    ("system/node/online", "0,2\n"),
    ("system/node/node0/cpulist", "0-3\n"),
    ("system/node/node2/cpulist", "4-7\n"),
    ("system/cpu/cpu4/topology/physical_package_id", "1\n"),
    ("system/cpu/cpu4/topology/core_id", "9\n"),
    ("system/cpu/cpu4/topology/core_cpus_list", "4,6\n"),
    ("system/cpu/cpu5/topology/physical_package_id", "-1\n"),
    ("system/cpu/cpu5/topology/thread_siblings_list", "5,7\n"),
];

#[test]
fn a_server_with_two_nodes() {
    let tree = Tree::new(SERVER);
    let topology = tree.read("0-7");
    assert_eq!(topology.online(), &set("0-2,4-7"));
    assert_eq!(topology.allowed(), &set("0-2,4-7"));
    assert_eq!((topology.nodes(), topology.node_count()), (&set("0,2"), 2));
    let cpu = topology.cpu(4).unwrap();
    assert_eq!(
        (cpu.node, cpu.package, cpu.core, &cpu.siblings),
        (2, 1, 9, &set("4,6"))
    );
    let cpu = topology.cpu(5).unwrap();
    assert_eq!(
        (cpu.node, cpu.package, cpu.core, &cpu.siblings),
        (2, 0, 5, &set("5,7"))
    );
    assert_eq!(topology.node_of(1), Some(0));
    assert_eq!(topology.cpu(3), None, "offline");
    assert_eq!(topology.node_of(99), None);
    assert_eq!(topology.cpus().len(), 7);
}

#[test]
fn no_sysfs_at_all_is_a_plain_machine() {
    let topology = Tree::new(&[]).read("1,3");
    assert_eq!(topology.online(), &set("1,3"));
    assert_eq!(topology.allowed(), &set("1,3"));
    assert_eq!(topology.node_count(), 1);
    let cpu = topology.cpu(3).unwrap();
    assert_eq!(
        (cpu.node, cpu.package, cpu.core, &cpu.siblings),
        (0, 0, 3, &set("3"))
    );
}

#[test]
fn garbage_counts_as_missing() {
    let topology = Tree::new(&[
        ("system/cpu/online", "zero\n"),
        ("system/node/online", "\n"),
        ("system/node/node0/cpulist", "0-\n"),
        ("system/cpu/cpu0/topology/core_id", "many\n"),
        ("system/cpu/cpu0/topology/core_cpus_list", "5-1\n"),
        ("membership", "nonsense\n1:2\n\n"),
    ])
    .read("0");
    assert_eq!(topology.online(), &set("0"));
    assert_eq!(topology.nodes(), &set("0"));
    assert_eq!(topology.cpu(0).unwrap().siblings, set("0"));
}

#[test]
fn either_cgroup_version_limits_what_is_allowed() {
    for (membership, file) in [
        ("0::/pod/a\n", "cgroup/pod/a/cpuset.cpus.effective"),
        ("0::/not/visible\n", "cgroup/cpuset.cpus.effective"),
        ("0::/../outside\n", "cgroup/cpuset.cpus.effective"),
        (
            "4:cpu:/x\n3:cpuset:/pod/a\n0::/\n",
            "cgroup/cpuset/pod/a/cpuset.cpus",
        ),
        (
            "3:memory,cpuset:/not/visible\n",
            "cgroup/cpuset/cpuset.cpus",
        ),
        ("0::/pod\n", "cgroup/unified/pod/cpuset.cpus.effective"),
    ] {
        let mut files = SERVER.to_vec();
        files.extend([("membership", membership), (file, "1-5\n")]);
        assert_eq!(
            Tree::new(&files).read("0-4").allowed(),
            &set("1-2,4"),
            "{membership:?}"
        );
    }
}

#[test]
fn an_empty_or_foreign_cgroup_file_takes_nothing_away() {
    for cpus in ["\n", "99\n", "junk\n"] {
        let mut files = SERVER.to_vec();
        files.extend([
            ("membership", "0::/\n"),
            ("cgroup/cpuset.cpus.effective", cpus),
        ]);
        assert_eq!(
            Tree::new(&files).read("0-1").allowed(),
            &set("0-1"),
            "{cpus:?}"
        );
    }
}

#[test]
fn membership_lines_without_a_cpuset_name_no_file() {
    assert!(cpuset_files("5:cpuacct:/a\n2:name=systemd:/b\n").is_empty());
    assert_eq!(
        cpuset_files("3:cpuset:/a\n")[0],
        Path::new("cpuset/a/cpuset.effective_cpus")
    );
}

#[test]
fn this_machine_has_cpus_for_us() {
    let topology = Topology::read().unwrap();
    assert!(!topology.allowed().is_empty());
    assert!(topology.allowed().is_subset(&current_affinity().unwrap()));
    assert!(topology.allowed().is_subset(topology.online()));
    assert!(
        topology
            .cpus()
            .iter()
            .all(|cpu| topology.nodes().contains(cpu.node))
    );
}

proptest! {
    #[test]
    fn no_membership_leads_out_of_the_cgroup_mount(text in "([0-9]{0,2}:(cpuset|cpu,cpuset|)?:(/|/a|\\.\\.|[a-z.]{0,4}){0,4}\n|\\PC{0,8}){0,4}") {
        for file in cpuset_files(&text) {
            prop_assert!(file.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)), "{file:?}");
        }
    }
}
