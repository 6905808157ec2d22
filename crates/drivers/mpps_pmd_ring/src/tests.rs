//! What only a ring port does: loop back, share rings by name, free what waits.

use std::sync::Mutex;

use mpps_cpu::Clock;
use mpps_dev::{
    DevConfig, Driver, EthDev, Lcore, LcoreId, PortId, ProbeContext, Queues, RxQueueConfig,
    TxQueueConfig,
};
use mpps_mbuf::{Burst, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};

use super::Ring;

fn pool() -> Pool {
    let config = PoolConfig {
        name: "ring".to_owned(),
        size: 4096,
        data_room: 256,
        cache_size: 32,
        node: None,
    };
    Pool::create(config, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap()
}

fn lcore(pool: &Pool) -> Lcore {
    Lcore::new(LcoreId(0), std::slice::from_ref(pool), Clock::kernel())
}

fn probe(device: &str) -> Result<Box<dyn EthDev>, String> {
    let context = ProbeContext::new(PortId::new(0).unwrap());
    Ring.probe(&device.parse().unwrap(), &context)
        .map_err(|error| error.to_string())
}

fn config(pool: &Pool, rx: usize, tx: usize) -> DevConfig {
    let queue = RxQueueConfig::of(pool);
    DevConfig {
        rx: vec![queue; rx],
        tx: vec![TxQueueConfig::default(); tx],
        ..DevConfig::default()
    }
}

fn started(device: &str, pool: &Pool, queues: usize) -> (Box<dyn EthDev>, Queues) {
    let mut dev = probe(device).unwrap();
    dev.configure(&config(pool, queues, queues)).unwrap();
    let queues = dev.start().unwrap();
    (dev, queues)
}

/// Sends packets of one byte each; returns how many were taken, and frees the rest.
fn send(queues: &mut Queues, queue: usize, lcore: &mut Lcore, pool: &Pool, bytes: &[u8]) -> usize {
    let mut burst = Burst::new(512);
    for &byte in bytes {
        let mut packet = pool.alloc().unwrap();
        assert!(packet.append(&[byte]));
        burst.push(packet).unwrap();
    }
    let tx = queues.tx[queue].as_mut().unwrap();
    let n = tx.tx_burst(lcore, &mut burst);
    lcore.free(&mut burst);
    n
}

/// Receives at most 512 packets of one byte each.
fn receive(queues: &mut Queues, queue: usize, lcore: &mut Lcore) -> Vec<u8> {
    let mut burst = Burst::new(512);
    let rx = queues.rx[queue].as_mut().unwrap();
    rx.rx_burst(lcore, &mut burst);
    let bytes = burst.as_slice().iter().map(|p| p.data()[0]).collect();
    lcore.free(&mut burst);
    bytes
}

#[test]
fn each_queue_loops_back_to_itself() {
    let pool = pool();
    let mut lcore = lcore(&pool);
    let (mut dev, mut queues) = started("net_ring0", &pool, 16);
    for queue in 0..16 {
        assert_eq!(
            send(&mut queues, queue, &mut lcore, &pool, &[queue as u8; 3]),
            3
        );
    }
    for queue in (0..16).rev() {
        assert_eq!(receive(&mut queues, queue, &mut lcore), [queue as u8; 3]);
        assert!(receive(&mut queues, queue, &mut lcore).is_empty());
    }
    let stats = dev.stats();
    assert_eq!((stats.ipackets, stats.opackets), (48, 48));
    assert_eq!((stats.ibytes, stats.obytes), (0, 0));
    dev.stop(queues);
    drop(lcore);
    assert_eq!(pool.free_count(), 4096);
}

#[test]
fn the_link_is_up_while_the_port_runs() {
    let pool = pool();
    let mut dev = probe("net_ring0").unwrap();
    assert!(!dev.link().up);
    dev.configure(&config(&pool, 1, 1)).unwrap();
    let queues = dev.start().unwrap();
    assert!(
        dev.link().up && dev.port().rx_started(0) && dev.port().tx_started(0),
        "N-03"
    );
    dev.stop(queues);
    assert!(!dev.link().up && !dev.port().rx_started(0));
}

#[test]
fn a_loop_has_as_many_queues_each_way() {
    let pool = pool();
    let mut dev = probe("net_ring0").unwrap();
    assert_eq!(
        dev.configure(&config(&pool, 2, 3)).unwrap_err().to_string(),
        "net_ring0: 2 receive and 3 transmit queues; a ring port loops back and needs as many of each"
    );
    assert!(dev.configure(&config(&pool, 17, 17)).is_err());
    dev.configure(&config(&pool, 16, 16)).unwrap();
}

/// A restart begins with empty rings, and what waited in them is home.
#[test]
fn what_waits_at_stop_is_freed() {
    let pool = pool();
    let mut lcore = lcore(&pool);
    let (mut dev, mut queues) = started("net_ring0", &pool, 2);
    for round in 1..4 {
        send(&mut queues, 0, &mut lcore, &pool, &[1; 100]);
        send(&mut queues, 1, &mut lcore, &pool, &[1; 50]);
        assert_eq!(receive(&mut queues, 1, &mut lcore).len(), 50);
        dev.stop(queues);
        drop(lcore);
        assert_eq!(pool.free_count(), 4096);
        lcore = super::tests::lcore(&pool);
        queues = dev.start().unwrap();
        assert!(receive(&mut queues, 0, &mut lcore).is_empty());
        assert_eq!(dev.stats().opackets, 150 * round, "counters go on");
    }
    dev.stop(queues);
}

/// Names belong to the process, and so these tests go one by one.
static NAMES: Mutex<()> = Mutex::new(());

#[test]
fn a_named_ring_joins_two_ports() {
    let _names = NAMES.lock();
    let pool = pool();
    let mut lcore = lcore(&pool);
    let (mut a, mut at_a) = started("net_ring0,nodeaction=R0:0:CREATE", &pool, 1);
    let (mut b, mut at_b) = started("net_ring1,nodeaction=R0:0:ATTACH", &pool, 1);
    send(&mut at_a, 0, &mut lcore, &pool, &[1, 2, 3]);
    assert_eq!(receive(&mut at_b, 0, &mut lcore), [1, 2, 3]);
    send(&mut at_b, 0, &mut lcore, &pool, &[4]);
    assert_eq!(receive(&mut at_a, 0, &mut lcore), [4]);
    // Several producers on one ring, and one of them stops: what it sent stays in the ring.
    send(&mut at_a, 0, &mut lcore, &pool, &[5]);
    a.stop(at_a);
    drop(a);
    send(&mut at_b, 0, &mut lcore, &pool, &[6]);
    assert_eq!(receive(&mut at_b, 0, &mut lcore), [5, 6]);
    // What is left ends with the last device.
    send(&mut at_b, 0, &mut lcore, &pool, &[7; 20]);
    b.stop(at_b);
    drop(b);
    drop(lcore);
    assert_eq!(pool.free_count(), 4096);
    probe("net_ring1,nodeaction=R0:0:ATTACH").err().unwrap();
}

#[test]
fn a_shared_ring_carries_four_threads() {
    let _names = NAMES.lock();
    let pool = pool();
    let (mut a, mut at_a) = started("net_ring0,nodeaction=R1:0:CREATE", &pool, 1);
    let (mut b, mut at_b) = started("net_ring1,nodeaction=R1:0:ATTACH", &pool, 1);
    const EACH: usize = 20_000;
    let sender = |mut tx: Box<dyn mpps_dev::TxQueue>, pool: &Pool| {
        let mut lcore = super::tests::lcore(pool);
        let (mut burst, mut sent) = (Burst::new(32), 0);
        while sent < EACH {
            lcore.alloc(pool.id(), (EACH - sent).min(burst.room()), 60, &mut burst);
            sent += tx.tx_burst(&mut lcore, &mut burst);
            std::thread::yield_now();
        }
        lcore.free(&mut burst);
    };
    let left = std::sync::atomic::AtomicIsize::new(2 * EACH as isize);
    let receiver = |mut rx: Box<dyn mpps_dev::RxQueue>, pool: &Pool| {
        // Relaxed throughout: a lone number, and joining the threads orders the rest.
        use std::sync::atomic::Ordering::Relaxed;
        let mut lcore = super::tests::lcore(pool);
        let mut burst = Burst::new(32);
        while left.load(Relaxed) > 0 {
            left.fetch_sub(rx.rx_burst(&mut lcore, &mut burst) as isize, Relaxed);
            lcore.free(&mut burst);
            std::thread::yield_now();
        }
    };
    let take_rx = |queues: &mut Queues| queues.rx[0].take().unwrap();
    let (rx_a, rx_b) = (take_rx(&mut at_a), take_rx(&mut at_b));
    let (tx_a, tx_b) = (at_a.tx[0].take().unwrap(), at_b.tx[0].take().unwrap());
    std::thread::scope(|scope| {
        scope.spawn(|| sender(tx_a, &pool));
        scope.spawn(|| sender(tx_b, &pool));
        scope.spawn(|| receiver(rx_a, &pool));
        scope.spawn(|| receiver(rx_b, &pool));
    });
    assert_eq!(left.into_inner(), 0);
    assert_eq!(a.stats().ipackets + b.stats().ipackets, 2 * EACH as u64);
    assert_eq!(a.stats().opackets, EACH as u64);
    a.stop(at_a);
    b.stop(at_b);
    assert_eq!(pool.free_count(), 4096);
}

#[test]
fn names_are_made_once_and_found_while_they_live() {
    let _names = NAMES.lock();
    let create = "net_ring0,nodeaction=R2:0:CREATE";
    let attach = "net_ring1,nodeaction=R2:0:ATTACH";
    let refused = |device| probe(device).err();
    assert_eq!(
        refused(attach).as_deref(),
        Some(
            "device net_ring1: there is no ring named \"R2\"; a device before this one must CREATE it"
        )
    );
    let first = probe(create).unwrap();
    assert_eq!(
        refused("net_ring5,nodeaction=R2:0:CREATE").as_deref(),
        Some("device net_ring5: a ring named \"R2\" exists already; use ATTACH")
    );
    let second = probe(attach).unwrap();
    drop(first);
    probe(attach).unwrap();
    drop(second);
    assert!(
        refused(attach).is_some(),
        "the name ended with its last device"
    );
    probe(create).unwrap();
}

#[test]
fn a_device_that_is_refused_leaves_no_name() {
    let _names = NAMES.lock();
    assert!(probe("net_ring0,nodeaction=R3:0:CREATE,nodeaction=nowhere:0:ATTACH").is_err());
    assert!(probe("net_ring1,nodeaction=R3:0:ATTACH").is_err());
}

#[test]
fn actions_that_make_no_sense_are_refused_with_the_form() {
    for action in [
        "",
        "R",
        "R:0",
        "R:0:MAKE",
        "R:0:create",
        ":0:CREATE",
        "R:x:CREATE",
        "R:0:CREATE:1",
    ] {
        let line = probe(&format!("net_ring0,nodeaction={action}"))
            .err()
            .unwrap();
        assert!(
            line.starts_with(&format!(
                "device net_ring0: nodeaction={action} is not valid"
            )),
            "{line}"
        );
    }
    assert!(probe("net_ring0,nodeaction").is_err());
}
