//! Offload metadata of an mbuf: flags that travel with a packet, and the header lengths a transmit offload needs.

bitflags::bitflags! {
    /// What a receive path found out about a packet, and what a transmit path is asked to do.
    ///
    /// Names are those that testpmd prints (`RTE_MBUF_F_RX_VLAN` is `RX_VLAN` here); the bit numbers are DPDK's.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct OffloadFlags: u64 {
        /// The VLAN tag in [`crate::Mbuf::vlan`] is valid.
        const RX_VLAN = 1 << 0;
        /// [`crate::Mbuf::rss_hash`] is valid.
        const RX_RSS_HASH = 1 << 1;
        /// A flow rule marked the packet.
        const RX_FDIR = 1 << 2;
        /// The L4 checksum is wrong.
        const RX_L4_CKSUM_BAD = 1 << 3;
        /// The IPv4 header checksum is wrong.
        const RX_IP_CKSUM_BAD = 1 << 4;
        /// The outer IPv4 header checksum is wrong.
        const RX_OUTER_IP_CKSUM_BAD = 1 << 5;
        /// The VLAN tag was taken out of the data.
        const RX_VLAN_STRIPPED = 1 << 6;
        /// The IPv4 header checksum is right.
        const RX_IP_CKSUM_GOOD = 1 << 7;
        /// The L4 checksum is right.
        const RX_L4_CKSUM_GOOD = 1 << 8;
        /// A PTP packet over Ethernet.
        const RX_IEEE1588_PTP = 1 << 9;
        /// A PTP packet that was timestamped.
        const RX_IEEE1588_TMST = 1 << 10;
        /// The flow mark is valid.
        const RX_FDIR_ID = 1 << 13;
        /// Two VLAN tags were taken out of the data.
        const RX_QINQ_STRIPPED = 1 << 15;
        /// Coalesced by LRO; the segment size is in the TSO field.
        const RX_LRO = 1 << 16;
        /// [`crate::Mbuf::timestamp`] is valid.
        const RX_TIMESTAMP = 1 << 17;
        /// Both VLAN tags are valid.
        const RX_QINQ = 1 << 20;
        /// The outer L4 checksum is wrong.
        const RX_OUTER_L4_CKSUM_BAD = 1 << 21;
        /// The outer L4 checksum is right.
        const RX_OUTER_L4_CKSUM_GOOD = 1 << 22;
        /// The packet is TCP over IPv4, to be cut; see [`crate::Gso`]. This and the next four are bits of our own.
        const RX_GSO_TCPV4 = 1 << 34;
        /// The packet is TCP over IPv6, to be cut.
        const RX_GSO_TCPV6 = 1 << 35;
        /// The packet is UDP, to be cut into datagrams.
        const RX_GSO_UDP = 1 << 36;
        /// The TCP header of the packet to be cut has ECN bits.
        const RX_GSO_ECN = 1 << 37;
        /// The L4 checksum is not computed yet; see [`crate::PartialChecksum`].
        const RX_PARTIAL_CKSUM = 1 << 38;
        /// [`crate::Mbuf::packet_type`] is valid (a bit of our own: it spares a receive path a store a packet).
        const RX_PACKET_TYPE = 1 << 39;

        /// Compute the outer UDP checksum.
        const TX_OUTER_UDP_CKSUM = 1 << 41;
        /// Segment UDP.
        const TX_UDP_SEG = 1 << 42;
        /// Encrypt (MACsec).
        const TX_MACSEC = 1 << 44;
        /// Insert both VLAN tags.
        const TX_QINQ = 1 << 49;
        /// Segment TCP by the TSO size.
        const TX_TCP_SEG = 1 << 50;
        /// Timestamp this PTP packet.
        const TX_IEEE1588_TMST = 1 << 51;
        /// Compute the TCP checksum.
        const TX_TCP_CKSUM = 1 << 52;
        /// Compute the SCTP checksum.
        const TX_SCTP_CKSUM = 2 << 52;
        /// Compute the UDP checksum (the two bits name one protocol).
        const TX_UDP_CKSUM = 3 << 52;
        /// Compute the IPv4 header checksum.
        const TX_IP_CKSUM = 1 << 54;
        /// The packet is IPv4.
        const TX_IPV4 = 1 << 55;
        /// The packet is IPv6.
        const TX_IPV6 = 1 << 56;
        /// Insert the VLAN tag.
        const TX_VLAN = 1 << 57;
        /// Compute the outer IPv4 header checksum.
        const TX_OUTER_IP_CKSUM = 1 << 58;
        /// The outer packet is IPv4.
        const TX_OUTER_IPV4 = 1 << 59;
        /// The outer packet is IPv6.
        const TX_OUTER_IPV6 = 1 << 60;
    }
}

impl OffloadFlags {
    /// The two bits that name the L4 protocol whose checksum is wanted; compare with `TX_TCP_CKSUM` and its like.
    pub const TX_L4_MASK: Self = Self::TX_UDP_CKSUM;

    /// Both bits about the L4 checksum: it is neither right nor wrong, the receiver can't tell.
    pub const RX_L4_CKSUM_NONE: Self = Self::RX_L4_CKSUM_BAD.union(Self::RX_L4_CKSUM_GOOD);

    /// What the packet still owes as it arrived, in [`crate::PartialChecksum`] and [`crate::Gso`].
    pub const DEBT: Self = Self::RX_PARTIAL_CKSUM
        .union(Self::RX_GSO_TCPV4)
        .union(Self::RX_GSO_TCPV6)
        .union(Self::RX_GSO_UDP)
        .union(Self::RX_GSO_ECN);

    /// What a program asks of a transmit port that changes the bytes which leave.
    pub const TX_REQUESTS: Self = Self::TX_L4_MASK
        .union(Self::TX_IP_CKSUM)
        .union(Self::TX_TCP_SEG)
        .union(Self::TX_UDP_SEG)
        .union(Self::TX_OUTER_IP_CKSUM)
        .union(Self::TX_OUTER_UDP_CKSUM)
        .union(Self::TX_VLAN)
        .union(Self::TX_QINQ);

    /// What must be done to a packet, by the device or in software, before its bytes may leave: a debt or a request.
    pub const UNFINISHED: Self = Self::DEBT.union(Self::TX_REQUESTS);
}

/// Header lengths and the segment size that a transmit offload works from, packed as one word.
///
/// Bits: `l2` 7, `l3` 9, `l4` 8, `tso` 16, `outer_l3` 9, `outer_l2` 7. In a packet with [`OffloadFlags::DEBT`] the word
/// holds that instead, and the lengths read from it mean nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TxOffload(u64);

impl TxOffload {
    /// Lengths in bytes of the Ethernet (with tags), IP and L4 headers.
    ///
    /// A length that does not fit its field is cut to it, as no such header exists: 127, 511, 255.
    #[inline(always)]
    pub const fn new(l2: u16, l3: u16, l4: u16) -> Self {
        Self((l2 as u64 & 0x7f) | (l3 as u64 & 0x1ff) << 7 | (l4 as u64 & 0xff) << 16)
    }

    /// The same with a TSO segment size in bytes.
    #[must_use]
    pub const fn with_tso(self, size: u16) -> Self {
        Self((self.0 & !(0xffff << 24)) | (size as u64) << 24)
    }

    /// The same with the outer header lengths of a tunnel.
    #[must_use]
    pub const fn with_outer(self, l2: u16, l3: u16) -> Self {
        Self((self.0 & !(0xffff << 40)) | (l3 as u64 & 0x1ff) << 40 | (l2 as u64 & 0x7f) << 49)
    }

    /// Length of the L2 header.
    pub const fn l2_len(self) -> u16 {
        (self.0 & 0x7f) as u16
    }

    /// Length of the L3 header.
    pub const fn l3_len(self) -> u16 {
        (self.0 >> 7 & 0x1ff) as u16
    }

    /// Length of the L4 header.
    pub const fn l4_len(self) -> u16 {
        (self.0 >> 16 & 0xff) as u16
    }

    /// TSO segment size, zero for none.
    pub const fn tso_size(self) -> u16 {
        (self.0 >> 24 & 0xffff) as u16
    }

    /// Length of the outer L3 header.
    pub const fn outer_l3_len(self) -> u16 {
        (self.0 >> 40 & 0x1ff) as u16
    }

    /// Length of the outer L2 header.
    pub const fn outer_l2_len(self) -> u16 {
        (self.0 >> 49 & 0x7f) as u16
    }

    #[inline(always)]
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }

    #[inline(always)]
    pub(crate) const fn from_bits(bits: u64) -> Self {
        Self(bits)
    }
}
