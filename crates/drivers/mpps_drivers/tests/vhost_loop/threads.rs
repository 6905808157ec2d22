//! Eight queue pairs over several threads, each of which polls queues of its own of both ports.

use std::time::{Duration, Instant};

use mpps_cpu::Clock;
use mpps_dev::{Lcore, LcoreId, Queues, RxQueue, TxQueue};
use mpps_mbuf::{Burst, Pool};

use crate::rig::{Loop, PATHS, Shape, number};

const QUEUES: usize = 8;
const THREADS: usize = 4;
/// Packets there and back on each queue.
const PACKETS: u32 = 1500;
const LEN: usize = 200;

type Pair = (Box<dyn RxQueue>, Box<dyn TxQueue>);

/// A queue pair of the front end and that of the back end, which sends everything back.
struct Lane {
    queue: usize,
    front: Pair,
    back: Pair,
    waiting: Box<Burst>,
    returning: Box<Burst>,
    sent: u32,
    got: u32,
}

impl Lane {
    fn turn(&mut self, lcore: &mut Lcore, pool: &Pool) {
        while self.waiting.room() > 0 && self.sent < PACKETS && self.sent - self.got < 64 {
            let mut packet = pool.alloc().unwrap();
            let mut bytes = [0x5a; LEN];
            let stamp = (self.queue as u32) << 24 | self.sent;
            bytes[12..16].copy_from_slice(&stamp.to_le_bytes());
            assert!(packet.append(&bytes));
            self.waiting.push(packet).unwrap();
            self.sent += 1;
        }
        self.front.1.tx_burst(lcore, &mut self.waiting);
        self.back.0.rx_burst(lcore, &mut self.returning);
        self.back.1.tx_burst(lcore, &mut self.returning);
        let mut out = Burst::new(32);
        self.front.0.rx_burst(lcore, &mut out);
        for packet in out.as_slice() {
            // Its own, in order: nothing comes from the queue of another.
            assert_eq!(number(packet, LEN), (self.queue as u32) << 24 | self.got);
            self.got += 1;
        }
        lcore.free(&mut out);
    }
}

/// Polls its lanes until all their packets are back.
fn poll(mut lanes: Vec<Lane>, id: u32, pools: &[Pool; 2]) -> Vec<Lane> {
    let mut lcore = Lcore::new(LcoreId(id), pools, Clock::kernel());
    let end = Instant::now() + Duration::from_secs(20);
    while lanes.iter().any(|lane| lane.got < PACKETS) {
        for lane in &mut lanes {
            lane.turn(&mut lcore, &pools[0]);
            assert!(
                Instant::now() < end,
                "queue {}: {} of {}",
                lane.queue,
                lane.got,
                lane.sent
            );
        }
        // More threads than CPUs.
        std::thread::yield_now();
    }
    lanes
}

fn take(queues: &mut Queues, queue: usize) -> Pair {
    let rx = queues.rx[queue].take().unwrap();
    (rx, queues.tx[queue].take().unwrap())
}

fn put(queues: &mut Queues, queue: usize, (rx, tx): Pair) {
    queues.rx[queue] = Some(rx);
    queues.tx[queue] = Some(tx);
}

fn run(both: &mut Loop) {
    let pools = [both.front.pool.clone(), both.back.pool.clone()];
    let mut shares: [Vec<Lane>; THREADS] = Default::default();
    for queue in 0..QUEUES {
        shares[queue % THREADS].push(Lane {
            queue,
            front: take(&mut both.front.queues, queue),
            back: take(&mut both.back.queues, queue),
            waiting: Burst::new(32),
            returning: Burst::new(32),
            sent: 0,
            got: 0,
        });
    }
    let done = std::thread::scope(|scope| {
        let workers = (0..).zip(shares).map(|(id, lanes)| {
            let pools = &pools;
            scope.spawn(move || poll(lanes, id, pools))
        });
        let workers: Vec<_> = workers.collect();
        let lanes = workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap());
        lanes.collect::<Vec<_>>()
    });
    for lane in done {
        put(&mut both.front.queues, lane.queue, lane.front);
        put(&mut both.back.queues, lane.queue, lane.back);
    }
}

#[test]
fn eight_queue_pairs_over_four_threads() {
    let eight = Shape {
        queues: QUEUES,
        ..Shape::PLAIN
    };
    for (n, args) in [PATHS[2], PATHS[4], PATHS[0], PATHS[7]].iter().enumerate() {
        let mut both = Loop::new(args, eight, n % 2 == 0);
        for round in 1..=2 {
            both.front.start();
            both.back.start();
            both.connect();
            run(&mut both);
            let all = u64::from(PACKETS) * QUEUES as u64 * round;
            for stats in [both.front.dev.stats(), both.back.dev.stats()] {
                assert_eq!((stats.ipackets, stats.opackets), (all, all));
            }
            both.back.stop();
            both.front.stop();
        }
        both.front.end();
        both.back.end();
    }
}
