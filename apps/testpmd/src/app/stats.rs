//! Counters and configuration as blocks of text.

use crate::text::{
    BadChecksums, BurstSpread, FwdInput, NicStats, PortCounters, PortRxTx, QueueConf, Refusal,
    Reply, RxTxConfig, Side, StatsCleared, StreamCounters, Thresholds, Xstat, XstatRate, Xstats,
    fwd_report,
};

use super::forwarding::StreamView;
use super::{App, PortSlot};

impl App {
    /// `show port stats`, and each port of `--stats-period`.
    pub fn show_port_stats(&mut self, id: u16) {
        let shown = self.args.run.display_xstats.clone();
        let Some(slot) = self.ports.get_mut(usize::from(id)).and_then(Option::as_mut) else {
            return;
        };
        let (stats, now) = (slot.stats(), slot.uptime());
        let rates = slot.rates.rates(now, &stats);
        let all = if shown.is_empty() || !slot.dev.xstats_ready() {
            Vec::new()
        } else {
            slot.dev.xstats()
        };
        let counters: Vec<Xstat<'_>> = all
            .iter()
            .map(|stat| Xstat {
                name: &stat.name,
                value: stat.value,
                enabled: None,
            })
            .collect();
        let xstats: Vec<XstatRate<'_>> = slot.xstat_rates.rows(now, &shown, &counters);
        let block = NicStats {
            port: id,
            stats,
            rates,
            xstats: &xstats,
        }
        .to_string();
        self.out.block(block);
    }

    /// `show port xstats`.
    pub fn show_port_xstats(&mut self, id: u16) {
        let Some(slot) = self.port(id) else { return };
        let ready = slot.dev.xstats_ready();
        let all = if ready { slot.dev.xstats() } else { Vec::new() };
        let counters: Vec<Xstat<'_>> = all
            .iter()
            .map(|stat| Xstat {
                name: &stat.name,
                value: stat.value,
                enabled: None,
            })
            .collect();
        let block = Xstats {
            port: id,
            counters: ready.then_some(&counters),
            options: self.xstats,
        }
        .to_string();
        self.out.block(block);
        if !ready {
            self.out.complain(Refusal::NoXstats);
        }
    }

    /// `clear port stats`; `xstats` says nothing on success.
    pub fn clear_port_stats(&mut self, id: u16, quiet: bool) {
        let Some(slot) = self.port_mut(id) else {
            return;
        };
        slot.dev.clear_stats();
        slot.baseline = slot.stats();
        if !quiet {
            self.out.block(StatsCleared(id));
        }
    }

    /// `clear fwd stats all`.
    pub fn clear_fwd_stats(&mut self) {
        for slot in self.ports.iter_mut().flatten() {
            slot.baseline = slot.stats();
        }
        for view in &mut self.forwarding.streams {
            view.clear();
        }
    }

    /// The block of `stop` and `show fwd stats all`.
    pub fn show_fwd_stats(&mut self) {
        let spreads: Vec<Option<(BurstSpread, BurstSpread)>> = self
            .forwarding
            .streams
            .iter()
            .map(StreamView::spreads)
            .collect();
        let streams: Vec<StreamCounters<'_>> = self
            .forwarding
            .streams
            .iter()
            .zip(&spreads)
            .map(|(view, spread)| view.counters(spread.as_ref()))
            .collect();
        let ports: Vec<PortCounters> = self
            .forwarding
            .active_ports()
            .iter()
            .filter_map(|id| self.port(*id))
            .map(|slot| PortCounters {
                port: slot.id,
                now: slot.stats(),
                baseline: slot.baseline,
            })
            .collect();
        let input = FwdInput {
            mode: self.forwarding.engine.name,
            streams: &streams,
            ports: &ports,
            cycles_hz: self.forwarding.record_cycles.then(|| self.clock.hz()),
        };
        let block = fwd_report(&input).to_string();
        self.out.block(block);
    }

    /// What flowgen says as it starts.
    pub(super) fn show_flows(&mut self) {
        if self.forwarding.engine.name != "flowgen" {
            return;
        }
        for id in self.forwarding.active_ports().to_vec() {
            self.out.line(Reply::Flows(id, self.engines.flowgen.flows));
        }
    }

    /// `show config rxtx`, and a part of `start`.
    pub fn show_config_rxtx(&mut self) {
        let lengths = &self.engines.txonly.lengths;
        let makes = matches!(self.forwarding.engine.name, "txonly" | "flowgen");
        let each: Vec<PortRxTx> = self
            .ports
            .iter()
            .flatten()
            .map(|slot| self.rxtx(slot))
            .collect();
        let block = RxTxConfig {
            mode: self.mode(self.forwarding.engine),
            burst: self.forwarding.burst,
            made: makes.then(|| {
                (
                    lengths.iter().map(|len| u32::from(*len)).sum(),
                    lengths.len(),
                )
            }),
            cores: self.forwarding.nb_cores,
            ports: self.forwarding.nb_ports,
            rxq: self.forwarding.rxq,
            txq: self.forwarding.txq,
            each: &each,
        }
        .to_string();
        self.out.block(block);
    }

    fn rxtx(&self, slot: &PortSlot) -> PortRxTx {
        let queues = &self.args.queues;
        // The first queue stands for all, as in DPDK.
        let (rx, tx) = (
            slot.wishes.queue(Side::Rx, 0),
            slot.wishes.queue(Side::Tx, 0),
        );
        // What the rings really are, where the port tells.
        let told_rx = slot.dev.rx_queue_info(0).map(|info| info.descriptors);
        let told_tx = slot.dev.tx_queue_info(0).map(|info| info.descriptors);
        let registers =
            |prefetch: Option<u8>, host: Option<u8>, writeback: Option<u8>| Thresholds {
                prefetch: prefetch.unwrap_or(0),
                host: host.unwrap_or(0),
                writeback: writeback.unwrap_or(0),
            };
        PortRxTx {
            port: slot.id,
            rx_offloads: slot.rx_offloads,
            tx_offloads: slot.tx_offloads,
            rx: QueueConf {
                desc: told_rx.or(rx.size).or(self.forwarding.rxd).unwrap_or(0),
                free: queues.rxfreet.unwrap_or(0),
                thresholds: registers(queues.rxpt, queues.rxht, queues.rxwt),
                offloads: slot.rx_offloads | rx.offloads,
                rs: 0,
                share: None,
            },
            tx: QueueConf {
                desc: told_tx.or(tx.size).or(self.forwarding.txd).unwrap_or(0),
                free: queues.txfreet.unwrap_or(0),
                thresholds: registers(queues.txpt, queues.txht, queues.txwt),
                offloads: slot.tx_offloads | tx.offloads,
                rs: queues.txrst.unwrap_or(0),
                share: None,
            },
        }
    }
}

impl StreamView {
    fn counters<'a>(&self, spread: Option<&'a (BurstSpread, BurstSpread)>) -> StreamCounters<'a> {
        let (s, zero) = (&self.stats, &self.zero);
        StreamCounters {
            rx: self.ends.rx,
            tx: self.ends.tx,
            rx_packets: s.rx_packets.get() - zero.rx_packets,
            tx_packets: s.tx_packets.get() - zero.tx_packets,
            fwd_dropped: s.dropped.get() - zero.dropped,
            bad: BadChecksums {
                ip: s.bad_ip_checksum.get() - zero.bad.ip,
                l4: s.bad_l4_checksum.get() - zero.bad.l4,
                outer_l4: s.bad_outer_l4_checksum.get() - zero.bad.outer_l4,
                outer_ip: s.bad_outer_ip_checksum.get() - zero.bad.outer_ip,
            },
            busy_cycles: s.busy_cycles.get() - zero.busy_cycles,
            bursts: spread.map(|(rx, tx)| (rx, tx)),
        }
    }

    /// Takes what the counters say now for zero.
    fn clear(&mut self) {
        let s = &self.stats;
        self.zero = super::forwarding::StreamZero {
            rx_packets: s.rx_packets.get(),
            tx_packets: s.tx_packets.get(),
            dropped: s.dropped.get(),
            bad: BadChecksums {
                ip: s.bad_ip_checksum.get(),
                l4: s.bad_l4_checksum.get(),
                outer_l4: s.bad_outer_l4_checksum.get(),
                outer_ip: s.bad_outer_ip_checksum.get(),
            },
            busy_cycles: s.busy_cycles.get(),
            bursts: self.spreads_since_start(),
        };
    }

    fn spreads_since_start(&self) -> Option<(BurstSpread, BurstSpread)> {
        let read = |counters: &[mpps_ring::Counter]| {
            BurstSpread(counters.iter().map(|count| count.get()).collect())
        };
        self.histogram
            .as_ref()
            .map(|histogram| (read(&histogram.rx), read(&histogram.tx)))
    }

    fn spreads(&self) -> Option<(BurstSpread, BurstSpread)> {
        let (mut rx, mut tx) = self.spreads_since_start()?;
        if let Some((zero_rx, zero_tx)) = &self.zero.bursts {
            rx.0.iter_mut()
                .zip(&zero_rx.0)
                .for_each(|(now, zero)| *now -= zero);
            tx.0.iter_mut()
                .zip(&zero_tx.0)
                .for_each(|(now, zero)| *now -= zero);
        }
        Some((rx, tx))
    }
}
