//! Command lines that can't be carried out: one line names the culprit, and the program ends with a failure.
//!
//! Most are those recorded of DPDK's testpmd, which answers some with pages of usage and lives on after others.

use super::rig::{OURS, Run};

/// A command line, and words of its refusal.
const MISTAKES: &[(&str, &[&str])] = &[
    ("-l 0,999 --no-pci", &["999"]),
    ("-l 0,1 --nosuch", &["`--nosuch`"]),
    ("-l 0,1 --no-pci -i", &["`-i`", "after `--`"]),
    (
        "-l 0 --no-pci -- -i",
        &["no lcore is left to forward packets"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_nosuch0 -- -i",
        &["net_nosuch0", "net_null"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0,size=abc -- -i",
        &["net_null0", "size", "abc"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0,nosuch=1 -- -i",
        &["net_null0", "nosuch"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0 --vdev net_null0 -- -i",
        &["net_null0", "twice"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0 -- -i --burst=1000",
        &["burst", "1000", "512"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0 -- -i --nb-cores=9",
        &["nb-cores", "9", "1"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0 -- -i --rxq=2000",
        &["rxq", "2000", "1024"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0 -- -i --port-numa-config=(3,0)",
        &["--port-numa-config", "port 3", "1 ports"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0 -- -i --port-numa-config=(0,77)",
        &["NUMA node 77"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0 -- -i --ring-numa-config=(4,1,0)",
        &["--ring-numa-config", "port 4"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0 -- -i --nosuch",
        &["`--nosuch`"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0 -- -i --forward-mode=nosuch",
        &["nosuch", "macswap"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0 -- -i --port-topology=nosuch",
        &["nosuch", "paired"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0 -- -i --mbcache=999",
        &["mbcache", "999", "512"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0 -- -i --total-num-mbufs=10",
        &["total-num-mbufs", "10", "1025"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_null0 -- -i --stats-period=abc",
        &["stats-period", "abc"],
    ),
    (
        "-l 0,1 --no-pci -m 512 --socket-mem 512 -- -i",
        &["-m", "--socket-mem"],
    ),
    (
        "-l 0,1 --no-pci --no-huge -m 4 --vdev net_null0 -- -i",
        &["mb_pool_0", "4 MiB"],
    ),
    (
        "-l 0,1 --no-pci --vdev net_pcap0,rx_pcap=nosuch.pcap -- -i",
        &["net_pcap0", "nosuch.pcap"],
    ),
];

#[test]
fn each_is_answered_in_one_line() {
    if !super::rig::two_cpus("session_mistakes") {
        return;
    }
    for (line, words) in MISTAKES {
        let args: Vec<&str> = line.split(' ').collect();
        let mut run = Run::start(OURS.as_ref(), &args);
        run.close();
        let ended = run.end();
        assert_eq!(ended.status.code(), Some(1), "{line}: {}", ended.text);
        let last = ended.text.lines().last().unwrap_or_default();
        assert!(last.starts_with("mpps: "), "{line}: {}", ended.text);
        for word in *words {
            assert!(last.contains(word), "{line}: no {word:?} in {last:?}");
        }
        assert!(!ended.text.contains("Bye..."), "{line}: {}", ended.text);
    }
}
