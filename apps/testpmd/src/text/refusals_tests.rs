//! Checked against the recorded null session where it has the line.

use super::*;

#[test]
fn as_recorded() {
    let unsupported = "Operation not supported";
    for (refusal, want) in [
        (Refusal::NoPort(99), "Invalid port 99"),
        (Refusal::AlreadyStarted, "Packet forwarding already started"),
        (Refusal::NotStarted, "Packet forwarding not started"),
        (Refusal::StopForwarding, "Please stop forwarding first"),
        (Refusal::StopAllPorts, "Please stop all ports first"),
        (Refusal::StopPort(0), "Please stop port 0 first"),
        (
            Refusal::Forwarding(0),
            "Please remove port 0 from forwarding configuration.",
        ),
        (
            Refusal::BurstTooLong(9999),
            "nb pkt per burst: 9999 > 512 (maximum packet per burst)  ignored",
        ),
        (
            Refusal::TooManyCores(9, 1),
            "nb fwd cores 9 > 1 (max. number of configured lcores) - ignored",
        ),
        (
            Refusal::TooManyPorts(9, 2),
            "nb fwd ports 9 > 2 (number of configured ports) - ignored",
        ),
        (Refusal::NoLcore(9), "lcore 9 not enabled"),
        (
            Refusal::SegmentTooLong(0, 70_000, 2176),
            "length[0]=70000 > mbuf_data_size=2176 - give up",
        ),
        (
            Refusal::Promiscuous(true, 9, "No such device"),
            "Error during enabling promiscuous mode for port 9: No such device",
        ),
        (
            Refusal::AllMulticast(false, 0, unsupported),
            "Error during disabling all-multicast mode for port 0: Operation not supported",
        ),
        (
            Refusal::PromiscuousIgnored(0, unsupported),
            "Error during enabling promiscuous mode for port 0: Operation not supported - ignore",
        ),
        (
            Refusal::MacAddr(unsupported),
            "mac_addr_cmd error: (Operation not supported)",
        ),
    ] {
        assert_eq!(refusal.to_string(), want);
    }
}

#[test]
fn as_recorded_of_ports() {
    for (refusal, want) in [
        (Refusal::LinkUp, "\nSet link up fail."),
        (Refusal::LinkDown, "\nSet link down fail."),
        (
            Refusal::NotABond(0),
            "\tFailed to get bonding mode for port = 0",
        ),
        (
            Refusal::VlanStrip(0, true, -22),
            "rx_vlan_strip_set(port_pi=0, on=1) failed diag=-22",
        ),
        (
            Refusal::VlanFilter(0, true, -22),
            "rx_vlan_filter_set(port_pi=0, on=1) failed diag=-22",
        ),
        (
            Refusal::VlanMember(0, 5, true, -38),
            "rte_eth_dev_vlan_filter(port_pi=0, vlan_id=5, on=1) failed diag=-38",
        ),
        (
            Refusal::Reta(-22),
            "Failed to get RSS RETA info, return code = -22",
        ),
        (Refusal::TxQueues(0), "Fail to configure port 0 tx queues"),
        (Refusal::StartPorts, "Start ports failed"),
        (
            Refusal::FwdMode("nosuch".to_owned()),
            "Invalid nosuch packet forwarding mode",
        ),
        (Refusal::NoPorts, "Invalid NULL mask of ports"),
    ] {
        assert_eq!(refusal.to_string(), want);
    }
}

#[test]
fn lists_and_tables() {
    for (refusal, want) in [
        (
            Refusal::ListCharacter('x'),
            "character x is not a decimal digit",
        ),
        (Refusal::ListComma, "No valid value before comma"),
        (
            Refusal::ListLong("core", 300, 128),
            "Number of core = 300 > 128 (maximum items)",
        ),
        (
            Refusal::ListTwice("port", 1, 0, 2),
            "duplicated port 1 at index 0 and 2",
        ),
        (Refusal::RetaIndex(128), "Invalid RETA hash index=128"),
        (
            Refusal::RetaRefused(-22),
            "Bad redirection table parameter, return code = -22",
        ),
        (
            Refusal::VlanInsert(0),
            "Error: vlan insert is not supported by port 0",
        ),
        (
            Refusal::NoQueue(0, 9),
            "Invalid input: port id = 0, queue id = 9",
        ),
        (
            Refusal::NoDescriptor(0, 999),
            "Invalid input: queue id = 0, desc id = 999",
        ),
        (
            Refusal::GsoForwarding(false),
            "before disabling GSO, please stop forwarding first",
        ),
    ] {
        assert_eq!(refusal.to_string(), want);
    }
}

#[test]
fn one_line_each_unless_dpdk_has_an_empty_one_in_front() {
    let quiet = [
        Refusal::NoXstats,
        Refusal::RssWord,
        Refusal::Attach("net_x".to_owned()),
        Refusal::MtuTooLarge(9, 8, 0),
    ];
    assert!(
        quiet
            .iter()
            .all(|refusal| !refusal.to_string().contains('\n'))
    );
}

#[test]
fn notices() {
    let pool = Notice::Pool {
        name: "mb_pool_0",
        count: 163_456,
        size: 2176,
        socket: 0,
    };
    assert_eq!(
        pool.to_string(),
        "testpmd: create a new mbuf pool <mb_pool_0>: n=163456, size=2176, socket=0"
    );
    assert_eq!(
        Notice::PoolOps("ring_mp_mc").to_string(),
        "testpmd: preferred mempool ops selected: ring_mp_mc"
    );
    assert_eq!(
        Notice::NoDevices.to_string(),
        "testpmd: No probed ethernet devices"
    );
    let odd = Notice::OddPorts.to_string();
    assert!(
        odd.starts_with("\nWarning! port-topology=paired and odd forward ports number, ")
            && odd.ends_with("itself.\n")
    );
    assert!(
        Notice::NumaByHand
            .to_string()
            .starts_with("Warning: NUMA should be configured manually by using ")
    );
}
