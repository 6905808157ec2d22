use super::{Machine, kib_field, parse_list};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A machine made of files, removed when dropped.
pub(crate) struct Fake {
    root: PathBuf,
}

impl Fake {
    pub(crate) fn new(nodes: &str) -> Fake {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Relaxed: only uniqueness counts.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("mpps_shm_{}_{number}", std::process::id()));
        let fake = Fake { root };
        fake.file("sys/devices/system/node/online", nodes);
        fake
    }

    pub(crate) fn file(&self, path: &str, text: &str) {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn pages(&self, kib: u64, free: u64, reserved: u64, overcommit: u64) {
        let folder = format!("sys/kernel/mm/hugepages/hugepages-{kib}kB");
        self.file(&format!("{folder}/free_hugepages"), &format!("{free}\n"));
        self.file(
            &format!("{folder}/resv_hugepages"),
            &format!("{reserved}\n"),
        );
        self.file(
            &format!("{folder}/nr_overcommit_hugepages"),
            &format!("{overcommit}\n"),
        );
        self.file(&format!("{folder}/surplus_hugepages"), "0\n");
    }

    pub(crate) fn machine(&self) -> Machine {
        Machine::at(self.root.clone())
    }

    pub(crate) fn path(&self) -> &Path {
        &self.root
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.root);
    }
}

#[test]
fn lists_of_nodes() {
    assert_eq!(parse_list("0\n"), [0]);
    assert_eq!(parse_list("0-2,5\n"), [0, 1, 2, 5]);
    assert_eq!(parse_list("\n"), []);
    assert_eq!(parse_list("x,1"), [1]);
}

#[test]
fn fields_in_kib() {
    let text = "Node 0 MemTotal:  10 kB\nNode 0 MemFree:   7 kB\nHugePages_Free: 3\n";
    assert_eq!(kib_field(text, "MemFree:"), 7 << 10);
    assert_eq!(kib_field(text, "MemAvailable:"), 0);
    assert_eq!(kib_field(text, "HugePages_Free:"), 0);
}

#[test]
fn this_machine_has_a_node_and_memory() {
    let machine = Machine::detect();
    assert!(!machine.nodes().is_empty());
    assert!(machine.memory_free(None) > 0);
}

#[test]
fn free_pages_leave_out_the_promised() {
    let fake = Fake::new("0\n");
    fake.pages(2048, 10, 4, 0);
    fake.pages(1_048_576, 1, 0, 2);
    let machine = fake.machine();
    assert_eq!(machine.huge_sizes(), [2 << 20, 1 << 30]);
    assert_eq!(machine.huge_free(2 << 20, None), 6);
    assert_eq!(machine.huge_free(2 << 20, Some(0)), 6);
    assert_eq!(machine.huge_free(1 << 30, None), 3);
    assert_eq!(machine.huge_free(64 << 10, None), 0);
    assert_eq!(
        machine.huge_knob(2 << 20, Some(0)),
        "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
    );
}

#[test]
fn pages_and_memory_of_one_of_several_nodes() {
    let fake = Fake::new("0-1\n");
    fake.pages(2048, 10, 0, 5);
    fake.file(
        "sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages",
        "3\n",
    );
    fake.file(
        "sys/devices/system/node/node1/meminfo",
        "Node 1 MemFree: 8 kB\nNode 1 Inactive(file): 4 kB\n",
    );
    let machine = fake.machine();
    assert_eq!(machine.nodes(), [0, 1]);
    assert_eq!(machine.huge_free(2 << 20, Some(1)), 3);
    assert_eq!(machine.huge_free(2 << 20, Some(0)), 0);
    assert_eq!(machine.huge_free(2 << 20, None), 15);
    assert_eq!(machine.memory_free(Some(1)), 12 << 10);
    let knob = "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages";
    assert_eq!(machine.huge_knob(2 << 20, Some(1)), knob);
}

#[test]
fn a_kernel_without_numa_is_one_node() {
    let fake = Fake::new("");
    assert_eq!(fake.machine().nodes(), [0]);
    assert!(fake.path().exists());
}
