//! What only a null port does: packets of a size out of nothing, copies, no-rx, and its refusals.

use mpps_cpu::Clock;
use mpps_dev::{DevConfig, Driver, EthDev, Lcore, LcoreId, PortId, ProbeContext, Queues};
use mpps_mbuf::{Burst, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};

use super::Null;

fn pool_of(size: u32, data_room: u16) -> Pool {
    let config = PoolConfig {
        name: "null".to_owned(),
        size,
        data_room,
        cache_size: 16,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

fn probe(device: &str) -> Result<Box<dyn EthDev>, String> {
    let context = ProbeContext::new(PortId::new(0).unwrap());
    Null.probe(&device.parse().unwrap(), &context)
        .map_err(|error| error.to_string())
}

fn config(pool: &Pool, queues: usize) -> DevConfig {
    DevConfig::plain(pool, queues)
}

/// A started port with two queues each way.
struct Bench {
    pool: Pool,
    lcore: Lcore,
    dev: Box<dyn EthDev>,
    queues: Queues,
}

impl Bench {
    fn new(device: &str, data_room: u16) -> Self {
        let pool = pool_of(600, data_room);
        let lcore = Lcore::new(LcoreId(0), std::slice::from_ref(&pool), Clock::kernel());
        let mut dev = probe(device).unwrap();
        dev.configure(&config(&pool, 2)).unwrap();
        let queues = dev.start().unwrap();
        Self {
            pool,
            lcore,
            dev,
            queues,
        }
    }

    fn receive(&mut self, queue: usize, limit: usize) -> Box<Burst> {
        let mut burst = Burst::new(limit);
        let rx = self.queues.rx[queue].as_mut().unwrap();
        let n = rx.rx_burst(&mut self.lcore, &mut burst);
        assert_eq!(n, burst.len());
        burst
    }

    fn send(&mut self, queue: usize, burst: &mut Burst) -> usize {
        let tx = self.queues.tx[queue].as_mut().unwrap();
        tx.tx_burst(&mut self.lcore, burst)
    }

    /// Ends everything; all mbufs must be home.
    fn finish(mut self) {
        self.dev.stop(self.queues);
        drop(self.lcore);
        assert_eq!(self.pool.free_count(), 600);
    }
}

#[test]
fn packets_have_the_size_that_was_asked_for() {
    for (device, size) in [
        ("net_null0", 64),
        ("net_null0,size=0", 0),
        ("net_null0,size=1518", 1518),
        ("net_null0,size=2048", 2048),
        ("net_null0,size=0x40,copy=1", 64),
        ("eth_null7,size=2048,copy", 2048),
    ] {
        let mut bench = Bench::new(device, 2176);
        for limit in [1, 32, 512] {
            let mut burst = bench.receive(1, limit);
            assert_eq!(burst.len(), limit, "{device}");
            for packet in burst.as_slice() {
                assert_eq!(packet.pkt_len(), size, "{device}");
                assert_eq!(packet.segments(), 1);
            }
            assert_eq!(bench.send(0, &mut burst), limit);
        }
        let stats = bench.dev.stats();
        assert_eq!((stats.ipackets, stats.opackets), (545, 545));
        let bytes = 545 * u64::from(size);
        assert_eq!((stats.ibytes, stats.obytes), (bytes, bytes), "{device}");
        bench.finish();
    }
}

#[test]
fn copies_are_zeroes_whatever_the_buffer_held() {
    let mut bench = Bench::new("net_null0,copy=1,size=100", 2176);
    for _ in 0..3 {
        let mut burst = bench.receive(0, 512);
        for packet in burst.as_mut_slice() {
            assert!(packet.data().iter().all(|&byte| byte == 0));
            packet.data_mut().unwrap().fill(0xff);
        }
        bench.send(0, &mut burst);
    }
    bench.finish();
}

/// N-02: each segment is copied by its own length, also where it fills a buffer of the largest size.
#[test]
fn copies_go_segment_by_segment() {
    let mut bench = Bench::new("net_null0,copy=1", u16::MAX);
    let capacity = bench.pool.data_capacity();
    let mut burst = Burst::new(8);
    for lens in [&[1, 0, 2000][..], &[usize::from(capacity), 1], &[0]] {
        let mut packet = bench.pool.alloc().unwrap();
        assert!(packet.append(&vec![1; lens[0]]));
        for &len in &lens[1..] {
            let mut tail = bench.pool.alloc().unwrap();
            assert!(tail.append(&vec![2; len]));
            packet.chain(tail).unwrap();
        }
        burst.push(packet).unwrap();
    }
    assert_eq!(bench.send(0, &mut burst), 3);
    assert!(burst.is_empty());
    let stats = bench.dev.stats();
    assert_eq!(stats.opackets, 3);
    assert_eq!(stats.obytes, 2001 + u64::from(capacity) + 1);
    bench.finish();
}

/// N-01: the port's counters are the sum over all queues.
#[test]
fn counters_are_those_of_all_queues() {
    let mut bench = Bench::new("net_null0", 2176);
    for (queue, n) in [(0, 3), (1, 5)] {
        let mut burst = bench.receive(queue, n);
        bench.send(queue, &mut burst);
    }
    let stats = bench.dev.stats();
    assert_eq!((stats.ipackets, stats.opackets), (8, 8));
    let port = bench.dev.port();
    assert_eq!(port.rx_counts(0).unwrap().packets, 3);
    assert_eq!(port.tx_counts(1).unwrap().packets, 5);
    bench.finish();
}

#[test]
fn without_rx_nothing_comes_and_the_queues_are_started_all_the_same() {
    let mut bench = Bench::new("net_null0,no-rx=1", 2176);
    assert!(bench.receive(0, 32).is_empty());
    // N-03.
    assert!(bench.dev.port().rx_started(1) && bench.dev.port().tx_started(1));
    let mut burst = Burst::new(4);
    burst.push(bench.pool.alloc().unwrap()).unwrap();
    assert_eq!(bench.send(0, &mut burst), 1);
    assert_eq!(bench.dev.stats().opackets, 1);
    bench.finish();
}

#[test]
fn a_size_beyond_the_mbufs_is_refused_with_what_would_do() {
    let pool = pool_of(16, 1024);
    let mut dev = probe("net_null0,size=897").unwrap();
    assert_eq!(
        dev.configure(&config(&pool, 1)).unwrap_err().to_string(),
        "net_null0: size=897 doesn't fit the mbufs, which hold 896 bytes; lower size or raise --mbuf-size to 1025"
    );
    let mut dev = probe("net_null0,size=896").unwrap();
    dev.configure(&config(&pool, 1)).unwrap();
    // What never receives needs no room.
    let mut dev = probe("net_null0,size=897,no-rx=1").unwrap();
    dev.configure(&config(&pool, 1)).unwrap();
}

#[test]
fn arguments_are_refused_in_one_line() {
    for (device, line) in [
        (
            "net_null0,copy=1,no-rx=1",
            "device net_null0: copy=1 and no-rx=1 exclude each other",
        ),
        (
            "net_null0,size=65536",
            "device net_null0: size=65536 is not valid, size must be a number from 0 to 65535",
        ),
        (
            "net_null0,copy=yes",
            "device net_null0: copy=yes is not valid, copy must be 0 or 1",
        ),
        (
            "net_null0,no-tx=1",
            "device net_null0: unknown argument \"no-tx\"; net_null takes size, copy, no-rx",
        ),
    ] {
        assert_eq!(probe(device).err().as_deref(), Some(line));
    }
}

#[test]
fn a_refused_configuration_leaves_the_hash_settings_alone() {
    let pool = pool_of(16, 2176);
    let mut dev = probe("net_null0").unwrap();
    let mut wish = config(&pool, 4);
    wish.rss.types = 1 << 8;
    dev.configure(&wish).unwrap();
    let state = |dev: &mut Box<dyn EthDev>| {
        let rss = dev.rss().unwrap();
        (rss.types(), rss.key().to_vec(), rss.reta().to_vec())
    };
    let before = state(&mut dev);
    assert_eq!(before.2[..5], [0, 1, 2, 3, 0]);
    let mut wrong = config(&pool, 2);
    wrong.rss.key = Some(vec![1; 40]);
    wrong.mtu = Some(1);
    assert!(dev.configure(&wrong).is_err());
    assert_eq!(state(&mut dev), before);
    wrong.mtu = None;
    wrong.rss.key = Some(vec![1; 39]);
    assert!(dev.configure(&wrong).is_err());
    assert_eq!(state(&mut dev), before);
    assert_eq!(dev.port().config().rx.len(), 4);
}

#[test]
fn nothing_is_flushed_at_start_as_there_is_no_end_to_it() {
    let dev = probe("net_null0").unwrap();
    assert!(!dev.info().flush_at_start);
    assert!(dev.port().promiscuous() && dev.port().allmulticast());
    assert!(dev.link().up);
}
