//! A port with a socket path of its own, a pool, a polling context, and a record of what the port tells.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mpps_cpu::Clock;
use mpps_dev::{
    DevConfig, Driver, EthDev, Events, Lcore, LcoreId, Listener, PortEvent, PortId, ProbeContext,
    Queues,
};
use mpps_mbuf::{Burst, Pool, PoolConfig};
use mpps_pmd_vhost::Vhost;
use mpps_shm::{MemoryConfig, PageSource};

pub(crate) const MBUFS: u32 = 4096;

static SERIAL: AtomicU16 = AtomicU16::new(0);

/// Waits for something; false when it doesn't come.
pub(crate) fn eventually(mut done: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    while Instant::now() < end {
        if done() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

/// A pool that no test shares.
pub(crate) fn pool(name: &str) -> Pool {
    let config = PoolConfig {
        name: name.to_owned(),
        size: MBUFS,
        data_room: 2176,
        cache_size: 32,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

/// What a port told.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) lines: Mutex<Vec<String>>,
    link_changes: AtomicU32,
}

impl Heard {
    /// Lines about something that went wrong: all but the names of paths and features, and that there are many of them.
    pub(crate) fn troubles(&self) -> Vec<String> {
        let lines = self.lines.lock().unwrap();
        let settled = |line: &str| {
            line.starts_with("the front end took features")
                || line.starts_with("so much to be said")
                || (line.contains(" queue ") && line.contains("copy("))
        };
        let troubles = lines.iter().filter(|line| !settled(line));
        troubles.cloned().collect()
    }

    /// How many lines contain this.
    pub(crate) fn times(&self, part: &str) -> usize {
        let lines = self.lines.lock().unwrap();
        lines.iter().filter(|line| line.contains(part)).count()
    }

    pub(crate) fn link_changes(&self) -> u32 {
        // Relaxed: a lone number.
        self.link_changes.load(Ordering::Relaxed)
    }
}

struct Ear(Arc<Heard>);

impl Listener for Ear {
    fn event(&self, _: PortId, event: PortEvent) {
        if event == PortEvent::LinkState {
            self.0.link_changes.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn note(&self, _: PortId, line: &str) {
        assert!(!line.contains('\n'), "{line}");
        self.0.lines.lock().unwrap().push(line.to_owned());
    }
}

/// A port under test.
pub(crate) struct Rig {
    pub(crate) path: PathBuf,
    pub(crate) number: u16,
    pub(crate) dev: Box<dyn EthDev>,
    pub(crate) queues: Queues,
    pub(crate) pool: Pool,
    pub(crate) lcore: Lcore,
    pub(crate) heard: Arc<Heard>,
}

impl Rig {
    /// A started port with these arguments beside its path and so many queues.
    pub(crate) fn new(args: &str, queues: usize) -> Self {
        // Relaxed: a lone number.
        let number = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("mpps-vhost-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let heard = Arc::new(Heard::default());
        let mut context = ProbeContext::new(PortId::new(number).unwrap());
        context.events = Events::heard_by(Ear(heard.clone()));
        let iface = path.display();
        let device = format!("net_vhost0,iface={iface},queues={queues}{args}");
        let mut dev = Vhost.probe(&device.parse().unwrap(), &context).unwrap();
        let pool = pool("ours");
        dev.configure(&DevConfig::plain(&pool, queues)).unwrap();
        let lcore = Lcore::new(LcoreId(0), std::slice::from_ref(&pool), Clock::kernel());
        let mut rig = Self {
            path,
            number,
            dev,
            queues: Queues::default(),
            pool,
            lcore,
            heard,
        };
        rig.start();
        rig
    }

    pub(crate) fn start(&mut self) {
        self.queues = self.dev.start().unwrap();
    }

    pub(crate) fn stop(&mut self) {
        let queues = std::mem::take(&mut self.queues);
        self.dev.stop(queues);
    }

    pub(crate) fn wait_link(&self, up: bool) {
        assert!(
            eventually(|| self.dev.link().up == up),
            "link up {up} never came; {:?}",
            self.heard.lines.lock().unwrap()
        );
    }

    /// Waits for one line about trouble that contains this; there must be no other.
    pub(crate) fn wait_trouble(&self, part: &str) {
        assert!(
            eventually(|| self.heard.times(part) == 1),
            "no line of {part:?}; {:?}",
            self.heard.lines.lock().unwrap()
        );
        assert_eq!(
            self.heard.troubles().len(),
            1,
            "{:?}",
            self.heard.troubles()
        );
    }

    pub(crate) fn receive(&mut self, queue: usize, out: &mut Burst) -> usize {
        let rx = self.queues.rx[queue].as_mut().unwrap();
        rx.rx_burst(&mut self.lcore, out)
    }

    pub(crate) fn send(&mut self, queue: usize, packets: &mut Burst) -> usize {
        let tx = self.queues.tx[queue].as_mut().unwrap();
        tx.tx_burst(&mut self.lcore, packets)
    }

    /// Sends back all that came and still has to go, with what is left from the last time.
    pub(crate) fn echo(&mut self, queue: usize, left: &mut Burst) {
        if left.is_empty() {
            self.receive(queue, left);
        }
        self.send(queue, left);
    }

    /// Ends the port; everything must be home afterwards.
    pub(crate) fn finish(mut self) {
        if !self.queues.rx.is_empty() {
            self.stop();
        }
        drop(self.dev);
        drop(self.lcore);
        assert!(!self.path.exists());
        assert_eq!(self.pool.free_count(), MBUFS as usize);
    }
}
