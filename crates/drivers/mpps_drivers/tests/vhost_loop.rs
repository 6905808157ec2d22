//! Both ends of vhost-user in one process: net_virtio_user lends its memory, net_vhost copies from and into it.
#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use mpps_cpu::Clock;
use mpps_dev::{DevConfig, EthDev, Lcore, LcoreId, PortId, ProbeContext, Queues};
use mpps_mbuf::{Burst, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};

const MBUFS: u32 = 8192;

/// The ten ways through a virtqueue, by the front end's arguments.
const PATHS: [&str; 10] = [
    "packed_vq=1,mrg_rxbuf=1,in_order=0",
    "packed_vq=1,mrg_rxbuf=0,in_order=0",
    "packed_vq=1,mrg_rxbuf=1,in_order=1",
    "packed_vq=1,mrg_rxbuf=0,in_order=1",
    "mrg_rxbuf=1,in_order=1",
    "mrg_rxbuf=0,in_order=1",
    "mrg_rxbuf=1,in_order=0",
    "mrg_rxbuf=0,in_order=0",
    "mrg_rxbuf=0,in_order=1,vectorized=1",
    "packed_vq=1,mrg_rxbuf=0,in_order=1,vectorized=1,queue_size=255",
];

struct Side {
    dev: Box<dyn EthDev>,
    queues: Queues,
    pool: Pool,
    lcore: Lcore,
}

impl Side {
    fn new(device: &str, queues: usize) -> Self {
        let context = ProbeContext::new(PortId::new(0).unwrap());
        let args = device.parse().unwrap();
        let driver = mpps_drivers::find(device).unwrap();
        let mut dev = driver.probe(&args, &context).unwrap();
        let config = PoolConfig {
            name: "loop".to_owned(),
            size: MBUFS,
            data_room: 2176,
            cache_size: 32,
            node: None,
        };
        let pool =
            Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap();
        dev.configure(&DevConfig::plain(&pool, queues)).unwrap();
        let lcore = Lcore::new(LcoreId(0), std::slice::from_ref(&pool), Clock::kernel());
        Self {
            dev,
            queues: Queues::default(),
            pool,
            lcore,
        }
    }

    fn start(&mut self) {
        self.queues = self.dev.start().unwrap();
    }

    fn stop(&mut self) {
        let queues = std::mem::take(&mut self.queues);
        self.dev.stop(queues);
    }
}

struct Loop {
    front: Side,
    back: Side,
}

impl Loop {
    fn new(args: &str, queues: usize, front_listens: bool) -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        // Relaxed: a lone number.
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("mpps-loop-{}-{serial}", std::process::id());
        let path: PathBuf = std::env::temp_dir().join(name);
        let (server, client) = if front_listens { (1, 1) } else { (0, 0) };
        let path = path.display();
        let back = format!("net_vhost0,iface={path},queues={queues},client={client}");
        let front = format!("net_virtio_user0,path={path},queues={queues},server={server},{args}");
        Self {
            back: Side::new(&back, queues),
            front: Side::new(&front, queues),
        }
    }

    fn connect(&mut self) {
        let end = Instant::now() + Duration::from_secs(10);
        while !(self.front.dev.link().up && self.back.dev.link().up) {
            assert!(Instant::now() < end, "the link never came up");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Sends numbered packets of this length one way and counts them in order at the other.
    fn cross(&mut self, from_front: bool, queue: usize, n: u32, len: usize) {
        let (from, to) = if from_front {
            (&mut self.front, &mut self.back)
        } else {
            (&mut self.back, &mut self.front)
        };
        let (mut waiting, mut out) = (Burst::new(32), Burst::new(32));
        let (mut made, mut got) = (0_u32, 0_u32);
        let end = Instant::now() + Duration::from_secs(10);
        while got < n {
            assert!(
                Instant::now() < end,
                "{got} of {made} packets on queue {queue}"
            );
            // So few under way that no ring is ever without buffers.
            while waiting.room() > 0 && made < n && made - got < 64 {
                let mut packet = from.pool.alloc().unwrap();
                let mut bytes = vec![0x5a; len];
                bytes[12..16].copy_from_slice(&made.to_le_bytes());
                assert!(packet.append(&bytes));
                waiting.push(packet).unwrap();
                made += 1;
            }
            // A receive ring is filled by its poller: it comes first.
            let rx = to.queues.rx[queue].as_mut().unwrap();
            rx.rx_burst(&mut to.lcore, &mut out);
            for packet in out.as_slice() {
                assert_eq!(packet.data().len(), len);
                assert_eq!(packet.data()[12..16], got.to_le_bytes());
                assert!(packet.data()[16..].iter().all(|byte| *byte == 0x5a));
                got += 1;
            }
            to.lcore.free(&mut out);
            let tx = from.queues.tx[queue].as_mut().unwrap();
            tx.tx_burst(&mut from.lcore, &mut waiting);
        }
    }

    fn both_ways(&mut self, queues: usize, n: u32) {
        for queue in 0..queues {
            self.cross(true, queue, n, 64);
            self.cross(false, queue, n, 64);
        }
    }

    fn finish(mut self) {
        self.back.stop();
        self.front.stop();
        for side in [self.front, self.back] {
            let Side {
                dev, lcore, pool, ..
            } = side;
            drop(dev);
            drop(lcore);
            assert_eq!(pool.free_count(), MBUFS as usize);
        }
    }
}

#[test]
fn ten_paths_both_ways() {
    for (n, args) in PATHS.iter().enumerate() {
        let mut both = Loop::new(args, 1, n % 2 == 0);
        both.front.start();
        both.back.start();
        both.connect();
        for len in [64, 65, 128, 256, 512, 1024, 1518] {
            both.cross(true, 0, 700, len);
            both.cross(false, 0, 700, len);
        }
        both.finish();
    }
}

#[test]
fn eight_queues() {
    for args in [PATHS[2], PATHS[4]] {
        let mut both = Loop::new(args, 8, true);
        both.back.start();
        both.front.start();
        both.connect();
        both.both_ways(8, 300);
        both.finish();
    }
}

#[test]
fn stops_and_starts_in_all_orders() {
    for args in [PATHS[2], PATHS[4]] {
        let mut both = Loop::new(args, 1, true);
        both.back.start();
        both.front.start();
        for _ in 0..5 {
            both.connect();
            both.both_ways(1, 100);
            both.front.stop();
            both.back.stop();
            both.front.start();
            both.back.start();
            both.connect();
            both.both_ways(1, 100);
            both.back.stop();
            both.front.stop();
            both.front.start();
            both.back.start();
            both.connect();
            both.both_ways(1, 100);
            both.front.stop();
            both.front.start();
            both.connect();
            both.both_ways(1, 100);
            both.back.stop();
            both.back.start();
        }
        both.finish();
    }
}
