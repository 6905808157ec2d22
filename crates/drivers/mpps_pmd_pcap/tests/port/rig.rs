//! A port, a pool and a polling context for tests that move packets; every one of them ends by counting the mbufs.

use std::path::{Path, PathBuf};

use mpps_cpu::clock::Clock;
use mpps_dev::{
    DevArgs, DevConfig, Driver, EthDev, Lcore, LcoreId, PortId, ProbeContext, Queues, RxOffloads,
    RxQueueConfig, TxQueueConfig,
};
use mpps_mbuf::{Burst, Mbuf, Pool, PoolConfig};
use mpps_pmd_pcap::Pcap;
use mpps_shm::{MemoryConfig, PageSource};

pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mpps_pcap_{name}_{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A classic file, little-endian, nanoseconds: frame `n` has `n` for its time.
pub(crate) fn capture<T: AsRef<[u8]>>(frames: &[T]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d, 0x0004_0002, 0, 0, 262_144, 1u32] {
        file.extend(word.to_le_bytes());
    }
    for (n, frame) in frames.iter().enumerate() {
        let len = frame.as_ref().len() as u32;
        for word in [0, n as u32, len, len] {
            file.extend(word.to_le_bytes());
        }
        file.extend(frame.as_ref());
    }
    file
}

/// Frames of a classic little-endian file and their times, by a few lines of its own.
pub(crate) fn parse(file: &[u8]) -> Vec<(Vec<u8>, u64)> {
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    let unit = match word(0) {
        0xa1b2_3c4d => 1,
        0xa1b2_c3d4 => 1000,
        other => panic!("magic {other:x}"),
    };
    assert_eq!(word(20), 1);
    let (mut at, mut frames) = (24, Vec::new());
    while at < file.len() {
        let len = word(at + 8) as usize;
        let time = u64::from(word(at)) * 1_000_000_000 + u64::from(word(at + 4)) * unit;
        frames.push((file[at + 16..at + 16 + len].to_vec(), time));
        at += 16 + len;
    }
    frames
}

pub(crate) fn pool_of(size: u32, data_room: u16) -> Pool {
    let config = PoolConfig {
        name: "rig".to_owned(),
        size,
        data_room,
        cache_size: 0,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

pub(crate) fn probe(args: &str) -> Result<Box<dyn EthDev>, String> {
    let args: DevArgs = args.parse().map_err(|error| format!("{error}"))?;
    let context = ProbeContext::new(PortId::new(0).unwrap());
    Pcap.probe(&args, &context)
        .map_err(|error| error.to_string())
}

pub(crate) fn device(rx: &Path, tx: &Path) -> String {
    format!(
        "net_pcap0,rx_pcap={},tx_pcap={}",
        rx.display(),
        tx.display()
    )
}

pub(crate) struct Rig {
    pub(crate) dev: Box<dyn EthDev>,
    pub(crate) pool: Pool,
    pub(crate) lcore: Lcore,
    pub(crate) queues: Option<Queues>,
    pub(crate) burst: Box<Burst>,
}

impl Rig {
    pub(crate) fn new(args: &str) -> Self {
        Self::with(args, 1, pool_of(512, 2176), RxOffloads::empty())
    }

    pub(crate) fn with(args: &str, queues: usize, pool: Pool, rx_offloads: RxOffloads) -> Self {
        let mut dev = probe(args).unwrap();
        let rx = RxQueueConfig::of(&pool);
        dev.configure(&DevConfig {
            rx: vec![rx; queues],
            tx: vec![TxQueueConfig::default(); queues],
            rx_offloads,
            ..Default::default()
        })
        .unwrap();
        let lcore = Lcore::new(LcoreId(0), std::slice::from_ref(&pool), Clock::kernel());
        let mut rig = Self {
            dev,
            pool,
            lcore,
            queues: None,
            burst: Burst::new(32),
        };
        rig.start();
        rig
    }

    pub(crate) fn start(&mut self) {
        self.queues = Some(self.dev.start().unwrap());
    }

    pub(crate) fn stop(&mut self) {
        if let Some(queues) = self.queues.take() {
            self.dev.stop(queues);
        }
    }

    /// One burst of a receive queue, appended to what there is.
    pub(crate) fn rx(&mut self, queue: usize) -> usize {
        let queues = self.queues.as_mut().unwrap();
        let rx = queues.rx[queue].as_mut().unwrap();
        rx.rx_burst(&mut self.lcore, &mut self.burst)
    }

    /// Sends the burst on a transmit queue.
    pub(crate) fn tx(&mut self, queue: usize) -> usize {
        let queues = self.queues.as_mut().unwrap();
        let tx = queues.tx[queue].as_mut().unwrap();
        tx.tx_burst(&mut self.lcore, &mut self.burst)
    }

    pub(crate) fn free(&mut self) {
        self.lcore.free(&mut self.burst);
    }

    /// Receives and sends until nothing comes; the bursts that weren't empty.
    pub(crate) fn forward(&mut self, queue: usize) -> usize {
        let mut bursts = 0;
        while self.rx(queue) > 0 {
            bursts += 1;
            while !self.burst.is_empty() {
                self.tx(queue);
            }
        }
        bursts
    }

    /// Receives until nothing comes.
    pub(crate) fn drain(&mut self, queue: usize) -> Vec<(Vec<u8>, Option<u64>)> {
        let mut all = Vec::new();
        while self.rx(queue) > 0 {
            all.extend(
                self.burst
                    .as_slice()
                    .iter()
                    .map(|packet| (bytes(packet), packet.timestamp())),
            );
            self.free();
        }
        all
    }

    /// Stops, and counts the mbufs.
    pub(crate) fn end(mut self) {
        self.free();
        self.stop();
        drop((self.lcore, self.dev, self.burst));
        assert_eq!(self.pool.free_count(), self.pool.config().size as usize);
    }
}

pub(crate) fn bytes(packet: &Mbuf) -> Vec<u8> {
    let mut all = vec![0; packet.pkt_len() as usize];
    assert_eq!(packet.copy_out(0, &mut all), all.len());
    all
}
