//! Extended statistics of the port: names and order as DPDK's library tells them.

use mpps_dev::{Port, QueueCounts, XStat};
use mpps_virtq::{SIZES, Tally};

/// The counters of a tally, read once.
#[derive(Clone, Copy, Default)]
pub(crate) struct Reading {
    sizes: [u64; 8],
    multicast: u64,
    broadcast: u64,
    notified: u64,
    unnotified: u64,
    suppressed: u64,
    pub(crate) bad: u64,
    pub(crate) no_mbuf: u64,
    pub(crate) too_long: u64,
}

impl Reading {
    pub(crate) fn of(tally: &Tally) -> Self {
        Self {
            sizes: tally.sizes.each_ref().map(|counter| counter.get()),
            multicast: tally.multicast.get(),
            broadcast: tally.broadcast.get(),
            notified: tally.notified.get(),
            unnotified: tally.unnotified.get(),
            suppressed: tally.suppressed.get(),
            bad: tally.bad.get(),
            no_mbuf: tally.no_mbuf.get(),
            too_long: tally.too_long.get(),
        }
    }

    /// What was counted since `before`.
    pub(crate) fn since(self, before: Self) -> Self {
        let mut sizes = self.sizes;
        for (now, then) in sizes.iter_mut().zip(before.sizes) {
            *now = now.saturating_sub(then);
        }
        Self {
            sizes,
            multicast: self.multicast.saturating_sub(before.multicast),
            broadcast: self.broadcast.saturating_sub(before.broadcast),
            notified: self.notified.saturating_sub(before.notified),
            unnotified: self.unnotified.saturating_sub(before.unnotified),
            suppressed: self.suppressed.saturating_sub(before.suppressed),
            bad: self.bad.saturating_sub(before.bad),
            no_mbuf: self.no_mbuf.saturating_sub(before.no_mbuf),
            too_long: self.too_long.saturating_sub(before.too_long),
        }
    }
}

/// The counters of one queue by name, `rx_q0_` or the like before each.
fn queue(prefix: &str, counts: QueueCounts, tally: &Reading, all: &mut Vec<XStat>) {
    let mut put = |name: &str, value: u64| {
        all.push(XStat {
            name: format!("{prefix}{name}"),
            value,
        });
    };
    put("good_packets", counts.packets);
    put("good_bytes", counts.bytes);
    put("multicast_packets", tally.multicast);
    put("broadcast_packets", tally.broadcast);
    for (name, value) in SIZES.iter().zip(tally.sizes) {
        put(&format!("{name}_packets"), value);
    }
    put("guest_notifications", tally.notified);
    // There is no offloaded notification, no IOTLB and no asynchronous copy here; scripts look for the names.
    put("guest_notifications_offloaded", 0);
    put("guest_notifications_error", tally.unnotified);
    put("guest_notifications_suppressed", tally.suppressed);
    for name in [
        "iotlb_hits",
        "iotlb_misses",
        "inflight_submitted",
        "inflight_completed",
    ] {
        put(name, 0);
    }
    put("mbuf_alloc_failed", tally.no_mbuf);
}

/// All queues' counters, receive queues first.
pub(crate) fn xstats(port: &Port, rx: &[Reading], tx: &[Reading]) -> Vec<XStat> {
    let mut all = Vec::new();
    for (n, reading) in rx.iter().enumerate() {
        if let Some(counts) = port.rx_counts(n) {
            queue(&format!("rx_q{n}_"), counts, reading, &mut all);
        }
    }
    for (n, reading) in tx.iter().enumerate() {
        if let Some(counts) = port.tx_counts(n) {
            queue(&format!("tx_q{n}_"), counts, reading, &mut all);
        }
    }
    all
}
