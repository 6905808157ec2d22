//! Queues, rings and RSS: what a change does to the streams and to the ports.

use crate::rig::Rig;

#[test]
fn more_queues_make_more_streams_and_all_of_them_forward() {
    let mut rig = Rig::new("");
    rig.stopped(&["port config all rxq 2", "port config all txq 2"]);
    let text = rig.out("start");
    assert!(text.contains("ports=2 - cores=1 - streams=4"), "{text}");
    for name in [
        "rx_q0_packets",
        "rx_q1_packets",
        "tx_q0_packets",
        "tx_q1_packets",
    ] {
        rig.until_counted(0, name);
    }
    rig.run("stop");
    rig.stopped(&["port config all rxq 1"]);
    let text = rig.out("start");
    assert!(text.contains("streams=2"), "{text}");
    rig.run("stop");
}

#[test]
fn rings_have_the_size_of_the_queue_or_of_all() {
    let mut rig = Rig::new("");
    rig.stopped(&[
        "port config all rxd 256",
        "port config all txd 128",
        "port config 1 rxq 0 ring_size 64",
    ]);
    let sizes = |rig: &Rig, port: u16| {
        let config = rig.app.port(port).expect("port").dev.port().config();
        (config.rx[0].queue.size.get(), config.tx[0].queue.size.get())
    };
    assert_eq!(sizes(&rig, 0), (256, 128));
    assert_eq!(sizes(&rig, 1), (64, 128));
    // 0 leaves it to the port, and a size for all overrides that of one.
    rig.stopped(&["port config all rxd 0", "port config 0 txq 0 ring_size 0"]);
    assert_eq!(sizes(&rig, 1), (512, 128));
}

#[test]
fn the_configuration_shows_what_is_asked_of_the_first_queue() {
    let mut rig = Rig::new("");
    rig.run("port stop all");
    rig.quiet(&[
        "port config all rxd 256",
        "port config all txd 128",
        "port config 1 rxq 0 ring_size 64",
        "port config all txwt 4",
        "port config all txrst 5",
    ]);
    let text = rig.out("show config rxtx");
    let found: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("X desc="))
        .map(str::trim)
        .collect();
    assert_eq!(
        found,
        [
            "RX desc=256 - RX free threshold=0",
            "TX desc=128 - TX free threshold=0",
            "RX desc=64 - RX free threshold=0",
            "TX desc=128 - TX free threshold=0",
        ]
    );
    assert!(
        text.contains("TX threshold registers: pthresh=0 hthresh=0  wthresh=4\n"),
        "{text}"
    );
    assert!(
        text.contains("TX offloads=0x0 - TX RS bit threshold=5\n"),
        "{text}"
    );
}

#[test]
fn thresholds_reach_the_port() {
    let mut rig = Rig::new("");
    rig.stopped(&[
        "port config all rxpt 3",
        "port config all txwt 4",
        "port config all txrst 5",
        "port config all rxfreet 6",
    ]);
    let config = rig.app.port(0).expect("port").dev.port().config();
    assert_eq!(
        (
            config.rx[0].queue.thresholds.prefetch,
            config.rx[0].queue.thresholds.free
        ),
        (3, 6)
    );
    assert_eq!(
        (
            config.tx[0].queue.thresholds.write_back,
            config.tx[0].queue.thresholds.rs
        ),
        (4, 5)
    );
}

/// A queue that is stopped while packets are forwarded moves nothing until it is started again; others go on.
#[test]
fn a_stopped_queue_moves_nothing() {
    let mut rig = Rig::new("");
    rig.stopped(&["port config all rxq 2", "port config all txq 2"]);
    rig.run("start");
    rig.until_counted(0, "rx_q1_packets");
    rig.quiet(&["port 0 rxq 1 stop"]);
    // A burst that was on its way may still be counted; two of the other queue's later none can be.
    rig.until_counted(0, "rx_q0_packets");
    rig.until_counted(0, "rx_q0_packets");
    let still = rig.counter(0, "rx_q1_packets");
    rig.until_counted(0, "rx_q0_packets");
    assert_eq!(rig.counter(0, "rx_q1_packets"), still);
    rig.run("port 0 rxq 1 start");
    rig.until_counted(0, "rx_q1_packets");
    rig.run("stop");
}

#[test]
fn a_deferred_queue_waits_for_its_start() {
    let mut rig = Rig::new("");
    rig.stopped(&["port 0 rxq 0 deferred_start on"]);
    rig.run("set fwd rxonly");
    rig.run("start");
    rig.until_counted(1, "rx_q0_packets");
    rig.run("stop");
    assert_eq!(rig.counter(0, "rx_q0_packets"), 0);
    rig.quiet(&["port 0 rxq 0 start"]);
    rig.run("start");
    rig.until_counted(0, "rx_q0_packets");
    rig.run("stop");
    // It is deferred again at the port's next start.
    rig.stopped(&[]);
    assert!(!rig.app.port(0).expect("port").dev.port().rx_started(0));
}

#[test]
fn rss_is_set_where_ports_spread_by_hash() {
    let mut rig = Rig::new("--rxq=2 --txq=2");
    assert_eq!(rig.out("port config all rss ip"), "rss_hf 0xa38c\n");
    let said = rig.out("port config all rss level-outer");
    let requested = "modified RSS hash function based on hardware support,requested:0x400000000a38c configured:0xa38c";
    assert_eq!(
        said,
        format!("Port 0 {requested}\nPort 1 {requested}\nrss_hf 0x400000000a38c\n")
    );
    assert_eq!(rig.out("port config all rss 4"), "rss_hf 0x10\n");
    // What was set survives a configuration of the port.
    rig.stopped(&["port config all rxd 64"]);
    let types = rig
        .app
        .port_mut(0)
        .and_then(|slot| slot.dev.rss().map(|rss| rss.types()));
    assert_eq!(types, Some(0x10));
}

#[test]
fn the_redirection_table_changes_as_a_whole_or_not_at_all() {
    let mut rig = Rig::new("--rxq=2 --txq=2");
    let reta = |rig: &mut Rig| {
        let slot = rig.app.port_mut(0).expect("port");
        slot.dev
            .rss()
            .map(|rss| rss.reta()[..4].to_vec())
            .expect("rss")
    };
    assert_eq!(
        rig.out("port config 0 rss reta (0,1),(1,0)"),
        "The reta size of port 0 is 128\n"
    );
    assert_eq!(reta(&mut rig), [1, 0, 0, 1]);
    let said = rig.run("port config 0 rss reta (2,1),(3,9)");
    assert_eq!(said.out, "The reta size of port 0 is 128\n");
    assert_eq!(
        said.err,
        "ETHDEV: reta_conf[0]->reta[3]: 9 exceeds the maximum rxq index: 2\nBad redirection table parameter, return code = -22\n"
    );
    assert_eq!(reta(&mut rig), [1, 0, 0, 1]);
    for (pairs, text) in [
        (
            "(500,0)",
            "Invalid RETA hash index=500\nInvalid RSS Redirection Table config entered\n",
        ),
        (
            "nosuch",
            "Bad redirection table parameter, return code = -22\n",
        ),
        ("(0)", "Invalid RSS Redirection Table config entered\n"),
        (
            "(0,4294967296)",
            "Invalid RSS Redirection Table config entered\n",
        ),
    ] {
        assert_eq!(
            rig.run(&format!("port config 0 rss reta {pairs}")).err,
            text,
            "{pairs}"
        );
    }
}

#[test]
fn the_hash_key_is_the_one_that_was_given() {
    let mut rig = Rig::new("--rxq=2 --txq=2");
    let digits = "0123456789abcdefABCD".repeat(4);
    rig.quiet(&[
        &format!("port config 0 rss-hash-key ipv4 {digits}"),
        "port config 0 rss-hash-algo toeplitz",
    ]);
    let key = rig
        .app
        .port_mut(0)
        .and_then(|slot| slot.dev.rss().map(|rss| rss.key().to_vec()))
        .expect("rss");
    assert_eq!(
        key[..10],
        [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xab, 0xcd]
    );
    let wrong = digits.replace('9', "g");
    assert_eq!(
        rig.err(&format!("port config 0 rss-hash-key ipv4 {wrong}")),
        "invalid key: character g at position 9 is not a valid hexa digit\n"
    );
}
