//! Offload and device capability bits: numbers, names, and the commands that list them.
//!
//! The numbers show in hexadecimal (`Rx offloads=0x0 Tx offloads=0x10000`), so scripts see them; they are those of
//! `rte_ethdev.h` 26.11. Commands, completion and help derive from these tables.

use std::fmt;

/// Rx offloads by bit.
pub const RX_OFFLOADS: &[(u32, &str)] = &[
    (0, "VLAN_STRIP"),
    (1, "IPV4_CKSUM"),
    (2, "UDP_CKSUM"),
    (3, "TCP_CKSUM"),
    (4, "TCP_LRO"),
    (5, "QINQ_STRIP"),
    (6, "OUTER_IPV4_CKSUM"),
    (7, "MACSEC_STRIP"),
    (9, "VLAN_FILTER"),
    (10, "VLAN_EXTEND"),
    (13, "SCATTER"),
    (14, "TIMESTAMP"),
    (15, "SECURITY"),
    (16, "KEEP_CRC"),
    (17, "SCTP_CKSUM"),
    (18, "OUTER_UDP_CKSUM"),
    (19, "RSS_HASH"),
    (20, "BUFFER_SPLIT"),
];

/// Tx offloads by bit.
pub const TX_OFFLOADS: &[(u32, &str)] = &[
    (0, "VLAN_INSERT"),
    (1, "IPV4_CKSUM"),
    (2, "UDP_CKSUM"),
    (3, "TCP_CKSUM"),
    (4, "SCTP_CKSUM"),
    (5, "TCP_TSO"),
    (6, "UDP_TSO"),
    (7, "OUTER_IPV4_CKSUM"),
    (8, "QINQ_INSERT"),
    (9, "VXLAN_TNL_TSO"),
    (10, "GRE_TNL_TSO"),
    (11, "IPIP_TNL_TSO"),
    (12, "GENEVE_TNL_TSO"),
    (13, "MACSEC_INSERT"),
    (14, "MT_LOCKFREE"),
    (15, "MULTI_SEGS"),
    (16, "MBUF_FAST_FREE"),
    (17, "SECURITY"),
    (18, "UDP_TNL_TSO"),
    (19, "IP_TNL_TSO"),
    (20, "OUTER_UDP_CKSUM"),
    (21, "SEND_ON_TIMESTAMP"),
];

/// Device capabilities by bit, as `show port info` names them.
pub const DEVICE_CAPABILITIES: &[(u32, &str)] = &[
    (0, "RUNTIME_RX_QUEUE_SETUP"),
    (1, "RUNTIME_TX_QUEUE_SETUP"),
    (2, "RXQ_SHARE"),
    (3, "FLOW_RULE_KEEP"),
    (4, "FLOW_SHARED_OBJECT_KEEP"),
];

/// Which table, and which word the blocks begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Receiving.
    Rx,
    /// Sending.
    Tx,
}

impl Side {
    /// The side's offloads.
    pub fn table(self) -> &'static [(u32, &'static str)] {
        match self {
            Side::Rx => RX_OFFLOADS,
            Side::Tx => TX_OFFLOADS,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Side::Rx => "Rx",
            Side::Tx => "Tx",
        }
    }
}

/// The bit of an offload's name in any case, as commands take it (`vlan_strip`, `mbuf_fast_free`).
pub fn offload_bit(side: Side, name: &str) -> Option<u64> {
    side.table()
        .iter()
        .find(|(_, known)| known.eq_ignore_ascii_case(name))
        .map(|(bit, _)| 1 << bit)
}

/// The names of the bits set, in rising order, each with a blank in front; a bit without a name is `UNKNOWN`.
#[derive(Debug, Clone, Copy)]
pub struct Names {
    /// Where the names are.
    pub table: &'static [(u32, &'static str)],
    /// What to name.
    pub bits: u64,
}

impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut set = (0..u64::BITS).filter(|bit| self.bits >> bit & 1 == 1);
        set.try_for_each(|bit| {
            let known = self.table.iter().find(|(number, _)| *number == bit);
            write!(f, " {}", known.map_or("UNKNOWN", |(_, name)| name))
        })
    }
}

/// `show port {p} rx_offload|tx_offload capabilities`.
#[derive(Debug, Clone, Copy)]
pub struct OffloadCapabilities {
    /// Rx or tx.
    pub side: Side,
    /// The port's number.
    pub port: u16,
    /// What can be set for one queue.
    pub queue: u64,
    /// All that the port can do, the queue's included.
    pub all: u64,
}

impl fmt::Display for OffloadCapabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.side.table();
        writeln!(
            f,
            "{} Offloading Capabilities of port {} :",
            self.side.word(),
            self.port
        )?;
        writeln!(
            f,
            "  Per Queue :{}",
            Names {
                table,
                bits: self.queue
            }
        )?;
        // What a queue can do is named once.
        writeln!(
            f,
            "  Per Port  :{}\n",
            Names {
                table,
                bits: self.all & !self.queue
            }
        )
    }
}

/// `show port {p} rx_offload|tx_offload configuration`.
#[derive(Debug, Clone, Copy)]
pub struct OffloadConfiguration<'a> {
    /// Rx or tx.
    pub side: Side,
    /// The port's number.
    pub port: u16,
    /// What is on for the whole port.
    pub all: u64,
    /// What is on for each queue, by its number.
    pub queues: &'a [u64],
}

impl fmt::Display for OffloadConfiguration<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.side.table();
        writeln!(
            f,
            "{} Offloading Configuration of port {} :",
            self.side.word(),
            self.port
        )?;
        writeln!(
            f,
            "  Port :{}",
            Names {
                table,
                bits: self.all
            }
        )?;
        for (queue, &bits) in self.queues.iter().enumerate() {
            writeln!(f, "  Queue[{queue:>2}] :{}", Names { table, bits })?;
        }
        writeln!(f)
    }
}

#[cfg(test)]
#[path = "offloads_tests.rs"]
mod tests;
