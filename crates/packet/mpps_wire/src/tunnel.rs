//! Headers that carry a packet inside a packet: lengths, and what comes next.
//!
//! Each format has one function that reads the header at an offset and says how long it is, options included, and what
//! lies behind it. Nothing is written; engines forward inner packets, they don't build tunnels.

use crate::{Header, protocol};
use crate::{Layers, Udp, ethertype};

mod geneve;
mod gre;
mod gtp;
mod mpls;
mod vxlan;

pub use geneve::Geneve;
pub use gre::Gre;
pub use gtp::Gtp;
pub use mpls::{MAX_MPLS_LABELS, MplsLabel, walk_mpls};
pub use vxlan::{Vxlan, VxlanGpe};

/// What lies behind a tunnel header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Inner {
    /// A whole Ethernet frame.
    Ethernet,
    /// A packet of this EtherType, without an Ethernet header.
    Network(u16),
}

impl Inner {
    /// By EtherType, as GRE and Geneve say it.
    pub(crate) fn of_ethertype(value: u16) -> Inner {
        match value {
            ethertype::TRANSPARENT_ETHERNET => Inner::Ethernet,
            other => Inner::Network(other),
        }
    }

    /// By the version in the first four bits at `offset`, where the tunnel itself doesn't say what it carries.
    pub(crate) fn by_version(bytes: &[u8], offset: usize) -> Option<Inner> {
        match bytes.get(offset)? >> 4 {
            4 => Some(Inner::Network(ethertype::IPV4)),
            6 => Some(Inner::Network(ethertype::IPV6)),
            _ => None,
        }
    }
}

/// Kinds of tunnel that [`crate::parse`] looks into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TunnelKind {
    /// IPv4 or IPv6 straight in IP (RFC 2003, RFC 4213).
    Ip,
    /// GRE with anything but Ethernet inside.
    Gre,
    /// GRE with Ethernet inside (RFC 7637 and its like).
    Nvgre,
    /// VXLAN.
    Vxlan,
    /// VXLAN with a next protocol.
    VxlanGpe,
    /// Geneve.
    Geneve,
    /// GTP user plane.
    GtpU,
}

/// UDP destination ports that say which tunnel follows, in host order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TunnelPorts {
    /// VXLAN (RFC 7348: 4789).
    pub vxlan: u16,
    /// VXLAN-GPE (4790).
    pub vxlan_gpe: u16,
    /// Geneve (RFC 8926: 6081).
    pub geneve: u16,
    /// GTP-U (3GPP TS 29.281: 2152).
    pub gtp_u: u16,
}

impl TunnelPorts {
    /// The registered ports.
    pub const REGISTERED: TunnelPorts = TunnelPorts {
        vxlan: 4789,
        vxlan_gpe: 4790,
        geneve: 6081,
        gtp_u: 2152,
    };

    /// A tunnel follows a UDP header with this destination port.
    #[inline]
    pub fn has(&self, port: u16) -> bool {
        [self.vxlan, self.vxlan_gpe, self.geneve, self.gtp_u].contains(&port)
    }
}

impl Default for TunnelPorts {
    fn default() -> TunnelPorts {
        TunnelPorts::REGISTERED
    }
}

/// A tunnel header that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) kind: TunnelKind,
    /// Bytes between the outer L3 header and the inner packet: outer UDP and the tunnel's own header.
    pub(crate) len: usize,
    pub(crate) inner: Inner,
}

/// The tunnel header behind the L3 header of `layers`, if there is one that can be read.
pub(crate) fn find(bytes: &[u8], layers: &Layers, ports: &TunnelPorts) -> Option<Found> {
    let at = layers.l4_offset();
    match layers.l4_proto {
        protocol::UDP => over_udp(bytes, at, ports),
        protocol::GRE => {
            let (len, inner) = Gre::walk(bytes, at)?;
            let kind = if inner == Inner::Ethernet {
                TunnelKind::Nvgre
            } else {
                TunnelKind::Gre
            };
            Some(Found { kind, len, inner })
        }
        protocol::IPIP => Some(Found {
            kind: TunnelKind::Ip,
            len: 0,
            inner: Inner::Network(ethertype::IPV4),
        }),
        protocol::IPV6 => Some(Found {
            kind: TunnelKind::Ip,
            len: 0,
            inner: Inner::Network(ethertype::IPV6),
        }),
        _ => None,
    }
}

pub(crate) fn over_udp(bytes: &[u8], at: usize, ports: &TunnelPorts) -> Option<Found> {
    let port = Udp::at(bytes, at)?.dst_port.get();
    let header = at + Udp::LEN;
    let (kind, (len, inner)) = if port == ports.vxlan {
        (TunnelKind::Vxlan, Vxlan::walk(bytes, header)?)
    } else if port == ports.vxlan_gpe {
        (TunnelKind::VxlanGpe, VxlanGpe::walk(bytes, header)?)
    } else if port == ports.geneve {
        (TunnelKind::Geneve, Geneve::walk(bytes, header)?)
    } else if port == ports.gtp_u {
        (TunnelKind::GtpU, Gtp::walk(bytes, header)?)
    } else {
        return None;
    };
    Some(Found {
        kind,
        len: Udp::LEN + len,
        inner,
    })
}

#[cfg(test)]
mod tests;
