//! The texts against recorded sessions of DPDK's testpmd.

use mpps_wire::MacAddr;

use super::ConfigRefusal;
use crate::text::Refusal;

#[test]
fn the_recorded_texts() {
    let mac = MacAddr([2, 0, 0x5e, 0, 0, 1]);
    let vlan = ConfigRefusal::Vlan {
        port: 0,
        bits: 0x200,
        have: 0,
        function: "rx_vlan_filter_set",
    };
    for (refusal, text) in [
        (
            ConfigRefusal::NoEthdev(9, Refusal::Promiscuous(true, 9, "No such device")),
            "ETHDEV: Invalid port_id=9\nError during enabling promiscuous mode for port 9: No such device",
        ),
        (
            vlan,
            "ETHDEV: Ethdev port_id=0 requested new added VLAN offloads 0x200 must be within Rx offloads capabilities 0x0 in rte_eth_dev_set_vlan_offload()\nrx_vlan_filter_set(port_pi=0, on=1) failed diag=-22",
        ),
        (
            ConfigRefusal::VlanFilterOff(0, Refusal::VlanMember(0, 5, true, -38)),
            "ETHDEV: Port 0: VLAN-filtering disabled\nrte_eth_dev_vlan_filter(port_pi=0, vlan_id=5, on=1) failed diag=-38",
        ),
        (
            ConfigRefusal::TooManyQueues("rxq", 5000, 1024, 0),
            "Fail: input rxq (5000) can't be greater than max_rx_queues (1024) of port 0",
        ),
        (
            ConfigRefusal::NoQueue("RX", 9, "rxq", 2),
            "Invalid RX queue 9 (must be < nb_rxq=2)",
        ),
        (
            ConfigRefusal::NoQueueToSetUp("TX", 9, "txq", 2),
            "Invalid TX queue 9 (must be < nb_txq=2)\nInvalid tx queue",
        ),
        (
            ConfigRefusal::RetaQueue(70, 9, 2),
            "ETHDEV: reta_conf[1]->reta[6]: 9 exceeds the maximum rxq index: 2\nBad redirection table parameter, return code = -22",
        ),
        (
            ConfigRefusal::RetaEntry(500),
            "Invalid RETA hash index=500\nInvalid RSS Redirection Table config entered",
        ),
        (
            ConfigRefusal::RssOff(1),
            "ETHDEV: Multi-queue RSS mode isn't enabled.\nConfiguration of RSS hash at ethernet port 1 failed with error (95): Operation not supported.",
        ),
        (
            ConfigRefusal::NotMulticast(mac),
            "Invalid multicast addr 02:00:5E:00:00:01",
        ),
        (
            ConfigRefusal::NoPortTwice(9),
            "Invalid port 9\ninvalid port 9",
        ),
        (
            ConfigRefusal::Attach("net_x".to_owned(), "why".to_owned()),
            "mpps: why\ntestpmd: Failed to attach port net_x",
        ),
    ] {
        assert_eq!(refusal.to_string(), text);
    }
}
