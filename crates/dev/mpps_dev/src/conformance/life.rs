//! Scenarios about the life of a port: start, stop, end, and what is left behind.

use std::collections::HashMap;

use mpps_mbuf::for_each_pool;

use super::rig::{self, Played, Rig, ensure};
use super::{Source, Subject, Violation};

/// Bytes that a core fetches at a time: two lines.
const LINE: usize = 128;

/// How often a port is made and ended.
const ROUNDS: usize = 100;

/// Several times round; each start hands out all queues, traffic passes, counters go on.
pub(super) fn stop_and_start(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    let mut before = rig.ports[0].dev.stats().opackets;
    for round in 0..5 {
        for queue in 0..usize::from(subject.facts.queues) {
            rig.pass(queue, 40, 64)?;
        }
        match subject.facts.source {
            Source::Made => rig.wait_for(0, 64, 32, &mut Vec::new())?,
            Source::Given(n) => rig.wait_for(0, n as usize, 32, &mut Vec::new())?,
            Source::Sent | Source::Nothing => {}
        }
        let sent = rig.ports[0].dev.stats().opackets;
        let want = before + 40 * u64::from(subject.facts.queues);
        ensure!(
            sent == want,
            "in round {round} opackets went from {before} to {sent}, not to {want}"
        );
        before = sent;
        rig.stop();
        let stopped = rig.ports[0].dev.stats().opackets;
        ensure!(stopped == before, "stop changed opackets to {stopped}");
        ensure!(
            !rig.ports[0].dev.port().tx_started(0),
            "a transmit queue counts as started after stop"
        );
        rig.start()?;
        ensure!(
            rig.ports[0].dev.port().tx_started(0) && rig.ports[0].dev.port().rx_started(0),
            "a queue doesn't count as started after start"
        );
    }
    rig.finish()
}

/// What is between the ports when they stop comes home: not lost, not freed twice.
pub(super) fn stop_under_way(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    for _ in 0..3 {
        for queue in 0..usize::from(subject.facts.queues) {
            let (mut burst, _) = rig.burst(200, 64)?;
            rig.send(queue, &mut burst)?;
            rig.poll(queue, 8, &mut Vec::new())?;
            // What was not taken is the caller's.
            rig.lcore.free(&mut burst);
        }
        rig.stop();
        rig.start()?;
    }
    rig.finish()
}

/// Two queues polled by two cores write no line in common, whatever the allocator does.
pub(super) fn lines_apart(subject: &Subject<'_>) -> Played {
    let rig = Rig::new(subject)?;
    let mut owners = HashMap::new();
    for (p, port) in rig.ports.iter().enumerate() {
        let rx = port.queues.rx.iter().flatten().map(|queue| {
            let place: *const dyn crate::RxQueue = &**queue;
            (
                "rx",
                place.addr(),
                size_of_val(&**queue),
                align_of_val(&**queue),
            )
        });
        let tx = port.queues.tx.iter().flatten().map(|queue| {
            let place: *const dyn crate::TxQueue = &**queue;
            (
                "tx",
                place.addr(),
                size_of_val(&**queue),
                align_of_val(&**queue),
            )
        });
        for (n, (direction, start, len, align)) in rx.chain(tx).enumerate() {
            // A queue without a field has nothing to write.
            if len == 0 {
                continue;
            }
            ensure!(
                align % LINE == 0,
                "a {direction} queue is aligned to {align} bytes, not {LINE}: it shares lines with what lies beside it"
            );
            for line in start / LINE..=(start + len - 1) / LINE {
                let other = owners.insert(line, (p, direction, n));
                ensure!(
                    other.is_none(),
                    "{direction} queue {n} of port {p} shares a line with {other:?}"
                );
            }
        }
    }
    rig.finish()
}

/// The peer ends while packets are under way: the port carries on, takes or leaves packets, and loses none.
pub(super) fn peer_vanishes(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    rig.pass(0, 40, 64)?;
    let (mut burst, _) = rig.burst(100, 64)?;
    rig.send(0, &mut burst)?;
    if let Some(mut peer) = rig.ports.pop() {
        peer.dev.stop(peer.queues);
    }
    for _ in 0..100 {
        rig.send(0, &mut burst)?;
        // Port 0 is alone now, so that this polls its own receive queue.
        rig.poll(0, 32, &mut Vec::new())?;
        if burst.is_empty() {
            burst = rig.burst(32, 64)?.0;
        }
    }
    rig.lcore.free(&mut burst);
    drop(burst);
    rig.finish()
}

/// Made, started, stopped and ended again and again: no file descriptor and no pool is left.
pub(super) fn repeated(subject: &Subject<'_>) -> Played {
    let pool = rig::pool("conformance_rx", 256)?;
    // The first time may open what stays open for good.
    once(subject, &pool)?;
    let before = (descriptors()?, pools());
    for _ in 0..ROUNDS {
        once(subject, &pool)?;
    }
    let after = (descriptors()?, pools());
    // A leak is one a round. Less is the doing of other threads of the process: tests run side by side.
    let grown = |before: usize, after: usize| after >= before + ROUNDS / 2;
    ensure!(
        !grown(before.0, after.0) && !grown(before.1, after.1),
        "file descriptors and pools were {before:?} before and are {after:?} after"
    );
    Ok(())
}

fn once(subject: &Subject<'_>, pool: &mpps_mbuf::Pool) -> Played {
    let ports = rig::probe(subject).map_err(|error| Violation::new(format!("probe: {error}")))?;
    for mut dev in ports {
        dev.configure(&rig::config(subject.facts.queues, pool))
            .map_err(|error| Violation::new(format!("configure: {error}")))?;
        let queues = dev
            .start()
            .map_err(|error| Violation::new(format!("start: {error}")))?;
        dev.stop(queues);
    }
    Ok(())
}

/// Open file descriptors of this process.
fn descriptors() -> Played<usize> {
    std::fs::read_dir("/proc/self/fd")
        .map(Iterator::count)
        .map_err(|error| Violation::new(format!("/proc/self/fd: {error}")))
}

fn pools() -> usize {
    let mut n = 0;
    for_each_pool(|_| n += 1);
    n
}
