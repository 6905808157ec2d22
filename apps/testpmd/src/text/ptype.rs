//! Packet types found by software: what the verbose dump calls `sw ptype`, with the length of each layer.
//!
//! A pure function of a frame's first segment; the dump calls it once a packet, the data path never. It names what DPDK's
//! `rte_net_get_ptype` names for plain, tagged and fragmented IPv4, IPv6, TCP, UDP and SCTP, and for IP in IP, GRE, VXLAN and
//! Geneve tunnels (not for GTP and VXLAN-GPE). Its oddities are kept, because dumps are compared:
//!
//! - IP protocols 1, 2 and 3 (ICMP, IGMP, GGP) are also the numbers of VXLAN-GPE's next protocols, and their messages are read
//!   as inner IPv4, IPv6 and Ethernet headers: an echo request may appear as `INNER_L4_FRAG`, depending on its sequence number.
//! - `inner_l2_len` counts the tunnel's own headers too.
//!
//! Why not [`mpps_wire::classify`]: it names only what is really there, as the data path wants it, while a dump has to name
//! what 26.11 takes malformed and misread headers for. A test holds the two to the same names on well-formed frames.

use std::fmt;

/// A packet's layers: a name and a length in bytes for each that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SwPtype {
    layers: [Option<(&'static str, u16)>; 7],
}

/// The labels of the lengths, in the order of [`SwPtype::lengths`].
pub const LAYER_LENGTHS: [&str; 7] = [
    "l2_len",
    "l3_len",
    "l4_len",
    "tunnel_len",
    "inner_l2_len",
    "inner_l3_len",
    "inner_l4_len",
];

const L2: usize = 0;
const L3: usize = 1;
const L4: usize = 2;
const TUNNEL: usize = 3;
/// Where the inner layers begin.
const INNER: usize = 4;

impl SwPtype {
    /// The length of each layer that is there.
    pub fn lengths(&self) -> [Option<u16>; 7] {
        self.layers.map(|layer| layer.map(|(_, length)| length))
    }

    /// The names of the layers that are there.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.layers.into_iter().flatten().map(|(name, _)| name)
    }
}

/// The names with a blank behind each; `UNKNOWN` for a frame too short for Ethernet.
impl fmt::Display for SwPtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.layers[L2].is_none() {
            return f.write_str("UNKNOWN");
        }
        self.names().try_for_each(|name| write!(f, "{name} "))
    }
}

/// Looks into a frame, which begins with its destination address.
pub fn sw_ptype(frame: &[u8]) -> SwPtype {
    let mut walk = Walk {
        frame,
        at: 0,
        tunnel: 0,
        found: SwPtype::default(),
    };
    // What is missing ends the walk; the layers found so far stand.
    let _ended = walk.outer();
    walk.found
}

/// What follows a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Ether(u16),
    Protocol(u8),
}

struct Walk<'a> {
    frame: &'a [u8],
    at: usize,
    /// Bytes between the outer IP header and what the tunnel carries.
    tunnel: usize,
    found: SwPtype,
}

/// EtherTypes.
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86DD;
const VLAN: u16 = 0x8100;
const QINQ: u16 = 0x88A8;
const TEB: u16 = 0x6558;
/// IP protocol numbers.
const PROTO_IPIP: u8 = 4;
const PROTO_TCP: u8 = 6;
const PROTO_UDP: u8 = 17;
const PROTO_IPV6: u8 = 41;
const PROTO_GRE: u8 = 47;
const PROTO_SCTP: u8 = 132;
/// UDP ports.
const VXLAN_PORT: u16 = 4789;
const GENEVE_PORT: u16 = 6081;
/// VXLAN-GPE's next protocols, which collide with ICMP, IGMP and GGP.
const GPE_IPV4: u8 = 1;
const GPE_IPV6: u8 = 2;
const GPE_ETHER: u8 = 3;

impl Walk<'_> {
    fn outer(&mut self) -> Option<()> {
        let next = self.ethernet(L2, ["L2_ETHER", "L2_ETHER_VLAN", "L2_ETHER_QINQ"])?;
        let next = self.network(
            next,
            L3,
            ["L3_IPV4", "L3_IPV4_EXT", "L3_IPV6", "L3_IPV6_EXT"],
            "L4_FRAG",
        )?;
        self.transport(next, L4, ["L4_TCP", "L4_UDP", "L4_SCTP"])?;
        let next = self.tunnel(next)?;
        self.inner(next)
    }

    fn inner(&mut self, next: Next) -> Option<()> {
        let next = match next {
            Next::Ether(TEB) | Next::Protocol(GPE_ETHER) => self.ethernet(
                INNER,
                [
                    "INNER_L2_ETHER",
                    "INNER_L2_ETHER_VLAN",
                    "INNER_L2_ETHER_QINQ",
                ],
            )?,
            other => other,
        };
        let names = [
            "INNER_L3_IPV4",
            "INNER_L3_IPV4_EXT",
            "INNER_L3_IPV6",
            "INNER_L3_IPV6_EXT",
        ];
        let next = self.network(next, INNER + L3, names, "INNER_L4_FRAG")?;
        self.transport(
            next,
            INNER + L4,
            ["INNER_L4_TCP", "INNER_L4_UDP", "INNER_L4_SCTP"],
        )
    }

    fn byte(&self, offset: usize) -> Option<u8> {
        self.frame.get(self.at + offset).copied()
    }

    fn word(&self, offset: usize) -> Option<u16> {
        Some(u16::from_be_bytes(
            *self.frame.get(self.at + offset..)?.first_chunk()?,
        ))
    }

    fn note(&mut self, which: usize, name: &'static str, length: usize) {
        self.found.layers[which] = Some((name, u16::try_from(length).unwrap_or(u16::MAX)));
    }

    /// Notes a tunnel's header and steps over it; `before` are bytes already stepped over that belong to the tunnel.
    fn carrier(&mut self, name: &'static str, before: usize, length: usize) {
        self.note(TUNNEL, name, length);
        self.at += length;
        self.tunnel = before + length;
    }

    fn ethernet(&mut self, which: usize, [plain, vlan, qinq]: [&'static str; 3]) -> Option<Next> {
        let (start, mut name) = (self.at, plain);
        let mut ether_type = self.word(12)?;
        self.at += 14;
        self.note(which, name, self.at - start + self.tunnel);
        while matches!(ether_type, VLAN | QINQ) {
            // One 0x88a8 among several tags decides. (26.11 names a single VLAN tag QINQ too, by a slip; 22.11 didn't.)
            name = if ether_type == QINQ || name == qinq {
                qinq
            } else {
                vlan
            };
            self.note(which, name, self.at - start + self.tunnel);
            ether_type = self.word(2)?;
            self.at += 4;
            self.note(which, name, self.at - start + self.tunnel);
        }
        Some(Next::Ether(ether_type))
    }

    fn network(
        &mut self,
        next: Next,
        which: usize,
        names: [&'static str; 4],
        frag: &'static str,
    ) -> Option<Next> {
        let (fragment, protocol) = match next {
            Next::Ether(IPV4) | Next::Protocol(PROTO_IPIP | GPE_IPV4) => self.ipv4(which, names)?,
            Next::Ether(IPV6) | Next::Protocol(PROTO_IPV6 | GPE_IPV6) => self.ipv6(which, names)?,
            _ => return None,
        };
        if fragment {
            self.note(which + 1, frag, 0);
            return None;
        }
        Some(Next::Protocol(protocol))
    }

    fn ipv4(
        &mut self,
        which: usize,
        [plain, options, ..]: [&'static str; 4],
    ) -> Option<(bool, u8)> {
        self.byte(19)?;
        let (first, fragment, protocol) =
            (self.byte(0)?, self.word(6)? & 0x3FFF != 0, self.byte(9)?);
        let length = usize::from(first & 15) * 4;
        // Only a first byte that can be right is named; the walk goes on in any case.
        match first {
            0x45 => self.note(which, plain, length),
            0x46..=0x4F => self.note(which, options, length),
            _ => {}
        }
        self.at += length;
        Some((fragment, protocol))
    }

    fn ipv6(
        &mut self,
        which: usize,
        [.., plain, extended]: [&'static str; 4],
    ) -> Option<(bool, u8)> {
        self.byte(39)?;
        let first = self.byte(6)?;
        if !matches!(first, 0 | 43 | 44 | 50 | 51 | 60) {
            self.note(which, plain, 40);
            self.at += 40;
            return Some((false, first));
        }
        // A chain that leads nowhere keeps the fixed header's length.
        self.note(which, extended, 40);
        let (next, length, fragment) = self.extensions(first)?;
        self.note(which, extended, length);
        self.at += length;
        Some((fragment, next))
    }

    /// What follows the extension headers, the length with them, and whether this is a fragment. ESP and AH end the chain.
    fn extensions(&self, first: u8) -> Option<(u8, usize, bool)> {
        let (mut next, mut length) = (first, 40);
        // At most five, so that a crafted chain can't hold us up.
        for _ in 0..5 {
            let step = match next {
                0 | 43 | 60 => (usize::from(self.byte(length + 1)?) + 1) * 8,
                44 => return Some((self.word(length).and(self.byte(length))?, length + 8, true)),
                other => return Some((other, length, false)),
            };
            next = self.byte(length)?;
            length += step;
        }
        None
    }

    /// Notes the fourth layer without stepping over it.
    fn transport(
        &mut self,
        next: Next,
        which: usize,
        [tcp, udp, sctp]: [&'static str; 3],
    ) -> Option<()> {
        let (name, length) = match next {
            Next::Protocol(PROTO_TCP) => {
                (tcp, u16::from(self.byte(19).and(self.byte(12))? >> 4) * 4)
            }
            Next::Protocol(PROTO_UDP) => (udp, 8),
            Next::Protocol(PROTO_SCTP) => (sctp, 12),
            _ => return Some(()),
        };
        self.found.layers[which] = Some((name, length));
        Some(())
    }

    fn tunnel(&mut self, next: Next) -> Option<Next> {
        match next {
            Next::Protocol(PROTO_IPIP | PROTO_IPV6) => self.carrier("TUNNEL_IP", 0, 0),
            Next::Protocol(PROTO_GRE) => return self.gre(),
            Next::Protocol(PROTO_UDP) => return self.over_udp(),
            _ => {}
        }
        Some(next)
    }

    fn gre(&mut self) -> Option<Next> {
        let (flags, protocol) = (self.word(0)?, self.word(2)?);
        // Checksum, key and sequence number: four bytes each, when present. Bit 1 was routing, which nobody parses.
        let extra = [0x8000, 0x2000, 0x1000]
            .iter()
            .filter(|flag| flags & *flag != 0)
            .count();
        if flags & 0x4000 != 0 {
            return None;
        }
        let name = if protocol == TEB {
            "TUNNEL_NVGRE"
        } else {
            "TUNNEL_GRE"
        };
        self.carrier(name, 0, 4 + 4 * extra);
        Some(Next::Ether(protocol))
    }

    fn over_udp(&mut self) -> Option<Next> {
        const UDP: usize = 8;
        let port = self.word(2)?;
        self.byte(UDP - 1)?;
        self.at += UDP;
        match port {
            VXLAN_PORT => {
                self.carrier("TUNNEL_VXLAN", UDP, 8);
                Some(Next::Ether(TEB))
            }
            GENEVE_PORT => {
                self.byte(7)?;
                let (options, protocol) = (usize::from(self.byte(0)? & 0x3F), self.word(2)?);
                self.carrier("TUNNEL_GENEVE", UDP, 8 + 4 * options);
                Some(Next::Ether(if protocol == 0 { IPV4 } else { protocol }))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
#[path = "ptype_tests.rs"]
mod tests;
