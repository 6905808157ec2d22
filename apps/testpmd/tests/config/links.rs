//! Ports whose link depends on a peer: the start, the link lines, the events, and pools of their own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use mpps_dev::{
    ArgKind, ArgSpec, DevArgs, DevInfo, Driver, EthDev, Events, Lcore, Link, Port, PortEvent,
    PortId, ProbeContext, ProbeError, Queues, RxQueue, StartError, TxQueue,
};
use mpps_mbuf::Burst;
use testpmd::app::Which;
use testpmd::plan::PlannedDevice;

use crate::rig::Rig;

/// A driver whose ports get a peer some milliseconds after their start (`after`), or never.
struct Late;

static LATE: Late = Late;

static ARGS: [ArgSpec; 1] = [ArgSpec {
    key: "after",
    kind: ArgKind::Text,
    repeats: false,
    help: "milliseconds from start to peer",
}];

struct LateDev {
    port: Port,
    id: PortId,
    events: Events,
    after: Option<Duration>,
    up: Arc<AtomicBool>,
    peer: Option<JoinHandle<()>>,
    lendable: usize,
}

struct Silent;

impl Driver for Late {
    fn name(&self) -> &'static str {
        "net_late"
    }

    fn args(&self) -> &'static [ArgSpec] {
        &ARGS
    }

    fn probe(&self, args: &DevArgs, context: &ProbeContext) -> Result<Box<dyn EthDev>, ProbeError> {
        let mut info = DevInfo::software(args.name(), "net_late", args.text());
        info.lends_buffers = true;
        let after = args
            .iter()
            .find_map(|(key, value)| (key == "after").then_some(value?.parse().ok()?));
        Ok(Box::new(LateDev {
            port: Port::new(info, None, Link::SOFTWARE),
            id: context.port,
            events: context.events.clone(),
            after: after.map(Duration::from_millis),
            up: Arc::default(),
            peer: None,
            lendable: 0,
        }))
    }
}

impl EthDev for LateDev {
    fn port(&self) -> &Port {
        &self.port
    }

    fn port_mut(&mut self) -> &mut Port {
        &mut self.port
    }

    fn start(&mut self) -> Result<Queues, StartError> {
        self.lendable = self.port.config().lendable.len();
        if let Some(after) = self.after {
            let (id, events, up) = (self.id, self.events.clone(), self.up.clone());
            self.peer = Some(std::thread::spawn(move || {
                std::thread::sleep(after);
                events.tell(id, PortEvent::QueueState);
                up.store(true, Ordering::SeqCst);
                events.tell(id, PortEvent::LinkState);
            }));
        }
        self.port.rx_queue(0);
        self.port.tx_queue(0);
        Ok(Queues::new(vec![Box::new(Silent)], vec![Box::new(Silent)]))
    }

    fn stop(&mut self, queues: Queues) {
        drop(queues);
        self.port.close_queues();
        if let Some(peer) = self.peer.take() {
            peer.join().expect("peer");
        }
        self.up.store(false, Ordering::SeqCst);
    }

    fn link(&self) -> Link {
        Link {
            up: self.up.load(Ordering::SeqCst),
            ..Link::SOFTWARE
        }
    }

    fn private_info(&self) -> Vec<(&'static str, String)> {
        vec![
            ("lendable", self.lendable.to_string()),
            ("pool", self.port.config().rx[0].pool.config().name.clone()),
        ]
    }
}

impl RxQueue for Silent {
    fn rx_burst(&mut self, _: &mut Lcore, _: &mut Burst) -> usize {
        0
    }
}

impl TxQueue for Silent {
    fn tx_burst(&mut self, _: &mut Lcore, _: &mut Burst) -> usize {
        0
    }
}

fn rig(device: &str, options: &str) -> Rig {
    let device = PlannedDevice {
        driver: &LATE,
        args: device.parse().expect("device"),
    };
    Rig::with_planned_options(vec![device], options)
}

/// Stops the port and starts it again; what that says.
fn restart(rig: &mut Rig) -> String {
    rig.run("port stop 0");
    assert!(rig.app.start_ports(Which::All));
    let text = rig.app.out.take();
    assert_eq!(text.err, "");
    text.out
}

#[test]
fn a_peer_that_is_there_is_met_before_the_prompt() {
    let mut rig = rig("net_late0,after=10", "--no-lsc-interrupt");
    let text = restart(&mut rig).replace("\nPort 0: queue state event\n", "");
    let text = text.replace("\nPort 0: link state change event\n", "");
    assert!(
        text.ends_with(
            "Checking link statuses...\nPort 0 Link up at 10 Gbps FDX Fixed None\nDone\n"
        ),
        "{text}"
    );
}

#[test]
fn events_are_printed_once_each() {
    let mut rig = rig("net_late0,after=10", "");
    let mut seen = restart(&mut rig);
    let events = [
        "\nPort 0: queue state event\n",
        "\nPort 0: link state change event\n",
    ];
    rig.until("events", |rig| {
        seen += &rig.app.out.take().out;
        events.iter().all(|event| seen.contains(event))
    });
    let rest = events
        .iter()
        .fold(seen, |text, event| text.replacen(event, "", 1));
    assert!(
        rest.ends_with("\nChecking link statuses...\nDone\n"),
        "{rest}"
    );
}

#[test]
fn nobody_is_waited_for_long() {
    let start = std::time::Instant::now();
    let mut rig = rig("net_late0", "--no-lsc-interrupt");
    let text = restart(&mut rig);
    assert!(
        text.ends_with("Checking link statuses...\nPort 0 Link down\nDone\n"),
        "{text}"
    );
    // Two starts of a tenth of a second; the machine may be busy.
    assert!(start.elapsed() < Duration::from_secs(5));
    let info = rig.out("show port info 0");
    assert!(info.contains("\nLink status: down\n"), "{info}");
    let summary = rig.out("show port summary 0");
    assert!(summary.ends_with(" down     10 Gbps\n"), "{summary}");
}

#[test]
fn a_port_lends_every_pool() {
    let mut rig = rig("net_late0", "--mbuf-size=2176,4224");
    let info = rig.out("show port info 0");
    assert!(info.contains("\nlendable: 2\npool: mb_pool_"), "{info}");
}

#[test]
fn a_port_lends_a_pool_of_its_own() {
    let mut rig = rig("net_late0", "--mbuf-size=2176,4224 --isolate-pools");
    let info = rig.out("show port info 0");
    assert!(
        info.contains("\nlendable: 1\npool: mb_pool_0_port0\n"),
        "{info}"
    );
}
