//! Single ports: modes, addresses, MTU, offloads, checksums; ports that come and go.

use crate::rig::Rig;

#[test]
fn the_address_is_that_of_the_port_from_now_on() {
    let mut rig = Rig::new("");
    rig.quiet(&[
        "mac_addr set 0 02:00:00:00:00:09",
        "set promisc all on",
        "set allmulti all on",
    ]);
    rig.run("port stop 0");
    assert!(
        rig.out("port start 0")
            .contains("Port 0: 02:00:00:00:00:09\n")
    );
}

#[test]
fn the_mtu_outlives_restarts_and_that_of_all_replaces_it() {
    let mut rig = Rig::new("");
    rig.quiet(&["port config mtu 0 9000"]);
    let mtu = |rig: &Rig| rig.app.port(0).expect("port").dev.port().mtu();
    assert_eq!(mtu(&rig), 9000);
    rig.stopped(&["port config all rxd 64"]);
    assert_eq!(mtu(&rig), 9000);
    // A frame of 1518 bytes with FCS holds 1500.
    rig.stopped(&["port config all max-pkt-len 1518"]);
    assert_eq!(mtu(&rig), 1500);
    // The least of a null port: 46 bytes of data fill the shortest frame.
    rig.stopped(&["port config all max-pkt-len 64"]);
    assert_eq!(mtu(&rig), 46);
}

/// A version of DPDK turned offloads on for "off" and off for "on".
#[test]
fn an_offload_is_on_after_on_and_off_after_off() {
    let mut rig = Rig::new("");
    let applied = |rig: &Rig, port| {
        rig.app
            .port(port)
            .expect("port")
            .dev
            .port()
            .config()
            .tx_offloads
            .bits()
    };
    let before = applied(&rig, 0);
    rig.stopped(&["port config 0 tx_offload multi_segs on"]);
    assert_eq!(applied(&rig, 0), before | 1 << 15);
    assert_eq!(applied(&rig, 1), before);
    rig.stopped(&["port config 0 tx_offload multi_segs off"]);
    assert_eq!(applied(&rig, 0), before & !(1 << 15));
    rig.stopped(&["port config all tx_offload multi_segs on"]);
    assert_eq!(applied(&rig, 1), before | 1 << 15);
    // Each queue has what the port has; one alone can't be without.
    rig.run("port stop all");
    rig.quiet(&["port 0 txq 0 tx_offload multi_segs on"]);
    let answer = rig.err("port 0 txq 0 tx_offload multi_segs off");
    assert_eq!(
        answer,
        "mpps: port 0: MULTI_SEGS is on for the port as a whole; turn it off there\n"
    );
}

const SOFTWARE: &str = "IP checksum offload is sw\nUDP checksum offload is sw\nTCP checksum offload is sw\nSCTP checksum offload is sw\nOuter-Ip checksum offload is sw\nOuter-Udp checksum offload is sw\n";

#[test]
fn checksums_stay_with_the_engine_where_the_port_sums_none() {
    let mut rig = Rig::new("");
    rig.run("port stop all");
    let said = rig.run("csum set udp hw 0");
    assert_eq!(
        said.err,
        "UDP checksum offload is not supported by port 0\n"
    );
    assert_eq!(said.out, format!("Parse tunnel is off\n{SOFTWARE}"));
    assert_eq!(
        rig.out("csum parse-tunnel on 0"),
        format!("Parse tunnel is on\n{SOFTWARE}")
    );
    assert_eq!(
        rig.out("csum show 0"),
        format!("Parse tunnel is on\n{SOFTWARE}")
    );
    rig.quiet(&["csum mac-swap off 0"]);
    let checksum = rig.app.port(0).expect("port").checksum;
    assert!(checksum.parse_tunnel && !checksum.mac_swap);
    assert_eq!(
        rig.out("tso set 0 0"),
        "TSO and UFO for non-tunneled packets is disabled\n"
    );
}

#[test]
fn an_attached_port_inherits_and_forwards() {
    let mut rig = Rig::new("");
    rig.run("port stop all");
    rig.quiet(&[
        "port config all rxq 2",
        "port config all txq 2",
        "port config all tx_offload multi_segs on",
    ]);
    let said = rig.run("port attach net_null7,size=128");
    assert_eq!(
        said.out,
        "Attaching a new port...\nPort 2 is attached. Now total ports is 3\nDone\n"
    );
    let slot = rig.app.port(2).expect("port 2");
    assert!(!slot.is_started() && slot.dev.port().promiscuous());
    assert_eq!(slot.dev.info().devargs, "size=128");
    assert_eq!(slot.tx_offloads & 1 << 15, 1 << 15);
    assert_eq!(rig.app.forwarding.active_ports(), [0, 1, 2]);
    rig.run("port start all");
    assert_eq!(
        rig.app
            .port(2)
            .expect("port 2")
            .dev
            .port()
            .config()
            .rx
            .len(),
        2
    );
    let text = rig.out("start");
    assert!(text.contains("ports=3 - cores=1 - streams=6"), "{text}");
    rig.run("stop");
}

#[test]
fn a_device_that_cannot_be_attached_leaves_all_as_it_was() {
    let mut rig = Rig::new("");
    for (device, why) in [
        (
            "net_nosuch0",
            "net_nosuch0: no kind of port has this name; the kinds there are: ",
        ),
        (
            "net_null0",
            "net_null0 is a port already; each device needs a name of its own\n",
        ),
        ("net_tap0", "net_tap0: there is no net_tap port here yet; "),
        ("net_null5,nosuch=1", "device net_null5: "),
        ("net_pcap5,rx_pcap=/nosuch/file.pcap", "device net_pcap5: "),
    ] {
        let before = rig.configuration();
        let said = rig.run(&format!("port attach {device}"));
        assert_eq!(said.out, "Attaching a new port...\n", "{device}");
        assert!(
            said.err.starts_with(&format!("mpps: {why}")),
            "{device}: {said:?}"
        );
        assert!(
            said.err
                .ends_with(&format!("\ntestpmd: Failed to attach port {device}\n")),
            "{device}: {said:?}"
        );
        assert_eq!(rig.configuration(), before, "{device}");
    }
}

#[test]
fn a_detached_port_leaves_its_number_free() {
    let mut rig = Rig::new("");
    rig.run("port stop 1");
    let said = rig.run("port detach 1");
    assert!(said.err.starts_with("Port was not closed\n"), "{said:?}");
    assert_eq!(
        said.out,
        "Removing a device...\nPort 1 is closed\nDevice is detached\nNow total ports is 1\nDone\n"
    );
    assert_eq!(rig.app.forwarding.active_ports(), [0]);
    assert_eq!(
        rig.out("port attach net_null9"),
        "Attaching a new port...\nPort 1 is attached. Now total ports is 2\nDone\n"
    );
    assert_eq!(rig.app.forwarding.active_ports(), [0, 1]);
    let said = rig.run("device detach net_null9");
    assert_eq!(
        said.out,
        "Removing a device...\nPort 1 is closed\nDevice net_null9 is detached\nNow total ports is 1\nDone\n"
    );
    let said = rig.run("device detach net_null0");
    assert_eq!(said.err, "Port 0 not stopped\n");
    let said = rig.run("device detach net_null9");
    assert_eq!(
        said.err,
        "testpmd: Failed to detach device net_null9\nmpps: no device has this name; there are: net_null0\n"
    );
}

/// A closed port is gone from the forwarding ports, and its device's name is free.
#[test]
fn a_closed_port_can_come_back() {
    let mut rig = Rig::new("");
    rig.run("port stop all");
    let said = rig.run("port close 0");
    assert_eq!(said.out, "Closing ports...\nPort 0 is closed\nDone\n");
    assert_eq!(rig.err("port close 0"), "Invalid port 0\n");
    assert_eq!(rig.err("port detach 0"), "ETHDEV: Invalid port_id=0\n");
    assert_eq!(
        rig.out("port attach net_null0"),
        "Attaching a new port...\nPort 0 is attached. Now total ports is 2\nDone\n"
    );
    assert_eq!(rig.app.forwarding.active_ports(), [1, 0]);
}

#[test]
fn all_ports_may_go_and_new_ones_come() {
    let mut rig = Rig::new("");
    rig.run("port stop all");
    rig.run("port detach 0");
    rig.run("port detach 1");
    assert_eq!(rig.app.port_ids(), [0_u16; 0]);
    rig.run("start");
    rig.run("stop");
    rig.run("port attach net_null0");
    assert!(rig.run("port start all").out.ends_with("Done\n"));
    let text = rig.run("start").out;
    assert!(text.contains("ports=1 - cores=1 - streams=1"), "{text}");
    rig.run("stop");
}

/// A port that doesn't forward may go while others do; their streams and figures stay.
#[test]
fn a_port_apart_may_go_while_others_forward() {
    let mut rig = Rig::with_devices(
        "--vdev net_null0 --vdev net_null1 --vdev net_null2 --vdev net_null3",
        "",
    );
    rig.run("set portlist 0,1");
    rig.run("start");
    rig.run("port stop 2");
    rig.run("port stop 3");
    assert!(
        rig.run("port detach 2")
            .out
            .ends_with("Now total ports is 3\nDone\n")
    );
    assert!(rig.run("port close 3").out.contains("Port 3 is closed\n"));
    assert_eq!(rig.err("port detach 1"), "Port not stopped\n");
    let refused = rig.run("port close 1");
    assert_eq!(
        refused.err,
        "Please remove port 1 from forwarding configuration.\n"
    );
    rig.until_counted(1, "tx_q0_packets");
    assert!(rig.out("stop").ends_with("\nDone.\n"));
    assert_eq!(rig.app.forwarding.active_ports(), [0, 1]);
}
