//! What csum does to a packet inside a packet.

use mpps_dev::TxOffloads;
use mpps_mbuf::{Mbuf, OffloadFlags, TxOffload};
use mpps_wire::checksum::Sum;
use mpps_wire::{Header, Layers, Udp, protocol};

use super::Csum;
use super::headers::{lengths_fit, network};

/// Layers inside a tunnel that a device may sum.
const INNER: TxOffloads = TxOffloads::IPV4_CKSUM
    .union(TxOffloads::UDP_CKSUM)
    .union(TxOffloads::TCP_CKSUM)
    .union(TxOffloads::SCTP_CKSUM);

/// Outer layers that a device may sum.
const OUTER: TxOffloads = TxOffloads::OUTER_IPV4_CKSUM.union(TxOffloads::OUTER_UDP_CKSUM);

/// Offset of the checksum in a GRE header whose first bit says that there is one (RFC 2784).
const GRE_FIELD: usize = 4;
const GRE_HAS_CHECKSUM: u8 = 0x80;

/// The checksum that covers the inner packet, if the outer headers have one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cover {
    Nothing,
    /// Whether its length is that of the IP payload, by which devices go.
    Udp {
        is_whole: bool,
    },
    /// Its old value.
    Gre(u16),
}

fn cover(data: &[u8], outer: &Layers, total: usize) -> Cover {
    let at = outer.l4_offset();
    match (outer.l4_proto, data.get(at..at + GRE_FIELD + 2)) {
        (protocol::UDP, _) => match Udp::at(data, at) {
            Some(udp) if udp.checksum.get() != 0 => Cover::Udp {
                is_whole: usize::from(udp.length.get()) == total,
            },
            _ => Cover::Nothing,
        },
        (protocol::GRE, Some(gre)) if gre[0] & GRE_HAS_CHECKSUM != 0 => {
            Cover::Gre(u16::from_be_bytes([gre[GRE_FIELD], gre[GRE_FIELD + 1]]))
        }
        _ => Cover::Nothing,
    }
}

/// Header lengths as a device that sums outer headers wants them, or as one that doesn't: all outer headers as L2.
fn lengths(outer: &Layers, inner: &Layers, sums_outer: bool) -> TxOffload {
    let (l3, l4) = (inner.l3_len, u16::from(inner.l4_len));
    if sums_outer {
        TxOffload::new(inner.l2_len, l3, l4).with_outer(outer.l2_len, outer.l3_len)
    } else {
        TxOffload::new(outer.l2_len + outer.l3_len + inner.l2_len, l3, l4)
    }
}

impl Csum {
    /// The inner packet, then the outer headers. `inner` counts from the frame's start.
    pub(super) fn tunnelled(
        &self,
        packet: &mut Mbuf,
        outer: &Layers,
        inner: &Layers,
    ) -> (OffloadFlags, TxOffload) {
        let lengths = lengths(outer, inner, self.hardware.intersects(OUTER));
        let Some(total) = outer.l4_total(packet.data(), packet.pkt_len() as usize) else {
            return (OffloadFlags::empty(), lengths);
        };
        let cover = cover(packet.data(), outer, total);
        let hardware = self.tunnel_hardware(cover, outer, inner);
        let end = outer.l4_offset() + total;
        let mut flags = OffloadFlags::empty();
        // The inner packet ends where the outer one does, whatever padding the frame has.
        if let Some(total) = inner.l4_total(packet.data(), end) {
            let hardware = hardware & INNER;
            flags |=
                network(packet, inner, hardware) | self.transport(packet, inner, total, hardware);
        }
        match cover {
            Cover::Nothing => {}
            Cover::Udp { .. } => flags |= self.outer_udp(packet, outer, total, hardware),
            Cover::Gre(old) => self.gre(packet, outer, total, old),
        }
        flags |= outer_network(packet, outer, hardware);
        (flags, lengths)
    }

    /// What is left to the device of one packet.
    fn tunnel_hardware(&self, cover: Cover, outer: &Layers, inner: &Layers) -> TxOffloads {
        let sums_outer = self.hardware.intersects(OUTER);
        let l2 = if sums_outer {
            inner.l2_len
        } else {
            outer.l2_len + outer.l3_len + inner.l2_len
        };
        if !lengths_fit(usize::from(l2), inner) || !lengths_fit(usize::from(outer.l2_len), outer) {
            return TxOffloads::empty();
        }
        let covered_here = match cover {
            Cover::Nothing => false,
            Cover::Gre(_) => true,
            Cover::Udp { is_whole } => {
                !is_whole || !self.hardware.contains(TxOffloads::OUTER_UDP_CKSUM)
            }
        };
        if covered_here {
            self.hardware.difference(INNER)
        } else {
            self.hardware
        }
    }

    /// The outer UDP checksum, which isn't zero.
    fn outer_udp(
        &self,
        packet: &mut Mbuf,
        outer: &Layers,
        total: usize,
        hardware: TxOffloads,
    ) -> OffloadFlags {
        let as_udp = if hardware.contains(TxOffloads::OUTER_UDP_CKSUM) {
            TxOffloads::UDP_CKSUM
        } else {
            TxOffloads::empty()
        };
        match self.udp(packet, outer, total, as_udp) {
            Some(_) => OffloadFlags::TX_OUTER_UDP_CKSUM,
            None => OffloadFlags::empty(),
        }
    }

    /// The checksum of GRE header and payload.
    fn gre(&self, packet: &mut Mbuf, outer: &Layers, total: usize, old: u16) {
        let at = outer.l4_offset();
        let sum = self.covered(packet, at, total, Sum::new().plus_u16(!old));
        let field = at + GRE_FIELD;
        if let Some(bytes) = packet
            .data_mut()
            .and_then(|data| data.get_mut(field..field + 2))
        {
            bytes.copy_from_slice(&sum.checksum().to_be_bytes());
        }
    }
}

/// The outer IPv4 header's checksum, and the flags that name the outer protocol.
fn outer_network(packet: &mut Mbuf, outer: &Layers, hardware: TxOffloads) -> OffloadFlags {
    let mut as_inner = TxOffloads::empty();
    as_inner.set(
        TxOffloads::IPV4_CKSUM,
        hardware.contains(TxOffloads::OUTER_IPV4_CKSUM),
    );
    let found = network(packet, outer, as_inner);
    [
        (OffloadFlags::TX_IPV4, OffloadFlags::TX_OUTER_IPV4),
        (OffloadFlags::TX_IPV6, OffloadFlags::TX_OUTER_IPV6),
        (OffloadFlags::TX_IP_CKSUM, OffloadFlags::TX_OUTER_IP_CKSUM),
    ]
    .into_iter()
    .filter(|(as_inner, _)| found.contains(*as_inner))
    .map(|(_, as_outer)| as_outer)
    .collect()
}
