//! The threads and their loop.

use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mpps_cpu::{Clock, CpuSet, pin_current_thread};
use mpps_dev::{Lcore, LcoreId};
use mpps_engines::{Engine, StreamIo};
use mpps_mbuf::Pool;
use mpps_ring::Counter;

use crate::position;

/// Turns after which an lcore's totals are brought up to date.
const TURNS: u32 = 1024;

/// The longest time between two such updates.
const PERIOD: Duration = Duration::from_millis(1);

/// How long a stop waits for first bursts that are still being sent: a script that starts and stops at once gets those it
/// asked for, and more than any script asks for can't hold the stop up.
const GRACE: Duration = Duration::from_millis(50);

/// How often a stop looks whether the first bursts are out.
const LOOK: Duration = Duration::from_micros(100);

/// A stream: an engine and what it works on.
pub struct Stream {
    /// What happens to the packets.
    pub engine: Box<dyn Engine>,
    /// The queues, the burst, the counters.
    pub io: StreamIo,
    /// Whether it is visited at all: false while one of its queues is stopped.
    pub enabled: bool,
    /// What is sent before the first visit.
    pub first: Option<Prelude>,
}

/// Bursts that a stream sends before it is visited for the first time (`start tx_first`); nothing is received meanwhile.
pub struct Prelude {
    /// The engine that makes and sends them.
    pub engine: Box<dyn Engine>,
    /// How many.
    pub bursts: u32,
}

/// What one lcore spends its time on; written by its worker, read by anyone.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct LcoreUsage {
    /// Clock ticks in all.
    pub total: Counter,
    /// Clock ticks of visits that had something to do.
    pub busy: Counter,
}

/// The streams of one lcore.
pub struct Lot {
    /// The lcore.
    pub lcore: LcoreId,
    /// The CPUs that it may run on; empty for wherever the program may run.
    pub cpus: CpuSet,
    /// Visited in this order, turn by turn.
    pub streams: Vec<Stream>,
    /// Where its time goes, while cycles are recorded.
    pub usage: Option<Arc<LcoreUsage>>,
}

/// Why workers can't be launched.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The system gives no more threads.
    #[error("lcore {lcore}: can't start its thread: {source}")]
    Thread {
        /// The lcore.
        lcore: LcoreId,
        /// What the system says.
        source: io::Error,
    },
}

struct Worker {
    thread: JoinHandle<Vec<Stream>>,
}

/// Running workers. Stopped by [`Workers::stop`]; dropping it stops them too.
pub struct Workers {
    stop: Arc<AtomicBool>,
    /// Workers whose first bursts aren't all sent.
    beginning: Arc<AtomicUsize>,
    workers: Vec<Worker>,
}

impl Workers {
    /// Starts a thread for each lot. `stop` is the flag that the streams' retries look at as well. On an error the threads
    /// that were started are stopped again, and the streams are dropped.
    pub fn launch(
        lots: Vec<Lot>,
        pools: &[Pool],
        clock: Clock,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, LaunchError> {
        // Relaxed: spawning a thread orders it.
        stop.store(false, Ordering::Relaxed);
        let mut workers = Self {
            stop: stop.clone(),
            beginning: Arc::default(),
            workers: Vec::new(),
        };
        for lot in lots {
            let (lcore, stop, pools) = (lot.lcore, stop.clone(), pools.to_vec());
            let beginning = workers.beginning.clone();
            // Relaxed, here and wherever it is touched, no partner: nothing is read on account of the number.
            beginning.fetch_add(1, Ordering::Relaxed);
            let thread = std::thread::Builder::new()
                .name(format!("mpps-worker{lcore}"))
                .spawn(move || run(lot, &pools, clock, &stop, &beginning))
                .map_err(|source| LaunchError::Thread { lcore, source })?;
            workers.workers.push(Worker { thread });
        }
        Ok(workers)
    }

    /// Tells all workers to stop, waits for them and returns their streams, lot by lot. Each has sent its first bursts, as
    /// far as 50 ms suffice, and visited its streams once.
    pub fn stop(mut self) -> Vec<Vec<Stream>> {
        self.join()
    }

    fn join(&mut self) -> Vec<Vec<Stream>> {
        let end = Instant::now() + GRACE;
        // Relaxed, no partner: see `Workers::launch`.
        while !self.workers.is_empty()
            && self.beginning.load(Ordering::Relaxed) > 0
            && Instant::now() < end
        {
            std::thread::sleep(LOOK);
        }
        // Relaxed: joining the threads orders what they did before what follows.
        self.stop.store(true, Ordering::Relaxed);
        let workers = std::mem::take(&mut self.workers);
        // A worker that panicked has ended the process already, or in a test returns nothing.
        workers
            .into_iter()
            .map(|worker| worker.thread.join().unwrap_or_default())
            .collect()
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.join();
    }
}

fn run(
    mut lot: Lot,
    pools: &[Pool],
    clock: Clock,
    stop: &AtomicBool,
    beginning: &AtomicUsize,
) -> Vec<Stream> {
    if !lot.cpus.is_empty()
        && let Err(error) = pin_current_thread(&lot.cpus)
    {
        // Nobody may be reading; the lcore runs all the same.
        let _ = writeln!(
            io::stderr(),
            "mpps: lcore {}: can't run on CPUs {}: {error}; it runs where the system puts it",
            lot.lcore,
            lot.cpus
        );
    }
    // What was queued for the caches comes back when `lcore` is dropped, before the streams are handed back.
    let mut lcore = Lcore::new(lot.lcore, pools, clock);
    let streams = &mut lot.streams[..];
    prelude(streams, &mut lcore, stop);
    // Relaxed, no partner: see `Workers::launch`.
    beginning.fetch_sub(1, Ordering::Relaxed);
    match &lot.usage {
        None => loop {
            turn(streams, &mut lcore);
            // Relaxed: the flag alone matters, see `Workers::join`.
            if stop.load(Ordering::Relaxed) {
                break;
            }
        },
        Some(usage) => recorded(streams, &mut lcore, usage, stop),
    }
    position::leave();
    lot.streams
}

/// Sends the first bursts of all streams, a burst of each in turn.
fn prelude(streams: &mut [Stream], lcore: &mut Lcore, stop: &AtomicBool) {
    let rounds = streams
        .iter()
        .filter_map(|stream| stream.first.as_ref())
        .map(|first| first.bursts)
        .max();
    for round in 0..rounds.unwrap_or(0) {
        // Relaxed: see `run`.
        if stop.load(Ordering::Relaxed) {
            break;
        }
        for stream in streams.iter_mut().filter(|stream| stream.enabled) {
            if let Some(first) = &mut stream.first
                && round < first.bursts
            {
                position::enter(stream.io.tx_at.0, stream.io.tx_at.1);
                first.engine.step(lcore, &mut stream.io);
            }
        }
    }
    streams.iter_mut().for_each(|stream| stream.first = None);
}

/// One visit to every stream.
#[inline(always)]
fn turn(streams: &mut [Stream], lcore: &mut Lcore) {
    for stream in streams {
        if stream.enabled {
            position::enter(stream.io.rx_at.0, stream.io.rx_at.1);
            stream.engine.step(lcore, &mut stream.io);
        }
    }
}

/// The loop with cycles recorded: the clock is read around every visit. Totals are brought up to date every
/// [`TURNS`] turns or [`PERIOD`], whichever comes first.
fn recorded(streams: &mut [Stream], lcore: &mut Lcore, usage: &LcoreUsage, stop: &AtomicBool) {
    let clock = *lcore.clock();
    let period = clock.ticks_in(PERIOD);
    let mut mark = clock.ticks();
    let (mut now, mut turns) = (mark, 0);
    loop {
        for stream in &mut *streams {
            if !stream.enabled {
                continue;
            }
            position::enter(stream.io.rx_at.0, stream.io.rx_at.1);
            let start = clock.ticks();
            let busy = stream.engine.step(lcore, &mut stream.io);
            now = clock.ticks();
            if busy {
                let spent = now.wrapping_sub(start);
                stream.io.stats.busy_cycles.add(spent);
                usage.busy.add(spent);
            }
        }
        turns += 1;
        if turns == TURNS || now.wrapping_sub(mark) >= period {
            turns = 0;
            now = clock.ticks();
            usage.total.add(now.wrapping_sub(mark));
            mark = now;
        }
        // Relaxed: see `run`.
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    usage.total.add(clock.ticks().wrapping_sub(mark));
}
