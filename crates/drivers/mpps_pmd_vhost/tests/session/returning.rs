//! Front ends that come back, over and over; a port that goes to where they are; many queues, many pollers.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mpps_cpu::Clock;
use mpps_dev::{Lcore, LcoreId, RxQueue, TxQueue};
use mpps_mbuf::{Burst, Pool};
use mpps_os::unix_socket::Listener;
use mpps_virtq::Features;

use crate::front::{Front, PACKED, Pair, SPLIT};
use crate::rig::{Rig, eventually};

/// What of the kernel this process holds: descriptors, mappings of files that have no name.
fn held() -> (usize, usize) {
    let fds = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    (fds, maps.matches("/memfd:").count())
}

/// One visit with traffic; it ends with packets in both rings, and sometimes with a message half sent.
fn visit(rig: &mut Rig, n: u32) {
    let features = [SPLIT, PACKED][n as usize % 2];
    let mut front = Front::up(rig, features, 1);
    front.exchange(rig, 200);
    front.post(40);
    if n.is_multiple_of(3) {
        let soon = Instant::now() + Duration::from_secs(10);
        front.talk.0.send(&[1, 0, 0], &[], soon).unwrap();
    }
    front.finish();
    let mut left = Burst::new(32);
    assert!(eventually(|| {
        rig.echo(0, &mut left);
        !rig.dev.link().up
    }));
    rig.lcore.free(&mut left);
}

/// Runs in a process of its own, since others open files too.
#[test]
#[ignore = "run by the test below"]
fn fifty_visits() {
    let mut rig = Rig::new("", 1);
    // What is made once and kept is made at the first visits.
    (0..2).for_each(|n| visit(&mut rig, n));
    std::thread::sleep(Duration::from_millis(200));
    let before = held();
    let mut packets = rig.dev.stats().ipackets;
    for n in 0..50 {
        visit(&mut rig, n);
        // The connection's descriptor is closed a little after the link went down.
        assert!(eventually(|| held() <= before), "{before:?}, {:?}", held());
        let stats = rig.dev.stats();
        assert!(stats.ipackets >= packets + 200, "{n}: {stats:?}");
        packets = stats.ipackets;
    }
    rig.finish();
}

#[test]
fn fifty_visits_leave_nothing_behind() {
    let done = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "--ignored",
            "--test-threads=1",
            "returning::fifty_visits",
        ])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

/// Stops pollers, also when the test fails.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        // Relaxed: a lone flag.
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What a poller of the port owns.
type Share = (Vec<Box<dyn RxQueue>>, Vec<Box<dyn TxQueue>>);

/// Sends everything back that comes in, queue by queue.
fn echo(pool: &Pool, id: u32, (rx, tx): &mut Share, stop: &AtomicBool) {
    let pools = std::slice::from_ref(pool);
    let mut lcore = Lcore::new(LcoreId(id), pools, Clock::kernel());
    let mut left: Vec<Box<Burst>> = rx.iter().map(|_| Burst::new(32)).collect();
    // Relaxed: a lone flag.
    while !stop.load(Ordering::Relaxed) {
        for ((rx, tx), left) in rx.iter_mut().zip(&mut *tx).zip(&mut left) {
            if left.is_empty() {
                rx.rx_burst(&mut lcore, left);
            }
            tx.tx_burst(&mut lcore, left);
        }
        std::thread::yield_now();
    }
    left.iter_mut().for_each(|left| {
        lcore.free(left);
    });
}

/// How many packets each queue moves.
const EACH: u32 = 1500;

/// One turn of a pair that has sent and taken so many packets: its own numbers come back, in order.
fn turn(front: &mut Front, queue: usize, sent: &mut u32, back: &mut u32) {
    let mut burst = Burst::new(32);
    while burst.room() > 0 && *sent < EACH && *sent - *back < 100 {
        let mut packet = front.caches.alloc_one(front.pool.id()).unwrap();
        let mut bytes = [queue as u8; 64];
        bytes[..4].copy_from_slice(&sent.to_le_bytes());
        assert!(packet.append(&bytes));
        burst.push(packet).unwrap();
        *sent += 1;
    }
    let Pair { rx, tx } = &mut front.pairs[queue];
    tx.burst(&mut front.caches, &mut burst);
    assert!(burst.is_empty(), "100 packets fit the ring");
    rx.burst(&mut front.caches, &mut burst);
    for packet in burst.as_slice() {
        assert_eq!(packet.data()[..4], back.to_le_bytes());
        assert_eq!(packet.data()[4..], [queue as u8; 60]);
        *back += 1;
    }
    front.caches.free(&mut burst);
    rx.fill(&mut front.caches);
}

fn eight_queues(features: Features) {
    let mut rig = Rig::new("", 8);
    let mut front = Front::up(&rig, features, 8);
    let mut queues = std::mem::take(&mut rig.queues);
    let stop = AtomicBool::new(false);
    let mut shares: Vec<Share> = (0..4).map(|_| (Vec::new(), Vec::new())).collect();
    for n in 0..8 {
        let share = &mut shares[n % 4];
        share.0.push(queues.rx[n].take().unwrap());
        share.1.push(queues.tx[n].take().unwrap());
    }
    std::thread::scope(|scope| {
        let (pool, stop) = (&rig.pool, &stop);
        let _guard = Stop(stop);
        for (n, share) in shares.iter_mut().enumerate() {
            scope.spawn(move || echo(pool, n as u32 + 1, share, stop));
        }
        let mut counts = [(0, 0); 8];
        let end = Instant::now() + Duration::from_secs(30);
        while counts != [(EACH, EACH); 8] && Instant::now() < end {
            for (queue, (sent, back)) in counts.iter_mut().enumerate() {
                turn(&mut front, queue, sent, back);
            }
            std::thread::yield_now();
        }
        assert_eq!(counts, [(EACH, EACH); 8], "{features:?}");
    });
    for (n, share) in shares.into_iter().enumerate() {
        for (k, (rx, tx)) in share.0.into_iter().zip(share.1).enumerate() {
            queues.rx[n + 4 * k] = Some(rx);
            queues.tx[n + 4 * k] = Some(tx);
        }
    }
    for queue in 0..8 {
        let counts = (
            rig.dev.port().rx_counts(queue),
            rig.dev.port().tx_counts(queue),
        );
        let packets = (counts.0.unwrap().packets, counts.1.unwrap().packets);
        assert_eq!(packets, (u64::from(EACH), u64::from(EACH)), "queue {queue}");
    }
    rig.queues = queues;
    assert_eq!(rig.heard.troubles(), [""; 0]);
    front.finish();
    rig.finish();
}

#[test]
fn eight_queues_of_four_pollers_keep_to_themselves() {
    eight_queues(SPLIT);
    eight_queues(PACKED);
}

#[test]
fn a_port_that_connects_tries_often() {
    let rig = Rig::new(",client=1", 1);
    // Nobody is there for a while; then somebody who leaves at once. In some second out of many it comes 15 times: it tries
    // at least every 50 ms, on a machine that has other things to do as well.
    std::thread::sleep(Duration::from_millis(200));
    let listener = Listener::bind(&rig.path).unwrap();
    let best = (0..20).any(|_| {
        let end = Instant::now() + Duration::from_secs(1);
        let mut came = 0;
        while Instant::now() < end && came < 15 {
            match listener.accept().unwrap() {
                Some(_) => came += 1,
                None => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        came == 15
    });
    assert!(best);
    assert_eq!(rig.heard.troubles(), [""; 0]);
    drop(listener);
    rig.finish();
}

/// DPDK's front end tells the available half of a packed ring's base alone.
#[test]
fn half_a_base_of_a_packed_ring_is_no_contradiction() {
    let mut rig = Rig::new("", 1);
    let mut front = Front::new(&rig.path, PACKED, 1);
    front.talk.negotiate(PACKED);
    front.share();
    for ring in 0..2 {
        front.describe(ring, 1 << 15, 0);
        front.enable(ring, true);
    }
    front.driver_ok();
    rig.wait_link(true);
    let pair = &mut front.pairs[0];
    pair.rx.fill(&mut front.caches);
    front.exchange(&mut rig, 300);
    assert_eq!(rig.heard.troubles(), [""; 0]);
    front.finish();
    rig.finish();
}
