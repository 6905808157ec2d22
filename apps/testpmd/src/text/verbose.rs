//! The packet dump of `set verbose 1|2|3`.
//!
//! A port's queue dumps each non-empty burst: a [`BurstHead`], then a [`PacketDump`] a packet. The head goes out in one
//! write with the first packet, every further packet in a write of its own, so that lines of two threads don't mix.

use std::fmt;

use mpps_wire::MacAddr;

use super::ptype::{LAYER_LENGTHS, SwPtype};

/// `port {p}/queue {q}: {received|sent} {n} packets`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BurstHead {
    /// The port's number.
    pub port: u16,
    /// The queue's number.
    pub queue: u16,
    /// Received, else sent.
    pub received: bool,
    /// Packets in the burst, at least 1.
    pub packets: usize,
}

impl fmt::Display for BurstHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let did = if self.received { "received" } else { "sent" };
        writeln!(
            f,
            "port {}/queue {}: {did} {} packets",
            self.port, self.queue, self.packets
        )
    }
}

/// Tags that a port took off a frame (or is to insert), with their whole TCI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VlanTags {
    /// One.
    One(u16),
    /// Inner and outer.
    Two(u16, u16),
}

/// What the dump says of the fourth layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Destination {
    /// A UDP port.
    Udp(u16),
    /// A TCP port.
    Tcp(u16),
}

/// One packet. Its MAC addresses and type are those of the frame's first 14 bytes.
#[derive(Debug, Clone, Copy)]
pub struct PacketDump<'a> {
    /// Received, else to be sent.
    pub received: bool,
    /// The queue's number.
    pub queue: u16,
    /// Source address.
    pub src: MacAddr,
    /// Destination address.
    pub dst: MacAddr,
    /// The name of the pool that the first segment is from.
    pub pool: &'a str,
    /// EtherType (of a tagged frame: 0x8100).
    pub ether_type: u16,
    /// Bytes of the whole packet.
    pub length: u32,
    /// Segments.
    pub segments: u16,
    /// The RSS hash, where the port computed one.
    pub rss_hash: Option<u32>,
    /// The flow mark, where a rule set one.
    pub mark: Option<u32>,
    /// The time of arrival in the port's clock, where it has one.
    pub timestamp: Option<u64>,
    /// Tags taken off.
    pub vlan: Option<VlanTags>,
    /// The packet type that the port found, as names with a blank behind each.
    pub hw_ptype: Option<&'a str>,
    /// The packet type found by software, from [`sw_ptype`](super::sw_ptype).
    pub sw_ptype: SwPtype,
    /// From [`dump_destination`].
    pub destination: Option<Destination>,
    /// Offload flags by name; [`RX_NO_OFFLOAD`] or [`TX_NO_OFFLOAD`] for a packet that no port has looked into.
    pub flags: &'a [&'a str],
}

/// The flags of a received packet of a port without offloads.
pub const RX_NO_OFFLOAD: &[&str] = &[
    "RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN",
    "RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN",
    "RTE_MBUF_F_RX_OUTER_L4_CKSUM_UNKNOWN",
];

/// The flags of a packet that asks nothing of the port.
pub const TX_NO_OFFLOAD: &[&str] = &["RTE_MBUF_F_TX_L4_NO_CKSUM"];

impl fmt::Display for PacketDump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let PacketDump {
            src,
            dst,
            pool,
            ether_type,
            length,
            segments,
            ..
        } = self;
        write!(
            f,
            "  src={src} - dst={dst} - pool={pool} - type=0x{ether_type:04x}"
        )?;
        write!(f, " - length={length} - nb_segs={segments}")?;
        self.marks(f)?;
        self.hw_ptype
            .iter()
            .try_for_each(|names| write!(f, " - hw ptype: {names}"))?;
        write!(f, " - sw ptype: {}", self.sw_ptype)?;
        for (label, length) in LAYER_LENGTHS.iter().zip(self.sw_ptype.lengths()) {
            length
                .iter()
                .try_for_each(|length| write!(f, " - {label}={length}"))?;
        }
        match self.destination {
            Some(Destination::Udp(port)) => write!(f, " - Destination UDP port={port}")?,
            Some(Destination::Tcp(port)) => write!(f, " - Destination TCP port={port}")?,
            None => {}
        }
        let way = if self.received { "Receive" } else { "Send" };
        writeln!(f, " - {way} queue=0x{:x}", self.queue)?;
        f.write_str("  ol_flags: ")?;
        self.flags
            .iter()
            .try_for_each(|name| write!(f, "{name} "))?;
        writeln!(f)
    }
}

impl PacketDump<'_> {
    fn marks(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(hash) = self.rss_hash {
            write!(f, " - RSS hash=0x{hash:x} - RSS queue=0x{:x}", self.queue)?;
        }
        self.mark
            .iter()
            .try_for_each(|mark| write!(f, " - FDIR matched ID=0x{mark:x}"))?;
        self.timestamp
            .iter()
            .try_for_each(|ticks| write!(f, " - timestamp {ticks} "))?;
        match self.vlan {
            Some(VlanTags::One(tci)) => write!(f, " - VLAN tci=0x{tci:x}"),
            Some(VlanTags::Two(tci, outer)) => {
                write!(f, " - QinQ VLAN tci=0x{tci:x}, VLAN tci outer=0x{outer:x}")
            }
            None => Ok(()),
        }
    }
}

/// The destination that testpmd prints, from the frame's first bytes.
///
/// It goes by the *port's* packet type: only a frame that a port found to be IPv4 (`hw_ipv4`) is read as that, anything else
/// as untagged IPv6. So without packet types from the port an IPv4 packet has no such text. Options, extension headers and
/// tags are not skipped.
pub fn dump_destination(frame: &[u8], hw_ipv4: bool) -> Option<Destination> {
    const ETHER: usize = 14;
    let (protocol_at, header) = if hw_ipv4 { (9, 20) } else { (6, 40) };
    let protocol = *frame.get(ETHER + protocol_at)?;
    let port_at = ETHER + header + 2;
    let port = u16::from_be_bytes(*frame.get(port_at..)?.first_chunk()?);
    match protocol {
        6 => Some(Destination::Tcp(port)),
        17 => Some(Destination::Udp(port)),
        _ => None,
    }
}

#[cfg(test)]
#[path = "verbose_tests.rs"]
mod tests;
