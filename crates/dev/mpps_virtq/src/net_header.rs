//! The header that goes before each packet (`struct virtio_net_hdr`, virtio 1.3, section 5.1.6).
//!
//! A receive path copies it in once and hands it to [`NetHeader::apply`], which turns what the peer says into metadata of
//! the packet, or says that the packet has to go: half a checksum must never travel on. A transmit path gets from
//! [`NetHeader::compose`] what it tells the peer. Which fields count depends on the features and on the direction:
//! [`NetOffloads`] is that, worked out once when a ring is opened.
//!
//! Nearly all headers are zero but for the number of buffers. Both ways test for that with one comparison.

use mpps_mbuf::{Gso, GsoKind, Mbuf, OffloadFlags, PartialChecksum};

use crate::Features;

/// Flag: the checksum is yet to be computed, as the checksum fields say.
const NEEDS_CSUM: u8 = 1;
/// Flag: the device has verified the checksum.
const DATA_VALID: u8 = 2;

/// GSO types, and the bit beside them.
const GSO_NONE: u8 = 0;
const GSO_TCPV4: u8 = 1;
const GSO_UDP: u8 = 3;
const GSO_TCPV6: u8 = 4;
const GSO_UDP_L4: u8 = 5;
const GSO_ECN: u8 = 0x80;

bitflags::bitflags! {
    /// What a header may say in one direction of a queue pair, after negotiation.
    ///
    /// A field whose feature wasn't negotiated is zero by the book, so it is taken for zero. UDP fragmentation offload
    /// (UFO) counts as not negotiated: no port offers it.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct NetOffloads: u8 {
        /// Checksums may be left to the receiver.
        const CSUM = 1;
        /// Large TCP over IPv4.
        const TSO4 = 2;
        /// Large TCP over IPv6.
        const TSO6 = 4;
        /// Large TCP with ECN.
        const ECN = 8;
        /// Large UDP, to be cut into datagrams.
        const USO = 16;
        /// Towards the driver: the device may call a checksum good, and the number of buffers is one at least.
        const TO_DRIVER = 32;
    }
}

impl NetOffloads {
    /// What a driver may say to a device with these features.
    pub fn to_device(features: Features) -> Self {
        Self::empty().with(
            features.contains(Features::CSUM),
            [
                (Self::TSO4, features.contains(Features::HOST_TSO4)),
                (Self::TSO6, features.contains(Features::HOST_TSO6)),
                (Self::ECN, features.contains(Features::HOST_ECN)),
                (Self::USO, features.contains(Features::HOST_USO)),
            ],
        )
    }

    /// What a device may say to a driver with these features.
    pub fn to_driver(features: Features) -> Self {
        // The driver names IPv4 and IPv6 apart, a packet's type doesn't.
        let uso = Features::GUEST_USO4.union(Features::GUEST_USO6);
        Self::TO_DRIVER.with(
            features.contains(Features::GUEST_CSUM),
            [
                (Self::TSO4, features.contains(Features::GUEST_TSO4)),
                (Self::TSO6, features.contains(Features::GUEST_TSO6)),
                (Self::ECN, features.contains(Features::GUEST_ECN)),
                (Self::USO, features.contains(uso)),
            ],
        )
    }

    /// All else requires checksum offload (section 5.1.3.1), and ECN is a kind of TSO.
    fn with(mut self, csum: bool, others: [(Self, bool); 4]) -> Self {
        self.set(Self::CSUM, csum);
        for (offload, negotiated) in others {
            self.set(offload, csum && negotiated);
        }
        self
    }

    /// Flags of packets that can't be handed to the other side as they are: `mpps_soft::Finisher` comes first where a
    /// burst's `flags_union` has any of them.
    ///
    /// Requests of the program are among them: the finisher turns them into a debt, with the sum of the pseudo header in
    /// the field, where that may be passed on.
    pub fn unfinished(self) -> OffloadFlags {
        OffloadFlags::UNFINISHED.difference(self.passed_on())
    }

    /// Flags of debts that the other side takes over.
    pub fn passed_on(self) -> OffloadFlags {
        [
            (Self::CSUM, OffloadFlags::RX_PARTIAL_CKSUM),
            (Self::TSO4, OffloadFlags::RX_GSO_TCPV4),
            (Self::TSO6, OffloadFlags::RX_GSO_TCPV6),
            (Self::USO, OffloadFlags::RX_GSO_UDP),
            (Self::ECN, OffloadFlags::RX_GSO_ECN),
        ]
        .into_iter()
        .filter(|(offload, _)| self.contains(*offload))
        .map(|(_, flag)| flag)
        .collect()
    }

    /// Whether headers in this direction can say anything at all of a packet.
    pub fn says_something(self) -> bool {
        self.intersects(Self::CSUM)
    }
}

/// What becomes of a packet whose header was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on, with its metadata set.
    Accept,
    /// The header contradicts the packet or itself: the packet is dropped and counted.
    BadHeader,
}

/// A header, parsed. All numbers are little-endian on the ring, as in version 1 and on every legacy CPU that is supported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetHeader {
    /// Flag bits.
    pub flags: u8,
    /// What the packet is to be cut into.
    pub gso_type: u8,
    /// Length of all headers, a hint.
    pub hdr_len: u16,
    /// Bytes of payload in each piece.
    pub gso_size: u16,
    /// Where summing begins, from the start of the frame.
    pub csum_start: u16,
    /// From there to the field.
    pub csum_offset: u16,
    /// Receive buffers that the packet takes; towards a device 0.
    pub num_buffers: u16,
}

impl NetHeader {
    /// Reads a header; of a header of ten bytes the last two are to be zero.
    #[inline(always)]
    pub fn from_bytes(bytes: [u8; 12]) -> Self {
        let [flags, gso_type, a, b, c, d, e, f, g, h, i, j] = bytes;
        Self {
            flags,
            gso_type,
            hdr_len: u16::from_le_bytes([a, b]),
            gso_size: u16::from_le_bytes([c, d]),
            csum_start: u16::from_le_bytes([e, f]),
            csum_offset: u16::from_le_bytes([g, h]),
            num_buffers: u16::from_le_bytes([i, j]),
        }
    }

    /// Writes the header; a header of ten bytes is the first ten.
    #[inline(always)]
    pub fn to_bytes(self) -> [u8; 12] {
        let [a, b] = self.hdr_len.to_le_bytes();
        let [c, d] = self.gso_size.to_le_bytes();
        let [e, f] = self.csum_start.to_le_bytes();
        let [g, h] = self.csum_offset.to_le_bytes();
        let [i, j] = self.num_buffers.to_le_bytes();
        [self.flags, self.gso_type, a, b, c, d, e, f, g, h, i, j]
    }

    /// Bytes of packet in a chain of `chain_len` bytes with a header of `header_len`; `None` where there is no packet.
    #[inline(always)]
    pub fn payload_len(chain_len: u32, header_len: usize) -> Option<u32> {
        let len = chain_len.checked_sub(u32::try_from(header_len).ok()?)?;
        (len != 0).then_some(len)
    }

    /// Sets the metadata of `packet`, which just arrived whole and has none yet, by the header that came before it.
    #[inline(always)]
    pub fn apply(bytes: [u8; 12], packet: &mut Mbuf, offloads: NetOffloads) -> Verdict {
        if bytes[0] | bytes[1] == 0 || !offloads.says_something() {
            return Verdict::Accept;
        }
        cold_apply(&Self::from_bytes(bytes), packet, offloads)
    }

    /// The header that tells the other side of `packet`, which has nothing of [`NetOffloads::unfinished`].
    #[inline(always)]
    pub fn compose(packet: &Mbuf, offloads: NetOffloads) -> [u8; 12] {
        let header = if packet.has_debt() {
            cold_compose(packet, offloads)
        } else {
            Self::default()
        };
        header.with_one_buffer(offloads).to_bytes()
    }

    /// With mergeable buffers the number counts also where it is one, and stays so unless the packet takes more.
    #[inline(always)]
    fn with_one_buffer(mut self, offloads: NetOffloads) -> Self {
        self.num_buffers = u16::from(offloads.contains(NetOffloads::TO_DRIVER));
        self
    }

    fn checksum(&self) -> PartialChecksum {
        PartialChecksum {
            start: self.csum_start,
            offset: self.csum_offset,
        }
    }

    /// What the packet is to be cut into; `Err` where no such thing exists.
    fn gso(&self, offloads: NetOffloads) -> Result<Option<Gso>, BadHeader> {
        let (kind, needs) = match self.gso_type & !GSO_ECN {
            GSO_NONE if self.gso_type == 0 => return Ok(None),
            GSO_TCPV4 => (GsoKind::TcpV4, NetOffloads::TSO4),
            GSO_TCPV6 => (GsoKind::TcpV6, NetOffloads::TSO6),
            GSO_UDP_L4 if self.gso_type & GSO_ECN == 0 => (GsoKind::Udp, NetOffloads::USO),
            GSO_UDP => return Ok(None),
            _ => return Err(BadHeader),
        };
        if !offloads.contains(needs) {
            return Ok(None);
        }
        if self.gso_size == 0 {
            return Err(BadHeader);
        }
        Ok(Some(Gso {
            kind,
            ecn: self.gso_type & GSO_ECN != 0 && offloads.contains(NetOffloads::ECN),
            size: self.gso_size,
            header_len: self.hdr_len,
        }))
    }
}

/// Writes the header of a packet without any debt before it: nothing but one buffer. `WIDE` headers have twelve bytes.
///
/// # Safety
/// Twelve bytes at `to` can be written, ten where the header isn't wide.
#[inline(always)]
pub(crate) unsafe fn write_plain<const WIDE: bool>(to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        to.cast::<u64>().write_unaligned(0);
        if WIDE {
            to.add(8).cast::<[u8; 4]>().write([0, 0, 1, 0]);
        } else {
            to.add(8).cast::<[u8; 2]>().write([0, 0]);
        }
    }
}

/// The header says what can't be.
struct BadHeader;

/// As [`NetHeader::apply`], for a header that says something.
#[cold]
#[inline(never)]
fn cold_apply(header: &NetHeader, packet: &mut Mbuf, offloads: NetOffloads) -> Verdict {
    let Ok(gso) = header.gso(offloads) else {
        return Verdict::BadHeader;
    };
    if header.flags & NEEDS_CSUM == 0 {
        if gso.is_some() {
            return Verdict::BadHeader;
        }
        // Only a device may say so (section 5.1.6.2.1).
        if header.flags & DATA_VALID != 0 && offloads.contains(NetOffloads::TO_DRIVER) {
            packet.set_flags(packet.flags() | OffloadFlags::RX_L4_CKSUM_GOOD);
        }
        return Verdict::Accept;
    }
    let checksum = header.checksum();
    if !checksum.fits(packet.pkt_len()) {
        return Verdict::BadHeader;
    }
    match gso {
        None => packet.set_partial_checksum(checksum),
        Some(gso) if u32::from(gso.header_len) > packet.pkt_len() => return Verdict::BadHeader,
        Some(gso) => packet.set_gso(checksum, gso),
    }
    Verdict::Accept
}

/// The header of a packet with a debt, but for the number of buffers. What the other side doesn't take isn't said.
#[cold]
#[inline(never)]
fn cold_compose(packet: &Mbuf, offloads: NetOffloads) -> NetHeader {
    let passed_on = packet.flags() & OffloadFlags::DEBT & offloads.passed_on();
    let Some(checksum) = packet.partial_checksum() else {
        return NetHeader::default();
    };
    if !passed_on.contains(OffloadFlags::RX_PARTIAL_CKSUM) {
        return NetHeader::default();
    }
    let mut header = NetHeader {
        flags: NEEDS_CSUM,
        csum_start: checksum.start,
        csum_offset: checksum.offset,
        ..NetHeader::default()
    };
    if let Some(gso) = packet.gso() {
        let (kind, needs) = match gso.kind {
            GsoKind::TcpV4 => (GSO_TCPV4, OffloadFlags::RX_GSO_TCPV4),
            GsoKind::TcpV6 => (GSO_TCPV6, OffloadFlags::RX_GSO_TCPV6),
            GsoKind::Udp => (GSO_UDP_L4, OffloadFlags::RX_GSO_UDP),
        };
        if passed_on.contains(needs) {
            header.gso_type = kind;
            if passed_on.contains(OffloadFlags::RX_GSO_ECN) {
                header.gso_type |= GSO_ECN;
            }
            header.gso_size = gso.size;
            header.hdr_len = gso.header_len;
        }
    }
    header
}

#[cfg(test)]
mod tests;
