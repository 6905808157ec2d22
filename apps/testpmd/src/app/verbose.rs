//! `set verbose`: packets printed as they pass, by the worker that has them.

use std::fmt::Write as _;
use std::io::Write as _;

use mpps_engines::{Direction, Seen};
use mpps_mbuf::{Mbuf, OffloadFlags};
use mpps_wire::MacAddr;

use crate::text::{BurstHead, PacketDump, VlanTags, dump_destination, sw_ptype};

/// Bytes of a packet that are looked at: all headers there may be.
const FRONT: usize = 256;

/// Prints a burst in one write, so that the lines of two workers don't mix.
pub(super) fn show(seen: &Seen<'_>) {
    let received = seen.direction == Direction::Received;
    let mut text = BurstHead { port: seen.port, queue: seen.queue, received, packets: seen.packets.len() }.to_string();
    for packet in seen.packets {
        // A String takes everything.
        let _ = write!(text, "{}", Shown { packet, received, queue: seen.queue });
    }
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

struct Shown<'a> {
    packet: &'a Mbuf,
    received: bool,
    queue: u16,
}

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut front = [0; FRONT];
        let n = self.packet.copy_out(0, &mut front);
        let front = &front[..n];
        let flags = self.packet.flags();
        let names: Vec<&str> = names(flags);
        let mac = |at: usize| front.get(at..).and_then(|rest| rest.first_chunk()).map_or(MacAddr::ZERO, |m| MacAddr(*m));
        let ether_type = front.get(12..14).map_or(0, |two| u16::from_be_bytes([two[0], two[1]]));
        PacketDump {
            received: self.received,
            queue: self.queue,
            src: mac(6),
            dst: mac(0),
            pool: &pool_name(self.packet),
            ether_type,
            length: self.packet.pkt_len(),
            segments: self.packet.segments(),
            rss_hash: flags.contains(OffloadFlags::RX_RSS_HASH).then(|| self.packet.rss_hash()),
            mark: None,
            timestamp: self.packet.timestamp(),
            vlan: vlan(self.packet),
            hw_ptype: None,
            sw_ptype: sw_ptype(front),
            destination: dump_destination(front, false),
            flags: &names,
        }
        .fmt(f)
    }
}

fn vlan(packet: &Mbuf) -> Option<VlanTags> {
    let flags = packet.flags();
    if flags.contains(OffloadFlags::RX_QINQ_STRIPPED) {
        Some(VlanTags::Two(packet.vlan(), packet.vlan_outer()))
    } else if flags.contains(OffloadFlags::RX_VLAN_STRIPPED) {
        Some(VlanTags::One(packet.vlan()))
    } else {
        None
    }
}

fn pool_name(packet: &Mbuf) -> String {
    let mut name = String::new();
    mpps_mbuf::for_each_pool(|info| {
        if info.id == packet.pool() {
            name.clone_from(&info.config.name);
        }
    });
    name
}

/// The names of the flags as DPDK prints them; the L4 checksum field of the transmit flags is one name of three.
fn names(flags: OffloadFlags) -> Vec<&'static str> {
    let l4 = match flags & OffloadFlags::TX_L4_MASK {
        OffloadFlags::TX_TCP_CKSUM => Some("RTE_MBUF_F_TX_TCP_CKSUM"),
        OffloadFlags::TX_SCTP_CKSUM => Some("RTE_MBUF_F_TX_SCTP_CKSUM"),
        OffloadFlags::TX_UDP_CKSUM => Some("RTE_MBUF_F_TX_UDP_CKSUM"),
        _ => None,
    };
    NAMES.iter().filter(|(flag, _)| flags.contains(*flag)).map(|(_, name)| *name).chain(l4).collect()
}

const NAMES: &[(OffloadFlags, &str)] = &[
    (OffloadFlags::RX_VLAN, "RTE_MBUF_F_RX_VLAN"),
    (OffloadFlags::RX_RSS_HASH, "RTE_MBUF_F_RX_RSS_HASH"),
    (OffloadFlags::RX_FDIR, "RTE_MBUF_F_RX_FDIR"),
    (OffloadFlags::RX_L4_CKSUM_BAD, "RTE_MBUF_F_RX_L4_CKSUM_BAD"),
    (OffloadFlags::RX_L4_CKSUM_GOOD, "RTE_MBUF_F_RX_L4_CKSUM_GOOD"),
    (OffloadFlags::RX_IP_CKSUM_BAD, "RTE_MBUF_F_RX_IP_CKSUM_BAD"),
    (OffloadFlags::RX_IP_CKSUM_GOOD, "RTE_MBUF_F_RX_IP_CKSUM_GOOD"),
    (OffloadFlags::RX_OUTER_IP_CKSUM_BAD, "RTE_MBUF_F_RX_OUTER_IP_CKSUM_BAD"),
    (OffloadFlags::RX_VLAN_STRIPPED, "RTE_MBUF_F_RX_VLAN_STRIPPED"),
    (OffloadFlags::RX_QINQ_STRIPPED, "RTE_MBUF_F_RX_QINQ_STRIPPED"),
    (OffloadFlags::RX_QINQ, "RTE_MBUF_F_RX_QINQ"),
    (OffloadFlags::RX_LRO, "RTE_MBUF_F_RX_LRO"),
    (OffloadFlags::TX_VLAN, "RTE_MBUF_F_TX_VLAN"),
    (OffloadFlags::TX_QINQ, "RTE_MBUF_F_TX_QINQ"),
    (OffloadFlags::TX_IP_CKSUM, "RTE_MBUF_F_TX_IP_CKSUM"),
    (OffloadFlags::TX_IPV4, "RTE_MBUF_F_TX_IPV4"),
    (OffloadFlags::TX_IPV6, "RTE_MBUF_F_TX_IPV6"),
    (OffloadFlags::TX_TCP_SEG, "RTE_MBUF_F_TX_TCP_SEG"),
    (OffloadFlags::TX_OUTER_IP_CKSUM, "RTE_MBUF_F_TX_OUTER_IP_CKSUM"),
    (OffloadFlags::TX_OUTER_IPV4, "RTE_MBUF_F_TX_OUTER_IPV4"),
    (OffloadFlags::TX_OUTER_IPV6, "RTE_MBUF_F_TX_OUTER_IPV6"),
];
