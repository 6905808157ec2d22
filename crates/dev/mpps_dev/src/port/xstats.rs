//! Extended statistics that every port has: names and order are an interface (scripts look values up by name).

use super::Port;
use crate::stats::XStat;

/// The most queues whose counters appear in the extended statistics, as in DPDK.
const XSTAT_QUEUES: usize = 16;

impl Port {
    /// The basic counters by name, then those of the first sixteen queues a direction where the port keeps them.
    pub fn xstats(&self) -> Vec<XStat> {
        let s = self.stats();
        let mut all: Vec<XStat> = [
            ("rx_good_packets", s.ipackets),
            ("tx_good_packets", s.opackets),
            ("rx_good_bytes", s.ibytes),
            ("tx_good_bytes", s.obytes),
            ("rx_missed_errors", s.imissed),
            ("rx_errors", s.ierrors),
            ("tx_errors", s.oerrors),
            ("rx_mbuf_allocation_errors", s.rx_nombuf),
        ]
        .into_iter()
        .map(|(name, value)| XStat {
            name: name.to_owned(),
            value,
        })
        .collect();
        if self.info.queue_xstats {
            let stat = |name: String, value| XStat { name, value };
            for (n, side) in self.rx.iter().take(XSTAT_QUEUES).enumerate() {
                let counts = side.counts();
                all.push(stat(format!("rx_q{n}_packets"), counts.packets));
                all.push(stat(format!("rx_q{n}_bytes"), counts.bytes));
                all.push(stat(format!("rx_q{n}_errors"), counts.errors));
            }
            for (n, side) in self.tx.iter().take(XSTAT_QUEUES).enumerate() {
                let counts = side.counts();
                all.push(stat(format!("tx_q{n}_packets"), counts.packets));
                all.push(stat(format!("tx_q{n}_bytes"), counts.bytes));
            }
        }
        all
    }
}
