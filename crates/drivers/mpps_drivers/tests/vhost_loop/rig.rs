//! Two ports joined by a socket of their own, each with a pool and a polling context, and numbered packets between them.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use mpps_cpu::Clock;
use mpps_dev::{DevConfig, EthDev, Lcore, LcoreId, PortId, ProbeContext, Queues};
use mpps_mbuf::{Burst, Mbuf, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};

pub(crate) const MBUFS: u32 = 8192;

/// The ten ways through a virtqueue, by the front end's arguments.
pub(crate) const PATHS: [&str; 10] = [
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

/// How the ports are configured.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) queues: usize,
    /// Bytes of a buffer, headroom included.
    pub(crate) data_room: u16,
    /// What else the front end is asked for.
    pub(crate) front: fn(&mut DevConfig),
}

impl Shape {
    pub(crate) const PLAIN: Self = Self {
        queues: 1,
        data_room: 2176,
        front: |_| {},
    };
}

/// A port with what it needs; ended by [`Side::end`].
pub(crate) struct Side {
    pub(crate) dev: Box<dyn EthDev>,
    pub(crate) queues: Queues,
    pub(crate) pool: Pool,
    pub(crate) lcore: Lcore,
}

impl Side {
    fn new(device: &str, shape: Shape) -> Self {
        let context = ProbeContext::new(PortId::new(0).unwrap());
        let args = device.parse().unwrap();
        let driver = mpps_drivers::find(device).unwrap();
        let mut dev = driver.probe(&args, &context).unwrap();
        let config = PoolConfig {
            name: "loop".to_owned(),
            size: MBUFS,
            data_room: shape.data_room,
            cache_size: 32,
            node: None,
        };
        let pool =
            Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap();
        let mut config = DevConfig::plain(&pool, shape.queues);
        if device.starts_with("net_virtio_user") {
            (shape.front)(&mut config);
        }
        dev.configure(&config).unwrap();
        let lcore = Lcore::new(LcoreId(0), std::slice::from_ref(&pool), Clock::kernel());
        Self {
            dev,
            queues: Queues::default(),
            pool,
            lcore,
        }
    }

    pub(crate) fn start(&mut self) {
        self.queues = self.dev.start().unwrap();
    }

    pub(crate) fn stop(&mut self) {
        let queues = std::mem::take(&mut self.queues);
        self.dev.stop(queues);
    }

    /// The end of the port, stopped or not; every mbuf is home then.
    pub(crate) fn end(self) {
        let Self {
            dev,
            queues,
            pool,
            lcore,
        } = self;
        drop(queues);
        drop(dev);
        drop(lcore);
        assert_eq!(pool.free_count(), MBUFS as usize);
    }

    /// A packet that begins with its number, in segments of at most `part` bytes.
    pub(crate) fn packet(&self, number: u32, len: usize, part: usize) -> Mbuf {
        let mut bytes = vec![0x5a; len];
        bytes[12..16].copy_from_slice(&number.to_le_bytes());
        let mut packet: Option<Mbuf> = None;
        for piece in bytes.chunks(part) {
            let mut mbuf = self.pool.alloc().unwrap();
            assert!(mbuf.append(piece));
            match &mut packet {
                None => packet = Some(mbuf),
                Some(head) => head.chain(mbuf).unwrap(),
            }
        }
        packet.unwrap()
    }
}

/// The number of a packet, whose other bytes and whose length are looked at.
pub(crate) fn number(packet: &Mbuf, len: usize) -> u32 {
    assert_eq!(packet.pkt_len() as usize, len);
    let bytes: Vec<u8> = packet.segments_data().flatten().copied().collect();
    assert_eq!(bytes.len(), len);
    let (number, rest) = (&bytes[12..16], &bytes[16..]);
    assert!(rest.iter().all(|byte| *byte == 0x5a));
    u32::from_le_bytes(number.try_into().unwrap())
}

pub(crate) struct Loop {
    pub(crate) front: Side,
    pub(crate) back: Side,
    devices: [String; 2],
    shape: Shape,
}

impl Loop {
    pub(crate) fn new(args: &str, shape: Shape, front_listens: bool) -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        // Relaxed: a lone number.
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let name = format!("mpps-loop-{}-{serial}", std::process::id());
        let path: PathBuf = std::env::temp_dir().join(name);
        let (server, client) = if front_listens { (1, 1) } else { (0, 0) };
        let (path, queues) = (path.display(), shape.queues);
        let devices = [
            format!("net_virtio_user0,path={path},queues={queues},server={server},{args}"),
            format!("net_vhost0,iface={path},queues={queues},client={client}"),
        ];
        Self {
            front: Side::new(&devices[0], shape),
            back: Side::new(&devices[1], shape),
            devices,
            shape,
        }
    }

    /// The front end's port ends, and there is a new one, not started yet.
    pub(crate) fn renew_front(&mut self) {
        // The path must be free for the new one.
        let there = Side::new("net_null0", self.shape);
        std::mem::replace(&mut self.front, there).end();
        self.front = Side::new(&self.devices[0], self.shape);
    }

    /// The same at the other end.
    pub(crate) fn renew_back(&mut self) {
        let there = Side::new("net_null0", self.shape);
        std::mem::replace(&mut self.back, there).end();
        self.back = Side::new(&self.devices[1], self.shape);
    }

    pub(crate) fn connect(&mut self) {
        let end = Instant::now() + Duration::from_secs(10);
        while !(self.front.dev.link().up && self.back.dev.link().up) {
            assert!(Instant::now() < end, "the link never came up");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Sends numbered packets of this length, a segment each, one way and counts them in order at the other.
    pub(crate) fn cross(&mut self, from_front: bool, queue: usize, n: u32, len: usize) {
        self.cross_in_parts(from_front, queue, n, len, len);
    }

    /// The same in segments of at most `part` bytes.
    pub(crate) fn cross_in_parts(
        &mut self,
        from_front: bool,
        queue: usize,
        n: u32,
        len: usize,
        part: usize,
    ) {
        let (from, to) = if from_front {
            (&mut self.front, &mut self.back)
        } else {
            (&mut self.back, &mut self.front)
        };
        // So few under way that no ring is ever without buffers.
        let underway = (64 / len.div_ceil(2000)) as u32;
        let (mut waiting, mut out) = (Burst::new(32), Burst::new(32));
        let (mut made, mut got) = (0_u32, 0_u32);
        let end = Instant::now() + Duration::from_secs(10);
        while got < n {
            assert!(
                Instant::now() < end,
                "{got} of {made} packets on queue {queue}, {len} bytes in parts of {part}"
            );
            while waiting.room() > 0 && made < n && made - got < underway {
                waiting.push(from.packet(made, len, part)).unwrap();
                made += 1;
            }
            // A receive ring is filled by its poller: it comes first.
            let rx = to.queues.rx[queue].as_mut().unwrap();
            rx.rx_burst(&mut to.lcore, &mut out);
            for packet in out.as_slice() {
                assert_eq!(number(packet, len), got);
                got += 1;
            }
            to.lcore.free(&mut out);
            let tx = from.queues.tx[queue].as_mut().unwrap();
            tx.tx_burst(&mut from.lcore, &mut waiting);
        }
    }

    pub(crate) fn both_ways(&mut self, n: u32) {
        for queue in 0..self.shape.queues {
            self.cross(true, queue, n, 64);
            self.cross(false, queue, n, 64);
        }
    }

    pub(crate) fn finish(mut self) {
        self.back.stop();
        self.front.stop();
        self.front.end();
        self.back.end();
    }
}
