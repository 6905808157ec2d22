//! Packet types: a word that names the kind of each layer, as receive descriptors and the verbose dump carry it.
//!
//! [`classify`] is the software side, which testpmd prints as `sw ptype` with the lengths of the headers. It names what
//! DPDK 22.11 names. On malformed packets it is stricter: what doesn't exist isn't named.

use core::fmt;

mod classify;

pub use classify::classify;

/// Kinds of all layers of a packet in 28 bits, 4 a layer; 0 in a layer says unknown or absent.
///
/// The numbers are an interface (`set port N ptype_mask` takes them): L2 in the lowest four bits, then L3, L4, tunnel,
/// inner L2, inner L3, inner L4.
///
/// ```
/// use mpps_wire::PacketType;
///
/// let kind = PacketType::L2_ETHER | PacketType::L3_IPV4 | PacketType::L4_UDP;
/// assert_eq!((kind.to_string(), kind.bits()), ("L2_ETHER L3_IPV4 L4_UDP ".to_owned(), 0x211));
/// assert_eq!(PacketType::default().to_string(), "UNKNOWN");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct PacketType(u32);

/// Declares the constants and the table of names in one go.
macro_rules! packet_types {
    ($($name:ident = $bits:literal, $doc:literal;)*) => {
        impl PacketType {
            $(#[doc = $doc] pub const $name: PacketType = PacketType($bits);)*

            /// Every single kind with its name, layer by layer.
            pub const NAMES: &[(PacketType, &str)] = &[$((PacketType($bits), stringify!($name))),*];
        }
    };
}

packet_types! {
    L2_ETHER = 0x1, "Ethernet.";
    L2_ETHER_TIMESYNC = 0x2, "Ethernet with precision time protocol.";
    L2_ETHER_ARP = 0x3, "Ethernet with ARP.";
    L2_ETHER_LLDP = 0x4, "Ethernet with LLDP.";
    L2_ETHER_NSH = 0x5, "Ethernet with a network service header.";
    L2_ETHER_VLAN = 0x6, "Ethernet with a VLAN tag.";
    L2_ETHER_QINQ = 0x7, "Ethernet with a service tag.";
    L2_ETHER_PPPOE = 0x8, "Ethernet with PPPoE.";
    L2_ETHER_FCOE = 0x9, "Ethernet with Fibre Channel.";
    L2_ETHER_MPLS = 0xA, "Ethernet with MPLS.";
    L3_IPV4 = 0x10, "IPv4 without options.";
    L3_IPV4_EXT = 0x30, "IPv4 with options.";
    L3_IPV6 = 0x40, "IPv6 without extension headers.";
    L3_IPV4_EXT_UNKNOWN = 0x90, "IPv4, options or not.";
    L3_IPV6_EXT = 0xC0, "IPv6 with extension headers.";
    L3_IPV6_EXT_UNKNOWN = 0xE0, "IPv6, extension headers or not.";
    L4_TCP = 0x100, "TCP.";
    L4_UDP = 0x200, "UDP.";
    L4_FRAG = 0x300, "A fragment.";
    L4_SCTP = 0x400, "SCTP.";
    L4_ICMP = 0x500, "ICMP.";
    L4_NONFRAG = 0x600, "Another protocol, not a fragment.";
    L4_IGMP = 0x700, "IGMP.";
    TUNNEL_IP = 0x1000, "IP in IP.";
    TUNNEL_GRE = 0x2000, "GRE.";
    TUNNEL_VXLAN = 0x3000, "VXLAN.";
    TUNNEL_NVGRE = 0x4000, "GRE with Ethernet inside.";
    TUNNEL_GENEVE = 0x5000, "Geneve.";
    TUNNEL_GRENAT = 0x6000, "Any of the tunnels over UDP or GRE.";
    TUNNEL_GTPC = 0x7000, "GTP control plane.";
    TUNNEL_GTPU = 0x8000, "GTP user plane.";
    TUNNEL_ESP = 0x9000, "IPsec ESP.";
    TUNNEL_L2TP = 0xA000, "L2TP.";
    TUNNEL_VXLAN_GPE = 0xB000, "VXLAN-GPE.";
    TUNNEL_MPLS_IN_GRE = 0xC000, "MPLS in GRE.";
    TUNNEL_MPLS_IN_UDP = 0xD000, "MPLS in UDP.";
    INNER_L2_ETHER = 0x1_0000, "Inner Ethernet.";
    INNER_L2_ETHER_VLAN = 0x2_0000, "Inner Ethernet with a VLAN tag.";
    INNER_L2_ETHER_QINQ = 0x3_0000, "Inner Ethernet with a service tag.";
    INNER_L3_IPV4 = 0x10_0000, "Inner IPv4 without options.";
    INNER_L3_IPV4_EXT = 0x20_0000, "Inner IPv4 with options.";
    INNER_L3_IPV6 = 0x30_0000, "Inner IPv6 without extension headers.";
    INNER_L3_IPV4_EXT_UNKNOWN = 0x40_0000, "Inner IPv4, options or not.";
    INNER_L3_IPV6_EXT = 0x50_0000, "Inner IPv6 with extension headers.";
    INNER_L3_IPV6_EXT_UNKNOWN = 0x60_0000, "Inner IPv6, extension headers or not.";
    INNER_L4_TCP = 0x100_0000, "Inner TCP.";
    INNER_L4_UDP = 0x200_0000, "Inner UDP.";
    INNER_L4_FRAG = 0x300_0000, "An inner fragment.";
    INNER_L4_SCTP = 0x400_0000, "Inner SCTP.";
    INNER_L4_ICMP = 0x500_0000, "Inner ICMP.";
    INNER_L4_NONFRAG = 0x600_0000, "Another inner protocol, not a fragment.";
}

/// Name of a layer's kind that has no name, by layer from the lowest.
const UNKNOWN: [&str; 7] = [
    "L2_UNKNOWN",
    "L3_UNKNOWN",
    "L4_UNKNOWN",
    "TUNNEL_UNKNOWN",
    "INNER_L2_UNKNOWN",
    "INNER_L3_UNKNOWN",
    "INNER_L4_UNKNOWN",
];

impl PacketType {
    /// All bits of L2.
    pub const L2_MASK: u32 = 0xF;
    /// All bits of L3.
    pub const L3_MASK: u32 = 0xF0;
    /// All bits of L4.
    pub const L4_MASK: u32 = 0xF00;
    /// All bits of the tunnel.
    pub const TUNNEL_MASK: u32 = 0xF000;
    /// All bits of the inner L2.
    pub const INNER_L2_MASK: u32 = 0xF_0000;
    /// All bits of the inner L3.
    pub const INNER_L3_MASK: u32 = 0xF0_0000;
    /// All bits of the inner L4.
    pub const INNER_L4_MASK: u32 = 0xF00_0000;
    /// All bits that mean anything.
    pub const ALL_MASK: u32 = 0xFFF_FFFF;

    /// From a word; bits beyond the seven layers are dropped.
    #[inline]
    pub const fn from_bits(bits: u32) -> PacketType {
        PacketType(bits & PacketType::ALL_MASK)
    }

    /// The word.
    #[inline]
    pub const fn bits(self) -> u32 {
        self.0
    }

    /// Something is known in the layers of `mask`.
    #[inline]
    pub const fn has(self, mask: u32) -> bool {
        self.0 & mask != 0
    }

    /// The layers of `mask` are of the kinds that `kind` names.
    #[inline]
    pub const fn is(self, mask: u32, kind: PacketType) -> bool {
        self.0 & mask == kind.0
    }
}

impl core::ops::BitOr for PacketType {
    type Output = PacketType;

    fn bitor(self, other: PacketType) -> PacketType {
        PacketType(self.0 | other.0)
    }
}

impl core::ops::BitOrAssign for PacketType {
    fn bitor_assign(&mut self, other: PacketType) {
        self.0 |= other.0;
    }
}

/// The names of the known layers, a blank behind each; `UNKNOWN` where there are none.
impl fmt::Display for PacketType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 == 0 {
            return f.write_str("UNKNOWN");
        }
        for (layer, unknown) in UNKNOWN.iter().enumerate() {
            let kind = self.0 & (0xF << (4 * layer));
            let name = PacketType::NAMES
                .iter()
                .find(|(known, _)| known.0 == kind)
                .map_or(*unknown, |(_, name)| *name);
            if kind != 0 {
                write!(f, "{name} ")?;
            }
        }
        Ok(())
    }
}

/// Lengths of the headers of a packet in bytes, as the verbose dump prints them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HeaderLengths {
    /// Ethernet and tags.
    pub l2_len: u16,
    /// IP with options or extension headers.
    pub l3_len: u16,
    /// TCP with options, UDP, SCTP; 0 for a fragment.
    pub l4_len: u16,
    /// Tunnel header, without outer UDP; 0 for IP in IP.
    pub tunnel_len: u16,
    /// Inner Ethernet and tags.
    pub inner_l2_len: u16,
    /// Inner IP.
    pub inner_l3_len: u16,
    /// Inner L4.
    pub inner_l4_len: u16,
}

/// What [`classify`] found.
///
/// Its text is what stands behind `sw ptype: ` in the verbose dump: the names, then the length of each layer named.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Classified {
    /// Kinds of the layers.
    pub packet_type: PacketType,
    /// Lengths of their headers.
    pub lengths: HeaderLengths,
}

impl fmt::Display for Classified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.packet_type, f)?;
        let lengths = &self.lengths;
        for (mask, name, len) in [
            (PacketType::L2_MASK, "l2_len", lengths.l2_len),
            (PacketType::L3_MASK, "l3_len", lengths.l3_len),
            (PacketType::L4_MASK, "l4_len", lengths.l4_len),
            (PacketType::TUNNEL_MASK, "tunnel_len", lengths.tunnel_len),
            (
                PacketType::INNER_L2_MASK,
                "inner_l2_len",
                lengths.inner_l2_len,
            ),
            (
                PacketType::INNER_L3_MASK,
                "inner_l3_len",
                lengths.inner_l3_len,
            ),
            (
                PacketType::INNER_L4_MASK,
                "inner_l4_len",
                lengths.inner_l4_len,
            ),
        ] {
            if self.packet_type.has(mask) {
                write!(f, " - {name}={len}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
