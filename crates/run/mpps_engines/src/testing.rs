//! What the engines' tests share: a stream whose receive queue gives chosen frames and whose transmit queue keeps what
//! is sent, and the check that every mbuf came home.

use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use mpps_cpu::Clock;
use mpps_dev::{Lcore, LcoreId, RxQueue, TxQueue};
use mpps_mbuf::{Burst, Mbuf, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};
use mpps_wire::MacAddr;

use crate::{
    ChecksumSettings, Engine, EngineSettings, PortEnd, Retry, StreamIo, StreamSetup, Watch,
};

/// A pool of 4,096 mbufs that hold 2,048 bytes each.
pub(crate) fn pool() -> Pool {
    let pages = PageSource::new(MemoryConfig::default()).unwrap();
    let config = PoolConfig {
        name: "engines".to_owned(),
        size: 4096,
        data_room: 2176,
        cache_size: 32,
        node: None,
    };
    Pool::create(config, &pages).unwrap()
}

/// An end of a stream at port `port`, whose address ends in 0xa0 plus that number.
pub(crate) fn end(port: u16) -> PortEnd {
    PortEnd {
        port,
        queue: 0,
        mac: MacAddr([2, 0, 0, 0, 0, 0xa0 + port as u8]),
        timestamps: false,
        checksum: ChecksumSettings::default(),
        tx_flags: mpps_mbuf::OffloadFlags::empty(),
        tx_vlan: (0, 0),
    }
}

/// A stream from port 0 to port 1, bursts of 32.
pub(crate) fn setup(pool: &Pool) -> StreamSetup {
    StreamSetup {
        settings: EngineSettings::default(),
        rx: end(0),
        tx: end(1),
        peer: MacAddr([2, 0, 0, 0, 0, 1]),
        pool: pool.id(),
        pool_capacity: pool.data_capacity(),
        burst: 32,
        lcore: 1,
    }
}

struct Feed(VecDeque<Mbuf>);

impl RxQueue for Feed {
    fn rx_burst(&mut self, lcore: &mut Lcore, out: &mut Burst) -> usize {
        let mut n = 0;
        while out.room() > 0 {
            let Some(packet) = self.0.pop_front() else {
                break;
            };
            if let Err(packet) = out.push(packet) {
                lcore.free_one(packet);
                break;
            }
            n += 1;
        }
        n
    }
}

/// Keeps the bytes of what is sent, at most `room` packets a call.
struct Keep {
    sent: Arc<Mutex<Vec<Vec<u8>>>>,
    room: usize,
}

impl TxQueue for Keep {
    fn tx_burst(&mut self, lcore: &mut Lcore, pkts: &mut Burst) -> usize {
        let mut n = 0;
        while n < self.room {
            let Some(packet) = pkts.pop_front() else {
                break;
            };
            self.sent
                .lock()
                .unwrap()
                .push(packet.segments_data().flatten().copied().collect());
            lcore.free_one(packet);
            n += 1;
        }
        n
    }
}

/// A stream under test.
pub(crate) struct Bench {
    pub(crate) pool: Pool,
    pub(crate) lcore: Lcore,
    pub(crate) io: StreamIo,
    sent: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Bench {
    /// A stream that receives these packets; its transmit queue takes `room` packets a call.
    pub(crate) fn new(pool: &Pool, packets: Vec<Mbuf>, room: usize) -> Self {
        let sent = Arc::new(Mutex::new(Vec::new()));
        let io = StreamIo {
            rx: Some(Box::new(Feed(packets.into()))),
            tx: Some(Box::new(Keep {
                sent: sent.clone(),
                room,
            })),
            rx_at: (0, 0),
            tx_at: (1, 0),
            burst: Burst::new(32),
            stats: Arc::default(),
            histogram: None,
            retry: Retry {
                times: 0,
                delay_us: 1,
            },
            watch: Watch::new(|_| {}),
            stop: Arc::new(AtomicBool::new(false)),
        };
        let lcore = Lcore::new(LcoreId(1), std::slice::from_ref(pool), Clock::kernel());
        Self {
            pool: pool.clone(),
            lcore,
            io,
            sent,
        }
    }

    /// Runs the engine for `turns` visits and returns the frames sent so far.
    pub(crate) fn run(&mut self, engine: &mut dyn Engine, turns: usize) -> Vec<Vec<u8>> {
        for _ in 0..turns {
            engine.step(&mut self.lcore, &mut self.io);
            assert!(self.io.burst.is_empty(), "an engine leaves nothing in hand");
        }
        self.sent.lock().unwrap().clone()
    }

    /// Ends the stream and asserts that every mbuf is home.
    pub(crate) fn finish(self) {
        let Self {
            pool, lcore, io, ..
        } = self;
        drop(io);
        drop(lcore);
        assert_eq!(
            pool.free_count(),
            pool.config().size as usize,
            "mbufs are missing"
        );
    }
}

/// Packets of one segment with these frames.
pub(crate) fn packets(pool: &Pool, frames: &[Vec<u8>]) -> Vec<Mbuf> {
    frames
        .iter()
        .map(|frame| {
            let mut packet = pool.alloc().unwrap();
            assert!(packet.append(frame));
            packet
        })
        .collect()
}
