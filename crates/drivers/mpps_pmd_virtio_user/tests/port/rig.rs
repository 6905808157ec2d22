//! A port with a socket path of its own, a pool, a polling context, and a record of what the port tells.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mpps_dev::{
    DevConfig, Driver, EthDev, Events, Lcore, LcoreId, Listener, PortEvent, PortId, ProbeContext,
    Queues,
};
use mpps_mbuf::{Burst, Pool, PoolConfig};
use mpps_os::unix_socket::{self, Link};
use mpps_pmd_virtio_user::VirtioUser;
use mpps_shm::{MemoryConfig, PageSource};

use crate::back_end::{BackEnd, Manner};

pub(crate) const MBUFS: u32 = 4096;

static SERIAL: AtomicU32 = AtomicU32::new(0);

/// Waits for something; false when it doesn't come.
pub(crate) fn eventually(mut done: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(10);
    while Instant::now() < end {
        if done() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    false
}

/// A path that no other test uses.
pub(crate) fn fresh_path() -> PathBuf {
    // Relaxed: a lone number.
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("mpps-vuser-{}-{serial}", std::process::id()))
}

/// A pool that no test shares.
pub(crate) fn pool(name: &str, size: u32) -> Pool {
    pool_of(name, size, 2176)
}

pub(crate) fn pool_of(name: &str, size: u32, data_room: u16) -> Pool {
    let config = PoolConfig {
        name: name.to_owned(),
        size,
        data_room,
        cache_size: 32,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

/// What a port told.
#[derive(Default)]
pub(crate) struct Heard {
    pub(crate) lines: Mutex<Vec<String>>,
    pub(crate) link_changes: AtomicU32,
}

impl Heard {
    /// How many lines contain this.
    pub(crate) fn times(&self, part: &str) -> usize {
        let lines = self.lines.lock().unwrap();
        lines.iter().filter(|line| line.contains(part)).count()
    }
}

struct Ear(Arc<Heard>);

impl Listener for Ear {
    fn event(&self, _: PortId, event: PortEvent) {
        assert_eq!(event, PortEvent::LinkState);
        self.0.link_changes.fetch_add(1, Ordering::Relaxed);
    }

    fn note(&self, _: PortId, line: &str) {
        assert!(!line.contains('\n'), "{line}");
        self.0.lines.lock().unwrap().push(line.to_owned());
    }
}

/// A port under test.
pub(crate) struct Rig {
    pub(crate) path: PathBuf,
    pub(crate) dev: Box<dyn EthDev>,
    pub(crate) queues: Queues,
    pub(crate) pool: Pool,
    /// The back end's own packets.
    pub(crate) theirs: Pool,
    pub(crate) lcore: Lcore,
    pub(crate) heard: Arc<Heard>,
    listener: Option<unix_socket::Listener>,
    pub(crate) server: bool,
}

impl Rig {
    /// A port with these arguments beside its path, configured with so many queues.
    pub(crate) fn new(args: &str, queues: usize) -> Self {
        let path = fresh_path();
        let heard = Arc::new(Heard::default());
        let mut context = ProbeContext::new(PortId::new(0).unwrap());
        context.events = Events::heard_by(Ear(heard.clone()));
        let device = format!("net_virtio_user0,path={}{args}", path.display());
        let dev = VirtioUser
            .probe(&device.parse().unwrap(), &context)
            .unwrap();
        let (pool, theirs) = (pool("ours", MBUFS), pool("theirs", MBUFS));
        let server = args.contains("server=1");
        let mut rig = Self {
            lcore: Lcore::new(
                LcoreId(0),
                &[pool.clone(), theirs.clone()],
                mpps_cpu::Clock::kernel(),
            ),
            path,
            dev,
            queues: Queues::default(),
            pool,
            theirs,
            heard,
            listener: None,
            server,
        };
        rig.dev
            .configure(&DevConfig::plain(&rig.pool, queues))
            .unwrap();
        rig
    }

    /// The same, started.
    pub(crate) fn started(args: &str, queues: usize) -> Self {
        let mut rig = Self::new(args, queues);
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

    /// A back end's end of the next connection.
    pub(crate) fn link(&mut self) -> Link {
        let mut link = None;
        if self.server {
            assert!(eventually(|| {
                link = Link::connect(&self.path).ok();
                link.is_some()
            }));
        } else {
            if self.listener.is_none() {
                self.listener = Some(unix_socket::Listener::bind(&self.path).unwrap());
            }
            let listener = self.listener.as_ref().unwrap();
            assert!(eventually(|| {
                link = listener.accept().unwrap();
                link.is_some()
            }));
        }
        link.unwrap()
    }

    /// A back end of this manner at the next connection.
    pub(crate) fn meet(&mut self, manner: Manner) -> BackEnd {
        let link = self.link();
        BackEnd::serve(link, manner, &self.theirs)
    }

    pub(crate) fn wait_link(&self, up: bool) {
        assert!(
            eventually(|| self.dev.link().up == up),
            "link up {up} never came; {:?}",
            self.heard.lines.lock().unwrap()
        );
    }

    /// Sends `n` packets on a queue, each with its number, and receives them all back from the echo.
    pub(crate) fn echo(&mut self, queue: usize, n: usize) {
        let mut burst = Burst::new(32);
        let (mut sent, mut back) = (0, 0);
        let done = |rig: &mut Self, sent: &mut usize, back: &mut usize, burst: &mut Burst| {
            while burst.len() < 8 && *sent + burst.len() < n {
                let mut packet = rig.pool.alloc().unwrap();
                let number = (*sent + burst.len()) as u32;
                let mut bytes = [0; 64];
                bytes[12..16].copy_from_slice(&number.to_le_bytes());
                assert!(packet.append(&bytes));
                burst.push(packet).unwrap();
            }
            let tx = rig.queues.tx[queue].as_mut().unwrap();
            *sent += tx.tx_burst(&mut rig.lcore, burst);
            let mut out = Burst::new(32);
            let rx = rig.queues.rx[queue].as_mut().unwrap();
            rx.rx_burst(&mut rig.lcore, &mut out);
            for packet in out.as_slice() {
                assert_eq!(packet.pkt_len(), 64);
                assert_eq!(packet.data()[12..16], (*back as u32).to_le_bytes());
                *back += 1;
            }
            rig.lcore.free(&mut out);
            *back >= n
        };
        let end = Instant::now() + Duration::from_secs(10);
        while !done(self, &mut sent, &mut back, &mut burst) {
            assert!(
                Instant::now() < end,
                "queue {queue}: {sent} sent, {back} back of {n}; {:?}",
                self.heard.lines.lock().unwrap()
            );
            std::thread::yield_now();
        }
    }

    /// Ends the port; everything must be home afterwards.
    pub(crate) fn finish(mut self) {
        if !self.queues.rx.is_empty() {
            self.stop();
        }
        let Self {
            dev,
            lcore,
            pool,
            theirs,
            path,
            listener,
            ..
        } = self;
        drop(dev);
        drop(lcore);
        drop(listener);
        assert!(!path.exists());
        assert_eq!(pool.free_count(), MBUFS as usize);
        assert_eq!(theirs.free_count(), MBUFS as usize);
    }
}
