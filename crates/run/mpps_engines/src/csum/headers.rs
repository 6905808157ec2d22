//! What csum does to one packet that has more than an Ethernet header.

use mpps_dev::TxOffloads;
use mpps_mbuf::{Mbuf, OffloadFlags, TxOffload};
use mpps_wire::checksum::Sum;
use mpps_wire::{Crc32c, Header, Ipv4, Layers, Sctp, Tcp, Udp, parse, protocol};

use super::Csum;

/// From this length on, the call of the kernel that was chosen costs less than it wins.
pub(super) const LONG: usize = 32;

/// Longest headers whose length [`TxOffload`] can say.
const MAX_L2: usize = 127;
const MAX_L3: u16 = 511;

/// The `len` bytes of a packet from `offset` on, a slice for each segment. What the packet doesn't have is left out.
fn parts(packet: &Mbuf, offset: usize, len: usize) -> impl Iterator<Item = &[u8]> {
    let (mut skip, mut left) = (offset, len);
    packet.segments_data().map(move |data| {
        let (before, data) = data.split_at(skip.min(data.len()));
        skip -= before.len();
        let (part, _) = data.split_at(left.min(data.len()));
        left -= part.len();
        part
    })
}

/// Writes a checksum at `at` in the first segment; nothing where that is shared or shorter.
fn write(packet: &mut Mbuf, at: usize, sum: u16) {
    if let Some(field) = packet.data_mut().and_then(|data| data.get_mut(at..at + 2)) {
        field.copy_from_slice(&sum.to_be_bytes());
    }
}

/// Offsets of the checksums in their headers.
pub(super) const IPV4_FIELD: usize = 10;
const UDP_FIELD: usize = 6;
const TCP_FIELD: usize = 16;
const SCTP_FIELD: usize = 8;

impl Csum {
    /// Sums what there is to sum in packets that have been addressed, and sets flags and lengths. One call a burst: a
    /// burst of bare frames needs none.
    #[inline(never)]
    pub(super) fn headers(&self, packets: &mut [Mbuf]) {
        for packet in packets {
            if packet.has_debt() {
                continue;
            }
            if self.is_quick
                && let Some(data) = packet.data_mut()
                && let Some(lengths) = self.quick(data)
            {
                packet.set_offload(self.marks.flags | OffloadFlags::TX_IPV4, lengths);
            } else {
                self.any_headers(packet);
            }
        }
    }

    #[inline(never)]
    fn any_headers(&self, packet: &mut Mbuf) {
        let layers = parse(packet.data(), self.tunnels.as_ref());
        let (flags, lengths) = match layers.outer() {
            None => self.plain(packet, &layers),
            Some(outer) => self.tunnelled(packet, &outer, &layers),
        };
        packet.set_offload(self.marks.flags | flags, lengths);
    }

    #[inline(always)]
    fn plain(&self, packet: &mut Mbuf, layers: &Layers) -> (OffloadFlags, TxOffload) {
        let lengths = TxOffload::new(layers.l2_len, layers.l3_len, u16::from(layers.l4_len));
        let packet_len = packet.pkt_len() as usize;
        let Some(total) = layers.l4_total(packet.data(), packet_len) else {
            return (OffloadFlags::empty(), lengths);
        };
        let segments = self.tso != 0
            && layers.l4_proto == protocol::TCP
            && layers.l4_len != 0
            && !layers.is_fragment()
            && packet_len > layers.payload_offset() + usize::from(self.tso);
        let hardware = if layers.l3_len > MAX_L3 {
            TxOffloads::empty()
        } else if segments {
            self.hardware | TxOffloads::IPV4_CKSUM
        } else {
            self.hardware.difference(TxOffloads::TCP_TSO)
        };
        let flags =
            network(packet, layers, hardware) | self.transport(packet, layers, total, hardware);
        let lengths = if flags.contains(OffloadFlags::TX_TCP_SEG) {
            lengths.with_tso(self.tso)
        } else {
            lengths
        };
        (flags, lengths)
    }

    /// The L4 checksum over `total` bytes; with `TCP_TSO` in `hardware` the packet is one to segment.
    #[inline(always)]
    pub(super) fn transport(
        &self,
        packet: &mut Mbuf,
        layers: &Layers,
        total: usize,
        hardware: TxOffloads,
    ) -> OffloadFlags {
        if layers.l4_len == 0 || layers.is_fragment() {
            return OffloadFlags::empty();
        }
        match layers.l4_proto {
            protocol::UDP => self.udp(packet, layers, total, hardware),
            protocol::TCP => self.tcp(packet, layers, total, hardware),
            protocol::SCTP => sctp(packet, layers, total, hardware),
            _ => None,
        }
        .unwrap_or_default()
    }

    /// As [`Csum::transport`]; nothing where the lengths contradict each other, or the destination isn't known.
    #[inline(always)]
    pub(super) fn udp(
        &self,
        packet: &mut Mbuf,
        layers: &Layers,
        total: usize,
        hardware: TxOffloads,
    ) -> Option<OffloadFlags> {
        let at = layers.l4_offset();
        let udp = Udp::at(packet.data(), at)?;
        let (old, len) = (udp.checksum.get(), usize::from(udp.length.get()));
        if old == 0 || len < Udp::LEN || len > total {
            return None;
        }
        let pseudo = layers.pseudo(packet.data(), len)?;
        // A device goes by the length in the IP header.
        if hardware.contains(TxOffloads::UDP_CKSUM) && len == total {
            write(packet, at + UDP_FIELD, pseudo.folded());
            return Some(OffloadFlags::TX_UDP_CKSUM);
        }
        let sum = self.covered(packet, at, len, pseudo.plus_u16(!old));
        write(packet, at + UDP_FIELD, sum.udp_checksum());
        None
    }

    #[inline(always)]
    fn tcp(
        &self,
        packet: &mut Mbuf,
        layers: &Layers,
        total: usize,
        hardware: TxOffloads,
    ) -> Option<OffloadFlags> {
        let at = layers.l4_offset();
        let old = Tcp::at(packet.data(), at)?.checksum.get();
        if hardware.contains(TxOffloads::TCP_TSO) {
            // The device adds the length of each segment.
            let pseudo = layers.pseudo(packet.data(), 0)?;
            write(packet, at + TCP_FIELD, pseudo.folded());
            return Some(OffloadFlags::TX_TCP_SEG);
        }
        let pseudo = layers.pseudo(packet.data(), total)?;
        if hardware.contains(TxOffloads::TCP_CKSUM) {
            write(packet, at + TCP_FIELD, pseudo.folded());
            return Some(OffloadFlags::TX_TCP_CKSUM);
        }
        let sum = self.covered(packet, at, total, pseudo.plus_u16(!old));
        write(packet, at + TCP_FIELD, sum.checksum());
        None
    }

    /// `sum` with `len` bytes from `offset` on behind it. To leave a field out, its complement is summed before.
    #[inline(always)]
    pub(super) fn covered(&self, packet: &Mbuf, offset: usize, len: usize, sum: Sum) -> Sum {
        match packet.data().get(offset..offset + len) {
            Some(bytes) => self.plus(sum, bytes),
            None => parts(packet, offset, len).fold(sum, |sum, part| self.plus(sum, part)),
        }
    }

    #[inline(always)]
    fn plus(&self, sum: Sum, bytes: &[u8]) -> Sum {
        if bytes.len() < LONG {
            return sum.plus(bytes);
        }
        let (even, odd) = bytes.split_at(bytes.len() & !1);
        sum.plus_u16(self.checksum.sum(even)).plus(odd)
    }
}

/// The IPv4 header's checksum, and the flags that name the protocol.
#[inline(always)]
pub(super) fn network(packet: &mut Mbuf, layers: &Layers, hardware: TxOffloads) -> OffloadFlags {
    if layers.is_ipv6() {
        return OffloadFlags::TX_IPV6;
    }
    let at = layers.l3_offset();
    if hardware.contains(TxOffloads::IPV4_CKSUM) {
        write(packet, at + IPV4_FIELD, 0);
        return OffloadFlags::TX_IPV4 | OffloadFlags::TX_IP_CKSUM;
    }
    if let Some(data) = packet.data_mut() {
        Ipv4::fill_checksum(data, at);
    }
    OffloadFlags::TX_IPV4
}

/// CRC32c. Devices sum whole words, which SCTP packets consist of if they are right.
fn sctp(
    packet: &mut Mbuf,
    layers: &Layers,
    total: usize,
    hardware: TxOffloads,
) -> Option<OffloadFlags> {
    let at = layers.l4_offset();
    let in_hardware = hardware.contains(TxOffloads::SCTP_CKSUM) && total.is_multiple_of(4);
    let crc = if in_hardware {
        0
    } else {
        let front = packet.data().get(at..at + SCTP_FIELD)?;
        let rest = parts(packet, at + Sctp::LEN, total - Sctp::LEN);
        rest.fold(Crc32c::new().plus(front).plus(&[0; 4]), Crc32c::plus)
            .value()
    };
    Sctp::at_mut(packet.data_mut()?, at)?.checksum.set(crc);
    in_hardware.then_some(OffloadFlags::TX_SCTP_CKSUM)
}

/// Whether flags alone can tell the device where the inner headers of a tunnel are, counted from the frame's start.
pub(super) fn lengths_fit(l2: usize, layers: &Layers) -> bool {
    l2 <= MAX_L2 && layers.l3_len <= MAX_L3
}
