//! Scenarios about counters, and about a pool that runs dry.

use std::collections::HashSet;
use std::time::Instant;

use mpps_mbuf::{BURST_MAX, Burst};

use super::rig::{Played, Rig, ensure, same};
use super::{Source, Subject};
use crate::stats::QueueCounts;
use crate::{EthDev, PortStats};

/// Packets of one round of traffic.
const ROUND: usize = 100;
const LEN: usize = 72;

/// What came in and how much was sent.
struct Traffic {
    received: u64,
    received_bytes: u64,
    sent: u64,
}

/// One round on every queue, received one way or another.
fn traffic(rig: &mut Rig) -> Played<Traffic> {
    let queues = usize::from(rig.facts.queues);
    let mut all = Traffic {
        received: 0,
        received_bytes: 0,
        sent: 0,
    };
    for queue in 0..queues {
        // Another number a queue, so that one queue's counters can't pass for another's (N-01).
        let n = ROUND + queue;
        let (mut burst, frames) = rig.burst(n, LEN)?;
        let mut got = Vec::new();
        rig.send_all(queue, &mut burst, &mut got)?;
        all.sent += n as u64;
        match rig.facts.source {
            Source::Sent => {
                rig.wait_for(queue, n, 32, &mut got)?;
                same(&got, &frames)?;
            }
            Source::Made => rig.wait_for(queue, n, 32, &mut got)?,
            Source::Given(has) => rig.wait_for(queue, n.min(has as usize / 4), 32, &mut got)?,
            Source::Nothing => {
                rig.poll(queue, 32, &mut got)?;
            }
        }
        all.received += got.len() as u64;
        all.received_bytes += got.iter().map(|frame| frame.len() as u64).sum::<u64>();
    }
    Ok(all)
}

/// The sums over the queues are the port's counters, and these say what happened; none ever goes backwards.
pub(super) fn add_up(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    let sink = rig.sink();
    let (mut sent, mut received, mut received_bytes) = (0, 0, 0);
    let (mut last, mut rounds) = ((PortStats::default(), PortStats::default()), 0);
    for _ in 0..4 {
        let round = traffic(&mut rig)?;
        sent += round.sent;
        received += round.received;
        received_bytes += round.received_bytes;
        let (out, inn) = (rig.ports[0].dev.stats(), rig.ports[sink].dev.stats());
        ensure!(
            out.opackets + out.oerrors == sent,
            "{sent} packets were taken, opackets {} and oerrors {}",
            out.opackets,
            out.oerrors
        );
        ensure!(
            inn.ipackets == received,
            "{received} packets were received, ipackets {}",
            inn.ipackets
        );
        let (obytes, ibytes) = if rig.facts.counts_bytes {
            (out.opackets * LEN as u64, received_bytes)
        } else {
            (0, 0)
        };
        ensure!(
            (out.obytes, inn.ibytes) == (obytes, ibytes),
            "obytes and ibytes are {} and {}, should be {obytes} and {ibytes}",
            out.obytes,
            inn.ibytes
        );
        ensure!(
            !backwards(last.0, out) && !backwards(last.1, inn),
            "a counter went backwards: {last:?} to {:?}",
            (out, inn)
        );
        last = (out, inn);
        rounds += 1;
        for queue in 0..usize::from(rig.facts.queues) {
            let counts = rig.ports[0].dev.port().tx_counts(queue).unwrap_or_default();
            let taken = counts.packets + counts.errors;
            let want = rounds * (ROUND + queue) as u64;
            ensure!(
                taken == want,
                "transmit queue {queue} took {want} packets and counted {taken}"
            );
        }
        for port in &rig.ports {
            sums(&*port.dev, rig.facts.queues)?;
        }
    }
    rig.finish()
}

fn fields(stats: PortStats) -> [u64; 8] {
    [
        stats.ipackets,
        stats.opackets,
        stats.ibytes,
        stats.obytes,
        stats.imissed,
        stats.ierrors,
        stats.oerrors,
        stats.rx_nombuf,
    ]
}

pub(super) fn backwards(before: PortStats, after: PortStats) -> bool {
    fields(before)
        .iter()
        .zip(fields(after))
        .any(|(&before, after)| after < before)
}

/// Holds the port's counters and extended statistics against those of its queues.
fn sums(dev: &dyn EthDev, queues: u16) -> Played {
    let stats = dev.stats();
    let sum = |counts: fn(&crate::Port, usize) -> Option<QueueCounts>,
               field: fn(QueueCounts) -> u64| {
        (0..usize::from(queues))
            .filter_map(|queue| counts(dev.port(), queue))
            .map(field)
            .sum::<u64>()
    };
    let of_queues = [
        sum(crate::Port::rx_counts, |c| c.packets),
        sum(crate::Port::tx_counts, |c| c.packets),
        sum(crate::Port::rx_counts, |c| c.bytes),
        sum(crate::Port::tx_counts, |c| c.bytes),
    ];
    let of_port = fields(stats);
    ensure!(
        of_queues == of_port[..4],
        "ipackets, opackets, ibytes, obytes are {:?}, those of the queues add up to {of_queues:?}",
        &of_port[..4]
    );
    let extended: Vec<u64> = dev.xstats().iter().take(8).map(|stat| stat.value).collect();
    let basic = [
        stats.ipackets,
        stats.opackets,
        stats.ibytes,
        stats.obytes,
        stats.imissed,
        stats.ierrors,
        stats.oerrors,
        stats.rx_nombuf,
    ];
    ensure!(
        extended == basic,
        "the first eight extended statistics are {extended:?}, the basic ones {basic:?}"
    );
    Ok(())
}

/// After clearing everything is zero, and only what comes later is counted; the queues go on as if nothing had happened.
pub(super) fn clear(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::new(subject)?;
    let sink = rig.sink();
    for _ in 0..2 {
        traffic(&mut rig)?;
        for port in &mut rig.ports {
            port.dev.clear_stats();
            let stats = port.dev.stats();
            ensure!(stats == PortStats::default(), "after clearing: {stats:?}");
            let left = port.dev.xstats().into_iter().find(|stat| stat.value != 0);
            ensure!(left.is_none(), "after clearing: {left:?}");
        }
        let round = traffic(&mut rig)?;
        let (out, inn) = (rig.ports[0].dev.stats(), rig.ports[sink].dev.stats());
        ensure!(
            out.opackets + out.oerrors == round.sent && inn.ipackets == round.received,
            "{} sent and {} received since clearing, counted {out:?} and {inn:?}",
            round.sent,
            round.received
        );
    }
    rig.finish()
}

/// The eight basic names in their order; all names unique (W-27) and at most 63 characters long.
pub(super) fn xstat_names(subject: &Subject<'_>) -> Played {
    const BASIC: [&str; 8] = [
        "rx_good_packets",
        "tx_good_packets",
        "rx_good_bytes",
        "tx_good_bytes",
        "rx_missed_errors",
        "rx_errors",
        "tx_errors",
        "rx_mbuf_allocation_errors",
    ];
    let rig = Rig::new(subject)?;
    for port in &rig.ports {
        let stats = port.dev.xstats();
        let names: Vec<&str> = stats.iter().map(|stat| stat.name.as_str()).collect();
        ensure!(
            names.starts_with(&BASIC),
            "the names begin otherwise: {names:?}"
        );
        let unique: HashSet<&str> = names.iter().copied().collect();
        ensure!(unique.len() == names.len(), "a name comes twice: {names:?}");
        let long = names.iter().find(|name| name.len() > 63);
        ensure!(long.is_none(), "longer than 63 characters: {long:?}");
    }
    rig.finish()
}

/// Without mbufs fewer packets come in. What did not come in comes later or was counted; nothing is lost in silence.
pub(super) fn dry_pool(subject: &Subject<'_>) -> Played {
    let mut rig = Rig::with_pool(subject, 64)?;
    let mut offered = match rig.facts.source {
        Source::Given(n) => Some(n),
        _ => None,
    };
    let mut held: Vec<_> = std::iter::from_fn(|| rig.pool.alloc()).collect();
    if rig.loops() {
        let (mut burst, frames) = rig.burst(32, 64)?;
        rig.send_all(0, &mut burst, &mut Vec::new())?;
        offered = Some(frames.len() as u64);
    }
    let mut got = Vec::new();
    for _ in 0..10 {
        rig.poll(0, 32, &mut got)?;
    }
    ensure!(
        rig.loops() || got.is_empty(),
        "{} packets came out of an empty pool",
        got.len()
    );
    // A few come back: so many can be received.
    held.truncate(held.len().saturating_sub(10));
    let mut hand = Burst::new(BURST_MAX);
    rig.receive(0, &mut hand)?;
    ensure!(
        rig.loops() || hand.len() <= 10,
        "{} packets came out of 10 mbufs",
        hand.len()
    );
    let in_hand = hand.len() as u64;
    rig.lcore.free(&mut hand);
    drop(held);
    let Some(offered) = offered else {
        rig.wait_for(0, 200, 32, &mut got)?;
        return rig.finish();
    };
    let sink = rig.sink();
    let until = Instant::now() + rig.facts.patience;
    loop {
        rig.poll(0, 32, &mut got)?;
        let stats = rig.ports[sink].dev.stats();
        let counted = stats.rx_nombuf + stats.imissed + stats.ierrors;
        let accounted = got.len() as u64 + in_hand + counted;
        if accounted == offered {
            return rig.finish();
        }
        ensure!(
            accounted < offered && Instant::now() < until,
            "{offered} packets were there, {} came in and {counted} were counted as lost",
            got.len() as u64 + in_hand
        );
    }
}
