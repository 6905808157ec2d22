//! The forwarding configuration: which ports, lcores, engine and burst; and the streams that follow from it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mpps_engines::{BurstHistogram, EngineSpec, Retry, StreamStats};
use mpps_wire::MacAddr;
use mpps_worker::{LcoreUsage, Workers};

use super::{Fatal, PortSlot};
use crate::app_args::{AppArgs, Burst, PortSelection, Topology as TopologyArg};
use crate::plan::PlannedLcore;
use crate::tell;
use crate::text::{
    BadChecksums, BurstSpread, Layout, LayoutInput, Reply, StreamEnds, Topology, lay_out,
};

/// A stream of the run that is on, or of the last one: for its counters.
pub struct StreamView {
    /// Its two ends.
    pub ends: StreamEnds,
    /// Its counters.
    pub stats: Arc<StreamStats>,
    /// Its bursts by size, while they are recorded.
    pub histogram: Option<Arc<BurstHistogram>>,
    /// What counts as zero since the counters were last cleared.
    pub zero: StreamZero,
}

/// Values of a stream's counters when they were last cleared.
#[derive(Default)]
pub struct StreamZero {
    /// Packets received.
    pub rx_packets: u64,
    /// Packets sent.
    pub tx_packets: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Wrong checksums.
    pub bad: BadChecksums,
    /// Clock ticks.
    pub busy_cycles: u64,
    /// Bursts by size, received and sent.
    pub bursts: Option<(BurstSpread, BurstSpread)>,
}

/// How packets are forwarded.
pub struct Forwarding {
    /// The engine.
    pub engine: &'static EngineSpec,
    /// Whether what isn't sent is tried again.
    pub retry: bool,
    /// How often and after what time.
    pub retry_figures: Retry,
    /// Forwarding ports in order; the first `nb_ports` take part.
    pub ports: Vec<u16>,
    /// How many ports take part.
    pub nb_ports: usize,
    /// Ports that were attached during the run, which take part when it is over.
    pub joining: Vec<u16>,
    /// Forwarding lcores in order; the first `nb_cores` take part.
    pub lcores: Vec<u32>,
    /// How many lcores take part.
    pub nb_cores: usize,
    /// Who sends to whom.
    pub topology: Topology,
    /// Packets a burst.
    pub burst: u16,
    /// Receive queues of each port.
    pub rxq: u16,
    /// Transmit queues of each port.
    pub txq: u16,
    /// Descriptors of receive queues, where asked for.
    pub rxd: Option<u16>,
    /// Descriptors of transmit queues, where asked for.
    pub txd: Option<u16>,
    /// Whether queues are emptied before a start.
    pub flush_rx: bool,
    /// Whether cycles are recorded.
    pub record_cycles: bool,
    /// Whether burst sizes are recorded.
    pub record_bursts: bool,
    /// Addresses that packets are sent to, where set, by port.
    pub peers: Vec<(u16, MacAddr)>,
    /// The streams as last laid out.
    pub layout: Layout,
    /// The engine that they were laid out for, which `show config fwd` names until the next start.
    pub laid_out_for: &'static EngineSpec,
    /// Whether the odd port was told of.
    pub told_odd: bool,
    /// The workers, while they run.
    pub running: Option<Workers>,
    /// Tells streams to stop.
    pub stop: Arc<AtomicBool>,
    /// The streams of the run that is on, or of the last one.
    pub streams: Vec<StreamView>,
    /// Where each lcore's time goes, while cycles are recorded.
    pub usage: Vec<(u32, Arc<LcoreUsage>)>,
}

impl Forwarding {
    pub(super) fn new(
        args: &AppArgs,
        workers: &[PlannedLcore],
        ports: &[Option<PortSlot>],
    ) -> Result<Self, Fatal> {
        let all: Vec<u16> = (0..ports.len() as u16).collect();
        let (selected, nb_ports) = select(args, &all)?;
        let (lcores, nb_cores) = cores(args, workers);
        let name = args.ports.forward_mode.as_deref().unwrap_or("io");
        let engine = mpps_engines::find(name)
            .ok_or_else(|| Fatal::Other(format!("--forward-mode={name}: no such engine")))?;
        Ok(Self {
            engine,
            retry: false,
            retry_figures: Retry {
                times: 64,
                delay_us: 1,
            },
            ports: selected,
            nb_ports,
            joining: Vec::new(),
            lcores,
            nb_cores,
            topology: match args.ports.topology {
                TopologyArg::Paired => Topology::Paired,
                TopologyArg::Chained => Topology::Chained,
                TopologyArg::Loop => Topology::Loop,
            },
            burst: burst(args)?,
            rxq: args.queues.rxq.unwrap_or(1),
            txq: args.queues.txq.unwrap_or(1),
            rxd: args.queues.rxd,
            txd: args.queues.txd,
            flush_rx: args.queues.flush_rx,
            record_cycles: args.run.record_core_cycles,
            record_bursts: args.run.record_burst_stats,
            peers: args.ports.peers.clone(),
            laid_out_for: engine,
            layout: lay_out(&LayoutInput {
                ports: &[],
                rxq: 1,
                txq: 1,
                lcores: &[],
                topology: Topology::Paired,
                echo: false,
                num_procs: 1,
                proc_id: 0,
            }),
            told_odd: false,
            running: None,
            stop: Arc::default(),
            streams: Vec::new(),
            usage: Vec::new(),
        })
    }

    /// The ports that take part.
    pub fn active_ports(&self) -> &[u16] {
        &self.ports[..self.nb_ports.min(self.ports.len())]
    }

    /// The lcores that take part.
    pub fn active_lcores(&self) -> &[u32] {
        &self.lcores[..self.nb_cores.min(self.lcores.len())]
    }

    /// Whom packets sent by a port go to: what was set, or 02:00:00:00:00 and the port's number.
    pub fn peer(&self, port: u16) -> MacAddr {
        let set = self
            .peers
            .iter()
            .rev()
            .find(|(have, _)| *have == port)
            .map(|(_, mac)| *mac);
        set.unwrap_or(MacAddr([2, 0, 0, 0, 0, port as u8]))
    }

    /// The streams that the configuration makes.
    pub(super) fn input(&self) -> LayoutInput<'_> {
        LayoutInput {
            ports: self.active_ports(),
            rxq: self.rxq,
            txq: self.txq,
            lcores: self.active_lcores(),
            topology: self.topology,
            echo: self.engine.answers,
            num_procs: 1,
            proc_id: 0,
        }
    }
}

fn burst(args: &AppArgs) -> Result<u16, Fatal> {
    match args.queues.burst {
        Burst::Packets(n) => Ok(n),
        Burst::OfPort => Err(Fatal::Other(
            "--burst=0 asks port 0 for its recommended burst, and it has none; give a number from 1 to 512".to_owned(),
        )),
    }
}

fn select(args: &AppArgs, all: &[u16]) -> Result<(Vec<u16>, usize), Fatal> {
    let list = match &args.ports.selection {
        PortSelection::All => all.to_vec(),
        PortSelection::Mask(list) | PortSelection::List(list) => {
            let mut chosen = Vec::new();
            for port in list.iter().filter(|port| all.contains(port)) {
                if !chosen.contains(port) {
                    chosen.push(*port);
                }
            }
            if chosen.is_empty() && !all.is_empty() {
                return Err(Fatal::Other(format!(
                    "--portmask or --portlist names no port there is; the ports are 0 to {}",
                    all.len() - 1
                )));
            }
            if chosen.len() != all.len() {
                tell::output(format_args!(
                    "{}\n",
                    Reply::PortsChanged(all.len() as u32, chosen.len() as u32)
                ));
            }
            chosen
        }
    };
    match args.ports.nb_ports {
        Some(n) if list.is_empty() => Err(Fatal::Other(format!(
            "--nb-ports {n}: there are no ports; --vdev makes some, such as --vdev net_null0"
        ))),
        Some(n) if usize::from(n) > list.len() || n == 0 => Err(Fatal::Other(format!(
            "--nb-ports {n} is out of range, must be 1 to {}: the forwarding ports",
            list.len()
        ))),
        Some(n) => Ok((list, usize::from(n))),
        None => Ok((list.clone(), list.len())),
    }
}

fn cores(args: &AppArgs, workers: &[PlannedLcore]) -> (Vec<u32>, usize) {
    let all: Vec<u32> = workers.iter().map(|worker| worker.id).collect();
    let asked = args.ports.nb_cores.map_or(1, |n| n as usize);
    match &args.ports.coremask {
        None => (all, asked),
        Some(mask) => {
            let chosen: Vec<u32> = mask.iter().copied().collect();
            if chosen.len() != asked {
                tell::output(format_args!(
                    "{}\n",
                    Reply::CoresChanged(asked as u32, chosen.len() as u32)
                ));
            }
            let n = chosen.len();
            (chosen, n)
        }
    }
}
