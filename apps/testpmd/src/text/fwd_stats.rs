//! Forward statistics: what `stop`, `show fwd stats all` and the exit path print, and the formulas behind it.
//!
//! [`fwd_report`] turns counters into rows, [`FwdReport`] prints them. `stop` writes [`Lifecycle::Stopping`] in front and
//! [`Lifecycle::Stopped`] behind.
//!
//! [`Lifecycle::Stopping`]: super::Lifecycle::Stopping
//! [`Lifecycle::Stopped`]: super::Lifecycle::Stopped

use std::fmt;

use super::Run;
use super::bursts::{BurstLine, BurstSpread, CyclesLine, Direction};
use super::nic_stats::DeviceStats;

/// Packets that came in with a wrong checksum, counted by the csum engine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BadChecksums {
    /// IPv4 header.
    pub ip: u64,
    /// TCP, UDP or SCTP.
    pub l4: u64,
    /// The same, of the outer packet of a tunnel.
    pub outer_l4: u64,
    /// The outer IPv4 header.
    pub outer_ip: u64,
}

/// The software counters of one stream since `start` or `clear fwd stats`.
#[derive(Debug, Clone, Copy, Default)]
pub struct StreamCounters<'a> {
    /// Port and queue polled.
    pub rx: (u16, u16),
    /// Port and queue sent to.
    pub tx: (u16, u16),
    /// Packets the stream received.
    pub rx_packets: u64,
    /// Packets the stream sent.
    pub tx_packets: u64,
    /// Packets the stream could not send and freed.
    pub fwd_dropped: u64,
    /// From the csum engine.
    pub bad: BadChecksums,
    /// Cycles of visits that moved something; 0 unless recording.
    pub busy_cycles: u64,
    /// Received and sent bursts, while `record-burst-stats` is on.
    pub bursts: Option<(&'a BurstSpread, &'a BurstSpread)>,
}

/// The counters of one forwarding port.
#[derive(Debug, Clone, Copy, Default)]
pub struct PortCounters {
    /// The port's number.
    pub port: u16,
    /// The device's counters now, absolute.
    pub now: DeviceStats,
    /// Their copy at `start` (after the rx flush, before tx_first), `clear fwd stats` or `clear port stats|xstats`.
    pub baseline: DeviceStats,
}

/// All that the report is made of.
#[derive(Debug, Clone, Copy)]
pub struct FwdInput<'a> {
    /// The engine's name.
    pub mode: &'a str,
    /// The streams, in the order of the layout.
    pub streams: &'a [StreamCounters<'a>],
    /// The forwarding ports, in the order of the port list.
    pub ports: &'a [PortCounters],
    /// The cycle counter's frequency in Hz, while `record-core-cycles` is on.
    pub cycles_hz: Option<u64>,
}

/// A stream's block.
#[derive(Debug, Clone, Copy)]
pub struct StreamFwd<'a> {
    /// Its counters.
    pub counters: StreamCounters<'a>,
    /// The csum engine runs, so the bad checksums are printed.
    pub csum: bool,
}

/// A port's block.
#[derive(Debug, Clone, Copy)]
pub struct PortFwd<'a> {
    /// The port's number.
    pub port: u16,
    /// The device's counters less the baseline (`ierrors` absolute).
    pub stats: DeviceStats,
    /// fwd_dropped of the streams that send to this port, and the device's oerrors less the baseline.
    pub tx_dropped: u64,
    /// Summed over the streams that receive from this port; printed in csum mode alone.
    pub bad: Option<BadChecksums>,
    /// Bursts of the stream that receives from this port, when every port has one stream.
    pub rx_bursts: Option<&'a BurstSpread>,
    /// Bursts of the stream that sends to this port, likewise.
    pub tx_bursts: Option<&'a BurstSpread>,
}

/// The block of all ports: sums of the ports' rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accumulated {
    /// Packets received.
    pub rx: u64,
    /// Packets missed.
    pub rx_dropped: u64,
    /// Packets sent.
    pub tx: u64,
    /// Packets dropped while sending.
    pub tx_dropped: u64,
    /// Failures to get a buffer.
    pub rx_nombuf: u64,
}

/// The whole report, from the first stream's block to the cycles line.
#[derive(Debug, Clone)]
pub struct FwdReport<'a> {
    /// Streams that counted anything, when there are more streams than ports.
    pub streams: Vec<StreamFwd<'a>>,
    /// The forwarding ports.
    pub ports: Vec<PortFwd<'a>>,
    /// Their sums.
    pub total: Accumulated,
    /// When cycles are recorded and something moved.
    pub cycles: Option<CyclesLine<'a>>,
}

/// Applies the formulas of testpmd's forward statistics.
pub fn fwd_report<'a>(input: &FwdInput<'a>) -> FwdReport<'a> {
    let many = input.streams.len() > input.ports.len();
    let ports: Vec<_> = input
        .ports
        .iter()
        .map(|port| port_row(input, port, many))
        .collect();
    let total = ports
        .iter()
        .fold(Accumulated::default(), |sum, port| sum.plus(port));
    FwdReport {
        streams: stream_rows(input, many),
        total,
        cycles: cycles_line(input, &total),
        ports,
    }
}

fn stream_rows<'a>(input: &FwdInput<'a>, many: bool) -> Vec<StreamFwd<'a>> {
    let counted =
        |s: &&StreamCounters<'_>| many && (s.rx_packets | s.tx_packets | s.fwd_dropped) != 0;
    let csum = input.mode == "csum";
    input
        .streams
        .iter()
        .filter(counted)
        .map(|&counters| StreamFwd { counters, csum })
        .collect()
}

fn port_row<'a>(input: &FwdInput<'a>, port: &PortCounters, many: bool) -> PortFwd<'a> {
    let stats = port.now.since(&port.baseline);
    let receiving = || input.streams.iter().filter(|s| s.rx.0 == port.port);
    let sending = || input.streams.iter().filter(|s| s.tx.0 == port.port);
    // When two streams share a port although there is one a port (chained, say), the later one is shown.
    let (rx_bursts, tx_bursts) = match many {
        true => (None, None),
        false => (
            receiving().next_back().and_then(|s| s.bursts),
            sending().next_back().and_then(|s| s.bursts),
        ),
    };
    PortFwd {
        port: port.port,
        stats,
        tx_dropped: sending().map(|s| s.fwd_dropped).sum::<u64>() + stats.oerrors,
        bad: (input.mode == "csum")
            .then(|| receiving().fold(BadChecksums::default(), |sum, s| sum.plus(&s.bad))),
        rx_bursts: rx_bursts.map(|(rx, _)| rx),
        tx_bursts: tx_bursts.map(|(_, tx)| tx),
    }
}

fn cycles_line<'a>(input: &FwdInput<'a>, total: &Accumulated) -> Option<CyclesLine<'a>> {
    let hz = input.cycles_hz.filter(|_| total.rx > 0 || total.tx > 0)?;
    let packets = if matches!(input.mode, "txonly" | "flowgen") {
        total.tx
    } else {
        total.rx
    };
    let busy_cycles = input.streams.iter().map(|s| s.busy_cycles).sum();
    Some(CyclesLine {
        busy_cycles,
        packets,
        mode: input.mode,
        hz,
    })
}

impl BadChecksums {
    fn plus(self, other: &BadChecksums) -> BadChecksums {
        BadChecksums {
            ip: self.ip + other.ip,
            l4: self.l4 + other.l4,
            outer_l4: self.outer_l4 + other.outer_l4,
            outer_ip: self.outer_ip + other.outer_ip,
        }
    }
}

impl Accumulated {
    fn plus(self, port: &PortFwd<'_>) -> Accumulated {
        Accumulated {
            rx: self.rx + port.stats.ipackets,
            rx_dropped: self.rx_dropped + port.stats.imissed,
            tx: self.tx + port.stats.opackets,
            tx_dropped: self.tx_dropped + port.tx_dropped,
            rx_nombuf: self.rx_nombuf + port.stats.rx_nombuf,
        }
    }
}

/// The two lines that ports and the sum share: packets, dropped, and the total glued to the padding.
fn side(f: &mut fmt::Formatter<'_>, name: &str, packets: u64, dropped: u64) -> fmt::Result {
    let total = packets + dropped;
    writeln!(
        f,
        "  {name}-packets: {packets:<14} {name}-dropped: {dropped:<14}{name}-total: {total}"
    )
}

fn bursts(
    f: &mut fmt::Formatter<'_>,
    rx: Option<&BurstSpread>,
    tx: Option<&BurstSpread>,
) -> fmt::Result {
    for (direction, spread) in [(Direction::Rx, rx), (Direction::Tx, tx)] {
        if let Some(spread) = spread {
            write!(f, "{}", BurstLine { direction, spread })?;
        }
    }
    Ok(())
}

impl fmt::Display for StreamFwd<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (s, border) = (&self.counters, Run('-', 7));
        let ((rx, rxq), (tx, txq)) = (s.rx, s.tx);
        write!(
            f,
            "\n  {border} Forward Stats for RX Port={rx:>2}/Queue={rxq:>2} -> "
        )?;
        writeln!(f, "TX Port={tx:>2}/Queue={txq:>2} {border}")?;
        write!(
            f,
            "  RX-packets: {:<14} TX-packets: {:<14}",
            s.rx_packets, s.tx_packets
        )?;
        write!(f, " TX-dropped: {:<14}", s.fwd_dropped)?;
        if self.csum {
            write!(
                f,
                "  RX- bad IP checksum: {:<14}  Rx- bad L4 checksum: {:<14}",
                s.bad.ip, s.bad.l4
            )?;
            writeln!(f, " Rx- bad outer L4 checksum: {:<14}", s.bad.outer_l4)?;
            write!(f, " RX- bad outer IP checksum: {:<14}", s.bad.outer_ip)?;
        }
        writeln!(f)?;
        bursts(f, s.bursts.map(|(rx, _)| rx), s.bursts.map(|(_, tx)| tx))
    }
}

impl fmt::Display for PortFwd<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (s, border) = (&self.stats, Run('-', 22));
        writeln!(
            f,
            "\n  {border} Forward statistics for port {:<2} {border}",
            self.port
        )?;
        side(f, "RX", s.ipackets, s.imissed)?;
        if let Some(bad) = &self.bad {
            write!(f, "  Bad-ipcsum: {:<14} Bad-l4csum: {:<14}", bad.ip, bad.l4)?;
            writeln!(f, "Bad-outer-l4csum: {:<14}", bad.outer_l4)?;
            writeln!(f, "  Bad-outer-ipcsum: {:<14}", bad.outer_ip)?;
        }
        if s.ierrors > 0 || s.rx_nombuf > 0 {
            writeln!(f, "  RX-error: {}", s.ierrors)?;
            writeln!(f, "  RX-nombufs: {:<14}", s.rx_nombuf)?;
        }
        side(f, "TX", s.opackets, self.tx_dropped)?;
        bursts(f, self.rx_bursts, self.tx_bursts)?;
        writeln!(f, "  {}", Run('-', 76))
    }
}

impl fmt::Display for Accumulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let border = Run('+', 15);
        writeln!(
            f,
            "\n  {border} Accumulated forward statistics for all ports{border}"
        )?;
        side(f, "RX", self.rx, self.rx_dropped)?;
        side(f, "TX", self.tx, self.tx_dropped)?;
        if self.rx_nombuf > 0 {
            writeln!(f, "  RX-nombufs: {:<14}", self.rx_nombuf)?;
        }
        writeln!(f, "  {}", Run('+', 76))
    }
}

impl fmt::Display for FwdReport<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.streams.iter().try_for_each(|stream| stream.fmt(f))?;
        self.ports.iter().try_for_each(|port| port.fmt(f))?;
        self.total.fmt(f)?;
        self.cycles.iter().try_for_each(|line| line.fmt(f))
    }
}

#[cfg(test)]
#[path = "fwd_stats_tests.rs"]
mod tests;
