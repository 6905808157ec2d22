//! Every engine between queues that drop, refuse and cut bursts short: nothing is lost, and what the engine counts is what
//! its queues did.
#![forbid(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mpps_cpu::Clock;
use mpps_dev::middleware::{Delay, Faults, Faulty, Traced};
use mpps_dev::{
    DevConfig, Driver, EthDev, Lcore, LcoreId, PortId, ProbeContext, Queues, RxQueue, TxQueue,
};
use mpps_engines::{
    ChecksumSettings, ENGINES, EngineSettings, EngineSpec, PortEnd, Retry, StreamIo, StreamSetup,
    Watch,
};
use mpps_mbuf::{Burst, OffloadFlags, Pool, PoolConfig};
use mpps_pmd_null::Null;
use mpps_pmd_ring::Ring;
use mpps_shm::{MemoryConfig, PageSource};
use mpps_wire::MacAddr;

const SIZE: u32 = 3000;

const FAULTS: Faults = Faults {
    seed: 1,
    drop: 50,
    refuse: 150,
    cut: 300,
};

fn pool() -> Pool {
    let config = PoolConfig {
        name: "faulty".to_owned(),
        size: SIZE,
        data_room: 2176,
        cache_size: 64,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

fn start(driver: &dyn Driver, device: &str, pool: &Pool) -> (Box<dyn EthDev>, Queues) {
    let context = ProbeContext::new(PortId::new(0).unwrap());
    let mut dev = driver.probe(&device.parse().unwrap(), &context).unwrap();
    dev.configure(&DevConfig::plain(pool, 1)).unwrap();
    let queues = dev.start().unwrap();
    (dev, queues)
}

fn setup(pool: &Pool) -> StreamSetup {
    let end = |port| PortEnd {
        port,
        queue: 0,
        mac: MacAddr([2, 0, 0, 0, 0, port as u8]),
        timestamps: true,
        checksum: ChecksumSettings::default(),
        tx_flags: OffloadFlags::empty(),
        tx_vlan: (0, 0),
    };
    StreamSetup {
        settings: EngineSettings::default(),
        rx: end(0),
        tx: end(1),
        peer: MacAddr([2, 0, 0, 0, 0, 9]),
        pool: pool.id(),
        pool_capacity: pool.data_capacity(),
        burst: 32,
        lcore: 0,
    }
}

fn stream(rx: Box<dyn RxQueue>, tx: Box<dyn TxQueue>, retries: u32) -> StreamIo {
    StreamIo {
        rx: Some(rx),
        tx: Some(tx),
        rx_at: (0, 0),
        tx_at: (1, 0),
        burst: Burst::new(32),
        stats: Arc::default(),
        histogram: None,
        retry: Retry {
            times: retries,
            delay_us: 0,
        },
        watch: Watch::new(|_| {}),
        stop: Arc::new(AtomicBool::new(false)),
    }
}

/// From a null port, through faults on both sides, into a ring that fills up: `drained` says whether anyone empties it.
fn play(spec: &EngineSpec, retries: u32, drained: bool) {
    let pool = pool();
    let mut lcore = Lcore::new(LcoreId(0), std::slice::from_ref(&pool), Clock::kernel());
    let (mut null, mut from) = start(&Null, "net_null0,size=64,copy=1", &pool);
    let (mut ring, mut to) = start(&Ring, "net_ring0", &pool);
    let rx = Traced::new(
        Delay::new(Faulty::new(from.rx[0].take().unwrap(), FAULTS), 3),
        0,
    );
    let tx = Traced::new(Faulty::new(to.tx[0].take().unwrap(), FAULTS), 0);
    let (received, sent) = (rx.trace(), tx.trace());
    let mut io = stream(Box::new(rx), Box::new(tx), retries);
    let mut engine = match (spec.make)(&setup(&pool)) {
        Ok(engine) => engine,
        Err(line) => panic!("{}: {line}", spec.name),
    };
    let mut drain = Burst::new(512);
    for _ in 0..600 {
        engine.step(&mut lcore, &mut io);
        assert!(io.burst.is_empty(), "{}: packets left in hand", spec.name);
        if drained && let Some(rx) = &mut to.rx[0] {
            rx.rx_burst(&mut lcore, &mut drain);
            lcore.free(&mut drain);
        }
    }
    let stats = io.stats.clone();
    assert_eq!(stats.rx_packets.get(), received.totals().1, "{}", spec.name);
    assert_eq!(stats.tx_packets.get(), sent.totals().1, "{}", spec.name);
    if PASSES_ALL.contains(&spec.name) {
        assert!(stats.rx_packets.get() > 1000 && stats.tx_packets.get() > 1000);
        assert_eq!(
            stats.rx_packets.get(),
            stats.tx_packets.get() + stats.dropped.get(),
            "{}: received is sent or dropped",
            spec.name
        );
    }
    drop((engine, io));
    null.stop(from);
    ring.stop(to);
    drop(lcore);
    assert_eq!(
        pool.free_count(),
        SIZE as usize,
        "{}: mbufs are missing",
        spec.name
    );
}

/// All engines but the one that no port here can do.
fn playable() -> impl Iterator<Item = &'static EngineSpec> {
    ENGINES.iter().filter(|spec| spec.name != "ieee1588")
}

/// Engines that send whatever they receive.
const PASSES_ALL: [&str; 6] = ["io", "mac", "macswap", "csum", "5tswap", "recycle_mbufs"];

#[test]
fn every_engine_loses_nothing_over_faulty_queues() {
    for spec in playable() {
        play(spec, 0, true);
        play(spec, 3, true);
    }
    let names: Vec<_> = ENGINES.iter().map(|spec| spec.name).collect();
    assert!(PASSES_ALL.iter().all(|name| names.contains(name)));
}

#[test]
fn every_engine_loses_nothing_over_a_ring_that_nobody_empties() {
    for spec in playable() {
        play(spec, 2, false);
    }
}
