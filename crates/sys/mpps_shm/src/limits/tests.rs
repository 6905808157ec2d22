use super::derive;
use crate::books::Scope;
use crate::config::MemoryConfig;
use crate::machine::tests::Fake;

const MIB: u64 = 1 << 20;

fn two_nodes() -> Fake {
    let fake = Fake::new("0-1\n");
    fake.pages(2048, 64, 0, 0);
    fake.file("proc/meminfo", "MemAvailable: 1048576 kB\n");
    for node in 0..2 {
        let folder = format!("sys/devices/system/node/node{node}");
        fake.file(
            &format!("{folder}/hugepages/hugepages-2048kB/free_hugepages"),
            "32\n",
        );
        fake.file(
            &format!("{folder}/meminfo"),
            &format!("Node {node} MemFree: 524288 kB\n"),
        );
    }
    fake
}

fn error(config: &MemoryConfig) -> String {
    derive(config, &two_nodes().machine())
        .unwrap_err()
        .to_string()
}

#[test]
fn no_option_is_no_limit() {
    let (accounts, floors) = derive(&MemoryConfig::default(), &two_nodes().machine()).unwrap();
    assert!(accounts.is_empty() && floors.is_empty());
}

#[test]
fn fixed_memory_is_a_cap() {
    let config = MemoryConfig {
        total_mb: Some(1 << 20),
        no_huge: true,
        ..MemoryConfig::default()
    };
    let (accounts, floors) = derive(&config, &two_nodes().machine()).unwrap();
    assert_eq!(accounts.len(), 1);
    assert_eq!(
        (accounts[0].scope, accounts[0].allowed),
        (Scope::All, 1 << 40)
    );
    assert!(floors.is_empty());

    let config = MemoryConfig {
        per_node_mb: vec![64],
        legacy_mem: true,
        ..MemoryConfig::default()
    };
    let (accounts, _) = derive(&config, &two_nodes().machine()).unwrap();
    let amounts: Vec<_> = accounts
        .iter()
        .map(|account| (account.scope, account.allowed))
        .collect();
    assert_eq!(amounts, [(Scope::Node(0), 64 * MIB), (Scope::Node(1), 0)]);
}

#[test]
fn growing_memory_has_a_floor() {
    let config = MemoryConfig {
        per_node_mb: vec![64, 0],
        ..MemoryConfig::default()
    };
    let (accounts, floors) = derive(&config, &two_nodes().machine()).unwrap();
    assert!(accounts.is_empty());
    assert_eq!((floors[0].node, floors[0].left), (Some(0), 64 * MIB));
    assert_eq!((floors[1].node, floors[1].left), (Some(1), 0));
}

#[test]
fn limits_of_nodes_and_page_sizes() {
    let config = MemoryConfig {
        limit_per_node_mb: vec![0, 10],
        pagesz_limits: vec![(2 << 20, 4 << 20), (2 << 20, 8 << 20)],
        ..MemoryConfig::default()
    };
    let (accounts, _) = derive(&config, &two_nodes().machine()).unwrap();
    let amounts: Vec<_> = accounts
        .iter()
        .map(|account| (account.scope, account.allowed))
        .collect();
    assert_eq!(
        amounts,
        [
            (Scope::Node(1), 10 * MIB),
            (Scope::PageSize(2 << 20), 8 * MIB)
        ]
    );
}

#[test]
fn a_node_that_is_not_there_is_named_with_those_that_are() {
    let config = MemoryConfig {
        per_node_mb: vec![1, 0, 1],
        ..MemoryConfig::default()
    };
    assert_eq!(
        error(&config),
        "--numa-mem/--socket-mem: there is no NUMA node 2; this machine has 0, 1"
    );
    let config = MemoryConfig {
        limit_per_node_mb: vec![1, 1, 1],
        ..MemoryConfig::default()
    };
    assert!(error(&config).starts_with("--numa-limit/--socket-limit: there is no NUMA node 2"));
    let config = MemoryConfig {
        per_node_mb: vec![1, 0, 0, 0],
        ..MemoryConfig::default()
    };
    assert!(derive(&config, &two_nodes().machine()).is_ok());
}

#[test]
fn a_floor_beyond_the_machine_says_need_and_have() {
    let config = MemoryConfig {
        per_node_mb: vec![0, 600],
        ..MemoryConfig::default()
    };
    assert_eq!(
        error(&config),
        "--numa-mem/--socket-mem: needs 600 MiB on node 1, but 32 huge pages of 2 MiB, 512 MiB of other memory are \
         free; ask for less, or get more huge pages through \
         /sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages"
    );
    let config = MemoryConfig {
        total_mb: Some(4096),
        ..MemoryConfig::default()
    };
    assert!(error(&config).starts_with(
        "-m: needs 4 GiB, but 64 huge pages of 2 MiB, 1 GiB of other memory are free"
    ));
}
