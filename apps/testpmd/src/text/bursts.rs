//! What `set record-burst-stats` and `set record-core-cycles` add to the forward statistics.
//!
//! A stream's worker counts; the app copies the histogram into a [`BurstSpread`] when it reports.

use std::fmt;

/// Bursts by size: entry `n` counts the visits that moved `n` packets, empty ones included. At most 513 entries (0 to 512).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BurstSpread(
    /// The counts by size.
    pub Vec<u64>,
);

/// Whose bursts a line shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Received.
    Rx,
    /// Sent.
    Tx,
}

/// `  RX-bursts : n [a% of 0 pkts + ...]`, or nothing when no burst was counted.
#[derive(Debug, Clone, Copy)]
pub struct BurstLine<'a> {
    /// Whose bursts.
    pub direction: Direction,
    /// The histogram.
    pub spread: &'a BurstSpread,
}

/// A size and how often it occurred.
type Bucket = (usize, u64);

impl BurstSpread {
    /// Size 0 first, then the two most frequent others; of equally frequent sizes the smaller comes first.
    fn buckets(&self) -> [Bucket; 3] {
        let mut best: [Bucket; 2] = [(0, 0); 2];
        for (size, &count) in self.0.iter().enumerate().skip(1) {
            if count > best[0].1 {
                best = [(size, count), best[0]];
            } else if count > best[1].1 {
                best[1] = (size, count);
            }
        }
        [(0, self.0.first().copied().unwrap_or(0)), best[0], best[1]]
    }
}

impl fmt::Display for BurstLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total: u64 = self.spread.0.iter().sum();
        if total == 0 {
            return Ok(());
        }
        let name = match self.direction {
            Direction::Rx => "RX",
            Direction::Tx => "TX",
        };
        write!(f, "  {name}-bursts : {total} [")?;
        let (mut counted, mut percents) = (0, 0);
        for (size, count) in self.spread.buckets() {
            counted += count;
            if counted == total {
                return writeln!(f, "{}% of {size} pkts]", 100 - percents);
            }
            let percent = percent(count, total);
            write!(f, "{percent}% of {size} pkts + ")?;
            percents += percent;
        }
        writeln!(f, "{}% of other]", 100 - percents)
    }
}

/// `count` in whole percent of `total`, rounded down.
fn percent(count: u64, total: u64) -> u64 {
    // At most 100, so the narrowing can't lose anything.
    u64::try_from(u128::from(count) * 100 / u128::from(total)).unwrap_or(100)
}

/// The line behind the accumulated block. The app makes one only when something was received or sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CyclesLine<'a> {
    /// Sum over the streams of the clock's cycles in visits that moved something.
    pub busy_cycles: u64,
    /// Accumulated TX packets in modes that only send (txonly, flowgen), else accumulated RX packets.
    pub packets: u64,
    /// The engine's name.
    pub mode: &'a str,
    /// The cycle counter's frequency, in Hz.
    pub hz: u64,
}

impl fmt::Display for CyclesLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\n  CPU cycles/packet=")?;
        match (self.busy_cycles, self.packets) {
            // C's `%.2F` of x/0 and, on x86, of 0/0, whose sign bit is set.
            (0, 0) => write!(f, "-NAN")?,
            (_, 0) => write!(f, "INF")?,
            (cycles, packets) => write!(f, "{:.2}", as_float(cycles) / as_float(packets))?,
        }
        let mhz = self.hz / 1_000_000;
        let CyclesLine {
            busy_cycles,
            packets,
            mode,
            ..
        } = self;
        writeln!(
            f,
            " (busy cycles={busy_cycles} / total {mode} packets={packets}) at {mhz} MHz Clock"
        )
    }
}

/// Both sides are divided as doubles, as testpmd does: 53 bits are plenty for two decimals.
#[expect(
    clippy::cast_precision_loss,
    reason = "the quotient is printed with two decimals"
)]
fn as_float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
#[path = "bursts_tests.rs"]
mod tests;
