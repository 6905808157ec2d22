//! What a port tells of itself at run time: private information, paths, queues, extended statistics.

use crate::capable::rig;

#[test]
fn a_port_tells_of_itself() {
    let mut rig = rig();
    let info = rig.out("show port info 1");
    assert!(
        info.ends_with(
            "Device private info:\nvid: 1\nuse_vec: rx-0 tx-0\nRx path: split\nTx path: packed\n"
        ),
        "{info}"
    );
    let rxtx = rig.out("show config rxtx");
    assert!(rxtx.contains("RX desc=256 "), "{rxtx}");
    assert!(rxtx.contains("TX desc=64 "), "{rxtx}");
}

#[test]
fn queues_tell_of_themselves() {
    let mut rig = rig();
    let rx = rig.out("show rxq info 0 0");
    assert!(rx.contains("\nMempool: mb_pool_0\n"), "{rx}");
    assert!(
        rx.ends_with(
            "\nRX scattered packets: on\nRx queue state: started\nRX buffer size: 2048\nNumber of RXDs: 256\nBurst mode: Scalar\n"
        ),
        "{rx}"
    );
    let tx = rig.out("show txq info 0 0");
    assert!(
        tx.ends_with("\nNumber of TXDs: 64\nTx queue state: started\n"),
        "{tx}"
    );
    assert!(rig.out("show port 0 rxq 0 desc used count").contains("17"));
    assert_eq!(
        rig.err("show port 0 rxq 9 desc used count"),
        "Invalid queueid = 9\n"
    );
    assert_eq!(
        rig.err("show port 0 txq 0 desc used count"),
        "Invalid queueid = 0\n"
    );
}

#[test]
fn xstats_of_a_port_that_has_none_yet() {
    let mut rig = rig();
    assert!(rig.out("show port xstats 0").contains("rx_good_packets: 0"));
    let answer = rig.run("show port xstats 1");
    assert_eq!(
        (answer.out.as_str(), answer.err.as_str()),
        (
            "###### NIC extended statistics for port 1 \n",
            "Error: Cannot get count of xstats\n"
        )
    );
}

#[test]
fn a_port_that_cannot_be_promiscuous_is_told_of() {
    let mut rig = rig();
    rig.app.make_promiscuous(&[0, 7]);
    assert_eq!(
        rig.app.out.take().err,
        "Error during enabling promiscuous mode for port 0: Operation not supported - ignore\n"
    );
}
