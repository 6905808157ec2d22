//! A worker polls while the control thread does what it may do at any time.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use mpps_cpu::Clock;
use mpps_mbuf::{Burst, Pool, PoolId};

use super::rig::{Played, Rig, Running, ensure};
use super::{Subject, Violation, counts};
use crate::{Lcore, LcoreId, Queues};

/// Rounds of control at the least, and turns of the worker.
const ROUNDS: u64 = 200;

/// Packets that the worker moved.
#[derive(Clone, Copy, Default)]
struct Moved {
    sent: u64,
    received: u64,
}

/// Counters are read, queues stopped and started, the MTU changed; all while packets move. In the end the counters say what
/// the worker did, and no mbuf is missing.
pub(super) fn control_while_polled(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    let pools = [rig.pool.clone(), rig.feed.clone()];
    let queues: Vec<Queues> = rig
        .ports
        .iter_mut()
        .map(|port| std::mem::take(&mut port.queues))
        .collect();
    let (stop, turns) = (AtomicBool::new(false), AtomicU64::new(0));
    let (controlled, polled) = std::thread::scope(|scope| {
        let worker = scope.spawn(|| poll(queues, &pools, &stop, &turns));
        // Relaxed: see `poll`. A worker that panicked takes no more turns.
        let overlapped = || turns.load(Ordering::Relaxed) >= ROUNDS || worker.is_finished();
        let controlled = control(&mut rig.ports, subject.facts.given_mtu, overlapped);
        // Relaxed: a lone flag; joining orders everything else.
        stop.store(true, Ordering::Relaxed);
        (controlled, worker.join())
    });
    let (queues, moved) = polled.map_err(|_| Violation::new("the polling thread panicked"))?;
    for (port, queues) in rig.ports.iter_mut().zip(queues) {
        port.queues = queues;
    }
    controlled?;
    let sink = rig.sink();
    let (out, inn) = (rig.ports[0].dev.stats(), rig.ports[sink].dev.stats());
    ensure!(
        out.opackets + out.oerrors == moved.sent && inn.ipackets == moved.received,
        "the worker sent {} and received {}, counted {out:?} and {inn:?}",
        moved.sent,
        moved.received
    );
    rig.finish()
}

/// Sends on all queues of the first port and receives from all of the last, until told to stop.
fn poll(
    mut queues: Vec<Queues>,
    pools: &[Pool],
    stop: &AtomicBool,
    turns: &AtomicU64,
) -> (Vec<Queues>, Moved) {
    let mut lcore = Lcore::new(LcoreId(1), pools, Clock::kernel());
    let feed = pools.last().map(Pool::id);
    let (mut burst, mut moved) = (Burst::new(32), Moved::default());
    // Relaxed: see `control_while_polled`.
    while !stop.load(Ordering::Relaxed) {
        if let (Some(first), Some(feed)) = (queues.first_mut(), feed) {
            moved.sent += send(first, feed, &mut lcore, &mut burst);
        }
        let sink = queues.last_mut().into_iter().flat_map(|last| &mut last.rx);
        for rx in sink.flatten() {
            moved.received += rx.rx_burst(&mut lcore, &mut burst) as u64;
            lcore.free(&mut burst);
        }
        // Relaxed: only says that time passes.
        turns.fetch_add(1, Ordering::Relaxed);
    }
    (queues, moved)
}

fn send(queues: &mut Queues, feed: PoolId, lcore: &mut Lcore, burst: &mut Burst) -> u64 {
    let mut sent = 0;
    for tx in queues.tx.iter_mut().flatten() {
        lcore.alloc(feed, 32, 64, burst);
        sent += tx.tx_burst(lcore, burst) as u64;
        lcore.free(burst);
    }
    sent
}

/// Everything that may be asked of a port while it runs, again and again, until the worker has had its share of turns too.
fn control(ports: &mut [Running], given_mtu: bool, overlapped: impl Fn() -> bool) -> Played {
    let mut last: Vec<_> = ports.iter().map(|port| port.dev.stats()).collect();
    let mut round = 0;
    while round < ROUNDS || !overlapped() {
        round += 1;
        for (port, last) in ports.iter_mut().zip(&mut last) {
            let running = round % 2 == 0;
            port.dev.port().set_rx_started(0, running);
            port.dev.port().set_tx_started(0, running);
            let (min, max) = (port.dev.info().min_mtu, port.dev.info().max_mtu);
            let mtu = if running {
                max.min(9000)
            } else {
                min.max(1400)
            };
            let set = port.dev.set_mtu(mtu);
            ensure!(
                set.is_ok() || given_mtu,
                "MTU {mtu} while a worker polls: {set:?}"
            );
            let now = port.dev.stats();
            ensure!(
                !counts::backwards(*last, now),
                "a counter went backwards under way: {last:?} to {now:?}"
            );
            *last = now;
            let names = port.dev.xstats().len();
            ensure!(names >= 8, "{names} extended statistics");
            port.dev.link();
        }
        std::thread::yield_now();
    }
    Ok(())
}
