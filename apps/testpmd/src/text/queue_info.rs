//! `show rxq|txq info`, and a port's lists: addresses and packet types.

use std::fmt;

use mpps_wire::MacAddr;

use super::rxtx_config::Thresholds;
use super::{Run, on_off};

/// What a queue is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueueState {
    /// Not polled.
    Stopped,
    /// In use.
    Started,
    /// Tied to another queue in hardware.
    Hairpin,
}

impl fmt::Display for QueueState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            QueueState::Stopped => "stopped",
            QueueState::Started => "started",
            QueueState::Hairpin => "hairpin",
        })
    }
}

/// Which burst function serves a queue, where the port tells.
#[derive(Debug, Clone, Copy)]
pub struct BurstMode<'a> {
    /// `Vector AVX2`, `Scalar` and the like.
    pub text: &'a str,
    /// Queues of this port may differ.
    pub per_queue: bool,
}

fn burst_mode(f: &mut fmt::Formatter<'_>, mode: Option<BurstMode<'_>>) -> fmt::Result {
    let Some(BurstMode { text, per_queue }) = mode else {
        return writeln!(f);
    };
    writeln!(
        f,
        "\nBurst mode: {text}{}",
        if per_queue { " (per queue)" } else { "" }
    )
}

fn header(f: &mut fmt::Formatter<'_>, port: u16, side: &str, queue: u16) -> fmt::Result {
    let border = Run('*', 21);
    write!(
        f,
        "\n{border} Infos for port {port:<2}, {side} queue {queue:<2} {border}"
    )
}

fn thresholds(f: &mut fmt::Formatter<'_>, side: &str, values: Thresholds) -> fmt::Result {
    let Thresholds {
        prefetch,
        host,
        writeback,
    } = values;
    write!(
        f,
        "\n{side} prefetch threshold: {prefetch}\n{side} host threshold: {host}"
    )?;
    write!(f, "\n{side} writeback threshold: {writeback}")
}

/// The block of `show rxq info`, beginning with an empty line.
#[derive(Debug, Clone, Copy)]
pub struct RxQueueInfo<'a> {
    /// The port's number.
    pub port: u16,
    /// The queue's number.
    pub queue: u16,
    /// The pool's name; `NULL` is printed without one.
    pub pool: Option<&'a str>,
    /// The three thresholds.
    pub thresholds: Thresholds,
    /// Free threshold.
    pub free: u16,
    /// Packets are dropped when no descriptor is free.
    pub drop: bool,
    /// Started apart from the port.
    pub deferred: bool,
    /// Packets may take several buffers.
    pub scattered: bool,
    /// What the queue is doing.
    pub state: QueueState,
    /// Bytes of a buffer, 0 for no line.
    pub buffer: u16,
    /// Descriptors.
    pub desc: u16,
    /// The burst function.
    pub burst_mode: Option<BurstMode<'a>>,
}

impl fmt::Display for RxQueueInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        header(f, self.port, "RX", self.queue)?;
        write!(f, "\nMempool: {}", self.pool.unwrap_or("NULL"))?;
        thresholds(f, "RX", self.thresholds)?;
        write!(f, "\nRX free threshold: {}", self.free)?;
        write!(f, "\nRX drop packets: {}", on_off(self.drop))?;
        write!(f, "\nRX deferred start: {}", on_off(self.deferred))?;
        write!(f, "\nRX scattered packets: {}", on_off(self.scattered))?;
        write!(f, "\nRx queue state: {}", self.state)?;
        if self.buffer > 0 {
            write!(f, "\nRX buffer size: {}", self.buffer)?;
        }
        write!(f, "\nNumber of RXDs: {}", self.desc)?;
        burst_mode(f, self.burst_mode)
    }
}

/// The block of `show txq info`, beginning with an empty line.
#[derive(Debug, Clone, Copy)]
pub struct TxQueueInfo<'a> {
    /// The port's number.
    pub port: u16,
    /// The queue's number.
    pub queue: u16,
    /// The three thresholds.
    pub thresholds: Thresholds,
    /// RS threshold.
    pub rs: u16,
    /// Free threshold.
    pub free: u16,
    /// Started apart from the port.
    pub deferred: bool,
    /// Descriptors.
    pub desc: u16,
    /// What the queue is doing.
    pub state: QueueState,
    /// The burst function.
    pub burst_mode: Option<BurstMode<'a>>,
}

impl fmt::Display for TxQueueInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        header(f, self.port, "TX", self.queue)?;
        thresholds(f, "TX", self.thresholds)?;
        write!(
            f,
            "\nTX RS threshold: {}\nTX free threshold: {}",
            self.rs, self.free
        )?;
        write!(f, "\nTX deferred start: {}", on_off(self.deferred))?;
        write!(
            f,
            "\nNumber of TXDs: {}\nTx queue state: {}",
            self.desc, self.state
        )?;
        burst_mode(f, self.burst_mode)
    }
}

/// What `show rxq|txq info` says of a queue that can't tell; two lines on standard error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "Failed to retrieve information for port: {port}, {side} queue: {queue}\nerror desc: {reason}({code})"
)]
pub struct QueueInfoFailure {
    /// The port's number.
    pub port: u16,
    /// `RX` or `TX`.
    pub side: &'static str,
    /// The queue's number.
    pub queue: u16,
    /// `Operation not supported`, `Invalid argument`.
    pub reason: &'static str,
    /// The negative error number, -95 or -22.
    pub code: i32,
}

/// `show port {p} macs`: the port's own address and those added.
#[derive(Debug, Clone, Copy)]
pub struct MacList<'a>(
    /// The addresses.
    pub &'a [MacAddr],
);

/// `show port {p} mcast_macs`.
#[derive(Debug, Clone, Copy)]
pub struct McastList<'a>(
    /// The addresses.
    pub &'a [MacAddr],
);

fn mac_list(f: &mut fmt::Formatter<'_>, what: &str, list: &[MacAddr]) -> fmt::Result {
    writeln!(f, "Number of {what} address added: {}", list.len())?;
    list.iter().try_for_each(|mac| writeln!(f, "  {mac}"))
}

impl fmt::Display for MacList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        mac_list(f, "MAC", self.0)
    }
}

impl fmt::Display for McastList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        mac_list(f, "Multicast MAC", self.0)
    }
}

/// A layer of `show port {p} ptypes`; layers in order: L2, L3, L4, Tunnel, Inner L2, Inner L3, Inner L4.
#[derive(Debug, Clone, Copy)]
pub struct PtypeRow<'a> {
    /// The layer's name.
    pub layer: &'a str,
    /// The types that the port tells apart; DPDK puts a blank behind each.
    pub types: &'a [&'a str],
}

impl fmt::Display for PtypeRow<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.types.is_empty() {
            return writeln!(f, "{} ptypes unsupported", self.layer);
        }
        writeln!(f, "Supported {} ptypes:", self.layer)?;
        self.types
            .iter()
            .try_for_each(|name| writeln!(f, "{name} "))
    }
}

#[cfg(test)]
#[path = "queue_info_tests.rs"]
mod tests;
