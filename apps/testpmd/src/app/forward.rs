//! Laying out streams, starting and stopping to forward.

use std::sync::Arc;

use mpps_dev::{LcoreId, TxOffloads};
use mpps_engines::{
    BurstHistogram, ChecksumSettings, EngineSpec, Needs, PortEnd, Retry, StreamIo, StreamSetup,
    StreamStats,
};
use mpps_mbuf::{Burst, OffloadFlags};
use mpps_worker::{Lot, Prelude, Stream, Workers};

use super::forwarding::{StreamView, StreamZero};
use super::{App, PortState, last_words};
use crate::text::{
    FwdConfig, FwdMode, Layout, Lifecycle, MpAlloc, Notice, Refusal, RetryFigures, SocketId,
    StreamEnds, lay_out,
};

/// Why forwarding can't start: DPDK's line, and ours that says what is the matter.
#[derive(Debug)]
pub struct StartRefusal {
    /// As DPDK says it.
    pub refusal: Refusal,
    /// One line more, where that isn't enough.
    pub reason: Option<String>,
}

impl From<Refusal> for StartRefusal {
    fn from(refusal: Refusal) -> Self {
        Self {
            refusal,
            reason: None,
        }
    }
}

fn not_ready(reason: String) -> StartRefusal {
    StartRefusal {
        refusal: Refusal::NotReady,
        reason: Some(reason),
    }
}

impl App {
    /// Recomputes the streams; tells once of a port that pairs with itself.
    pub fn lay_out(&mut self) {
        let layout = lay_out(&self.forwarding.input());
        if layout.odd && !self.forwarding.told_odd {
            self.forwarding.told_odd = true;
            self.out.complain(Notice::OddPorts);
        }
        self.forwarding.layout = layout;
        self.forwarding.laid_out_for = self.forwarding.engine;
    }

    /// An engine as it is printed.
    pub fn mode(&self, engine: &EngineSpec) -> FwdMode<'static> {
        let status = (engine.name == "noisy").then_some(match self.engines.noisy.mode {
            mpps_engines::NoisyMode::Io => "io",
            mpps_engines::NoisyMode::Mac => "mac",
            mpps_engines::NoisyMode::MacSwap => "macswap",
            mpps_engines::NoisyMode::FiveTupleSwap => "5tswap",
        });
        FwdMode {
            name: engine.name,
            status,
            retry: self.forwarding.retry,
        }
    }

    /// Prints the streams (`show config fwd`).
    pub fn show_config_fwd(&mut self) {
        let nodes: Vec<(u32, u32)> = self
            .workers
            .iter()
            .map(|worker| (worker.id, worker.node))
            .collect();
        let core_socket = |id: u32| {
            nodes
                .iter()
                .find(|(have, _)| *have == id)
                .map_or(0, |(_, node)| *node)
        };
        let sockets: Vec<(u16, Option<u32>)> = self
            .ports
            .iter()
            .flatten()
            .map(|port| (port.id, port.dev.info().node))
            .collect();
        let port_socket = |id: u16| {
            SocketId(
                sockets
                    .iter()
                    .find(|(have, _)| *have == id)
                    .and_then(|(_, node)| *node),
            )
        };
        let figures = self.forwarding.retry_figures;
        let text = FwdConfig {
            mode: self.mode(self.forwarding.laid_out_for),
            layout: &self.forwarding.layout,
            numa: self.args.pools.numa,
            mp_alloc: mp_alloc(&self.args),
            retry: RetryFigures {
                retries: figures.times,
                delay_us: figures.delay_us,
            },
            core_socket: &core_socket,
            port_socket: &port_socket,
            peer: &|port| self.forwarding.peer(port),
        }
        .to_string();
        self.out.block(text);
    }

    /// Starts forwarding, with `tx_first` bursts a stream sent first.
    ///
    /// # Errors
    /// Nothing is running then.
    pub fn start_forwarding(&mut self, tx_first: u32) -> Result<(), StartRefusal> {
        self.check_start()?;
        self.lay_out();
        let setups = self.setups();
        let mut made = Vec::new();
        for (ends, setup) in &setups {
            let engine = (self.forwarding.engine.make)(setup).map_err(not_ready)?;
            let first = match tx_first {
                0 => None,
                bursts => Some(Prelude {
                    engine: tx_first_engine(setup)?,
                    bursts,
                }),
            };
            made.push((*ends, engine, first));
        }
        if let Some(notice) = self.forwarding.engine.notice {
            self.out.complain(format_args!("mpps: {notice}"));
        }
        self.show_config_fwd();
        self.show_flows();
        self.flush_rx();
        self.show_config_rxtx();
        for id in self.forwarding.active_ports().to_vec() {
            if let Some(slot) = self.port_mut(id) {
                slot.baseline = slot.stats();
            }
        }
        self.forwarding.streams.clear();
        self.forwarding.usage.clear();
        let mut made = made.into_iter();
        let layout = self.forwarding.layout.clone();
        let lots = layout
            .cores
            .iter()
            .map(|core| {
                let streams = core
                    .streams
                    .iter()
                    .zip(made.by_ref())
                    .map(|(ends, (_, engine, first))| {
                        let io = self.stream_io(ends);
                        let enabled = self.enabled(ends);
                        Stream {
                            engine,
                            io,
                            enabled,
                            first,
                        }
                    })
                    .collect();
                self.lot(core.lcore, streams)
            })
            .collect();
        last_words::watch(&self.forwarding.streams);
        let pools = self.pools.all();
        let stop = self.forwarding.stop.clone();
        match Workers::launch(lots, &pools, self.clock, stop) {
            Ok(workers) => {
                self.forwarding.running = Some(workers);
                Ok(())
            }
            Err(error) => Err(not_ready(error.to_string())),
        }
    }

    fn check_start(&self) -> Result<(), StartRefusal> {
        if self.forwarding.running.is_some() {
            return Err(Refusal::AlreadyStarted.into());
        }
        if !self.ports.iter().flatten().all(|port| port.is_started()) {
            return Err(Refusal::PortsNotStarted.into());
        }
        let (rxq, txq) = (self.forwarding.rxq, self.forwarding.txq);
        let engine = self.forwarding.engine;
        let missing = match engine.needs {
            Needs::Rx => rxq == 0,
            Needs::Tx => txq == 0,
            Needs::Both => rxq == 0 || txq == 0,
        };
        if missing {
            return Err(not_ready(format!(
                "engine {} can't work with --rxq={rxq} --txq={txq}: it needs {}",
                engine.name,
                needed(engine)
            )));
        }
        Ok(())
    }

    /// What each stream's engine is made from, in the order of the layout.
    fn setups(&self) -> Vec<(StreamEnds, StreamSetup)> {
        let setup = |lcore: u32, ends: &StreamEnds| {
            let node = self
                .workers
                .iter()
                .find(|worker| worker.id == lcore)
                .map_or(0, |worker| worker.node);
            let pool = self.pools.first_on(node);
            let setup = StreamSetup {
                settings: self.engines.clone(),
                rx: self.end(ends.rx),
                tx: self.end(ends.tx),
                peer: self.forwarding.peer(ends.tx.0),
                pool: pool.id(),
                pool_capacity: pool.data_capacity(),
                burst: usize::from(self.forwarding.burst),
                lcore,
            };
            (*ends, setup)
        };
        let cores = self.forwarding.layout.cores.iter();
        cores
            .flat_map(|core| core.streams.iter().map(move |ends| setup(core.lcore, ends)))
            .collect()
    }

    fn end(&self, (port, queue): (u16, u16)) -> PortEnd {
        let slot = self.port(port);
        let offloads = slot.map_or(0, |slot| slot.tx_offloads);
        let mut flags = OffloadFlags::empty();
        flags.set(OffloadFlags::TX_VLAN, offloads & 1 != 0);
        flags.set(OffloadFlags::TX_QINQ, offloads & (1 << 8) != 0);
        PortEnd {
            port,
            queue,
            mac: slot.map_or(mpps_wire::MacAddr::ZERO, |slot| slot.dev.port().mac()),
            timestamps: slot.is_some_and(|slot| slot.dev.has_timestamps()),
            // What the port fills in is what its offloads say: one place to set it (`csum set`, `--tx-offloads`).
            checksum: ChecksumSettings {
                hardware: TxOffloads::from_bits_retain(offloads),
                ..slot.map(|slot| slot.checksum).unwrap_or_default()
            },
            tx_flags: flags,
            tx_vlan: slot.map_or((0, 0), |slot| slot.tx_vlan),
        }
    }

    fn stream_io(&mut self, ends: &StreamEnds) -> StreamIo {
        let stats: Arc<StreamStats> = Arc::default();
        let histogram = self
            .forwarding
            .record_bursts
            .then(Arc::<BurstHistogram>::default);
        self.forwarding.streams.push(StreamView {
            ends: *ends,
            stats: stats.clone(),
            histogram: histogram.clone(),
            zero: StreamZero::default(),
        });
        let figures = self.forwarding.retry_figures;
        StreamIo {
            rx: self
                .queues(ends.rx.0)
                .and_then(|queues| queues.rx.get_mut(usize::from(ends.rx.1))?.take()),
            tx: self
                .queues(ends.tx.0)
                .and_then(|queues| queues.tx.get_mut(usize::from(ends.tx.1))?.take()),
            rx_at: ends.rx,
            tx_at: ends.tx,
            burst: Burst::new(usize::from(self.forwarding.burst)),
            stats,
            histogram,
            retry: if self.forwarding.retry {
                figures
            } else {
                Retry {
                    times: 0,
                    delay_us: 0,
                }
            },
            watch: self.watch.clone(),
            stop: self.forwarding.stop.clone(),
        }
    }

    fn queues(&mut self, port: u16) -> Option<&mut mpps_dev::Queues> {
        match &mut self.port_mut(port)?.state {
            PortState::Started(queues) => Some(queues),
            PortState::Stopped => None,
        }
    }

    /// Whether a stream is visited: not while a queue that its engine needs is stopped.
    fn enabled(&self, ends: &StreamEnds) -> bool {
        let rx = self
            .port(ends.rx.0)
            .is_some_and(|slot| slot.dev.port().rx_started(usize::from(ends.rx.1)));
        let tx = self
            .port(ends.tx.0)
            .is_some_and(|slot| slot.dev.port().tx_started(usize::from(ends.tx.1)));
        match self.forwarding.engine.needs {
            Needs::Rx => rx,
            Needs::Tx => tx,
            Needs::Both => rx && tx,
        }
    }

    fn lot(&mut self, lcore: u32, streams: Vec<Stream>) -> Lot {
        let cpus = self
            .workers
            .iter()
            .find(|worker| worker.id == lcore)
            .map(|worker| worker.cpus.clone());
        let usage = self
            .forwarding
            .record_cycles
            .then(Arc::<mpps_worker::LcoreUsage>::default);
        if let Some(usage) = &usage {
            self.forwarding.usage.push((lcore, usage.clone()));
        }
        Lot {
            lcore: LcoreId(lcore),
            cpus: cpus.unwrap_or_default(),
            streams,
            usage,
        }
    }

    /// Stops forwarding, prints the statistics and returns the queues to their ports.
    ///
    /// # Errors
    /// Nothing was running.
    pub fn stop_forwarding(&mut self) -> Result<(), Refusal> {
        let Some(workers) = self.forwarding.running.take() else {
            return Err(Refusal::NotStarted);
        };
        self.out.line(Lifecycle::Stopping);
        for stream in workers.stop().into_iter().flatten() {
            let Stream { io, engine, .. } = stream;
            drop(engine);
            let StreamIo {
                rx,
                tx,
                rx_at,
                tx_at,
                ..
            } = io;
            if let Some(slot) = self
                .queues(rx_at.0)
                .and_then(|queues| queues.rx.get_mut(usize::from(rx_at.1)))
            {
                *slot = rx;
            }
            if let Some(slot) = self
                .queues(tx_at.0)
                .and_then(|queues| queues.tx.get_mut(usize::from(tx_at.1)))
            {
                *slot = tx;
            }
        }
        self.show_fwd_stats();
        self.out.line(Lifecycle::Stopped);
        Ok(())
    }

    /// The layout as last computed.
    pub fn layout(&self) -> &Layout {
        &self.forwarding.layout
    }
}

fn tx_first_engine(setup: &StreamSetup) -> Result<Box<dyn mpps_engines::Engine>, StartRefusal> {
    match mpps_engines::find("txonly") {
        Some(txonly) => (txonly.make)(setup).map_err(not_ready),
        None => Err(Refusal::NotReady.into()),
    }
}

fn needed(engine: &EngineSpec) -> &'static str {
    match engine.needs {
        Needs::Rx => "a receive queue",
        Needs::Tx => "a transmit queue",
        Needs::Both => "a receive and a transmit queue",
    }
}

fn mp_alloc(args: &crate::app_args::AppArgs) -> MpAlloc {
    use crate::app_args::MempoolKind;
    match args.pools.kind {
        MempoolKind::Native => MpAlloc::Native,
        MempoolKind::Anon => MpAlloc::Anon,
        MempoolKind::Xmem => MpAlloc::Xmem,
        MempoolKind::XmemHuge => MpAlloc::XmemHuge,
        MempoolKind::Xbuf => MpAlloc::Xbuf,
    }
}
