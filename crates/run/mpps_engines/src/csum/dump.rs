//! What csum shows of each packet while `set verbose` is above zero: what was found, and what the port is told.
//!
//! The text is DPDK's. A tunnel's kind, which no transmit flag says here, is named by what was found.

use std::fmt;

use mpps_dev::TxOffloads;
use mpps_mbuf::{Mbuf, OffloadFlags};
use mpps_wire::{Layers, TunnelKind, parse, protocol};

use super::{Csum, PLAIN};
use crate::StreamIo;

/// The packets in hand as they came in: their flags. Empty while nobody looks.
pub(super) struct Arrived(Vec<OffloadFlags>);

impl Arrived {
    /// Keeps the flags that the engine is about to overwrite, if somebody looks.
    #[inline(always)]
    pub(super) fn look(io: &StreamIo) -> Option<Self> {
        (io.watch.level() > 0).then(|| Self::cold_keep(io.burst.as_slice()))
    }

    #[cold]
    fn cold_keep(packets: &[Mbuf]) -> Self {
        Self(packets.iter().map(Mbuf::flags).collect())
    }
}

impl Csum {
    /// Shows the packets in hand, which are ready to be sent. Where some had to be dropped, which is rare, it isn't known
    /// any more which flags were whose, and nothing is shown.
    #[cold]
    pub(super) fn cold_show(&self, arrived: &Arrived, io: &StreamIo) {
        let packets = io.burst.as_slice();
        if packets.len() != arrived.0.len() {
            return;
        }
        for (packet, rx_flags) in packets.iter().zip(&arrived.0) {
            io.watch.say(&Dump {
                port: io.rx_at.0,
                packet,
                rx_flags: *rx_flags,
                layers: parse(packet.data(), self.tunnels.as_ref()),
                hardware: self.hardware,
                tso: self.tso,
            });
        }
    }
}

/// One packet's block.
struct Dump<'a> {
    port: u16,
    packet: &'a Mbuf,
    rx_flags: OffloadFlags,
    layers: Layers,
    hardware: TxOffloads,
    tso: u16,
}

impl fmt::Display for Dump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (packet, layers) = (self.packet, &self.layers);
        writeln!(f, "-----------------")?;
        writeln!(
            f,
            "port={}, mbuf={:p}, pkt_len={}, nb_segs={}:",
            self.port,
            packet.data().as_ptr(),
            packet.pkt_len(),
            packet.segments()
        )?;
        // DPDK leaves the length of SCTP's header out.
        let l4_len = if layers.l4_proto == protocol::SCTP {
            0
        } else {
            layers.l4_len
        };
        writeln!(
            f,
            "rx: l2_len={} ethertype={:x} l3_len={} l4_proto={} l4_len={} flags={}",
            layers.l2_len,
            layers.ethertype,
            layers.l3_len,
            layers.l4_proto,
            l4_len,
            RxNames(self.rx_flags)
        )?;
        if self.rx_flags.contains(OffloadFlags::RX_LRO) {
            writeln!(f, "rx: m->lro_segsz={}", packet.tx_offload().tso_size())?;
        }
        if let Some(outer) = layers.tunnel {
            writeln!(
                f,
                "rx: outer_l2_len={} outer_ethertype={:x} outer_l3_len={}",
                outer.outer_l2_len, outer.outer_ethertype, outer.outer_l3_len
            )?;
        }
        self.sent(f)
    }
}

impl Dump<'_> {
    fn sent(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (lengths, flags) = (self.packet.tx_offload(), self.packet.flags());
        if self.tso != 0 || self.hardware.intersects(PLAIN | TxOffloads::SCTP_CKSUM) {
            writeln!(
                f,
                "tx: m->l2_len={} m->l3_len={} m->l4_len={}",
                lengths.l2_len(),
                lengths.l3_len(),
                lengths.l4_len()
            )?;
        }
        let outer = TxOffloads::OUTER_IPV4_CKSUM | TxOffloads::OUTER_UDP_CKSUM;
        if self.layers.tunnel.is_some() && self.hardware.intersects(outer) {
            writeln!(
                f,
                "tx: m->outer_l2_len={} m->outer_l3_len={}",
                lengths.outer_l2_len(),
                lengths.outer_l3_len()
            )?;
        }
        if flags.contains(OffloadFlags::TX_TCP_SEG) {
            writeln!(f, "tx: m->tso_segsz={}", lengths.tso_size())?;
        }
        let kind = self.layers.tunnel.map_or("", |tunnel| match tunnel.kind {
            TunnelKind::Ip => "RTE_MBUF_F_TX_TUNNEL_IPIP ",
            TunnelKind::Gre | TunnelKind::Nvgre => "RTE_MBUF_F_TX_TUNNEL_GRE ",
            TunnelKind::Vxlan => "RTE_MBUF_F_TX_TUNNEL_VXLAN ",
            TunnelKind::VxlanGpe => "RTE_MBUF_F_TX_TUNNEL_VXLAN_GPE ",
            TunnelKind::Geneve => "RTE_MBUF_F_TX_TUNNEL_GENEVE ",
            TunnelKind::GtpU => "RTE_MBUF_F_TX_TUNNEL_GTP ",
        });
        writeln!(f, "tx: flags={}{kind}", TxNames(flags))
    }
}

/// Names of receive flags, a blank behind each.
struct RxNames(OffloadFlags);

/// Names of transmit flags, a blank behind each.
struct TxNames(OffloadFlags);

impl fmt::Display for RxNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .received_names()
            .try_for_each(|name| write!(f, "{name} "))
    }
}

impl fmt::Display for TxNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .sent_names()
            .try_for_each(|name| write!(f, "{name} "))
    }
}

#[cfg(test)]
mod tests;
