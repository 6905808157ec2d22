//! Extended statistics by queue: names and order are DPDK's for virtio.

use std::sync::Arc;

use mpps_dev::{PortStats, QueueCounts, XStat};
use mpps_virtq::{SIZES, Tally};

/// Counters of one queue over all rings it has had, and what they were when last cleared.
#[derive(Default)]
pub(crate) struct Kept {
    pub(crate) tally: Arc<Tally>,
    baseline: Snapshot,
}

#[derive(Clone, Copy, Default)]
struct Snapshot {
    sizes: [u64; SIZES.len()],
    multicast: u64,
    broadcast: u64,
    bad: u64,
    no_mbuf: u64,
}

impl Kept {
    fn now(&self) -> Snapshot {
        let tally = &self.tally;
        Snapshot {
            sizes: std::array::from_fn(|class| tally.sizes[class].get()),
            multicast: tally.multicast.get(),
            broadcast: tally.broadcast.get(),
            bad: tally.bad.get() + tally.too_long.get(),
            no_mbuf: tally.no_mbuf.get(),
        }
    }

    fn since_cleared(&self) -> Snapshot {
        let (now, then) = (self.now(), self.baseline);
        Snapshot {
            sizes: std::array::from_fn(|class| now.sizes[class] - then.sizes[class]),
            multicast: now.multicast - then.multicast,
            broadcast: now.broadcast - then.broadcast,
            bad: now.bad - then.bad,
            no_mbuf: now.no_mbuf - then.no_mbuf,
        }
    }

    pub(crate) fn clear(&mut self) {
        self.baseline = self.now();
    }
}

/// Adds what rings lost to the counters of the port.
pub(crate) fn add_losses(stats: &mut PortStats, rx: &[Kept], tx: &[Kept]) {
    for lost in rx.iter().map(Kept::since_cleared) {
        stats.ierrors += lost.bad;
        stats.rx_nombuf += lost.no_mbuf;
    }
    for lost in tx.iter().map(Kept::since_cleared) {
        stats.oerrors += lost.bad + lost.no_mbuf;
    }
}

/// The counters of queue `queue`, received ones with errors.
pub(crate) fn append(
    all: &mut Vec<XStat>,
    direction: &str,
    queue: usize,
    counts: QueueCounts,
    kept: &Kept,
) {
    let tally = kept.since_cleared();
    let mut put = |name: &str, value| {
        all.push(XStat {
            name: format!("{direction}_q{queue}_{name}"),
            value,
        });
    };
    put("good_packets", counts.packets);
    put("good_bytes", counts.bytes);
    if direction == "rx" {
        put("errors", counts.errors + tally.bad);
    }
    put("multicast_packets", tally.multicast);
    put("broadcast_packets", tally.broadcast);
    for (size, value) in SIZES.iter().zip(tally.sizes) {
        put(&format!("{size}_packets"), value);
    }
}
