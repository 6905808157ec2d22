//! Ports, pools and streams as a program puts them together. A [`Rig`] owns the pools and the folder of sockets; a
//! [`Port`] owns its device. Both end when dropped, streams given back first.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mpps_cpu::{Clock, CpuSet};
use mpps_dev::{
    DevArgs, DevConfig, EthDev, Events, Listener, PortEvent, PortId, ProbeContext, Queues,
};
use mpps_engines::{Engine, EngineSettings, PortEnd, Retry, StreamIo, StreamSetup, Watch};
use mpps_mbuf::{Burst, OffloadFlags, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};
use mpps_wire::MacAddr;

/// What can't be done, in one line.
pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Packets that a burst has at most.
pub(crate) const BURST: usize = 32;

/// How long ports may take to find their peers.
const PATIENCE: Duration = Duration::from_secs(20);

/// Pages and a pool for some ports.
pub(crate) struct Rig {
    pages: Arc<PageSource>,
    pub(crate) pool: Pool,
    pub(crate) clock: Clock,
}

impl Rig {
    /// With a pool of so many mbufs.
    pub(crate) fn new(name: &str, mbufs: u32) -> Result<Self, Failure> {
        let pages = Arc::new(PageSource::new(MemoryConfig::default())?);
        let config = PoolConfig {
            name: name.to_owned(),
            size: mbufs,
            data_room: 2176,
            cache_size: 250,
            node: None,
        };
        let pool = Pool::create(config, &pages)?;
        Ok(Self {
            pages,
            pool,
            clock: Clock::calibrated(),
        })
    }

    /// A started port of one queue pair.
    pub(crate) fn port(&self, device: &str, number: u16) -> Result<Port, Failure> {
        let args: DevArgs = device.parse()?;
        let driver = mpps_drivers::find(args.name())
            .ok_or_else(|| format!("no driver for '{}'", args.name()))?;
        let notes = Arc::<Notes>::default();
        let mut context = ProbeContext::new(PortId::new(number)?);
        context.pages = Some(Arc::clone(&self.pages));
        context.events = Events::heard_by(Hears(Arc::clone(&notes)));
        let mut dev = driver.probe(&args, &context)?;
        dev.configure(&DevConfig::plain(&self.pool, 1))?;
        let queues = dev.start()?;
        Ok(Port {
            dev,
            number,
            queues,
            notes,
        })
    }
}

/// What a port had to say.
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

/// A started port.
pub(crate) struct Port {
    pub(crate) dev: Box<dyn EthDev>,
    number: u16,
    queues: Queues,
    notes: Arc<Notes>,
}

impl Port {
    /// Waits until its peer is there.
    pub(crate) fn wait_for_link(&self) -> Result<(), Failure> {
        let end = Instant::now() + PATIENCE;
        while !self.dev.link().up {
            if Instant::now() > end {
                return Err(self.with_notes("the link doesn't come up").into());
            }
            std::thread::sleep(Duration::from_micros(200));
        }
        Ok(())
    }

    /// A complaint with the last that the port said.
    pub(crate) fn with_notes(&self, what: &str) -> String {
        let lines = self.notes.0.lock().unwrap_or_else(PoisonError::into_inner);
        match lines.last() {
            Some(line) => format!("{what}; the last that the port said: {line}"),
            None => what.to_owned(),
        }
    }

    /// Its queues in a stream of their own: what is received goes out again.
    pub(crate) fn io(&mut self) -> StreamIo {
        StreamIo {
            rx: self.queues.rx.first_mut().and_then(Option::take),
            tx: self.queues.tx.first_mut().and_then(Option::take),
            rx_at: (self.number, 0),
            tx_at: (self.number, 0),
            burst: Burst::new(BURST),
            stats: Arc::default(),
            histogram: None,
            retry: Retry {
                times: 0,
                delay_us: 0,
            },
            watch: Watch::new(|_| {}),
            stop: Arc::default(),
        }
    }

    /// An engine by name, for this port alone.
    pub(crate) fn engine(&self, name: &str, pool: &Pool) -> Result<Box<dyn Engine>, Failure> {
        let spec = mpps_engines::find(name).ok_or_else(|| format!("no engine '{name}'"))?;
        let end = || PortEnd {
            port: self.number,
            queue: 0,
            mac: self.dev.port().mac(),
            timestamps: false,
            checksum: Default::default(),
            tx_flags: OffloadFlags::empty(),
            tx_vlan: (0, 0),
        };
        Ok((spec.make)(&StreamSetup {
            settings: EngineSettings::default(),
            rx: end(),
            tx: end(),
            peer: MacAddr([2, 0, 0, 0, 0, 0]),
            pool: pool.id(),
            pool_capacity: pool.data_capacity(),
            burst: BURST,
            lcore: 1,
        })?)
    }

    /// Takes the queues back and stops.
    pub(crate) fn finish(mut self, io: StreamIo) {
        self.dev.stop(Queues {
            rx: vec![io.rx],
            tx: vec![io.tx],
        });
    }
}

/// A set of one.
pub(crate) fn one_cpu(cpu: usize) -> CpuSet {
    let mut cpus = CpuSet::default();
    cpus.insert(cpu);
    cpus
}

/// A folder of this process alone, removed when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Result<Self, Failure> {
        let path = std::env::temp_dir().join(format!("mpps-harness-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Self(path))
    }

    /// The path of a file in it, as text for device arguments.
    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A file that stays behind harms nobody.
        let _ = fs::remove_dir_all(&self.0);
    }
}
