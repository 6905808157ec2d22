use super::{huge_left, memory_limit};
use crate::machine::tests::Fake;

#[test]
fn no_groups_no_limit() {
    let fake = Fake::new("0\n");
    assert_eq!(huge_left(fake.path(), 2 << 20), None);
    fake.file("proc/self/cgroup", "0::/user\n4:memory:/x\nbroken\n");
    assert_eq!(huge_left(fake.path(), 2 << 20), None);
    assert_eq!(memory_limit(fake.path()), None);
}

#[test]
fn version_2_takes_the_tightest_group() {
    let fake = Fake::new("0\n");
    fake.file("proc/self/cgroup", "0::/pods/one\n");
    fake.file("sys/fs/cgroup/pods/hugetlb.2MB.max", "8388608\n");
    fake.file("sys/fs/cgroup/pods/hugetlb.2MB.current", "2097152\n");
    fake.file("sys/fs/cgroup/pods/one/hugetlb.2MB.max", "max\n");
    fake.file("sys/fs/cgroup/pods/one/memory.max", "104857600\n");
    fake.file("sys/fs/cgroup/pods/one/memory.current", "100000000\n");
    assert_eq!(huge_left(fake.path(), 2 << 20), Some(6 << 20));
    assert_eq!(huge_left(fake.path(), 1 << 30), None);
    assert_eq!(memory_limit(fake.path()), Some(100 << 20));
    fake.file("sys/fs/cgroup/pods/one/hugetlb.2MB.rsvd.max", "2097152\n");
    assert_eq!(huge_left(fake.path(), 2 << 20), Some(2 << 20));
}

#[test]
fn version_1_has_a_hierarchy_for_each_controller() {
    let fake = Fake::new("0\n");
    fake.file(
        "proc/self/cgroup",
        "5:cpu,hugetlb:/../pod\n4:memory:/m\n0::/\n",
    );
    fake.file("sys/fs/cgroup/hugetlb/hugetlb.1GB.limit_in_bytes", "0\n");
    fake.file("sys/fs/cgroup/hugetlb/hugetlb.1GB.usage_in_bytes", "4096\n");
    fake.file(
        "sys/fs/cgroup/hugetlb/hugetlb.64KB.limit_in_bytes",
        "9223372036854771712\n",
    );
    fake.file("sys/fs/cgroup/memory/m/memory.limit_in_bytes", "4096\n");
    assert_eq!(huge_left(fake.path(), 1 << 30), Some(0));
    assert_eq!(
        huge_left(fake.path(), 64 << 10),
        Some(9_223_372_036_854_771_712)
    );
    assert_eq!(memory_limit(fake.path()), Some(4096));
}

#[test]
fn free_pages_that_the_group_denies_do_not_count() {
    let fake = Fake::new("0\n");
    fake.pages(2048, 100, 0, 0);
    fake.file("proc/meminfo", "MemAvailable: 1000 kB\n");
    fake.file("proc/self/cgroup", "0::/\n");
    fake.file("sys/fs/cgroup/hugetlb.2MB.max", "6291456\n");
    fake.file("sys/fs/cgroup/memory.max", "512000\n");
    let machine = fake.machine();
    assert_eq!(machine.huge_free(2 << 20, None), 3);
    assert_eq!(machine.huge_free(2 << 20, Some(0)), 3);
    assert_eq!(machine.memory_free(None), 512_000);
}
