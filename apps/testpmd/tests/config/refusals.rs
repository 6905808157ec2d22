//! What can't be: the words of DPDK's recorded sessions, and nothing changed.

use crate::rig::Rig;

/// Lines and what is said on standard error, with ports that run.
const RUNNING: &[(&str, &str)] = &[
    (
        "set burst 9999",
        "nb pkt per burst: 9999 > 512 (maximum packet per burst)  ignored",
    ),
    (
        "set burst 0",
        "mpps: set burst 0: must be 1 to 512 packets, ignored; a burst of none moves nothing",
    ),
    (
        "set txpkts 70000",
        "length[0]=70000 > mbuf_data_size=2176 - give up",
    ),
    ("set txpkts 20", "total packet length=20 < 42 - give up"),
    ("set txpkts a", "character a is not a decimal digit"),
    (
        "set nbcore 9",
        "nb fwd cores 9 > 2 (max. number of configured lcores) - ignored",
    ),
    (
        "set nbcore 0",
        "mpps: set nbcore 0: must be 1 to 2, the configured lcores",
    ),
    (
        "set nbport 3",
        "nb fwd ports 3 > 2 (number of configured ports) - ignored",
    ),
    (
        "set nbport 0",
        "mpps: set nbport 0: must be 1 to 2, the configured ports",
    ),
    ("set portlist 0,7", "Invalid port 7"),
    ("set portlist 0,65536", "Invalid port 65536"),
    ("set portlist 1,1", "duplicated port 1 at index 0 and 1"),
    ("set portlist ,1", "No valid value before comma"),
    ("set portmask 0", "Invalid NULL mask of ports"),
    ("set portmask 0xf0", "Invalid NULL mask of ports"),
    ("set corelist 9", "lcore 9 not enabled"),
    ("set corelist 1,1", "duplicated core 1 at index 0 and 1"),
    (
        "set corelist 0",
        "lcore 0 cannot be masked on for running packet forwarding, which is the main lcore and reserved for command line parsing only",
    ),
    ("set coremask 0", "Invalid NULL mask of cores"),
    ("set coremask 0xf0", "lcore 4 not enabled"),
    ("set txonly-flows 65", "txonly-flows must be >= 1 and <= 64"),
    (
        "set promisc 9 on",
        "ETHDEV: Invalid port_id=9\nError during enabling promiscuous mode for port 9: No such device",
    ),
    (
        "set promisc 0 off",
        "Error during disabling promiscuous mode for port 0: Operation not supported",
    ),
    (
        "set allmulti all off",
        "Error during disabling all-multicast mode for port 0: Operation not supported\nError during disabling all-multicast mode for port 1: Operation not supported",
    ),
    (
        "mac_addr add 0 02:00:00:00:00:0a",
        "mac_addr_cmd error: (Operation not supported)",
    ),
    (
        "mac_addr remove 0 02:00:00:00:00:0a",
        "mac_addr_cmd error: (Operation not supported)",
    ),
    (
        "mac_addr set 0 ff:ff:ff:ff:ff:ff",
        "mac_addr_cmd error: (Invalid argument)",
    ),
    (
        "mac_addr set 9 02:00:00:00:00:01",
        "ETHDEV: Invalid port_id=9\nmac_addr_cmd error: (No such device)",
    ),
    (
        "set eth-peer 9 02:00:00:00:00:99",
        "Error: Invalid port number 9",
    ),
    (
        "set eth-peer 0 nonsense",
        "Error: Invalid ethernet address: nonsense",
    ),
    (
        "port config mtu 0 20",
        "MTU (20) < device min MTU (46) for port_id 0",
    ),
    ("port config mtu 9 1500", "Invalid port 9"),
    ("port config all rxq 2", "Please stop all ports first"),
    ("port config all txd 2", "Please stop all ports first"),
    (
        "port config all max-pkt-len 1518",
        "Please stop all ports first",
    ),
    ("port config all drop-en on", "Please stop all ports first"),
    ("port config 9 rxq 0 ring_size 256", "Invalid port 9"),
    (
        "port config 0 rxq 9 ring_size 256",
        "Invalid RX queue 9 (must be < nb_rxq=1)",
    ),
    ("port 9 txq 0 stop", "Invalid port 9"),
    (
        "port 0 txq 1 stop",
        "Invalid TX queue 1 (must be < nb_txq=1)",
    ),
    ("port 0 rxq 0 deferred_start on", "Please stop port 0 first"),
    (
        "port 0 rxq 9 setup",
        "Invalid RX queue 9 (must be < nb_rxq=1)\nInvalid rx queue",
    ),
    (
        "port 0 rxq 0 setup",
        "Failed to setup RX queue\nmpps: a running port keeps its queues; 'port stop 0' and 'port start 0' make them anew",
    ),
    (
        "port config 0 rx_offload vlan_strip on",
        "Error: Can't config offload when Port 0 is not stopped",
    ),
    (
        "port config 9 rx_offload vlan_strip on",
        "ETHDEV: Invalid port_id=9\nError during getting device (port 9) info: No such device",
    ),
    (
        "vlan set filter on 0",
        "ETHDEV: Ethdev port_id=0 requested new added VLAN offloads 0x200 must be within Rx offloads capabilities 0x0 in rte_eth_dev_set_vlan_offload()\nrx_vlan_filter_set(port_pi=0, on=1) failed diag=-22",
    ),
    (
        "vlan set stripq on 0,0",
        "rx_vlan_strip_set_on_queue(port_pi=0, queue_id=0, on=1) failed diag=-95",
    ),
    ("vlan set strip on 9", "Invalid port 9"),
    (
        "rx_vlan add 5 0",
        "ETHDEV: Port 0: VLAN-filtering disabled\nrte_eth_dev_vlan_filter(port_pi=0, vlan_id=5, on=1) failed diag=-38",
    ),
    (
        "rx_vlan add 5000 0",
        "Invalid vlan_id 5000 (must be < 4096)",
    ),
    ("tx_vlan set 0 5", "Please stop port 0 first"),
    ("tx_vlan set 9 5", "Invalid port 9"),
    ("csum show 0", "Please stop port 0 first"),
    ("csum set ip hw 0", "Please stop port 0 first"),
    ("csum set ip hw 9", "Invalid port 9\ninvalid port 9"),
    ("tso show 0", "Please stop port 0 first"),
    ("port config all rss nosuch", "Unknown parameter"),
    (
        "port config all rss 64",
        "flowtype_id should be greater than 0 and less than 64.",
    ),
    (
        "port config 0 rss-hash-key ipv4 00",
        "key length: 2 invalid - key must be a string of 80 hexa-decimal numbers",
    ),
    ("port detach 0", "Port not stopped"),
    ("port detach 9", "ETHDEV: Invalid port_id=9"),
    (
        "set port 9 ptype_mask 0",
        "ETHDEV: Invalid port_id=9\nPort 9 doesn't support any ptypes.",
    ),
    (
        "set link-up port 9",
        "ETHDEV: Invalid port_id=9\n\nSet link up fail.",
    ),
    ("set link-down port 0", "\nSet link down fail."),
    ("set port 9 gro on", "invalid port id 9"),
    (
        "mcast_addr add 0 02:00:5e:00:00:01",
        "Invalid multicast addr 02:00:5E:00:00:01",
    ),
    (
        "set txtimes 1,2",
        "mpps: set txtimes: no port here sends packets at a given time (offload SEND_ON_TIMESTAMP)",
    ),
];

/// Likewise, with ports that are stopped.
const STOPPED: &[(&str, &str)] = &[
    (
        "port config all rxq 5000",
        "Fail: input rxq (5000) can't be greater than max_rx_queues (1024) of port 0",
    ),
    (
        "port config all txq 65535",
        "Fail: input txq (65535) can't be greater than max_tx_queues (1024) of port 0",
    ),
    ("port config all burst 600", "burst must be >= 1 && <= 512"),
    (
        "port config all max-pkt-len 63",
        "max-pkt-len can not be less than 64",
    ),
    (
        "port config all max-pkt-len 100000",
        "Failed to set MTU to 99982 for port 0",
    ),
    ("port 0 rxq 0 stop", "Please start port 0 first"),
    ("port 9 rxq 0 deferred_start on", "Invalid port 9"),
    (
        "port 0 txq 9 tx_offload multi_segs on",
        "Error: input queue_id should be 0 ... 0",
    ),
    (
        "port config 0 rx_offload vlan_strip on",
        "mpps: port 0: Rx offload VLAN_STRIP is not available; it can have none",
    ),
    (
        "port config all tx_offload vlan_insert on",
        "mpps: port 0: Tx offload VLAN_INSERT is not available; it can have MT_LOCKFREE MULTI_SEGS",
    ),
    ("tso set 800 0", "Error: TSO is not supported by port 0"),
    (
        "tunnel_tso set 800 0",
        "Error: port=0 don't support tunnel TSO offloads.",
    ),
    (
        "tx_vlan set 0 5",
        "Error: vlan insert is not supported by port 0",
    ),
    (
        "tx_vlan set 0 5 6",
        "Error: qinq insert not supported by port 0",
    ),
    (
        "tx_vlan set 0 5000",
        "Invalid vlan_id 5000 (must be < 4096)",
    ),
    (
        "port config all rss ip",
        "ETHDEV: Multi-queue RSS mode isn't enabled.\nConfiguration of RSS hash at ethernet port 0 failed with error (95): Operation not supported.\nETHDEV: Multi-queue RSS mode isn't enabled.\nConfiguration of RSS hash at ethernet port 1 failed with error (95): Operation not supported.",
    ),
];

fn refused(rig: &mut Rig, lines: &[(&str, &str)]) {
    for (line, text) in lines {
        let before = rig.configuration();
        assert_eq!(rig.err(line), format!("{text}\n"), "{line}");
        assert_eq!(rig.configuration(), before, "{line}");
    }
}

#[test]
fn while_ports_run() {
    refused(&mut Rig::new(""), RUNNING);
}

#[test]
fn while_ports_are_stopped() {
    let mut rig = Rig::new("");
    rig.run("port stop all");
    refused(&mut rig, STOPPED);
}

#[test]
fn one_running_port_is_enough_to_refuse() {
    let mut rig = Rig::new("");
    rig.run("port stop 0");
    refused(
        &mut rig,
        &[("port config all rxq 2", "Please stop all ports first")],
    );
}

#[test]
fn neither_direction_may_lose_its_last_queue() {
    let mut rig = Rig::new("");
    rig.run("port stop all");
    rig.quiet(&["port config all rxq 0"]);
    refused(
        &mut rig,
        &[(
            "port config all txq 0",
            "Warning: Either rx or tx queues should be non zero",
        )],
    );
}

/// A change of streams that run would leave workers behind that nobody joins.
#[test]
fn while_packets_are_forwarded() {
    let mut rig = Rig::new("");
    rig.run("start");
    let lines = [
        "set nbcore 1",
        "set nbport 1",
        "set corelist 1",
        "set coremask 2",
        "set portlist 1,0",
        "set portmask 1",
        "set burst 16",
        "set default",
    ];
    for line in lines {
        refused(&mut rig, &[(line, "Please stop forwarding first")]);
    }
    let stopped = rig.out("stop");
    assert!(stopped.ends_with("\nDone.\n"), "{stopped}");
}

#[test]
fn words_that_are_no_command() {
    let mut rig = Rig::new("");
    let lines = [
        "set fwd nosuch",
        "set coremask F",
        "port config 0 mtu 1500",
        "port config mtu 0 64000000",
        "set burst -1",
        "set burst 65536",
        "set promisc all",
        "mac_addr set 0 02:00:00:00:00",
        "port config 0 rx_offload nosuch on",
        "vlan set outer tpid 70000 0",
        "set portlist",
    ];
    for line in lines {
        let before = rig.configuration();
        assert_eq!(rig.out(line), "Bad arguments\n", "{line}");
        assert_eq!(rig.configuration(), before, "{line}");
    }
}
