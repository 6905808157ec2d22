//! The packet and port configuration that `start` and `show config rxtx` print.

use std::fmt;

use super::fwd_config::FwdMode;

/// Prefetch, host and write-back thresholds of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Thresholds {
    /// Prefetch.
    pub prefetch: u8,
    /// Host.
    pub host: u8,
    /// Write-back.
    pub writeback: u8,
}

/// A queue's configuration: the device's queue info where it offers that, else what testpmd asked for (then `desc` may be 0).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueConf {
    /// Descriptors.
    pub desc: u16,
    /// Free threshold.
    pub free: u16,
    /// The three thresholds.
    pub thresholds: Thresholds,
    /// Offloads of the queue, as bits of the tables in `offloads`.
    pub offloads: u64,
    /// Tx only: the RS bit threshold.
    pub rs: u16,
    /// Rx only: group and queue of a shared rx queue.
    pub share: Option<(u32, u16)>,
}

/// A port's part: only queue 0 is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PortRxTx {
    /// The port's number.
    pub port: u16,
    /// The port's rx offloads.
    pub rx_offloads: u64,
    /// The port's tx offloads.
    pub tx_offloads: u64,
    /// Its first rx queue.
    pub rx: QueueConf,
    /// Its first tx queue.
    pub tx: QueueConf,
}

/// The block. Core and port numbers are the *configured* ones, which may exceed what the layout uses.
#[derive(Debug, Clone, Copy)]
pub struct RxTxConfig<'a> {
    /// The engine.
    pub mode: FwdMode<'a>,
    /// Packets a burst.
    pub burst: u16,
    /// Packet length in bytes and number of segments, for engines that make packets (txonly, flowgen).
    pub made: Option<(u32, usize)>,
    /// `nb-cores`.
    pub cores: usize,
    /// `nb-ports`.
    pub ports: usize,
    /// Rx queues of every port.
    pub rxq: u16,
    /// Tx queues of every port.
    pub txq: u16,
    /// Every existing port, whether it forwards or not.
    pub each: &'a [PortRxTx],
}

impl fmt::Display for RxTxConfig<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  {} packets/burst={}", self.mode, self.burst)?;
        if let Some((length, segments)) = self.made {
            writeln!(f, "  packet len={length} - nb packet segments={segments}")?;
        }
        writeln!(
            f,
            "  nb forwarding cores={} - nb forwarding ports={}",
            self.cores, self.ports
        )?;
        self.each.iter().try_for_each(|port| self.port(f, port))
    }
}

impl RxTxConfig<'_> {
    fn port(&self, f: &mut fmt::Formatter<'_>, port: &PortRxTx) -> fmt::Result {
        let PortRxTx { rx, tx, .. } = port;
        writeln!(
            f,
            "  port {}: RX queue number: {} Tx queue number: {}",
            port.port, self.rxq, self.txq
        )?;
        writeln!(
            f,
            "    Rx offloads=0x{:x} Tx offloads=0x{:x}",
            port.rx_offloads, port.tx_offloads
        )?;
        queue(f, "RX", rx)?;
        write!(f, "      RX Offloads=0x{:x}", rx.offloads)?;
        if let Some((group, queue)) = rx.share {
            write!(f, " share_group={group} share_qid={queue}")?;
        }
        writeln!(f)?;
        queue(f, "TX", tx)?;
        writeln!(
            f,
            "      TX offloads=0x{:x} - TX RS bit threshold={}",
            tx.offloads, tx.rs
        )
    }
}

/// The lines that rx and tx queues share.
fn queue(f: &mut fmt::Formatter<'_>, name: &str, conf: &QueueConf) -> fmt::Result {
    let Thresholds {
        prefetch,
        host,
        writeback,
    } = conf.thresholds;
    writeln!(f, "    {name} queue: 0")?;
    writeln!(
        f,
        "      {name} desc={} - {name} free threshold={}",
        conf.desc, conf.free
    )?;
    writeln!(
        f,
        "      {name} threshold registers: pthresh={prefetch} hthresh={host}  wthresh={writeback}"
    )
}

#[cfg(test)]
#[path = "rxtx_config_tests.rs"]
mod tests;
