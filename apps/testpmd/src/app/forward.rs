//! Laying out streams, starting and stopping to forward.

use std::sync::Arc;

use mpps_dev::{LcoreId, TxOffloads};
use mpps_engines::{
    BurstHistogram, ChecksumSettings, Engine, EngineSpec, Needs, PortEnd, Retry, StreamIo,
    StreamSetup, StreamStats,
};
use mpps_mbuf::{Burst, OffloadFlags};
use mpps_worker::{Lot, Prelude, Stream, Workers};

use super::forwarding::{StreamView, StreamZero};
use super::{App, PortState, last_words};
use crate::text::{Layout, Lifecycle, Notice, Refusal, StreamEnds, lay_out};

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

/// An engine and what it sends first.
type Made = (Box<dyn Engine>, Option<Prelude>);

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

    /// Starts forwarding, with `tx_first` bursts a stream sent first.
    ///
    /// # Errors
    /// Nothing is running then.
    pub fn start_forwarding(&mut self, tx_first: u32) -> Result<(), StartRefusal> {
        self.check_start()?;
        self.lay_out();
        let made = self.make_engines(tx_first)?;
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
        let lots = self.lots(made);
        last_words::watch(&self.forwarding.streams);
        let pools = self.pools.all();
        let stop = self.forwarding.stop.clone();
        match Workers::launch(lots, &pools, self.clock, stop) {
            Ok(workers) => {
                self.forwarding.running = Some(workers);
                Ok(())
            }
            Err(error) => {
                // The queues went with the threads that didn't start: their ports have to be started again.
                for id in self.forwarding.active_ports().to_vec() {
                    self.stop_port(id);
                }
                Err(not_ready(error.to_string()))
            }
        }
    }

    /// An engine for each stream of the layout, in its order, and what it sends first.
    fn make_engines(&self, tx_first: u32) -> Result<Vec<Made>, StartRefusal> {
        let make = |setup: &StreamSetup| {
            let engine = (self.forwarding.engine.make)(setup).map_err(not_ready)?;
            let first = match tx_first {
                0 => None,
                bursts => Some(Prelude {
                    engine: tx_first_engine(setup)?,
                    bursts,
                }),
            };
            Ok((engine, first))
        };
        self.setups().iter().map(make).collect()
    }

    /// The streams of each lcore, with the queues taken from their ports.
    fn lots(&mut self, made: Vec<Made>) -> Vec<Lot> {
        let mut made = made.into_iter();
        let mut lots = Vec::new();
        for core in self.forwarding.layout.cores.clone() {
            let mut streams = Vec::new();
            for (ends, (engine, first)) in core.streams.iter().zip(made.by_ref()) {
                let io = self.stream_io(ends);
                let enabled = self.enabled(ends);
                streams.push(Stream {
                    engine,
                    io,
                    enabled,
                    first,
                });
            }
            lots.push(self.lot(core.lcore, streams));
        }
        lots
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
    fn setups(&self) -> Vec<StreamSetup> {
        let setup = |lcore: u32, ends: &StreamEnds| {
            let node = self
                .workers
                .iter()
                .find(|worker| worker.id == lcore)
                .map_or(0, |worker| worker.node);
            let pool = self.pools.first_on(node);
            StreamSetup {
                settings: self.engines.clone(),
                rx: self.end(ends.rx),
                tx: self.end(ends.tx),
                peer: self.forwarding.peer(ends.tx.0),
                pool: pool.id(),
                pool_capacity: pool.data_capacity(),
                burst: usize::from(self.forwarding.burst),
                lcore,
            }
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
        self.join();
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
