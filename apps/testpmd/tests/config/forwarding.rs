//! The forwarding configuration: what each command answers and what it does to the streams.

use crate::rig::Rig;

/// The streams as `show config fwd` lists them, in order.
fn streams(rig: &mut Rig) -> Vec<String> {
    let text = rig.out("show config fwd");
    let line = |line: &str| line.trim_start().strip_prefix("RX ").map(str::to_owned);
    text.lines()
        .filter_map(line)
        .map(|line| line.replace(" (socket 0)", ""))
        .collect()
}

#[test]
fn the_recorded_session() {
    let mut rig = Rig::new("");
    for (line, answer) in [
        ("set fwd mac", "Set mac packet forwarding mode\n"),
        (
            "set fwd mac retry",
            "Set mac packet forwarding mode with retry\n",
        ),
        ("set burst 16", "Number of packets per burst set to 16\n"),
        ("set txpkts 64,64", ""),
        ("set verbose 1", "Change verbose level from 0 to 1\n"),
        ("set verbose 0", "Change verbose level from 1 to 0\n"),
        ("set nbcore 2", "Number of forwarding cores set to 2\n"),
        ("set nbport 2", "Number of forwarding ports set to 2\n"),
        ("set portlist 0,1", ""),
        ("set portmask 0x3", ""),
        ("set portmask 0xff", ""),
        ("set corelist 1,2", ""),
        (
            "set corelist 2",
            "previous number of forwarding cores 2 - changed to number of configured cores 1\n",
        ),
        (
            "set portlist 1",
            "previous number of forwarding ports 2 - changed to number of configured ports 1\n",
        ),
        (
            "set default",
            "Reset to default forwarding configuration...\n",
        ),
        ("show config cores", "List of forwarding lcores:  1 \n"),
    ] {
        if line == "show config cores" {
            assert_eq!(rig.out(line).trim_end(), answer.trim_end());
        } else if line == "set portlist 1" {
            // One port pairs with itself, which is told once.
            let said = rig.run(line);
            assert_eq!(said.out, answer);
            assert!(said.err.contains("port-topology=paired"), "{said:?}");
        } else {
            assert_eq!(rig.out(line), answer, "{line}");
        }
    }
}

#[test]
fn a_port_list_keeps_its_order() {
    let devices = "--vdev net_null0 --vdev net_null1 --vdev net_null2 --vdev net_null3";
    let mut rig = Rig::with_devices(devices, "");
    rig.quiet(&["set portlist 0,2,3,1"]);
    let pairs = [
        "P=0/Q=0 -> TX P=2/Q=0",
        "P=2/Q=0 -> TX P=0/Q=0",
        "P=3/Q=0 -> TX P=1/Q=0",
        "P=1/Q=0 -> TX P=3/Q=0",
    ];
    let found = streams(&mut rig);
    assert_eq!(found.len(), 4);
    for (found, pair) in found.iter().zip(pairs) {
        assert!(found.starts_with(pair), "{found} is not {pair}");
    }
}

#[test]
fn cores_share_the_streams_in_the_order_of_their_list() {
    let mut rig = Rig::new("");
    rig.run("set corelist 2,1");
    let text = rig.out("show config fwd");
    let first = text.find("Logical Core 2").expect("core 2");
    let second = text.find("Logical Core 1").expect("core 1");
    assert!(first < second, "{text}");
}

/// DPDK cut such a list after 128 characters.
#[test]
fn a_list_may_be_long() {
    let mut rig = Rig::new("");
    let mut list = vec!["1"; 100];
    list.extend(["2"; 100]);
    let answer = rig.err(&format!("set corelist {}", list.join(",")));
    assert_eq!(answer, "duplicated core 1 at index 0 and 1\n");
    let long: Vec<String> = (1..3000).map(|core| core.to_string()).collect();
    assert_eq!(
        rig.err(&format!("set corelist {}", long[..900].join(","))),
        "lcore 3 not enabled\n"
    );
}

#[test]
fn peers_are_in_the_configuration_until_set_default() {
    let mut rig = Rig::new("");
    rig.quiet(&["set eth-peer 1 02:00:00:00:00:99"]);
    assert!(streams(&mut rig)[0].ends_with("peer=02:00:00:00:00:99"));
    rig.run("set default");
    assert!(streams(&mut rig)[0].ends_with("peer=02:00:00:00:00:01"));
}

#[test]
fn retries_and_splits_are_stored() {
    let mut rig = Rig::new("");
    rig.quiet(&[
        "set burst tx delay 5 retry 3",
        "set txsplit rand",
        "set txonly-flows 8",
        "set flush_rx off",
    ]);
    assert_eq!(
        (
            rig.app.forwarding.retry_figures.delay_us,
            rig.app.forwarding.retry_figures.times
        ),
        (5, 3)
    );
    assert_eq!(rig.app.engines.txonly.split, mpps_engines::TxSplit::Random);
    assert_eq!(rig.app.engines.txonly.flows, 8);
    assert!(!rig.app.forwarding.flush_rx);
}

/// What is set while packets are forwarded and read at a start is told to take effect then.
#[test]
fn what_waits_for_the_next_start_says_so() {
    let mut rig = Rig::new("");
    rig.run("start");
    for line in [
        "set record-burst-stats on",
        "set record-core-cycles on",
        "set burst tx delay 1 retry 1",
    ] {
        let answer = rig.err(line);
        assert!(
            answer.starts_with("mpps: ") && answer.ends_with("changes with the next start\n"),
            "{line}: {answer}"
        );
    }
    rig.run("stop");
    rig.run("start");
    rig.until_counted(0, "rx_q0_packets");
    rig.until_counted(0, "rx_q0_packets");
    let stopped = rig.out("stop");
    assert!(stopped.contains("RX-bursts : "), "{stopped}");
    assert!(stopped.contains("CPU cycles/packet="), "{stopped}");
}

#[test]
fn engine_and_burst_are_those_of_the_next_start() {
    let mut rig = Rig::new("");
    rig.run("set fwd rxonly");
    rig.run("set burst 7");
    let text = rig.out("start");
    assert!(
        text.contains("rxonly packet forwarding packets/burst=7"),
        "{text}"
    );
    rig.until_counted(0, "rx_q0_packets");
    rig.until_counted(0, "rx_q0_packets");
    let stopped = rig.out("stop");
    assert!(!stopped.contains("RX-packets: 0 "), "{stopped}");
}
