//! The kit itself: a port without a fault passes, and each fault is found by the scenario that is about it.

use std::collections::VecDeque;
use std::fs::File;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use mpps_mbuf::{Burst, Mbuf};

use super::{ALONE, Facts, SCENARIOS, Source, Subject, Violations, run};
use crate::{
    ArgKind, ArgSpec, ConfigError, DevArgs, DevConfig, DevInfo, Driver, EthDev, Lcore, Link,
    Mailbox, Port, ProbeContext, ProbeError, QueueStats, Queues, RxQueue, StartError, TxOffloads,
    TxQueue,
};

const HOLDS: usize = 600;

const ARGS: &[ArgSpec] = &[ArgSpec {
    key: "fault",
    kind: ArgKind::Text,
    repeats: false,
    help: "what is wrong with the port [nothing]",
}];

/// Loops packets back through a queue behind a lock, with a fault if asked for.
struct Looped;

impl Driver for Looped {
    fn name(&self) -> &'static str {
        "net_looped"
    }

    fn args(&self) -> &'static [ArgSpec] {
        ARGS
    }

    fn probe(&self, args: &DevArgs, _: &ProbeContext) -> Result<Box<dyn EthDev>, ProbeError> {
        let fault = args.iter().find(|(key, _)| *key == "fault");
        let fault = fault
            .and_then(|(_, value)| value)
            .unwrap_or("none")
            .to_owned();
        if fault != "takes any argument" {
            args.check("net_looped", ARGS)?;
        }
        if fault == "leaves a file open" {
            std::mem::forget(File::open("/dev/null"));
        }
        let mut info = DevInfo::software(args.name(), "net_looped", args.text());
        if fault == "has another name" {
            info.name.push('x');
        }
        info.max_rx_queues = 4;
        info.max_tx_queues = 4;
        info.min_mtu = 68;
        info.max_mtu = 9000;
        info.rx_descriptors = (0, 1024, 1);
        info.tx_offloads = TxOffloads::MULTI_SEGS;
        Ok(Box::new(Dev {
            port: Port::new(info, None, Link::SOFTWARE),
            fault,
        }))
    }
}

struct Dev {
    port: Port,
    fault: String,
}

impl EthDev for Dev {
    fn port(&self) -> &Port {
        &self.port
    }

    fn port_mut(&mut self) -> &mut Port {
        &mut self.port
    }

    fn configure(&mut self, config: &DevConfig) -> Result<(), ConfigError> {
        if self.fault == "keeps half of a refused configuration" {
            // In range, but perhaps of a configuration that is refused for another reason.
            let _ = self.port.set_mtu(1000 + config.rx.len() as u16);
        }
        self.port.configure(config)
    }

    fn start(&mut self) -> Result<Queues, StartError> {
        let mut queues = Queues::default();
        for n in 0..self.port.config().rx.len() {
            let ring: Arc<Mutex<VecDeque<Mbuf>>> = Arc::default();
            let end = |(stats, mailbox)| End {
                ring: ring.clone(),
                stats,
                mailbox,
                fault: self.fault.clone(),
                moved: 0,
            };
            let rx = end(self.port.rx_queue(n));
            let mut tx = end(self.port.tx_queue(n));
            if self.fault == "counts on one queue" {
                tx.stats = self.port.tx_queue(0).0;
            }
            if self.fault == "shares lines" {
                queues.rx.push(Some(Box::new(rx)));
            } else {
                queues.rx.push(Some(Box::new(Apart(rx))));
            }
            queues.tx.push(Some(Box::new(Apart(tx))));
        }
        if self.fault == "starts one queue too few" {
            queues.tx.pop();
        }
        Ok(queues)
    }

    fn stop(&mut self, queues: Queues) {
        if self.fault == "keeps what waits" {
            std::mem::forget(queues);
        }
        if self.fault != "counts as started for ever" {
            self.port.close_queues();
        }
    }

    fn clear_stats(&mut self) {
        if self.fault != "doesn't clear" {
            self.port.clear_stats();
        }
    }
}

struct End {
    ring: Arc<Mutex<VecDeque<Mbuf>>>,
    stats: Arc<QueueStats>,
    mailbox: Arc<Mailbox>,
    fault: String,
    moved: u64,
}

/// A queue on lines of its own.
#[repr(align(128))]
struct Apart(End);

impl RxQueue for Apart {
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize {
        self.0.rx_burst(lcore, out)
    }
}

impl TxQueue for Apart {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        self.0.tx_burst(lcore, pkts)
    }
}

impl RxQueue for End {
    fn rx_burst(&mut self, _: &mut Lcore, out: &mut Burst) -> usize {
        if self.mailbox.stopped() && self.fault != "receives when stopped" {
            return 0;
        }
        let mut ring = self.ring.lock().unwrap();
        if self.fault == "turns pairs round" && ring.len() > 1 {
            ring.swap(0, 1);
        }
        let (mut n, mut bytes) = (0, 0);
        while out.room() > 0 {
            let Some(packet) = ring.pop_front() else {
                break;
            };
            self.moved += 1;
            bytes += u64::from(packet.pkt_len());
            if self.fault == "loses packets" && self.moved.is_multiple_of(50) {
                std::mem::forget(packet);
                continue;
            }
            out.push(packet).unwrap();
            n += 1;
        }
        self.stats.count(n, bytes);
        n as usize + usize::from(self.fault == "says one more" && n > 3)
    }
}

impl TxQueue for End {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        if self.mailbox.stopped() && self.fault != "sends when stopped" {
            return 0;
        }
        let before = pkts.len();
        let mut bytes = 0;
        let mut ring = self.ring.lock().unwrap();
        let holds = match self.fault.as_str() {
            "holds less" => HOLDS - 1,
            _ => HOLDS,
        };
        while ring.len() < holds {
            let Some(mut packet) = pkts.pop_front() else {
                break;
            };
            bytes += u64::from(packet.pkt_len());
            match self.fault.as_str() {
                "drops long ones in silence" if packet.pkt_len() > 1514 => {
                    lcore.free_one(packet);
                    continue;
                }
                "stops at empty ones" if packet.pkt_len() == 0 => {
                    lcore.free_one(packet);
                    lcore.free(pkts);
                    break;
                }
                "drops what is left" if ring.len() + 1 == holds => {
                    lcore.free(pkts);
                }
                "cuts chains" if packet.segments() > 17 => {
                    packet.trim_front(1);
                }
                _ => {}
            }
            ring.push_back(packet);
        }
        let n = before - pkts.len();
        self.stats.count(n as u64, bytes);
        if self.fault == "counts twice" {
            self.stats.count(1, 0);
        }
        n
    }
}

/// Three queues with this fault.
fn with(fault: &str, f: impl FnOnce(&Subject<'_>)) {
    f(&Subject {
        driver: &Looped,
        peer: None,
        devices: &|| vec![format!("net_looped0,fault={fault}")],
        facts: Facts {
            source: Source::Sent,
            queues: 3,
            holds: Some(HOLDS),
            patience: Duration::from_millis(30),
            ..Facts::SINK
        },
    });
}

#[test]
fn a_port_without_a_fault_passes() {
    with("none", |subject| {
        let skipped = run(subject).unwrap();
        let names: Vec<_> = skipped.iter().map(|skipped| skipped.scenario).collect();
        assert_eq!(names, ["the peer vanishes"]);
        assert_eq!(skipped[0].why, "it has no peer");
    });
}

#[test]
fn all_that_is_broken_is_told_by_scenario() {
    with("doesn't clear", |subject| {
        let Err(Violations(broken)) = run(subject) else {
            panic!("not found");
        };
        assert_eq!(broken.len(), 1, "{broken:?}");
        let line = broken[0].to_string();
        assert!(
            line.starts_with("clearing takes a new baseline: after clearing: PortStats {"),
            "{line}"
        );
    });
}

#[test]
fn each_fault_is_found_by_its_scenario() {
    for (fault, scenario) in [
        ("turns pairs round", "order is kept"),
        ("loses packets", "order is kept"),
        ("says one more", "bursts of 1 and 512"),
        ("holds less", "leftovers stay the caller's, in order"),
        (
            "drops what is left",
            "leftovers stay the caller's, in order",
        ),
        ("stops at empty ones", "zero length"),
        ("drops long ones in silence", "oversize"),
        ("cuts chains", "many segments"),
        ("counts twice", "counters add up"),
        ("counts twice", "control while a worker polls"),
        ("counts on one queue", "counters add up"),
        ("doesn't clear", "clearing takes a new baseline"),
        ("counts as started for ever", "stop and start"),
        ("starts one queue too few", "stop and start"),
        ("keeps what waits", "stop with packets under way"),
        ("receives when stopped", "a stopped queue moves nothing"),
        ("sends when stopped", "deferred start"),
        (
            "keeps half of a refused configuration",
            "a refused configuration changes nothing",
        ),
        ("takes any argument", "unknown arguments are refused"),
        ("takes any argument", "wrong values are refused"),
        ("has another name", "information"),
        ("shares lines", "queues lie on cache lines of their own"),
        ("leaves a file open", "made and ended 100 times"),
    ] {
        let scenario = SCENARIOS.iter().find(|known| known.name == scenario);
        with(fault, |subject| {
            // Some of the faults are seen by the whole process.
            let _alone = ALONE.lock();
            let found = (scenario.unwrap().play)(subject);
            assert!(
                found.is_err_and(|found| !found.what.contains('\n')),
                "{fault}: not found, or told in several lines"
            );
        });
    }
}

#[test]
fn scenarios_have_names_of_their_own() {
    let mut names: Vec<_> = SCENARIOS.iter().map(|scenario| scenario.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), SCENARIOS.len());
}
