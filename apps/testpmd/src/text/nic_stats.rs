//! `show port stats`, `clear port stats` and the screen of `--stats-period`.
//!
//! The app reads a port's counters, asks that port's [`RateState`] for the rates and prints a [`NicStats`].

use std::fmt;
use std::time::Duration;

use super::Run;
use super::xstats::XstatRate;

/// The eight basic counters of a port, absolute since the port was made or last cleared.
///
/// Also the baseline of the forward statistics: a copy taken at `start` (after the rx flush, before a tx_first burst), by
/// `clear fwd stats` and by `clear port stats|xstats`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeviceStats {
    /// Packets received.
    pub ipackets: u64,
    /// Packets sent.
    pub opackets: u64,
    /// Bytes received, without FCS, preamble and gap.
    pub ibytes: u64,
    /// Bytes sent, counted likewise.
    pub obytes: u64,
    /// Packets lost because the rx queues were full.
    pub imissed: u64,
    /// Packets received with an error.
    pub ierrors: u64,
    /// Packets that could not be sent.
    pub oerrors: u64,
    /// Failures to get a buffer for a received packet.
    pub rx_nombuf: u64,
}

impl DeviceStats {
    /// What was counted since `baseline`; `ierrors` alone stays absolute, as testpmd's stop block prints it.
    ///
    /// A counter that went backwards (the device was reset) counts as 0; DPDK would wrap to a number near 2^64.
    pub fn since(&self, baseline: &DeviceStats) -> DeviceStats {
        DeviceStats {
            ipackets: self.ipackets.saturating_sub(baseline.ipackets),
            opackets: self.opackets.saturating_sub(baseline.opackets),
            ibytes: self.ibytes.saturating_sub(baseline.ibytes),
            obytes: self.obytes.saturating_sub(baseline.obytes),
            imissed: self.imissed.saturating_sub(baseline.imissed),
            ierrors: self.ierrors,
            oerrors: self.oerrors.saturating_sub(baseline.oerrors),
            rx_nombuf: self.rx_nombuf.saturating_sub(baseline.rx_nombuf),
        }
    }
}

/// Rates since the last show: packets and bits a second.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rates {
    /// Packets received a second.
    pub rx_pps: u64,
    /// Bits received a second: 8 times the whole bytes a second.
    pub rx_bps: u64,
    /// Packets sent a second.
    pub tx_pps: u64,
    /// Bits sent a second.
    pub tx_bps: u64,
}

/// What the last show of one port saw. One a port, owned by the app; `clear port stats` leaves it alone, so that the show
/// after a clear has rates of 0 for what went backwards.
#[derive(Debug, Clone, Copy, Default)]
pub struct RateState {
    last: Option<Duration>,
    seen: DeviceStats,
}

impl RateState {
    /// The rates between the last call and this one; all 0 on the first. `now` is any monotonic clock's reading.
    pub fn rates(&mut self, now: Duration, stats: &DeviceStats) -> Rates {
        let elapsed = self
            .last
            .map_or(Duration::ZERO, |last| now.saturating_sub(last));
        let moved = stats.since(&self.seen);
        self.last = Some(now);
        self.seen = *stats;
        Rates {
            rx_pps: a_second(moved.ipackets, elapsed),
            rx_bps: a_second(moved.ibytes, elapsed).saturating_mul(8),
            tx_pps: a_second(moved.opackets, elapsed),
            tx_bps: a_second(moved.obytes, elapsed).saturating_mul(8),
        }
    }
}

/// `count` in `elapsed`, as whole units a second; 0 when no time has passed.
pub(super) fn a_second(count: u64, elapsed: Duration) -> u64 {
    const NANOS: u128 = 1_000_000_000;
    match elapsed.as_nanos() {
        0 => 0,
        nanos => u64::try_from(u128::from(count) * NANOS / nanos).unwrap_or(u64::MAX),
    }
}

/// The block of `show port stats`, beginning with an empty line.
#[derive(Debug, Clone, Copy)]
pub struct NicStats<'a> {
    /// The port's number.
    pub port: u16,
    /// Its counters now, absolute.
    pub stats: DeviceStats,
    /// From the port's [`RateState`].
    pub rates: Rates,
    /// The counters that `--display-xstats` named, of those this port has; none without that option.
    pub xstats: &'a [XstatRate<'a>],
}

impl fmt::Display for NicStats<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (border, s, r) = (Run('#', 24), &self.stats, &self.rates);
        writeln!(
            f,
            "\n  {border} NIC statistics for port {:<2} {border}",
            self.port
        )?;
        writeln!(
            f,
            "  RX-packets: {:<10} RX-missed: {:<10} RX-bytes:  {}",
            s.ipackets, s.imissed, s.ibytes
        )?;
        writeln!(f, "  RX-errors: {}", s.ierrors)?;
        writeln!(f, "  RX-nombuf:  {:<10}", s.rx_nombuf)?;
        writeln!(
            f,
            "  TX-packets: {:<10} TX-errors: {:<10} TX-bytes:  {}",
            s.opackets, s.oerrors, s.obytes
        )?;
        writeln!(f, "\n  Throughput (since last show)")?;
        writeln!(
            f,
            "  Rx-pps: {:>12}          Rx-bps: {:>12}",
            r.rx_pps, r.rx_bps
        )?;
        writeln!(
            f,
            "  Tx-pps: {:>12}          Tx-bps: {:>12}",
            r.tx_pps, r.tx_bps
        )?;
        if !self.xstats.is_empty() {
            writeln!(f, "\n{:31}{:<17}Rate (since last show)", " ", "Value")?;
            for row in self.xstats {
                writeln!(f, "  {:<25}{:>12} {:>15}", row.name, row.value, row.rate)?;
            }
        }
        writeln!(f, "  {}", Run('#', 76))
    }
}

/// What `clear port stats` answers; `clear port xstats` answers nothing.
#[derive(Debug, Clone, Copy)]
pub struct StatsCleared(
    /// The port's number.
    pub u16,
);

impl fmt::Display for StatsCleared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "\n  NIC statistics for port {} cleared", self.0)
    }
}

/// What each turn of the `--stats-period` loop writes in front of the forwarding ports' [`NicStats`]: clear the terminal, home
/// the cursor, title.
pub const SCREEN_HEAD: &str =
    "\x1b[2J\x1b[1;1H\nPort statistics ====================================";

#[cfg(test)]
#[path = "nic_stats_tests.rs"]
mod tests;
