//! Ports that can do what the software ports of the table can't: a driver made for these tests, so that commands are seen
//! to do something and not only to be refused.

use std::sync::{Arc, Mutex};

use mpps_dev::{
    ArgSpec, DevArgs, DevInfo, Driver, EthDev, Lcore, Link, Mailbox, Port, ProbeContext,
    ProbeError, QueueInfo, Queues, RxOffloads, RxQueue, StartError, TxOffloads, TxQueue,
    Unsupported,
};
use mpps_mbuf::{Burst, OffloadFlags};
use testpmd::plan::PlannedDevice;

use crate::rig::Rig;

/// The last packet that each port sent: flags, inner and outer tag.
static SENT: Mutex<[Option<(OffloadFlags, u16, u16)>; 2]> = Mutex::new([None; 2]);

struct Capable;

static CAPABLE: Capable = Capable;

struct CapableDev {
    port: Port,
    id: u16,
}

struct Silent;

struct Recorder {
    id: u16,
    mailbox: Arc<Mailbox>,
}

impl Driver for Capable {
    fn name(&self) -> &'static str {
        "net_capable"
    }

    fn args(&self) -> &'static [ArgSpec] {
        &[]
    }

    fn probe(&self, args: &DevArgs, context: &ProbeContext) -> Result<Box<dyn EthDev>, ProbeError> {
        let mut info = DevInfo::software(args.name(), "net_capable", args.text());
        info.max_rx_queues = 4;
        info.max_tx_queues = 4;
        info.rx_descriptors = (32, 1024, 32);
        info.max_mac_addrs = 3;
        info.rx_offloads = RxOffloads::VLAN_STRIP | RxOffloads::VLAN_FILTER;
        info.rx_queue_offloads = RxOffloads::TIMESTAMP;
        info.tx_offloads = TxOffloads::VLAN_INSERT
            | TxOffloads::QINQ_INSERT
            | TxOffloads::IPV4_CKSUM
            | TxOffloads::TCP_TSO;
        info.tx_queue_offloads = TxOffloads::MULTI_SEGS;
        Ok(Box::new(CapableDev {
            port: Port::new(info, None, Link::SOFTWARE),
            id: context.port.get(),
        }))
    }
}

impl EthDev for CapableDev {
    fn port(&self) -> &Port {
        &self.port
    }

    fn port_mut(&mut self) -> &mut Port {
        &mut self.port
    }

    fn start(&mut self) -> Result<Queues, StartError> {
        let (rx, tx) = (self.port.config().rx.len(), self.port.config().tx.len());
        let rx = (0..rx).map(|n| {
            self.port.rx_queue(n);
            Box::new(Silent) as Box<dyn RxQueue>
        });
        let rx = rx.collect();
        let id = self.id;
        let tx = (0..tx)
            .map(|n| {
                Box::new(Recorder {
                    id,
                    mailbox: self.port.tx_queue(n).1,
                }) as Box<dyn TxQueue>
            })
            .collect();
        Ok(Queues::new(rx, tx))
    }

    fn stop(&mut self, queues: Queues) {
        drop(queues);
        self.port.close_queues();
    }

    fn xstats_ready(&self) -> bool {
        self.id == 0
    }

    fn private_info(&self) -> Vec<(&'static str, String)> {
        vec![
            ("vid", self.id.to_string()),
            ("use_vec", "rx-0 tx-0".to_owned()),
        ]
    }

    fn paths(&self) -> (Option<String>, Option<String>) {
        (Some("split".to_owned()), Some("packed".to_owned()))
    }

    fn rx_queue_info(&self, queue: u16) -> Option<QueueInfo> {
        (queue == 0).then(|| QueueInfo {
            descriptors: 256,
            buffer_size: 2048,
            scattered: true,
            burst_mode: Some("Scalar".to_owned()),
        })
    }

    fn tx_queue_info(&self, _: u16) -> Option<QueueInfo> {
        Some(QueueInfo {
            descriptors: 64,
            ..QueueInfo::default()
        })
    }

    fn rx_queue_used(&self, _: u16) -> Option<u32> {
        Some(17)
    }

    fn set_promiscuous(&mut self, _: bool) -> Result<(), Unsupported> {
        Err(Unsupported {
            what: "promiscuous mode",
            driver: "net_capable",
        })
    }
}

impl RxQueue for Silent {
    fn rx_burst(&mut self, _: &mut Lcore, _: &mut Burst) -> usize {
        0
    }
}

impl TxQueue for Recorder {
    fn tx_burst(&mut self, lcore: &mut Lcore, packets: &mut Burst) -> usize {
        let n = packets.len();
        if self.mailbox.stopped() || n == 0 {
            return 0;
        }
        let last = &packets.as_slice()[n - 1];
        SENT.lock().expect("lock")[usize::from(self.id)] =
            Some((last.flags(), last.vlan(), last.vlan_outer()));
        lcore.free(packets);
        n
    }
}

pub(crate) fn rig() -> Rig {
    let device = |name: &str| PlannedDevice {
        driver: &CAPABLE,
        args: name.parse().expect("device"),
    };
    Rig::with_planned(vec![device("net_capable0"), device("net_capable1")])
}

fn config(rig: &Rig, port: u16) -> (RxOffloads, TxOffloads) {
    let config = rig.app.port(port).expect("port").dev.port().config();
    (config.rx_offloads, config.tx_offloads)
}

#[test]
fn tags_are_in_what_engines_send() {
    let mut rig = rig();
    rig.stopped(&["tx_vlan set 0 5", "tx_vlan set 1 7 9"]);
    rig.run("set fwd txonly");
    let sent = |rig: &mut Rig| {
        *SENT.lock().expect("lock") = [None; 2];
        rig.run("start");
        rig.until("both ports send", |_| {
            SENT.lock().expect("lock").iter().all(Option::is_some)
        });
        rig.run("stop");
        SENT.lock().expect("lock").map(|sent| sent.expect("sent"))
    };
    let [first, second] = sent(&mut rig);
    assert!(
        first.0.contains(OffloadFlags::TX_VLAN) && !first.0.contains(OffloadFlags::TX_QINQ),
        "{first:?}"
    );
    assert_eq!(first.1, 5);
    assert!(
        second
            .0
            .contains(OffloadFlags::TX_VLAN | OffloadFlags::TX_QINQ),
        "{second:?}"
    );
    assert_eq!((second.1, second.2), (7, 9));
    rig.stopped(&["tx_vlan reset 0", "tx_vlan reset 1"]);
    let none = sent(&mut rig);
    assert!(
        none.iter()
            .all(|(flags, ..)| !flags.intersects(OffloadFlags::TX_VLAN | OffloadFlags::TX_QINQ)),
        "{none:?}"
    );
}

#[test]
fn vlan_offloads_are_applied_at_the_start() {
    let mut rig = rig();
    assert_eq!(
        rig.err("vlan set strip on 0"),
        "Please stop port 0 first\nmpps: VLAN offloads are applied when a port starts\n"
    );
    rig.stopped(&[
        "vlan set strip on 0",
        "vlan set filter on 0",
        "vlan set filter off 0",
        "vlan set extend off 0",
    ]);
    assert_eq!(config(&rig, 0).0, RxOffloads::VLAN_STRIP);
    assert!(
        rig.out("show port info 0")
            .contains("  strip on, filter off, extend off, qinq strip off\n")
    );
}

#[test]
fn checksums_go_to_the_port_that_sums_them() {
    let mut rig = rig();
    rig.run("port stop all");
    assert!(
        rig.out("csum set ip hw 0")
            .contains("IP checksum offload is hw\nUDP checksum offload is sw\n")
    );
    let said = rig.run("csum set udp hw 0");
    assert_eq!(
        said.err,
        "UDP checksum offload is not supported by port 0\n"
    );
    assert_eq!(
        rig.out("tso set 800 0"),
        "segment size for non-tunneled packets is 800\n"
    );
    assert_eq!(
        rig.out("tso show 0"),
        "segment size for non-tunneled packets is 800\n"
    );
    rig.stopped(&[]);
    assert!(
        config(&rig, 0)
            .1
            .contains(TxOffloads::IPV4_CKSUM | TxOffloads::TCP_TSO)
    );
    rig.run("port stop all");
    rig.out("csum set ip sw 0");
    rig.out("tso set 0 0");
    rig.stopped(&[]);
    assert!(
        !config(&rig, 0)
            .1
            .intersects(TxOffloads::IPV4_CKSUM | TxOffloads::TCP_TSO)
    );
}

#[test]
fn a_queue_has_an_offload_of_its_own() {
    let mut rig = rig();
    rig.stopped(&[
        "port config all rxq 2",
        "port config all txq 2",
        "port 0 rxq 1 rx_offload timestamp on",
        "port 0 txq 0 tx_offload multi_segs on",
    ]);
    let queues = |rig: &Rig| {
        let config = rig.app.port(0).expect("port").dev.port().config();
        let rx: Vec<_> = config.rx.iter().map(|queue| queue.offloads).collect();
        let tx: Vec<_> = config.tx.iter().map(|queue| queue.offloads).collect();
        (rx, tx)
    };
    let (rx, tx) = queues(&rig);
    assert_eq!(rx, [RxOffloads::empty(), RxOffloads::TIMESTAMP]);
    assert_eq!(tx, [TxOffloads::MULTI_SEGS, TxOffloads::empty()]);
    rig.run("port stop all");
    assert_eq!(
        rig.err("port 0 rxq 0 rx_offload vlan_strip on"),
        "mpps: port 0: Rx offload VLAN_STRIP is not available; a queue of it alone can have TIMESTAMP\n"
    );
    // Off for the port takes it from every queue; queues that go take what was asked of them along.
    rig.quiet(&[
        "port config 0 rx_offload timestamp off",
        "port config all txq 1",
        "port config all txq 2",
    ]);
    rig.stopped(&["port 0 txq 0 tx_offload multi_segs off"]);
    let (rx, tx) = queues(&rig);
    assert_eq!(
        (rx, tx),
        (vec![RxOffloads::empty(); 2], vec![TxOffloads::empty(); 2])
    );
}

#[test]
fn addresses_are_added_while_there_is_room() {
    let mut rig = rig();
    rig.quiet(&[
        "mac_addr add 0 02:00:00:00:00:0a",
        "mac_addr add 0 02:00:00:00:00:0b",
        "mac_addr add 0 02:00:00:00:00:0a",
    ]);
    assert_eq!(
        rig.err("mac_addr add 0 02:00:00:00:00:0c"),
        "mac_addr_cmd error: (No space left on device)\n"
    );
    assert_eq!(
        rig.err("mac_addr add 0 00:00:00:00:00:00"),
        "mac_addr_cmd error: (Invalid argument)\n"
    );
    rig.quiet(&[
        "mac_addr remove 0 02:00:00:00:00:0a",
        "mac_addr add 0 02:00:00:00:00:0c",
    ]);
    let own = rig.app.port(0).expect("port").dev.port().mac();
    assert_eq!(
        rig.err(&format!("mac_addr remove 0 {own}")),
        "mac_addr_cmd error: (Address already in use)\n"
    );
    assert!(
        rig.out("show port 0 macs")
            .starts_with("Number of MAC address added: 3\n")
    );
}

#[test]
fn rings_that_a_port_cannot_have_are_refused_at_once() {
    let mut rig = rig();
    rig.run("port stop all");
    for count in [16, 33, 2048] {
        assert_eq!(
            rig.err(&format!("port config all rxd {count}")),
            format!(
                "mpps: port 0: Invalid value for nb_rx_desc(={count}), should be: <= 1024, >= 32, and a product of 32\n"
            )
        );
        assert!(
            rig.err(&format!("port config 1 rxq 0 ring_size {count}"))
                .starts_with("mpps: port 1: Invalid value")
        );
    }
    rig.stopped(&["port config all rxd 64"]);
}
