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
