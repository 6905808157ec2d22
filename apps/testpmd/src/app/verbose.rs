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
    let mut text = BurstHead {
        port: seen.port,
        queue: seen.queue,
        received,
        packets: seen.packets.len(),
    }
    .to_string();
    for packet in seen.packets {
        // A String takes everything.
        let _ = write!(
            text,
            "{}",
            Shown {
                packet,
                received,
                queue: seen.queue
            }
        );
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
        let names: Vec<&str> = names(flags, self.received);
        let mac = |at: usize| {
            front
                .get(at..)
                .and_then(|rest| rest.first_chunk())
                .map_or(MacAddr::ZERO, |m| MacAddr(*m))
        };
        let ether_type = front
            .get(12..14)
            .map_or(0, |two| u16::from_be_bytes([two[0], two[1]]));
        PacketDump {
            received: self.received,
            queue: self.queue,
            src: mac(6),
            dst: mac(0),
            pool: &pool_name(self.packet),
            ether_type,
            length: self.packet.pkt_len(),
            segments: self.packet.segments(),
            rss_hash: flags
                .contains(OffloadFlags::RX_RSS_HASH)
                .then(|| self.packet.rss_hash()),
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

/// The names of the flags of one direction, in DPDK's order. Fields of several bits are named whatever they say, so that a
/// packet without a flag still has names.
fn names(flags: OffloadFlags, received: bool) -> Vec<&'static str> {
    let table = if received { RECEIVED } else { SENT };
    table
        .iter()
        .filter(|(mask, value, _)| (flags & *mask) == *value)
        .map(|(_, _, name)| *name)
        .collect()
}

/// The bits of a field, what they say, and its name.
type Named = (OffloadFlags, OffloadFlags, &'static str);

const fn flag(bit: OffloadFlags, name: &'static str) -> Named {
    (bit, bit, name)
}

const RX_L4: OffloadFlags = OffloadFlags::RX_L4_CKSUM_BAD.union(OffloadFlags::RX_L4_CKSUM_GOOD);
const RX_IP: OffloadFlags = OffloadFlags::RX_IP_CKSUM_BAD.union(OffloadFlags::RX_IP_CKSUM_GOOD);
const RX_OUTER_L4: OffloadFlags =
    OffloadFlags::RX_OUTER_L4_CKSUM_BAD.union(OffloadFlags::RX_OUTER_L4_CKSUM_GOOD);
const NONE: OffloadFlags = OffloadFlags::empty();

const RECEIVED: &[Named] = &[
    flag(OffloadFlags::RX_VLAN, "RTE_MBUF_F_RX_VLAN"),
    flag(OffloadFlags::RX_RSS_HASH, "RTE_MBUF_F_RX_RSS_HASH"),
    flag(OffloadFlags::RX_FDIR, "RTE_MBUF_F_RX_FDIR"),
    (
        RX_L4,
        OffloadFlags::RX_L4_CKSUM_BAD,
        "RTE_MBUF_F_RX_L4_CKSUM_BAD",
    ),
    (
        RX_L4,
        OffloadFlags::RX_L4_CKSUM_GOOD,
        "RTE_MBUF_F_RX_L4_CKSUM_GOOD",
    ),
    (RX_L4, RX_L4, "RTE_MBUF_F_RX_L4_CKSUM_NONE"),
    (RX_L4, NONE, "RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN"),
    (
        RX_IP,
        OffloadFlags::RX_IP_CKSUM_BAD,
        "RTE_MBUF_F_RX_IP_CKSUM_BAD",
    ),
    (
        RX_IP,
        OffloadFlags::RX_IP_CKSUM_GOOD,
        "RTE_MBUF_F_RX_IP_CKSUM_GOOD",
    ),
    (RX_IP, RX_IP, "RTE_MBUF_F_RX_IP_CKSUM_NONE"),
    (RX_IP, NONE, "RTE_MBUF_F_RX_IP_CKSUM_UNKNOWN"),
    flag(
        OffloadFlags::RX_OUTER_IP_CKSUM_BAD,
        "RTE_MBUF_F_RX_OUTER_IP_CKSUM_BAD",
    ),
    flag(
        OffloadFlags::RX_VLAN_STRIPPED,
        "RTE_MBUF_F_RX_VLAN_STRIPPED",
    ),
    flag(OffloadFlags::RX_IEEE1588_PTP, "RTE_MBUF_F_RX_IEEE1588_PTP"),
    flag(
        OffloadFlags::RX_IEEE1588_TMST,
        "RTE_MBUF_F_RX_IEEE1588_TMST",
    ),
    flag(OffloadFlags::RX_FDIR_ID, "RTE_MBUF_F_RX_FDIR_ID"),
    flag(
        OffloadFlags::RX_QINQ_STRIPPED,
        "RTE_MBUF_F_RX_QINQ_STRIPPED",
    ),
    flag(OffloadFlags::RX_LRO, "RTE_MBUF_F_RX_LRO"),
    (
        RX_OUTER_L4,
        OffloadFlags::RX_OUTER_L4_CKSUM_BAD,
        "RTE_MBUF_F_RX_OUTER_L4_CKSUM_BAD",
    ),
    (
        RX_OUTER_L4,
        OffloadFlags::RX_OUTER_L4_CKSUM_GOOD,
        "RTE_MBUF_F_RX_OUTER_L4_CKSUM_GOOD",
    ),
    (
        RX_OUTER_L4,
        RX_OUTER_L4,
        "RTE_MBUF_F_RX_OUTER_L4_CKSUM_INVALID",
    ),
    (RX_OUTER_L4, NONE, "RTE_MBUF_F_RX_OUTER_L4_CKSUM_UNKNOWN"),
];

const SENT: &[Named] = &[
    flag(OffloadFlags::TX_VLAN, "RTE_MBUF_F_TX_VLAN"),
    flag(OffloadFlags::TX_QINQ, "RTE_MBUF_F_TX_QINQ"),
    flag(OffloadFlags::TX_IP_CKSUM, "RTE_MBUF_F_TX_IP_CKSUM"),
    (
        OffloadFlags::TX_L4_MASK,
        OffloadFlags::TX_TCP_CKSUM,
        "RTE_MBUF_F_TX_TCP_CKSUM",
    ),
    (
        OffloadFlags::TX_L4_MASK,
        OffloadFlags::TX_SCTP_CKSUM,
        "RTE_MBUF_F_TX_SCTP_CKSUM",
    ),
    (
        OffloadFlags::TX_L4_MASK,
        OffloadFlags::TX_UDP_CKSUM,
        "RTE_MBUF_F_TX_UDP_CKSUM",
    ),
    (OffloadFlags::TX_L4_MASK, NONE, "RTE_MBUF_F_TX_L4_NO_CKSUM"),
    flag(
        OffloadFlags::TX_IEEE1588_TMST,
        "RTE_MBUF_F_TX_IEEE1588_TMST",
    ),
    flag(OffloadFlags::TX_TCP_SEG, "RTE_MBUF_F_TX_TCP_SEG"),
    flag(OffloadFlags::TX_IPV4, "RTE_MBUF_F_TX_IPV4"),
    flag(OffloadFlags::TX_IPV6, "RTE_MBUF_F_TX_IPV6"),
    flag(
        OffloadFlags::TX_OUTER_IP_CKSUM,
        "RTE_MBUF_F_TX_OUTER_IP_CKSUM",
    ),
    flag(OffloadFlags::TX_OUTER_IPV4, "RTE_MBUF_F_TX_OUTER_IPV4"),
    flag(OffloadFlags::TX_OUTER_IPV6, "RTE_MBUF_F_TX_OUTER_IPV6"),
    flag(OffloadFlags::TX_MACSEC, "RTE_MBUF_F_TX_MACSEC"),
    flag(OffloadFlags::TX_UDP_SEG, "RTE_MBUF_F_TX_UDP_SEG"),
    flag(
        OffloadFlags::TX_OUTER_UDP_CKSUM,
        "RTE_MBUF_F_TX_OUTER_UDP_CKSUM",
    ),
];

#[cfg(test)]
mod tests {
    //! Names of flags, against the texts that stand for no flag at all.

    use super::*;
    use crate::text::{RX_NO_OFFLOAD, TX_NO_OFFLOAD};

    #[test]
    fn a_packet_that_no_port_has_looked_into() {
        assert_eq!(names(NONE, true), RX_NO_OFFLOAD);
        assert_eq!(names(NONE, false), TX_NO_OFFLOAD);
    }

    #[test]
    fn fields_say_one_thing() {
        let flags =
            OffloadFlags::RX_RSS_HASH | OffloadFlags::RX_IP_CKSUM_GOOD | OffloadFlags::TX_UDP_CKSUM;
        let want = [
            "RTE_MBUF_F_RX_RSS_HASH",
            "RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN",
            "RTE_MBUF_F_RX_IP_CKSUM_GOOD",
            "RTE_MBUF_F_RX_OUTER_L4_CKSUM_UNKNOWN",
        ];
        assert_eq!(names(flags, true), want);
        assert_eq!(names(flags, false), ["RTE_MBUF_F_TX_UDP_CKSUM"]);
    }
}
