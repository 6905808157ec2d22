//! Forwards a fixed number of packets from one null port to another, in one thread, with one engine and one kernel.
//!
//! `mpps_icount ENGINE KERNEL PACKETS`: run under callgrind with two numbers of packets, the difference of the counts is
//! what a packet costs. The same program serves as the smallest benchmark: it prints nanoseconds a packet.
#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use mpps_cpu::Clock;
use mpps_dev::{DevConfig, Driver, EthDev, Lcore, LcoreId, PortId, ProbeContext};
use mpps_engines::{EngineSettings, PortEnd, Retry, StreamIo, StreamSetup, Watch};
use mpps_kernels::{Checksum, ChecksumKind, MacSwap, MacSwapKind};
use mpps_mbuf::{Burst, OffloadFlags, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};
use mpps_wire::MacAddr;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let result = match args.as_slice() {
        [engine, kernel, packets] => run(engine, kernel, packets),
        _ => Err("usage: mpps_icount ENGINE KERNEL PACKETS".into()),
    };
    match result {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("mpps_icount: {error}");
            ExitCode::FAILURE
        }
    }
}

type Failure = Box<dyn std::error::Error>;

fn run(engine: &str, kernel: &str, packets: &str) -> Result<String, Failure> {
    let spec = mpps_engines::find(engine).ok_or("no such engine")?;
    let (macswap, checksum) = kernels(kernel)?;
    let packets: u64 = packets.parse()?;
    let pages = PageSource::new(MemoryConfig::default())?;
    let config = PoolConfig {
        name: "icount".to_owned(),
        size: 2048,
        data_room: 2176,
        cache_size: 250,
        node: None,
    };
    let pool = Pool::create(config, &pages)?;
    let (mut from, mut to) = (port(0, &pool)?, port(1, &pool)?);
    let setup = setup(&pool, (macswap, checksum), &*from, &*to);
    let mut work = (spec.make)(&setup)?;
    let mut io = stream(&mut *from, &mut *to)?;
    let mut lcore = Lcore::new(LcoreId(1), std::slice::from_ref(&pool), Clock::kernel());
    let start = Instant::now();
    for _ in 0..packets / 32 {
        work.step(&mut lcore, &mut io);
    }
    let nanoseconds = start.elapsed().as_nanos() as f64 / packets as f64;
    Ok(format!(
        "{engine} {kernel}: {packets} packets, {nanoseconds:.2} ns a packet"
    ))
}

/// A set of kernels by the instructions they need, `scalar` or `avx2`, or the usual ones with a MAC swap by name.
fn kernels(name: &str) -> Result<(MacSwap, Checksum), Failure> {
    let (swap, sum) = match name {
        "scalar" => (MacSwapKind::Scalar, ChecksumKind::Scalar),
        "avx2" => (MacSwapKind::Sse, ChecksumKind::Avx2),
        name => (
            MacSwapKind::from_name(name).ok_or("no such kernel")?,
            ChecksumKind::Auto,
        ),
    };
    Ok((MacSwap::choose(swap)?, Checksum::choose(sum)?))
}

fn port(number: u16, pool: &Pool) -> Result<Box<dyn EthDev>, Failure> {
    let mut dev = mpps_pmd_null::Null.probe(
        &format!("net_null{number}").parse()?,
        &ProbeContext::new(PortId::new(number)?),
    )?;
    dev.configure(&DevConfig::plain(pool, 1))?;
    Ok(dev)
}

fn setup(
    pool: &Pool,
    (macswap, checksum): (MacSwap, Checksum),
    from: &dyn EthDev,
    to: &dyn EthDev,
) -> StreamSetup {
    let end = |dev: &dyn EthDev, port| PortEnd {
        port,
        queue: 0,
        mac: dev.port().mac(),
        timestamps: false,
        checksum: Default::default(),
        tx_flags: OffloadFlags::empty(),
        tx_vlan: (0, 0),
    };
    StreamSetup {
        settings: EngineSettings {
            macswap,
            checksum,
            ..EngineSettings::default()
        },
        rx: end(from, 0),
        tx: end(to, 1),
        peer: MacAddr([2, 0, 0, 0, 0, 1]),
        pool: pool.id(),
        pool_capacity: pool.data_capacity(),
        burst: 32,
        lcore: 1,
    }
}

fn stream(from: &mut dyn EthDev, to: &mut dyn EthDev) -> Result<StreamIo, Failure> {
    Ok(StreamIo {
        rx: from.start()?.rx[0].take(),
        tx: to.start()?.tx[0].take(),
        rx_at: (0, 0),
        tx_at: (1, 0),
        burst: Burst::new(32),
        stats: Arc::default(),
        histogram: None,
        retry: Retry {
            times: 0,
            delay_us: 0,
        },
        watch: Watch::new(|_| {}),
        stop: Arc::new(AtomicBool::new(false)),
    })
}
