//! The loop: net_virtio_user and net_vhost in one process, joined by a UNIX socket and memory that both map, each forwarded
//! by a thread of its own.
//!
//! A [`Loop`] owns both ports, their pools and the socket's folder. Its workers run between [`Loop::run`] and
//! [`Loop::pause`]; meanwhile the streams are theirs. Packets that were made go round until [`Loop::drain`] takes them out
//! and looks at every one: a packet that is damaged, doubled or missing without having been counted is an error.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mpps_cpu::{Clock, CpuSet};
use mpps_dev::{Events, Lcore, LcoreId, Listener, PortEvent, PortId};
use mpps_engines::StreamIo;
use mpps_kernels::Copier;
use mpps_mbuf::Pool;
use mpps_worker::{Lot, Prelude, Workers};

mod side;
mod ways;

use crate::balance::Balance;
use crate::bench::Failure;
use crate::folder::Folder;
use crate::numbered::{self, FIRST_BURSTS, First, MADE};
use side::{MBUFS, Side};
pub(crate) use ways::Way;
use ways::{Sink, Source};

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

/// Both ports and what runs on them.
pub(crate) struct Loop {
    pub(crate) shape: Shape,
    way: Way,
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
        let mut sides = Vec::new();
        for at in [BACK, FRONT] {
            let events = Events::heard_by(Hears(Arc::clone(&notes)));
            sides.insert(0, side::side(&devices[at], at, &shape, events)?);
        }
        let new = Self {
            shape,
            way: Way::Round,
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

    /// Packets that have come to the end where they are counted: vhost's, unless they go to virtio-user alone.
    pub(crate) fn received(&self) -> u64 {
        let end = if self.way == Way::FromVhost {
            FRONT
        } else {
            BACK
        };
        self.sides[end].dev.stats().ipackets
    }

    /// Has the next runs send packets this way. The loop is empty and paused.
    pub(crate) fn set_way(&mut self, way: Way) -> Result<(), Failure> {
        for (at, side) in self.sides.iter_mut().enumerate() {
            let Some(stream) = &mut side.stream else {
                return Err("a side that runs can't be turned".into());
            };
            stream.engine = match (way, at) {
                (Way::Round, _) => side::engine(&*side.dev, &side.pool, at)?,
                (Way::FromVirtioUser, FRONT) | (Way::FromVhost, BACK) => {
                    Box::new(Source::new(side.pool.id(), self.shape.size as u16))
                }
                _ => Box::new(Sink),
            };
        }
        self.way = way;
        Ok(())
    }

    /// Takes all packets out of the loop without a look at them; an error if one is missing.
    pub(crate) fn empty(&mut self) -> Result<(), Failure> {
        self.take_all(|_| Ok(()))?;
        let stats = [FRONT, BACK].map(|at| self.sides[at].dev.stats());
        let sent = stats[FRONT].opackets + stats[BACK].opackets;
        let received = stats[FRONT].ipackets + stats[BACK].ipackets;
        if sent != received {
            let what = format!(
                "{sent} packets were sent and {received} received; the measurement is void"
            );
            return Err(self.void(&what).into());
        }
        Ok(())
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
        let mut seen = vec![false; MADE as usize];
        let (mut found, mut dropped, size) = (0, 0, self.shape.size);
        self.take_all(|bytes| {
            found += 1;
            take(bytes, size, &mut seen)
        })?;
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

    /// Receives at both sides until nothing comes any more, and shows every packet.
    fn take_all(
        &mut self,
        mut look: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let pools: Vec<Pool> = self.sides.iter().map(|side| side.pool.clone()).collect();
        let mut lcore = Lcore::new(LcoreId(0), &pools, self.shape.clock);
        let mut empty = 0;
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
                    look(packet.data())?;
                }
                lcore.free(&mut stream.io.burst);
            }
        }
        Ok(())
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
