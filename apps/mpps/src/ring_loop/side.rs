//! One side of the loop: a port, its pool and what a worker needs to poll it.

use std::sync::Arc;

use mpps_dev::{DevArgs, DevConfig, EthDev, Events, PortId, ProbeContext};
use mpps_engines::{Engine, Retry, StreamIo, Watch};
use mpps_mbuf::{Burst, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};
use mpps_worker::{LcoreUsage, Stream};

use super::{SIDES, Shape};
use crate::bench::Failure;
use crate::numbered::BURST;

/// Mbufs of a pool: a port's rings, caches and what is on its way.
pub(super) const MBUFS: u32 = 8192;

/// Room for packets in an mbuf, as testpmd has it, and in front of them.
const DATA_ROOM: usize = 2176;
const HEADROOM: usize = 128;

pub(super) struct Side {
    pub(super) dev: Box<dyn EthDev>,
    pub(super) pool: Pool,
    pub(super) usage: Arc<LcoreUsage>,
    /// None while a worker has it.
    pub(super) stream: Option<Stream>,
}

/// Makes the port and starts it.
pub(super) fn side(
    device: &str,
    at: usize,
    shape: &Shape,
    events: Events,
) -> Result<Side, Failure> {
    let pages = Arc::new(PageSource::new(MemoryConfig::default())?);
    let config = PoolConfig {
        name: SIDES[at].to_owned(),
        size: MBUFS,
        // A packet is never cut, so that a copy has its length.
        data_room: DATA_ROOM.max(shape.size + HEADROOM) as u16,
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
            engine: engine(&*dev, &pool, at)?,
            io,
            enabled: true,
            first: None,
        }),
        dev,
        pool,
        usage: Arc::default(),
    })
}

/// The engine that sends back what has come, io.
pub(super) fn engine(dev: &dyn EthDev, pool: &Pool, at: usize) -> Result<Box<dyn Engine>, Failure> {
    let spec = mpps_engines::find("io").ok_or("there is no engine io")?;
    let setup = crate::bench::stream_setup(dev, pool, at)?;
    Ok((spec.make)(&setup)?)
}
