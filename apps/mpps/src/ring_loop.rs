//! The loop: net_virtio_user and net_vhost in one process, joined by a UNIX socket and memory that both map, each forwarded
//! by a thread of its own.
//!
//! A [`Loop`] owns both ports, their pools and the socket's folder. Its workers run between [`Loop::run`] and
//! [`Loop::pause`]; meanwhile the streams are theirs. Packets that were made go round until [`Loop::drain`] takes them out
//! and looks at every one: a packet that is damaged, doubled or missing without having been counted is an error.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mpps_cpu::{Clock, CpuSet};
use mpps_dev::{
    DevArgs, DevConfig, EthDev, Events, Lcore, LcoreId, Listener, PortEvent, PortId, ProbeContext,
};
use mpps_engines::{EngineSpec, Retry, StreamIo, Watch};
use mpps_kernels::Copier;
use mpps_mbuf::{Burst, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};
use mpps_worker::{LcoreUsage, Lot, Prelude, Stream, Workers};

use crate::balance::Balance;
use crate::bench::Failure;
use crate::folder::Folder;
use crate::numbered::{self, BURST, FIRST_BURSTS, First, MADE};

/// Mbufs of a pool: a port's rings, caches and what is on its way.
const MBUFS: u32 = 8192;

/// How long ports in one process may take to find each other.
const PATIENCE: Duration = Duration::from_secs(10);

/// Looks at both rings without a packet after which the loop is empty.
const EMPTY_LOOKS: u32 = 8;

/// Names of the two sides, as told.
pub(crate) const SIDES: [&str; 2] = ["virtio-user", "vhost"];
const FRONT: usize = 0;
const BACK: usize = 1;

/// What a loop is made of.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    /// CPUs of the two workers: virtio-user's, vhost's.
    pub(crate) cpus: [usize; 2],
    pub(crate) clock: Clock,
    /// Bytes of a packet, without CRC.
    pub(crate) size: usize,
    pub(crate) packed: bool,
    /// How virtio-user copies and how vhost does.
    pub(crate) copiers: [Copier; 2],
}

struct Side {
    dev: Box<dyn EthDev>,
    pool: Pool,
    usage: Arc<LcoreUsage>,
    /// None while a worker has it.
    stream: Option<Stream>,
}

/// Both ports and what runs on them.
pub(crate) struct Loop {
    pub(crate) shape: Shape,
    sides: Vec<Side>,
    workers: Option<Workers>,
    notes: Arc<Notes>,
    made: u64,
    /// Before the ports are gone the socket may still be used; the folder goes last.
    _folder: Folder,
}

/// What the ports had to say; shown when something goes wrong.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

struct Hears(Arc<Notes>);

impl Listener for Hears {
    fn event(&self, _: PortId, _: PortEvent) {}

    fn note(&self, _: PortId, line: &str) {
        let mut lines = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A port that repeats itself must not fill the memory.
        if lines.len() < 64 {
            lines.push(line.to_owned());
        }
    }
}

impl Loop {
    /// Makes both ports, joins them and waits until they are linked.
    pub(crate) fn new(shape: Shape) -> Result<Self, Failure> {
        let folder = Folder::new()?;
        let socket = folder.path().join("vhost-net");
        let socket = socket.display();
        let packed = u8::from(shape.packed);
        // vhost listens and is there first, so that virtio-user's first attempt to connect finds it.
        let devices = [
            format!("net_virtio_user0,path={socket},mrg_rxbuf=1,in_order=1,packed_vq={packed}"),
            format!("net_vhost0,iface={socket}"),
        ];
        let notes = Arc::<Notes>::default();
        let engine = mpps_engines::find("io").ok_or("there is no engine io")?;
        let mut sides = Vec::new();
        for at in [BACK, FRONT] {
            let events = Events::heard_by(Hears(Arc::clone(&notes)));
            sides.insert(0, side(&devices[at], at, &shape, events, engine)?);
        }
        let new = Self {
            shape,
            sides,
            workers: None,
            notes,
            made: 0,
            _folder: folder,
        };
        new.wait_for_link()?;
        Ok(new)
    }

    fn wait_for_link(&self) -> Result<(), Failure> {
        let end = Instant::now() + PATIENCE;
        while !self.sides.iter().all(|side| side.dev.link().up) {
            if Instant::now() > end {
                return Err(self.void("the two ports don't find each other").into());
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    fn void(&self, what: &str) -> String {
        let lines = self.notes.0.lock().unwrap_or_else(PoisonError::into_inner);
        match lines.last() {
            Some(line) => format!("{what}; the last that a port said: {line}"),
            None => what.to_owned(),
        }
    }

    /// What the vhost side receives and sends through now.
    pub(crate) fn paths(&self) -> String {
        let (rx, _) = self.sides[BACK].dev.paths();
        rx.unwrap_or_else(|| "unknown".to_owned())
    }

    /// Has the next run begin with the first packets.
    pub(crate) fn charge(&mut self) {
        let (pool, size) = (self.sides[BACK].pool.id(), self.shape.size);
        if let Some(stream) = &mut self.sides[BACK].stream {
            stream.first = Some(Prelude {
                engine: Box::new(First {
                    pool,
                    size,
                    next: 0,
                    taken: false,
                }),
                bursts: FIRST_BURSTS,
            });
            self.made += MADE;
        }
    }

    /// Starts both workers, or virtio-user's alone; with `cycles`, they record what their time goes for.
    pub(crate) fn run(&mut self, both: bool, cycles: bool) -> Result<(), Failure> {
        let (mut lots, mut pools) = (Vec::new(), Vec::new());
        // Relaxed flags inside; one flag for all streams, as the workers want it.
        let stop = Arc::default();
        let count = if both { 2 } else { 1 };
        for (at, side) in self.sides.iter_mut().enumerate() {
            pools.push(side.pool.clone());
            if at >= count {
                continue;
            }
            let Some(mut stream) = side.stream.take() else {
                return Err("a worker is running already".into());
            };
            stream.io.stop = Arc::clone(&stop);
            lots.push(Lot {
                lcore: LcoreId(at as u32 + 1),
                cpus: one_cpu(self.shape.cpus[at]),
                streams: vec![stream],
                usage: cycles.then(|| Arc::clone(&side.usage)),
            });
        }
        self.workers = Some(Workers::launch(lots, &pools, self.shape.clock, stop)?);
        Ok(())
    }

    /// Stops the workers and takes the streams back; packets stay in the rings.
    pub(crate) fn pause(&mut self) -> Result<(), Failure> {
        let Some(workers) = self.workers.take() else {
            return Ok(());
        };
        for (side, streams) in self.sides.iter_mut().zip(workers.stop()) {
            side.stream = streams.into_iter().next();
            if side.stream.is_none() {
                return Err("a worker ended early; the measurement is void".into());
            }
        }
        Ok(())
    }

    /// Packets that the vhost side has received.
    pub(crate) fn received(&self) -> u64 {
        self.sides[BACK].dev.stats().ipackets
    }

    /// Of each side: ticks at work and in all while they were recorded, and packets received, since the ports were made.
    pub(crate) fn spent(&self) -> [[u64; 3]; 2] {
        [FRONT, BACK].map(|at| {
            let side = &self.sides[at];
            [
                side.usage.busy.get(),
                side.usage.total.get(),
                side.dev.stats().ipackets,
            ]
        })
    }

    /// Queues and pool of the vhost side while it has no worker.
    pub(crate) fn back(&mut self) -> Option<(&mut StreamIo, Pool)> {
        let side = &mut self.sides[BACK];
        let pool = side.pool.clone();
        side.stream.as_mut().map(|stream| (&mut stream.io, pool))
    }

    /// Takes all packets out of the loop and draws the balance since it was last empty.
    pub(crate) fn drain(&mut self) -> Result<Balance, Failure> {
        let pools: Vec<Pool> = self.sides.iter().map(|side| side.pool.clone()).collect();
        let mut lcore = Lcore::new(LcoreId(0), &pools, self.shape.clock);
        let mut seen = vec![false; MADE as usize];
        let (mut found, mut dropped, mut empty) = (0, 0, 0);
        while empty < EMPTY_LOOKS {
            empty += 1;
            for side in &mut self.sides {
                let Some(stream) = &mut side.stream else {
                    return Err("the loop can't be emptied while it runs".into());
                };
                if stream.io.receive(&mut lcore) == 0 {
                    continue;
                }
                empty = 0;
                for packet in stream.io.burst.as_slice() {
                    take(packet.data(), self.shape.size, &mut seen)?;
                    found += 1;
                }
                lcore.free(&mut stream.io.burst);
            }
        }
        for side in &mut self.sides {
            if let Some(stream) = &mut side.stream {
                dropped += stream.io.stats.dropped.get();
                // Counters never go backwards: a new period has new ones.
                stream.io.stats = Arc::default();
            }
        }
        let stats = [FRONT, BACK].map(|at| self.sides[at].dev.stats());
        let balance = Balance {
            made: std::mem::take(&mut self.made),
            found,
            dropped,
            sent: stats[FRONT].opackets + stats[BACK].opackets,
            received: stats[FRONT].ipackets + stats[BACK].ipackets,
        };
        balance
            .verdict()
            .map_err(|error| self.void(&error.to_string()).into())
    }

    /// Closes the ports and checks that every mbuf is home.
    pub(crate) fn finish(mut self) -> Result<(), Failure> {
        self.pause()?;
        for side in self.sides.drain(..) {
            let Side {
                mut dev,
                pool,
                stream,
                ..
            } = side;
            if let Some(stream) = stream {
                dev.stop(mpps_dev::Queues {
                    rx: vec![stream.io.rx],
                    tx: vec![stream.io.tx],
                });
            }
            drop(dev);
            let away = MBUFS as usize - pool.free_count();
            if away != 0 {
                return Err(
                    format!("{away} mbufs did not come home; the measurement is void").into(),
                );
            }
        }
        Ok(())
    }
}

/// Notes that a packet was found; an error if it is damaged or was found before.
fn take(bytes: &[u8], size: usize, seen: &mut [bool]) -> Result<(), Failure> {
    let number = numbered::read(bytes, size)
        .ok_or("a packet came out of the loop changed; the measurement is void")?;
    let place = usize::try_from(number).ok().and_then(|at| seen.get_mut(at));
    match place {
        Some(seen) if !*seen => {
            *seen = true;
            Ok(())
        }
        _ => Err(
            format!("packet {number} came out of the loop twice; the measurement is void").into(),
        ),
    }
}

pub(crate) fn one_cpu(cpu: usize) -> CpuSet {
    let mut cpus = CpuSet::default();
    cpus.insert(cpu);
    cpus
}

fn side(
    device: &str,
    at: usize,
    shape: &Shape,
    events: Events,
    engine: &EngineSpec,
) -> Result<Side, Failure> {
    let pages = Arc::new(PageSource::new(MemoryConfig::default())?);
    let config = PoolConfig {
        name: SIDES[at].to_owned(),
        size: MBUFS,
        data_room: 2176,
        cache_size: 250,
        node: None,
    };
    let pool = Pool::create(config, &pages)?;
    pool.prime(MBUFS as usize / 4);
    let args: DevArgs = device.parse()?;
    let driver =
        mpps_drivers::find(args.name()).ok_or_else(|| format!("no driver for {}", args.name()))?;
    let port = at as u16;
    let mut context = ProbeContext::new(PortId::new(port)?);
    context.copier = shape.copiers[at];
    context.pages = Some(pages);
    context.events = events;
    let mut dev = driver.probe(&args, &context)?;
    dev.configure(&DevConfig::plain(&pool, 1))?;
    let mut queues = dev.start()?;
    let io = StreamIo {
        rx: queues.rx.first_mut().and_then(Option::take),
        tx: queues.tx.first_mut().and_then(Option::take),
        rx_at: (port, 0),
        tx_at: (port, 0),
        burst: Burst::new(BURST),
        stats: Arc::default(),
        histogram: None,
        retry: Retry {
            times: 0,
            delay_us: 0,
        },
        watch: Watch::new(|_| {}),
        stop: Arc::default(),
    };
    Ok(Side {
        stream: Some(Stream {
            engine: (engine.make)(&crate::bench::stream_setup(&*dev, &pool, at)?)?,
            io,
            enabled: true,
            first: None,
        }),
        dev,
        pool,
        usage: Arc::default(),
    })
}
