//! One walk from Ethernet to L4, for engines that need to know where headers lie.
//!
//! [`parse`] takes the bytes of a packet's first segment and gives back [`Layers`]: lengths and kinds, no references, so
//! that the caller may then borrow the bytes for writing. It never fails: what isn't there, or is cut off, has length 0.

use crate::checksum::Sum;
use crate::ethernet::{VlanTags, walk_ethernet};
use crate::tunnel::{self, Found, Inner, TunnelKind, TunnelPorts};
use crate::{Header, Ipv4, Ipv6, Sctp, Tcp, Udp, ethertype, protocol, walk_extensions};

/// Which part of an IP packet this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fragment {
    /// All of it.
    #[default]
    Whole,
    /// The first fragment: an L4 header is there, but its checksum covers more than this packet.
    First,
    /// A later fragment: no L4 header.
    Later,
}

/// Where the headers of a packet lie. Lengths are in bytes; 0 says that the header isn't there whole.
///
/// Where a tunnel was followed, `l2_len` to `l4_len` are those of the inner packet, and `l2_len` counts everything
/// between the outer L3 header and the inner one (outer UDP, tunnel header, inner Ethernet), as transmit offloads want it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Layers {
    /// Ethernet header and VLAN tags; 0 only for a frame shorter than 14 bytes (or inside a tunnel without L2).
    pub l2_len: u16,
    /// EtherType behind the tags, in host order.
    pub ethertype: u16,
    /// IP header with IPv4 options or IPv6 extension headers; 0 for anything but sound IPv4 and IPv6.
    pub l3_len: u16,
    /// Protocol number behind the L3 header; 0 without L3.
    pub l4_proto: u8,
    /// TCP header with options, UDP header or SCTP common header; 0 for other protocols and for later fragments.
    pub l4_len: u8,
    /// Which part of a packet this is.
    pub fragment: Fragment,
    /// An IPv6 routing header has segments left: the address in the pseudo header isn't the one in the IPv6 header.
    pub is_routed: bool,
    /// VLAN tags (of the inner frame, where a tunnel carries one).
    pub vlan: VlanTags,
    /// The tunnel, where one was followed.
    pub tunnel: Option<Tunnel>,
}

/// The headers outside of a tunnel, lengths in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tunnel {
    /// Kind of the tunnel.
    pub kind: TunnelKind,
    /// The tunnel's own header, without outer UDP.
    pub header_len: u16,
    /// Outer Ethernet header and VLAN tags.
    pub outer_l2_len: u16,
    /// EtherType of the outer IP header, in host order.
    pub outer_ethertype: u16,
    /// Outer IP header with options or extension headers.
    pub outer_l3_len: u16,
    /// Protocol number behind the outer IP header.
    pub outer_l4_proto: u8,
    /// Outer UDP header: 8, or 0 for tunnels straight over IP.
    pub outer_l4_len: u8,
    /// As [`Layers::is_routed`], for the outer header.
    pub outer_is_routed: bool,
    /// Outer VLAN tags.
    pub outer_vlan: VlanTags,
}

impl Layers {
    /// Offset of the (inner) L3 header from the first byte of the packet.
    #[inline]
    pub fn l3_offset(&self) -> usize {
        let outer = self.tunnel.map_or(0, |tunnel| {
            usize::from(tunnel.outer_l2_len) + usize::from(tunnel.outer_l3_len)
        });
        outer + usize::from(self.l2_len)
    }

    /// Offset of the (inner) L4 header.
    #[inline]
    pub fn l4_offset(&self) -> usize {
        self.l3_offset() + usize::from(self.l3_len)
    }

    /// Offset of what follows the (inner) L4 header.
    #[inline]
    pub fn payload_offset(&self) -> usize {
        self.l4_offset() + usize::from(self.l4_len)
    }

    /// There is a sound IPv4 header.
    #[inline]
    pub fn is_ipv4(&self) -> bool {
        self.ethertype == ethertype::IPV4 && self.l3_len != 0
    }

    /// There is a sound IPv6 header.
    #[inline]
    pub fn is_ipv6(&self) -> bool {
        self.ethertype == ethertype::IPV6 && self.l3_len != 0
    }

    /// This is a part of an IP packet.
    #[inline]
    pub fn is_fragment(&self) -> bool {
        self.fragment != Fragment::Whole
    }

    /// The outer headers as if no tunnel had been followed.
    pub fn outer(&self) -> Option<Layers> {
        self.tunnel.map(|tunnel| Layers {
            l2_len: tunnel.outer_l2_len,
            ethertype: tunnel.outer_ethertype,
            l3_len: tunnel.outer_l3_len,
            l4_proto: tunnel.outer_l4_proto,
            l4_len: tunnel.outer_l4_len,
            fragment: Fragment::Whole,
            is_routed: tunnel.outer_is_routed,
            vlan: tunnel.outer_vlan,
            tunnel: None,
        })
    }

    /// Bytes of L4 header and payload by the IP header's length field, padding of the frame left out.
    ///
    /// `None` without L3, in a jumbogram, and where the field contradicts the headers or the packet's length
    /// (`packet_len`, all segments): then there is nothing that a checksum could cover.
    #[inline]
    pub fn l4_total(&self, bytes: &[u8], packet_len: usize) -> Option<usize> {
        let l3 = self.l3_offset();
        let end = match self.ethertype {
            _ if self.l3_len == 0 => return None,
            ethertype::IPV4 => l3 + usize::from(Ipv4::at(bytes, l3)?.total_len.get()),
            _ => match Ipv6::at(bytes, l3)?.payload_len.get() {
                0 => return None,
                len => l3 + Ipv6::LEN + usize::from(len),
            },
        };
        (end >= self.payload_offset() && end <= packet_len).then(|| end - self.l4_offset())
    }

    /// The pseudo header for the checksum over `l4_total` bytes of L4 header and payload; `None` where there is no
    /// L3 header, or the final destination lies in a routing header.
    #[inline]
    pub fn pseudo(&self, bytes: &[u8], l4_total: usize) -> Option<Sum> {
        if self.l3_len == 0 || self.is_routed {
            return None;
        }
        if self.ethertype == ethertype::IPV4 {
            Some(Ipv4::at(bytes, self.l3_offset())?.pseudo(u16::try_from(l4_total).ok()?))
        } else {
            Some(
                Ipv6::at(bytes, self.l3_offset())?
                    .pseudo(self.l4_proto, u32::try_from(l4_total).ok()?),
            )
        }
    }
}

/// Finds the headers of the packet that begins with `bytes`; with `tunnels`, also those of a packet inside it.
///
/// `bytes` should hold all headers: what lies in a later segment counts as cut off. At most 8 VLAN tags, 8 IPv6
/// extension headers and one tunnel are followed. Any bytes may come.
///
/// ```
/// use mpps_wire::{Ethernet, Header, Ipv4, ethertype, parse, protocol};
///
/// let mut frame = [0u8; 60];
/// *Ethernet::at_mut(&mut frame, 0).unwrap() = Ethernet::new([2; 6].into(), [4; 6].into(), ethertype::IPV4);
/// *Ipv4::at_mut(&mut frame, 14).unwrap() = Ipv4::new([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), protocol::UDP, 8);
/// let layers = parse(&frame, None);
/// assert_eq!((layers.l2_len, layers.l3_len, layers.l4_proto, layers.l4_len), (14, 20, protocol::UDP, 8));
/// assert_eq!(layers.l4_total(&frame, frame.len()), Some(8));
/// assert_eq!(parse(&frame[..30], None).l3_len, 0);
/// ```
#[inline]
pub fn parse(bytes: &[u8], tunnels: Option<&TunnelPorts>) -> Layers {
    match plain(bytes) {
        Some(layers) if tunnels.is_none_or(|ports| !may_be_tunnel(bytes, &layers, ports)) => layers,
        _ => parse_any(bytes, tunnels),
    }
}

#[inline]
fn may_be_tunnel(bytes: &[u8], layers: &Layers, ports: &TunnelPorts) -> bool {
    layers.l4_proto == protocol::UDP
        && Udp::at(bytes, layers.l4_offset()).is_some_and(|udp| ports.has(udp.dst_port.get()))
}

// The common packet: no tags, IPv4 without options, not a fragment, UDP or TCP.
#[inline]
fn plain(bytes: &[u8]) -> Option<Layers> {
    let head = bytes.first_chunk::<42>()?;
    let is_plain = [head[12], head[13], head[14]] == [0x08, 0x00, 0x45]
        && u16::from_be_bytes([head[20], head[21]]) & (Ipv4::MORE_FRAGMENTS | Ipv4::OFFSET_MASK)
            == 0;
    let l4_len = match head[23] {
        _ if !is_plain => return None,
        protocol::UDP => Udp::LEN as u8,
        protocol::TCP => Tcp::checked_at(bytes, 34)?.header_len() as u8,
        _ => return None,
    };
    Some(Layers {
        l2_len: 14,
        ethertype: ethertype::IPV4,
        l3_len: 20,
        l4_proto: head[23],
        l4_len,
        ..Layers::default()
    })
}

fn parse_any(bytes: &[u8], tunnels: Option<&TunnelPorts>) -> Layers {
    let Some(link) = walk_ethernet(bytes, 0) else {
        return Layers::default();
    };
    let mut layers = Layers {
        l2_len: link.len,
        ethertype: link.ethertype,
        vlan: link.vlan,
        ..Layers::default()
    };
    network(bytes, &mut layers);
    let Some(ports) = tunnels else { return layers };
    if layers.l3_len == 0 || layers.is_fragment() {
        return layers;
    }
    tunnel::find(bytes, &layers, ports)
        .and_then(|found| inside(bytes, &layers, found))
        .unwrap_or(layers)
}

// Fills in L3 and L4 from what `layers` says of L2.
fn network(bytes: &[u8], layers: &mut Layers) {
    match layers.ethertype {
        ethertype::IPV4 => ipv4(bytes, layers),
        ethertype::IPV6 => ipv6(bytes, layers),
        _ => (),
    }
}

fn ipv4(bytes: &[u8], layers: &mut Layers) {
    let Some(ip) = Ipv4::checked_at(bytes, layers.l3_offset()) else {
        return;
    };
    layers.l3_len = ip.header_len() as u16;
    layers.l4_proto = ip.protocol;
    layers.fragment = match (ip.is_fragment(), ip.fragment_offset()) {
        (false, _) => Fragment::Whole,
        (true, 0) => Fragment::First,
        (true, _) => Fragment::Later,
    };
    transport(bytes, layers);
}

fn ipv6(bytes: &[u8], layers: &mut Layers) {
    let at = layers.l3_offset();
    let Some(ip) = Ipv6::checked_at(bytes, at) else {
        return;
    };
    let walk = walk_extensions(bytes, at + Ipv6::LEN, ip.next_header);
    layers.l3_len = Ipv6::LEN as u16 + walk.len;
    layers.l4_proto = walk.next_header;
    layers.is_routed = walk.is_routed;
    layers.fragment = match (walk.is_fragment, walk.is_later_fragment) {
        (_, true) => Fragment::Later,
        (true, false) => Fragment::First,
        (false, false) => Fragment::Whole,
    };
    transport(bytes, layers);
}

fn transport(bytes: &[u8], layers: &mut Layers) {
    let at = layers.l4_offset();
    let len = match layers.l4_proto {
        _ if layers.fragment == Fragment::Later => None,
        protocol::UDP => Udp::at(bytes, at).map(|_| Udp::LEN),
        protocol::TCP => Tcp::checked_at(bytes, at).map(Tcp::header_len),
        protocol::SCTP => Sctp::at(bytes, at).map(|_| Sctp::LEN),
        _ => None,
    };
    layers.l4_len = len.unwrap_or(0) as u8;
}

// The packet behind a tunnel header; `None` if that isn't IP of the version announced, or an Ethernet header that is cut
// off: then the outer packet is all there is.
fn inside(bytes: &[u8], outer: &Layers, found: Found) -> Option<Layers> {
    let tunnel = Tunnel {
        kind: found.kind,
        header_len: (found.len - usize::from(outer.l4_len)) as u16,
        outer_l2_len: outer.l2_len,
        outer_ethertype: outer.ethertype,
        outer_l3_len: outer.l3_len,
        outer_l4_proto: outer.l4_proto,
        outer_l4_len: outer.l4_len,
        outer_is_routed: outer.is_routed,
        outer_vlan: outer.vlan,
    };
    let mut inner = Layers {
        l2_len: found.len as u16,
        tunnel: Some(tunnel),
        ..Layers::default()
    };
    let at = outer.l4_offset() + found.len;
    match found.inner {
        Inner::Network(kind) => {
            Inner::by_version(bytes, at).filter(|inner| *inner == found.inner)?;
            inner.ethertype = kind;
        }
        Inner::Ethernet => {
            let link = walk_ethernet(bytes, at)?;
            inner.l2_len += link.len;
            inner.ethertype = link.ethertype;
            inner.vlan = link.vlan;
        }
    }
    network(bytes, &mut inner);
    Some(inner)
}

#[cfg(test)]
mod tests;
