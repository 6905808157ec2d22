//! What a packet still owes when it arrives: a checksum that nobody has computed, and a size that it is to be cut to.
//!
//! A virtio peer that negotiated it hands over packets whose L4 checksum is left to whoever sends them on a wire, and
//! TCP or UDP segments far larger than a wire takes (virtio 1.3, 5.1.6.2). Both are facts about the bytes of the packet,
//! so they travel with it as receive metadata: the receive path of such a port writes them, engines keep them, and a
//! transmit path either passes them on to a peer that negotiated the same, or settles them before the bytes leave
//! (`mpps_soft`). They are no requests: what a program asks of a port are the `TX_` flags, and those only it sets.
//!
//! The kind of debt is in flags of our own ([`OffloadFlags::DEBT`]); offsets and sizes fill the word that otherwise
//! holds the header lengths of a transmit offload. So [`Mbuf::set_offload`] keeps a debt, and who settles one says so
//! with [`Mbuf::clear_debt`].

use crate::burst::Burst;
use crate::mbuf::Mbuf;
use crate::offload::{OffloadFlags, TxOffload};

/// A checksum that is yet to be computed: the sum of all bytes from `start` to the end of the packet, inverted, is to be
/// stored in the 16-bit field `offset` bytes behind `start`. Until then the field holds the sum of the pseudo header.
///
/// Offsets in bytes; `start` counts from the first byte of the frame (`csum_start` and `csum_offset` of virtio 1.3,
/// 5.1.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialChecksum {
    /// Where summing begins.
    pub start: u16,
    /// From there to the field.
    pub offset: u16,
}

impl PartialChecksum {
    /// Where the field is, in bytes from the start of the frame.
    #[inline]
    pub const fn field(self) -> usize {
        self.start as usize + self.offset as usize
    }

    /// Whether the field lies within a packet of so many bytes.
    #[inline]
    pub const fn fits(self, packet_len: u32) -> bool {
        self.field() + 2 <= packet_len as usize
    }
}

/// What a packet that is to be cut consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GsoKind {
    /// TCP over IPv4.
    TcpV4,
    /// TCP over IPv6.
    TcpV6,
    /// UDP over either: each piece becomes a datagram of its own (USO), no fragment.
    Udp,
}

/// How a packet is to be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gso {
    /// What it is.
    pub kind: GsoKind,
    /// The TCP header has ECN bits: CWR belongs to the first piece alone.
    pub ecn: bool,
    /// Bytes of payload in each piece but the last; not zero.
    pub size: u16,
    /// Length of all headers as the sender of the packet sees it, in bytes. A hint: nothing may rely on it.
    pub header_len: u16,
}

impl TxOffload {
    /// The word of a packet with a debt.
    const fn of_debt(checksum: PartialChecksum, size: u16, header_len: u16) -> Self {
        Self::from_bits(
            checksum.start as u64
                | (checksum.offset as u64) << 16
                | (size as u64) << 32
                | (header_len as u64) << 48,
        )
    }

    const fn debt_checksum(self) -> PartialChecksum {
        PartialChecksum {
            start: self.bits() as u16,
            offset: (self.bits() >> 16) as u16,
        }
    }

    const fn debt_size(self) -> u16 {
        (self.bits() >> 32) as u16
    }

    const fn debt_header_len(self) -> u16 {
        (self.bits() >> 48) as u16
    }
}

impl Mbuf {
    /// Says that the L4 checksum of this packet, which just arrived, isn't computed. Whatever it owed before is forgotten.
    ///
    /// The caller has checked that the field lies within the packet ([`PartialChecksum::fits`]).
    pub fn set_partial_checksum(&mut self, checksum: PartialChecksum) {
        let before = OffloadFlags::DEBT | OffloadFlags::RX_LRO;
        let flags = self.flags().difference(before);
        self.put_offload(
            flags | OffloadFlags::RX_PARTIAL_CKSUM | OffloadFlags::RX_L4_CKSUM_NONE,
            TxOffload::of_debt(checksum, 0, 0),
        );
    }

    /// Says that this packet, whose checksum isn't computed either, is to be cut.
    ///
    /// A packet to be cut without such a checksum doesn't exist: each piece has one of its own.
    pub fn set_gso(&mut self, checksum: PartialChecksum, gso: Gso) {
        self.set_partial_checksum(checksum);
        let kind = match gso.kind {
            GsoKind::TcpV4 => OffloadFlags::RX_GSO_TCPV4,
            GsoKind::TcpV6 => OffloadFlags::RX_GSO_TCPV6,
            GsoKind::Udp => OffloadFlags::RX_GSO_UDP,
        };
        let mut flags = self.flags() | OffloadFlags::RX_LRO | kind;
        flags.set(OffloadFlags::RX_GSO_ECN, gso.ecn);
        self.put_offload(
            flags,
            TxOffload::of_debt(checksum, gso.size, gso.header_len),
        );
    }

    /// Whether the packet owes anything.
    #[inline(always)]
    pub fn has_debt(&self) -> bool {
        self.flags().intersects(OffloadFlags::DEBT)
    }

    /// The checksum that is yet to be computed, if there is one.
    #[inline]
    pub fn partial_checksum(&self) -> Option<PartialChecksum> {
        self.flags()
            .contains(OffloadFlags::RX_PARTIAL_CKSUM)
            .then(|| self.tx_offload().debt_checksum())
    }

    /// How the packet is to be cut, if it is.
    #[inline]
    pub fn gso(&self) -> Option<Gso> {
        let (flags, word) = (self.flags(), self.tx_offload());
        let kind = if flags.contains(OffloadFlags::RX_GSO_TCPV4) {
            GsoKind::TcpV4
        } else if flags.contains(OffloadFlags::RX_GSO_TCPV6) {
            GsoKind::TcpV6
        } else if flags.contains(OffloadFlags::RX_GSO_UDP) {
            GsoKind::Udp
        } else {
            return None;
        };
        Some(Gso {
            kind,
            ecn: flags.contains(OffloadFlags::RX_GSO_ECN),
            size: word.debt_size(),
            header_len: word.debt_header_len(),
        })
    }

    /// Forgets the debt: it was settled, or the packet became another one. What a receive path said of the checksum goes
    /// with it.
    pub fn clear_debt(&mut self) {
        if self.has_debt() {
            let settled =
                OffloadFlags::DEBT | OffloadFlags::RX_LRO | OffloadFlags::RX_L4_CKSUM_NONE;
            self.put_offload(self.flags().difference(settled), TxOffload::default());
        }
    }
}

impl Burst {
    /// All flags that any packet of the burst has.
    ///
    /// One load a packet, from the line that says its length: `flags_union().intersects(OffloadFlags::UNFINISHED)` is how
    /// a transmit path finds out whether a burst needs more than sending.
    #[inline(always)]
    pub fn flags_union(&self) -> OffloadFlags {
        self.as_slice()
            .iter()
            .fold(OffloadFlags::empty(), |all, packet| all | packet.flags())
    }
}

#[cfg(test)]
mod tests;
