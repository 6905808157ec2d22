//! The walk that finds a packet's type. It isn't [`crate::parse`]: it has DPDK's limits (one tag or a service tag pair,
//! four extension headers, no AH), so that both print the same line for the same packet.

use super::{Classified, PacketType};
use crate::tunnel::{Inner, TunnelKind, TunnelPorts, over_udp};
use crate::{
    Ethernet, Gre, Header, Ipv4, Ipv6, Ipv6Fragment, Sctp, Tcp, Udp, Vlan, ethertype, protocol,
};

/// Names the layers of the packet that begins with `bytes`.
///
/// GRE and IP in IP are always looked into, as DPDK 22.11 does; with `udp_tunnels`, VXLAN, VXLAN-GPE, Geneve and GTP-U
/// on these ports as well. MPLS isn't.
///
/// ```
/// use mpps_wire::classify;
///
/// let mut frame = [0u8; 60];
/// frame[12..15].copy_from_slice(&[0x08, 0x00, 0x45]);
/// frame[23] = 17;
/// assert_eq!(classify(&frame, None).to_string(), "L2_ETHER L3_IPV4 L4_UDP  - l2_len=14 - l3_len=20 - l4_len=8");
/// ```
pub fn classify(bytes: &[u8], udp_tunnels: Option<&TunnelPorts>) -> Classified {
    let mut found = Classified::default();
    let Some(eth) = Ethernet::at(bytes, 0) else {
        return found;
    };
    let tags = Tags::walk(bytes, Ethernet::LEN, eth.ethertype.get());
    found.packet_type = tags.pick([
        PacketType::L2_ETHER,
        PacketType::L2_ETHER_VLAN,
        PacketType::L2_ETHER_QINQ,
    ]);
    found.lengths.l2_len = (Ethernet::LEN + tags.len) as u16;
    let at = Ethernet::LEN + tags.len;
    // A tag behind the tags counts as an inner L2 header.
    let more = Tags::walk(bytes, at, tags.ethertype);
    if more.len != 0 {
        inner_link(&mut found, more, more.len);
        inner_network(bytes, &mut found, at + more.len, more.ethertype);
    } else if let Some(l3) = Network::walk(bytes, at, tags.ethertype) {
        outer_network(bytes, &mut found, at, l3, udp_tunnels);
    }
    found
}

fn outer_network(
    bytes: &[u8],
    found: &mut Classified,
    at: usize,
    l3: Network,
    udp_tunnels: Option<&TunnelPorts>,
) {
    found.packet_type |= l3.pick([
        PacketType::L3_IPV4,
        PacketType::L3_IPV4_EXT,
        PacketType::L3_IPV6,
        PacketType::L3_IPV6_EXT,
    ]);
    found.lengths.l3_len = l3.len as u16;
    let at = at + l3.len;
    if let Some((kind, len)) = transport(bytes, at, l3.next) {
        found.packet_type |= kind;
        found.lengths.l4_len = len as u16;
    }
    let Next::Protocol(next) = l3.next else {
        return;
    };
    let tunnel = match next {
        protocol::UDP => udp_tunnels
            .and_then(|ports| over_udp(bytes, at, ports))
            .map(|found| {
                (
                    udp_tunnel_type(found.kind),
                    Udp::LEN,
                    found.len - Udp::LEN,
                    found.inner,
                )
            }),
        protocol::GRE => gre(bytes, at),
        protocol::IPIP => Some((PacketType::TUNNEL_IP, 0, 0, Inner::Network(ethertype::IPV4))),
        protocol::IPV6 => Some((PacketType::TUNNEL_IP, 0, 0, Inner::Network(ethertype::IPV6))),
        _ => None,
    };
    let Some((kind, skip, len, inner)) = tunnel else {
        return;
    };
    found.packet_type |= kind;
    found.lengths.tunnel_len = len as u16;
    inside(bytes, found, at + skip + len, inner);
}

fn udp_tunnel_type(kind: TunnelKind) -> PacketType {
    match kind {
        TunnelKind::Vxlan => PacketType::TUNNEL_VXLAN,
        TunnelKind::VxlanGpe => PacketType::TUNNEL_VXLAN_GPE,
        TunnelKind::Geneve => PacketType::TUNNEL_GENEVE,
        TunnelKind::GtpU => PacketType::TUNNEL_GTPU,
        TunnelKind::Gre => PacketType::TUNNEL_GRE,
        TunnelKind::Nvgre => PacketType::TUNNEL_NVGRE,
        TunnelKind::Ip => PacketType::TUNNEL_IP,
    }
}

// Of version 1 (PPTP) the first four bytes still say GRE.
fn gre(bytes: &[u8], at: usize) -> Option<(PacketType, usize, usize, Inner)> {
    let gre = Gre::at(bytes, at)?;
    let flags = gre.flags_version.get();
    if flags & Gre::ROUTING != 0 {
        return None;
    }
    let optional = flags & (Gre::CHECKSUM | Gre::KEY | Gre::SEQUENCE);
    let len = Gre::LEN + 4 * optional.count_ones() as usize;
    bytes.get(at..at + len)?;
    let inner = Inner::of_ethertype(gre.protocol.get());
    let kind = if inner == Inner::Ethernet {
        PacketType::TUNNEL_NVGRE
    } else {
        PacketType::TUNNEL_GRE
    };
    Some((kind, 0, len, inner))
}

fn inside(bytes: &[u8], found: &mut Classified, at: usize, inner: Inner) {
    match inner {
        Inner::Network(kind) => inner_network(bytes, found, at, kind),
        Inner::Ethernet => {
            let Some(eth) = Ethernet::at(bytes, at) else {
                return;
            };
            let tags = Tags::walk(bytes, at + Ethernet::LEN, eth.ethertype.get());
            let len = Ethernet::LEN + tags.len;
            inner_link(found, tags, len);
            inner_network(bytes, found, at + len, tags.ethertype);
        }
    }
}

fn inner_link(found: &mut Classified, tags: Tags, len: usize) {
    found.packet_type |= tags.pick([
        PacketType::INNER_L2_ETHER,
        PacketType::INNER_L2_ETHER_VLAN,
        PacketType::INNER_L2_ETHER_QINQ,
    ]);
    found.lengths.inner_l2_len = len as u16;
}

fn inner_network(bytes: &[u8], found: &mut Classified, at: usize, kind: u16) {
    let Some(l3) = Network::walk(bytes, at, kind) else {
        return;
    };
    found.packet_type |= l3.pick([
        PacketType::INNER_L3_IPV4,
        PacketType::INNER_L3_IPV4_EXT,
        PacketType::INNER_L3_IPV6,
        PacketType::INNER_L3_IPV6_EXT,
    ]);
    found.lengths.inner_l3_len = l3.len as u16;
    if let Some((kind, len)) = transport(bytes, at + l3.len, l3.next) {
        // The same kinds of L4, four layers up.
        found.packet_type |= PacketType::from_bits(kind.bits() << 16);
        found.lengths.inner_l4_len = len as u16;
    }
}

fn transport(bytes: &[u8], at: usize, next: Next) -> Option<(PacketType, usize)> {
    match next {
        Next::Fragment => Some((PacketType::L4_FRAG, 0)),
        Next::Protocol(protocol::TCP) => {
            Some((PacketType::L4_TCP, Tcp::at(bytes, at)?.header_len()))
        }
        Next::Protocol(protocol::UDP) => Some((PacketType::L4_UDP, Udp::LEN)),
        Next::Protocol(protocol::SCTP) => Some((PacketType::L4_SCTP, Sctp::LEN)),
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum Tagging {
    None,
    Vlan,
    QinQ,
}

/// Tags behind an Ethernet header: one of 802.1Q, or a service tag and, if there is one, the tag behind it.
#[derive(Clone, Copy)]
struct Tags {
    kind: Tagging,
    len: usize,
    ethertype: u16,
}

impl Tags {
    fn walk(bytes: &[u8], at: usize, value: u16) -> Tags {
        let kind = match value {
            ethertype::VLAN => Tagging::Vlan,
            ethertype::QINQ => Tagging::QinQ,
            _ => Tagging::None,
        };
        let mut tags = Tags {
            kind,
            len: 0,
            ethertype: value,
        };
        let depth = match kind {
            Tagging::None => 0,
            Tagging::Vlan => 1,
            Tagging::QinQ => 2,
        };
        for _ in 0..depth {
            let Some(tag) =
                Vlan::at(bytes, at + tags.len).filter(|_| ethertype::is_vlan(tags.ethertype))
            else {
                break;
            };
            tags.len += Vlan::LEN;
            tags.ethertype = tag.ethertype.get();
        }
        tags
    }

    fn pick(self, [none, vlan, qinq]: [PacketType; 3]) -> PacketType {
        match self.kind {
            Tagging::None => none,
            Tagging::Vlan => vlan,
            Tagging::QinQ => qinq,
        }
    }
}

/// What lies behind an L3 header.
#[derive(Clone, Copy)]
enum Next {
    Protocol(u8),
    Fragment,
    Unknown,
}

#[derive(Clone, Copy)]
struct Network {
    is_ipv6: bool,
    is_extended: bool,
    len: usize,
    next: Next,
}

/// Extension headers that DPDK follows; with more of them it gives up on all.
const MAX_WALK: usize = 4;

impl Network {
    fn walk(bytes: &[u8], at: usize, kind: u16) -> Option<Network> {
        match kind {
            ethertype::IPV4 => Network::ipv4(bytes, at),
            ethertype::IPV6 => Network::ipv6(bytes, at),
            _ => None,
        }
    }

    fn ipv4(bytes: &[u8], at: usize) -> Option<Network> {
        let ip = Ipv4::at(bytes, at).filter(|ip| matches!(ip.version_ihl, 0x45..=0x4F))?;
        let next = if ip.is_fragment() {
            Next::Fragment
        } else {
            Next::Protocol(ip.protocol)
        };
        Some(Network {
            is_ipv6: false,
            is_extended: ip.version_ihl != 0x45,
            len: ip.header_len(),
            next,
        })
    }

    fn ipv6(bytes: &[u8], at: usize) -> Option<Network> {
        let first = Ipv6::at(bytes, at)?.next_header;
        let is_extended = matches!(
            first,
            protocol::HOP_BY_HOP
                | protocol::ROUTING
                | protocol::FRAGMENT
                | protocol::ESP
                | protocol::AH
                | protocol::DESTINATION_OPTIONS
        );
        let plain = Network {
            is_ipv6: true,
            is_extended,
            len: Ipv6::LEN,
            next: Next::Protocol(first),
        };
        let (len, next) = if is_extended {
            skip_extensions(bytes, at + Ipv6::LEN, first).unwrap_or((0, Next::Unknown))
        } else {
            (0, plain.next)
        };
        Some(Network {
            len: Ipv6::LEN + len,
            next,
            ..plain
        })
    }

    fn pick(self, [v4, v4_options, v6, v6_extended]: [PacketType; 4]) -> PacketType {
        match (self.is_ipv6, self.is_extended) {
            (false, false) => v4,
            (false, true) => v4_options,
            (true, false) => v6,
            (true, true) => v6_extended,
        }
    }
}

// Length of the extension headers and what follows; `None` where they can't be skipped.
fn skip_extensions(bytes: &[u8], at: usize, mut next: u8) -> Option<(usize, Next)> {
    let mut len = 0;
    for _ in 0..=MAX_WALK {
        match next {
            protocol::HOP_BY_HOP | protocol::ROUTING | protocol::DESTINATION_OPTIONS => {
                let &[following, words] = bytes.get(at + len..at + len + 2)? else {
                    return None;
                };
                next = following;
                len += (usize::from(words) + 1) * 8;
            }
            protocol::FRAGMENT => {
                Ipv6Fragment::at(bytes, at + len)?;
                return Some((len + Ipv6Fragment::LEN, Next::Fragment));
            }
            other => return Some((len, Next::Protocol(other))),
        }
    }
    None
}
