//! A bench: two ports, one worker between them, and samples of what the ports count.
//!
//! Made for one measurement and taken apart after it; the pool is checked then, so that a measurement that loses packets
//! is an error and not a number.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mpps_cpu::{Clock, CpuSet, Topology};
use mpps_dev::{DevConfig, EthDev, LcoreId, PortId, ProbeContext, Queues};
use mpps_engines::{EngineSettings, EngineSpec, PortEnd, Retry, StreamIo, StreamSetup, Watch};
use mpps_mbuf::{Burst, OffloadFlags, Pool, PoolConfig};
use mpps_os::Signal;
use mpps_shm::{MemoryConfig, PageSource};
use mpps_wire::MacAddr;
use mpps_worker::{Lot, Stream, Workers};

/// Packets a burst, as testpmd's default.
const BURST: usize = 32;

/// Mbufs of the pool.
const MBUFS: u32 = 8192;

/// What goes wrong is told in one line by `main`.
pub(crate) type Failure = Box<dyn Error>;

/// A signal came before all was measured.
#[derive(Debug, thiserror::Error)]
#[error("{0}: the measurement was broken off")]
pub(crate) struct Broken(pub(crate) Signal);

/// Where the worker runs and what its clock is.
pub(crate) struct Machine {
    /// The CPU of the worker: the last one that may be used, as interrupts and the shell prefer the first.
    pub(crate) cpu: usize,
    /// How many CPUs may be used.
    pub(crate) cpus: usize,
    /// The CPUs of two workers, the same one twice where only one may be used.
    pub(crate) pair: [usize; 2],
    /// The clock that cycles are counted by.
    pub(crate) clock: Clock,
}

impl Machine {
    pub(crate) fn read() -> Result<Self, Failure> {
        let topology = Topology::read()?;
        let allowed: Vec<usize> = topology.allowed().iter().collect();
        let cpu = *allowed.last().ok_or("no CPU may be used by this process")?;
        Ok(Self {
            cpu,
            cpus: allowed.len(),
            pair: pair(&topology, &allowed).unwrap_or([cpu, cpu]),
            clock: Clock::calibrated(),
        })
    }
}

/// Two CPUs of one node, on different cores where possible, the last ones that may be used.
fn pair(topology: &Topology, allowed: &[usize]) -> Option<[usize; 2]> {
    let (&last, others) = allowed.split_last()?;
    let siblings = topology.cpu(last).map(|cpu| cpu.siblings.clone());
    let apart = |cpu: &usize| !siblings.as_ref().is_some_and(|set| set.contains(*cpu));
    let near = |cpu: &usize| topology.node_of(*cpu) == topology.node_of(last);
    let best = others.iter().rev().find(|cpu| apart(cpu) && near(cpu));
    let first = best.or_else(|| others.iter().rev().find(|cpu| apart(cpu)));
    Some([*first.or(others.last())?, last])
}

/// What was counted between two looks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    /// Packets that the ports received.
    pub(crate) packets: u64,
    /// The time it took.
    pub(crate) time: Duration,
}

impl Sample {
    /// Millions of packets a second.
    pub(crate) fn mpps(&self) -> f64 {
        self.packets as f64 / self.time.as_secs_f64() / 1e6
    }
}

/// Ports and a running worker.
pub(crate) struct Bench {
    pool: Pool,
    ports: Vec<(Box<dyn EthDev>, Queues)>,
    workers: Option<Workers>,
    last: (u64, Instant),
}

impl Bench {
    /// Makes the devices into ports and forwards from each to the next, the last to the first.
    pub(crate) fn start(
        machine: &Machine,
        devices: &[String],
        engine: &EngineSpec,
    ) -> Result<Self, Failure> {
        let pages = PageSource::new(MemoryConfig::default())?;
        let config = PoolConfig {
            name: "bench".to_owned(),
            size: MBUFS,
            data_room: 2176,
            cache_size: 250,
            node: None,
        };
        let pool = Pool::create(config, &pages)?;
        pool.prime(1024);
        let mut ports = Vec::new();
        for (number, device) in devices.iter().enumerate() {
            let mut dev = probe(device, number, &pool)?;
            let queues = dev.start()?;
            ports.push((dev, queues));
        }
        let mut bench = Self {
            pool,
            ports,
            workers: None,
            last: (0, Instant::now()),
        };
        bench.launch(machine, engine)?;
        Ok(bench)
    }

    fn launch(&mut self, machine: &Machine, engine: &EngineSpec) -> Result<(), Failure> {
        let stop = Arc::default();
        let count = self.ports.len();
        let mut streams = Vec::new();
        for from in 0..count {
            let to = (from + 1) % count;
            let work = (engine.make)(&self.setup(from, to))?;
            let io = StreamIo {
                rx: self.ports[from].1.rx[0].take(),
                tx: self.ports[to].1.tx[0].take(),
                rx_at: (from as u16, 0),
                tx_at: (to as u16, 0),
                burst: Burst::new(BURST),
                stats: Arc::default(),
                histogram: None,
                retry: Retry {
                    times: 0,
                    delay_us: 0,
                },
                watch: Watch::new(|_| {}),
                stop: Arc::clone(&stop),
            };
            streams.push(Stream {
                engine: work,
                io,
                enabled: true,
                first: None,
            });
        }
        let mut cpus = CpuSet::default();
        cpus.insert(machine.cpu);
        let lot = Lot {
            lcore: LcoreId(1),
            cpus,
            streams,
            usage: None,
        };
        self.workers = Some(Workers::launch(
            vec![lot],
            std::slice::from_ref(&self.pool),
            machine.clock,
            stop,
        )?);
        self.last = (self.received(), Instant::now());
        Ok(())
    }

    fn setup(&self, from: usize, to: usize) -> StreamSetup {
        let end = |port: usize| PortEnd {
            port: port as u16,
            queue: 0,
            mac: self.ports[port].0.port().mac(),
            timestamps: false,
            checksum: Default::default(),
            tx_flags: OffloadFlags::empty(),
            tx_vlan: (0, 0),
        };
        StreamSetup {
            settings: EngineSettings::default(),
            rx: end(from),
            tx: end(to),
            peer: MacAddr([2, 0, 0, 0, 0, to as u8]),
            pool: self.pool.id(),
            pool_capacity: self.pool.data_capacity(),
            burst: BURST,
            lcore: 1,
        }
    }

    /// Packets that all ports have received.
    pub(crate) fn received(&self) -> u64 {
        self.ports.iter().map(|(dev, _)| dev.stats().ipackets).sum()
    }

    /// What was received since the last sample.
    pub(crate) fn sample(&mut self) -> Sample {
        let now = (self.received(), Instant::now());
        let sample = Sample {
            packets: now.0 - self.last.0,
            time: now.1 - self.last.1,
        };
        self.last = now;
        sample
    }

    /// Stops the worker, closes the ports and checks that what was received was sent and that every mbuf is home.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        if let Some(workers) = self.workers.take() {
            drop(workers.stop());
        }
        let (received, sent) = self.ports.iter().fold((0, 0), |(rx, tx), (dev, _)| {
            (rx + dev.stats().ipackets, tx + dev.stats().opackets)
        });
        for (mut dev, queues) in self.ports.drain(..) {
            dev.stop(queues);
        }
        if received != sent {
            return Err(format!(
                "{received} packets were received and {sent} sent; the measurement is void"
            )
            .into());
        }
        let home = self.pool.free_count();
        if home != MBUFS as usize {
            return Err(format!(
                "{} mbufs did not come home; the measurement is void",
                MBUFS as usize - home
            )
            .into());
        }
        Ok(())
    }
}

/// What an engine is told of a port that forwards to itself.
pub(crate) fn stream_setup(
    dev: &dyn EthDev,
    pool: &Pool,
    port: usize,
) -> Result<StreamSetup, Failure> {
    let port = u16::try_from(port)?;
    let end = || PortEnd {
        port,
        queue: 0,
        mac: dev.port().mac(),
        timestamps: false,
        checksum: Default::default(),
        tx_flags: OffloadFlags::empty(),
        tx_vlan: (0, 0),
    };
    Ok(StreamSetup {
        settings: EngineSettings::default(),
        rx: end(),
        tx: end(),
        peer: MacAddr([2, 0, 0, 0, 0, 0]),
        pool: pool.id(),
        pool_capacity: pool.data_capacity(),
        burst: BURST,
        lcore: 1,
    })
}

fn probe(device: &str, number: usize, pool: &Pool) -> Result<Box<dyn EthDev>, Failure> {
    let args: mpps_dev::DevArgs = device.parse()?;
    let driver =
        mpps_drivers::find(args.name()).ok_or_else(|| format!("no driver for {}", args.name()))?;
    let mut dev = driver.probe(&args, &ProbeContext::new(PortId::new(number as u16)?))?;
    dev.configure(&DevConfig::plain(pool, 1))?;
    Ok(dev)
}
