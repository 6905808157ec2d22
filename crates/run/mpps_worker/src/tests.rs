//! Streams run, stop in time and come back whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use mpps_cpu::{Clock, CpuSet};
use mpps_dev::{DevConfig, Driver, EthDev, LcoreId, PortId, ProbeContext};
use mpps_engines::{Engine, Retry, StreamIo, StreamStats, Watch};
use mpps_mbuf::{Burst, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};

use crate::{LcoreUsage, Lot, Prelude, Stream, Workers, position};

struct Forward;

impl Engine for Forward {
    fn step(&mut self, lcore: &mut mpps_dev::Lcore, io: &mut StreamIo) -> bool {
        assert_eq!(position().map(|at| at.port), Some(io.rx_at.0));
        io.receive(lcore);
        io.send(lcore) != 0
    }
}

fn null(number: u16, pool: &Pool) -> Box<dyn EthDev> {
    let args = format!("net_null{number}").parse().unwrap();
    let mut dev = mpps_pmd_null::Null
        .probe(&args, &ProbeContext::new(PortId::new(number).unwrap()))
        .unwrap();
    dev.configure(&DevConfig::plain(pool, 1)).unwrap();
    dev
}

fn pool() -> Pool {
    let pages = PageSource::new(MemoryConfig::default()).unwrap();
    Pool::create(
        PoolConfig {
            name: "worker".to_owned(),
            size: 2048,
            data_room: 2176,
            cache_size: 64,
            node: None,
        },
        &pages,
    )
    .unwrap()
}

fn stream(dev: &mut dyn EthDev, port: u16, stop: &Arc<AtomicBool>) -> Stream {
    let mut queues = dev.start().unwrap();
    let io = StreamIo {
        rx: queues.rx[0].take(),
        tx: queues.tx[0].take(),
        rx_at: (port, 0),
        tx_at: (port, 0),
        burst: Burst::new(32),
        stats: Arc::new(StreamStats::default()),
        histogram: None,
        retry: Retry {
            times: 0,
            delay_us: 0,
        },
        watch: Watch::new(|_| {}),
        stop: stop.clone(),
    };
    Stream {
        engine: Box::new(Forward),
        io,
        enabled: true,
        first: None,
    }
}

#[test]
fn streams_run_stop_and_come_back() {
    let pool = pool();
    let stop = Arc::new(AtomicBool::new(false));
    let mut devs: Vec<_> = (0..3).map(|n| null(n, &pool)).collect();
    let streams: Vec<_> = devs
        .iter_mut()
        .zip(0..)
        .map(|(dev, n)| stream(&mut **dev, n, &stop))
        .collect();
    let usage = Arc::new(LcoreUsage::default());
    let mut streams = streams.into_iter();
    let mut last = streams.next_back().unwrap();
    last.enabled = false;
    let lots = vec![
        Lot {
            lcore: LcoreId(1),
            cpus: CpuSet::default(),
            streams: vec![streams.next().unwrap(), last],
            usage: None,
        },
        Lot {
            lcore: LcoreId(2),
            cpus: CpuSet::default(),
            streams: streams.collect(),
            usage: Some(usage.clone()),
        },
    ];
    let workers =
        Workers::launch(lots, std::slice::from_ref(&pool), Clock::calibrated(), stop).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    let start = Instant::now();
    let back = workers.stop();
    assert!(start.elapsed() < Duration::from_millis(100));
    assert_eq!(back.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
    let counts: Vec<_> = back
        .iter()
        .flatten()
        .map(|stream| stream.io.stats.rx_packets.get())
        .collect();
    assert!(counts[0] > 0 && counts[2] > 0, "{counts:?}");
    assert_eq!(counts[1], 0, "a stream that is not enabled is not visited");
    assert!(usage.busy.get() > 0 && usage.busy.get() <= usage.total.get());
    for (dev, counted) in devs.iter().zip([counts[0], counts[2], 0]) {
        assert_eq!(
            (dev.stats().ipackets, dev.stats().opackets),
            (counted, counted)
        );
    }
    drop(back);
    assert_eq!(pool.free_count(), 2048);
}

/// Engine of the first bursts: does nothing but count.
struct Count(Arc<StreamStats>);

impl Engine for Count {
    fn step(&mut self, _: &mut mpps_dev::Lcore, _: &mut StreamIo) -> bool {
        self.0.dropped.add(1);
        true
    }
}

#[test]
fn first_bursts_are_sent_though_the_stop_comes_at_once() {
    let pool = pool();
    for bursts in [0, 1, 1000] {
        let stop = Arc::new(AtomicBool::new(false));
        let mut dev = null(0, &pool);
        let mut stream = stream(&mut *dev, 0, &stop);
        let stats = stream.io.stats.clone();
        stream.first = Some(Prelude {
            engine: Box::new(Count(stats.clone())),
            bursts,
        });
        let lot = Lot {
            lcore: LcoreId(1),
            cpus: CpuSet::default(),
            streams: vec![stream],
            usage: None,
        };
        let pools = std::slice::from_ref(&pool);
        let workers = Workers::launch(vec![lot], pools, Clock::calibrated(), stop).unwrap();
        drop(workers.stop());
        assert_eq!(stats.dropped.get(), u64::from(bursts));
        assert!(stats.rx_packets.get() > 0, "it was visited once");
    }
}

/// More first bursts than could ever be sent don't hold the stop up.
#[test]
fn endless_first_bursts_are_cut_short() {
    let pool = pool();
    let stop = Arc::new(AtomicBool::new(false));
    let mut dev = null(0, &pool);
    let mut stream = stream(&mut *dev, 0, &stop);
    let stats = stream.io.stats.clone();
    stream.first = Some(Prelude {
        engine: Box::new(Count(stats)),
        bursts: u32::MAX,
    });
    let lot = Lot {
        lcore: LcoreId(1),
        cpus: CpuSet::default(),
        streams: vec![stream],
        usage: None,
    };
    let pools = std::slice::from_ref(&pool);
    let workers = Workers::launch(vec![lot], pools, Clock::calibrated(), stop).unwrap();
    let start = Instant::now();
    drop(workers.stop());
    assert!(start.elapsed() < Duration::from_secs(1));
}

struct Steps(Arc<AtomicU32>);

impl Engine for Steps {
    fn step(&mut self, _: &mut mpps_dev::Lcore, _: &mut StreamIo) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed);
        true
    }
}

#[test]
fn each_stream_sends_its_own_number_of_first_bursts() {
    let pool = pool();
    let stop = Arc::new(AtomicBool::new(false));
    let mut devs: Vec<_> = (0..2).map(|n| null(n, &pool)).collect();
    let steps: Vec<_> = devs.iter().map(|_| Arc::new(AtomicU32::new(0))).collect();
    let streams = devs.iter_mut().zip(0..).map(|(dev, n)| {
        let mut stream = stream(&mut **dev, n, &stop);
        stream.first = Some(Prelude {
            engine: Box::new(Steps(steps[usize::from(n)].clone())),
            bursts: 1 + 4 * u32::from(n),
        });
        stream
    });
    let lot = Lot {
        lcore: LcoreId(1),
        cpus: CpuSet::default(),
        streams: streams.collect(),
        usage: None,
    };
    let pools = std::slice::from_ref(&pool);
    let workers = Workers::launch(vec![lot], pools, Clock::calibrated(), stop.clone()).unwrap();
    while Arc::strong_count(&steps[0]) != 1 || Arc::strong_count(&steps[1]) != 1 {
        std::thread::yield_now();
    }
    workers.stop();
    let counts: Vec<_> = steps.iter().map(|n| n.load(Ordering::Relaxed)).collect();
    assert_eq!(counts, [1, 5]);
}

#[test]
fn counters_of_two_workers_share_no_cache_line() {
    let stats: Vec<Arc<StreamStats>> = (0..8).map(|_| Arc::default()).collect();
    let usage: Vec<Arc<LcoreUsage>> = (0..8).map(|_| Arc::default()).collect();
    let mut lines: Vec<usize> = Vec::new();
    for start in stats
        .iter()
        .map(|s| Arc::as_ptr(s).addr())
        .chain(usage.iter().map(|u| Arc::as_ptr(u).addr()))
    {
        assert_eq!(start % 128, 0);
        lines.push(start / 128);
    }
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 16);
}
