//! Counters of queues and ports.
//!
//! A queue's owner is the only writer of its [`QueueStats`]; the control thread reads them at any time. Clearing moves a
//! baseline on the reader's side ([`crate::Port`]), so a counter never goes backwards.

use mpps_ring::Counter;

/// Counters of one queue in one direction, on cache lines of their own.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct QueueStats {
    /// Packets received or sent.
    pub packets: Counter,
    /// Their bytes, without FCS.
    pub bytes: Counter,
    /// Packets that could not be received or sent because of an error.
    pub errors: Counter,
    /// Packets that were lost before they reached the queue.
    pub missed: Counter,
    /// Packets that were not received for want of an mbuf.
    pub no_mbuf: Counter,
}

impl QueueStats {
    /// Counts packets and bytes.
    #[inline(always)]
    pub fn count(&self, packets: u64, bytes: u64) {
        self.packets.add(packets);
        self.bytes.add(bytes);
    }

    /// The counters as they stand.
    pub fn read(&self) -> QueueCounts {
        QueueCounts {
            packets: self.packets.get(),
            bytes: self.bytes.get(),
            errors: self.errors.get(),
            missed: self.missed.get(),
            no_mbuf: self.no_mbuf.get(),
        }
    }
}

/// Values of [`QueueStats`] at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// See [`QueueStats::packets`].
    pub packets: u64,
    /// See [`QueueStats::bytes`].
    pub bytes: u64,
    /// See [`QueueStats::errors`].
    pub errors: u64,
    /// See [`QueueStats::missed`].
    pub missed: u64,
    /// See [`QueueStats::no_mbuf`].
    pub no_mbuf: u64,
}

impl QueueCounts {
    /// What was counted since `baseline`.
    #[must_use]
    pub fn since(self, baseline: Self) -> Self {
        Self {
            packets: self.packets.saturating_sub(baseline.packets),
            bytes: self.bytes.saturating_sub(baseline.bytes),
            errors: self.errors.saturating_sub(baseline.errors),
            missed: self.missed.saturating_sub(baseline.missed),
            no_mbuf: self.no_mbuf.saturating_sub(baseline.no_mbuf),
        }
    }
}

/// A port's counters, 64 bits each, since they were last cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortStats {
    /// Packets received.
    pub ipackets: u64,
    /// Packets sent.
    pub opackets: u64,
    /// Bytes received.
    pub ibytes: u64,
    /// Bytes sent.
    pub obytes: u64,
    /// Packets lost before a queue.
    pub imissed: u64,
    /// Packets received with errors.
    pub ierrors: u64,
    /// Packets that failed to be sent.
    pub oerrors: u64,
    /// Packets lost for want of an mbuf.
    pub rx_nombuf: u64,
}

/// One extended statistic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XStat {
    /// Its name, at most 63 characters.
    pub name: String,
    /// Its value since it was last cleared.
    pub value: u64,
}

#[cfg(test)]
mod tests;
