//! The names of offload flags as DPDK prints them, for dumps of packets.

use crate::OffloadFlags;

impl OffloadFlags {
    /// The names of the receive flags, in DPDK's order. Fields of several bits are named whatever they say, so that a packet
    /// without a flag still has names.
    pub fn received_names(self) -> impl Iterator<Item = &'static str> {
        named(self, RECEIVED)
    }

    /// The names of the transmit flags, likewise.
    pub fn sent_names(self) -> impl Iterator<Item = &'static str> {
        named(self, SENT)
    }
}

fn named(flags: OffloadFlags, table: &'static [Named]) -> impl Iterator<Item = &'static str> {
    table
        .iter()
        .filter(move |(mask, value, _)| (flags & *mask) == *value)
        .map(|(_, _, name)| *name)
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
    flag(OffloadFlags::RX_QINQ, "RTE_MBUF_F_RX_QINQ"),
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
    //! Fields say one thing each.

    use super::OffloadFlags;

    #[test]
    fn a_field_has_one_name() {
        let flags =
            OffloadFlags::RX_RSS_HASH | OffloadFlags::RX_IP_CKSUM_GOOD | OffloadFlags::TX_UDP_CKSUM;
        let received: Vec<_> = flags.received_names().collect();
        assert_eq!(
            received,
            [
                "RTE_MBUF_F_RX_RSS_HASH",
                "RTE_MBUF_F_RX_L4_CKSUM_UNKNOWN",
                "RTE_MBUF_F_RX_IP_CKSUM_GOOD",
                "RTE_MBUF_F_RX_OUTER_L4_CKSUM_UNKNOWN"
            ]
        );
        assert_eq!(
            flags.sent_names().collect::<Vec<_>>(),
            ["RTE_MBUF_F_TX_UDP_CKSUM"]
        );
    }
}
