//! What icmpecho shows of each packet that arrives while `set verbose` is above zero. The text is DPDK's.

use std::fmt;

use mpps_mbuf::Mbuf;
use mpps_wire::{Arp, Ethernet, Header, Icmp, Ipv4, Vlan, ethertype, protocol};

/// One packet's block.
pub(super) struct Dump<'a> {
    pub(super) port: u16,
    pub(super) packet: &'a Mbuf,
}

impl fmt::Display for Dump<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (port, packet) = (self.port, self.packet);
        let (length, segments) = (packet.pkt_len(), packet.segments());
        writeln!(f, "\nPort {port} pkt-len={length} nb-segs={segments}")?;
        let frame = packet.data();
        let Some(ethernet) = Ethernet::at(frame, 0) else {
            return Ok(());
        };
        let (src, dst) = (ethernet.src(), ethernet.dst());
        write!(f, "  ETH:  src={src} dst={dst}")?;
        let (mut kind, mut at) = (ethernet.ethertype.get(), Ethernet::LEN);
        if kind == ethertype::VLAN
            && let Some(tag) = Vlan::at(frame, at)
        {
            write!(f, " [vlan id={}]", tag.id())?;
            kind = tag.ethertype.get();
            at += Vlan::LEN;
        }
        writeln!(f, " type=0x{kind:04x}")?;
        match kind {
            ethertype::ARP => arp(f, frame, at),
            ethertype::IPV4 => ipv4(f, frame, at),
            _ => Ok(()),
        }
    }
}

fn arp(f: &mut fmt::Formatter<'_>, frame: &[u8], at: usize) -> fmt::Result {
    let Some(arp) = Arp::at(frame, at) else {
        return Ok(());
    };
    let operation = arp.operation.get();
    writeln!(
        f,
        "  ARP:  hrd={} proto=0x{:04x} hln={} pln={} op={operation} ({})",
        arp.hardware,
        arp.protocol.get(),
        arp.hardware_len,
        arp.protocol_len,
        operation_name(operation)
    )?;
    if !arp.is_ethernet_ipv4() {
        return writeln!(f);
    }
    writeln!(
        f,
        "        sha={} sip={}",
        arp.sender_mac(),
        arp.sender_ip()
    )?;
    writeln!(
        f,
        "        tha={} tip={}",
        arp.target_mac(),
        arp.target_ip()
    )
}

fn ipv4(f: &mut fmt::Formatter<'_>, frame: &[u8], at: usize) -> fmt::Result {
    let Some(ip) = Ipv4::at(frame, at) else {
        return Ok(());
    };
    let (src, dst, number) = (ip.source(), ip.destination(), ip.protocol);
    let name = protocol_name(number);
    writeln!(f, "  IPV4: src={src} dst={dst} proto={number} ({name})")?;
    match Icmp::at(frame, at + ip.header_len()) {
        Some(icmp) if number == protocol::ICMP && icmp.is_echo_request() => {
            writeln!(f, "  ICMP: echo request seq id={}", icmp.sequence)
        }
        _ => Ok(()),
    }
}

fn operation_name(operation: u16) -> &'static str {
    match operation {
        1 => "ARP Request",
        2 => "ARP Reply",
        3 => "Reverse ARP Request",
        4 => "Reverse ARP Reply",
        8 => "Peer Identify Request",
        9 => "Peer Identify Reply",
        _ => "Unknown ARP op",
    }
}

fn protocol_name(number: u8) -> &'static str {
    match number {
        104 => "PIM",
        protocol::SCTP => "SCTP",
        255 => "RAW",
        number => PROTOCOLS
            .get(usize::from(number))
            .copied()
            .unwrap_or("UNASSIGNED"),
    }
}

/// Protocol numbers from 0 on, by the names that testpmd gives them.
#[rustfmt::skip]
const PROTOCOLS: &[&str] = &[
    "IP6HOPOPTS", "ICMP", "IGMP", "GGP", "IPv4", "UNASSIGNED", "TCP", "ST",
    "EGP", "PIGP", "RCC_MON", "NVPII", "PUP", "ARGUS", "EMCON", "XNET",
    "CHAOS", "UDP", "MUX", "DCN_MEAS", "HMP", "PRM", "XNS_IDP", "TRUNK1",
    "TRUNK2", "LEAF1", "LEAF2", "RDP", "IRTP", "TP4", "BLT", "NSP",
    "INP", "SEP", "3PC", "IDPR", "XTP", "DDP", "CMTP", "TPXX",
    "ILTP", "IPv6_HDR", "SDRP", "IPv6_RTG", "IPv6_FRAG", "IDRP", "RSVP", "GRE",
    "MHRP", "BHA", "ESP", "AH", "INLSP", "SWIPE", "NHRP", "UNASSIGNED",
    "UNASSIGNED", "UNASSIGNED", "ICMPv6", "IPv6NONEXT", "Ipv6DSTOPTS", "AHIP", "CFTP", "HELLO",
    "SATEXPAK", "KRYPTOLAN", "RVD", "IPPC", "ADFS", "SATMON", "VISA", "IPCV",
    "CPNX", "CPHB", "WSN", "PVP", "BRSATMON", "ND", "WBMON", "WBEXPAK",
    "EON", "VMTP", "SVMTP", "VINES", "TTP", "IGP", "DGP", "TCF",
    "IGRP", "OSPFIGP", "SRPC", "LARP", "MTP", "AX25", "4IN4", "MICP",
    "SCCSP", "ETHERIP", "ENCAP", "AES", "GMTP", "IPCOMP",
];

#[cfg(test)]
mod tests;
