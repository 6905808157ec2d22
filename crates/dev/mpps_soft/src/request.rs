//! What a program asked of the port (`TX_` flags): done here, or turned into a debt that the other side takes over.
//!
//! Where headers are is what the program says in the packet's header lengths; what they hold is looked at once, and
//! lengths that contradict the packet's are errors of the program. L4 lengths come from the IP header where that fits the
//! packet, since a frame may be padded, else from the packet.

use mpps_mbuf::{Gso, GsoKind, Mbuf, OffloadFlags, PartialChecksum};
use mpps_wire::checksum::Sum;
use mpps_wire::{Crc32c, Header, Ipv4, Ipv6, Tcp, Udp, parse, protocol, walk_extensions};

use crate::bytes::{Reader, Stock, overwrite};
use crate::checksum::{TCP_FIELD, UDP_FIELD, closed, covered};
use crate::fault::Fault;

/// Offsets and lengths of fields.
const IPV4_LENGTH: usize = 2;
const IPV4_CHECKSUM: usize = 10;
const IPV6_LENGTH: usize = 4;
const UDP_LENGTH: usize = 4;
const TCP_FLAGS: usize = 13;
const SCTP_CHECKSUM: usize = 8;

/// The most of a network header that is looked at, extension headers included: what [`mpps_mbuf::TxOffload`] can say.
const MAX_L3: usize = 511;

/// Requests that this module settles.
const SETTLED: OffloadFlags =
    OffloadFlags::TX_REQUESTS.difference(OffloadFlags::TX_VLAN.union(OffloadFlags::TX_QINQ));

/// Requests to cut.
const CUT: OffloadFlags = OffloadFlags::TX_TCP_SEG.union(OffloadFlags::TX_UDP_SEG);

/// Where the headers are, in bytes from the start of the frame.
#[derive(Clone, Copy)]
struct Places {
    /// Outer network header and L4 header, where there is a tunnel.
    outer: Option<(usize, usize)>,
    l3: usize,
    l4: usize,
    /// Behind the L4 header, where its length was said.
    payload: usize,
}

/// Settles all requests but those of VLAN tags, and clears the flags.
pub(crate) fn settle(
    packet: &mut Mbuf,
    stock: &mut Stock<'_>,
    passed_on: OffloadFlags,
) -> Result<(), Fault> {
    let flags = packet.flags();
    if flags.intersects(SETTLED) {
        let places = places(packet);
        if flags.intersects(CUT) {
            segment(packet, stock, places, flags)?;
        } else {
            if !packet.has_debt() {
                transport(packet, stock, places, passed_on)?;
            }
            if flags.contains(OffloadFlags::TX_IP_CKSUM) {
                ipv4_checksum(packet, stock, places.l3)?;
            }
            outer(packet, stock, places, flags)?;
        }
    }
    let kept = OffloadFlags::DEBT | OffloadFlags::TX_VLAN | OffloadFlags::TX_QINQ;
    packet.set_flags(packet.flags() & kept);
    Ok(())
}

fn places(packet: &Mbuf) -> Places {
    if packet.has_debt() {
        // The lengths gave way to the debt.
        let layers = parse(packet.data(), None);
        return Places {
            outer: None,
            l3: layers.l3_offset(),
            l4: layers.l4_offset(),
            payload: layers.payload_offset(),
        };
    }
    let lengths = packet.tx_offload();
    let len = usize::from;
    let outer_l3 = len(lengths.outer_l2_len());
    let outer_l4 = outer_l3 + len(lengths.outer_l3_len());
    let l3 = outer_l4 + len(lengths.l2_len());
    let l4 = l3 + len(lengths.l3_len());
    Places {
        outer: (outer_l4 != 0).then_some((outer_l3, outer_l4)),
        l3,
        l4,
        payload: l4 + len(lengths.l4_len()),
    }
}

/// What a network header says, checked against the packet.
struct Network {
    is_v6: bool,
    addresses: Addresses,
    /// Where its payload ends.
    end: usize,
}

enum Addresses {
    V4(Ipv4),
    V6(Ipv6),
}

impl Network {
    /// The network header at `at`, whose payload begins at `l4`.
    fn at(packet: &Mbuf, at: usize, l4: usize) -> Result<Self, Fault> {
        let mut front = [0; MAX_L3];
        let len = packet.copy_out(at, &mut front);
        let front = front.get(..len).ok_or(Fault::Request)?;
        let packet_len = packet.pkt_len() as usize;
        let (addresses, end) = if let Some(ip) = Ipv4::checked_at(front, 0) {
            if at + ip.header_len() != l4 {
                return Err(Fault::Request);
            }
            (Addresses::V4(*ip), at + usize::from(ip.total_len.get()))
        } else if let Some(ip) = Ipv6::checked_at(front, 0) {
            let extensions = walk_extensions(front, Ipv6::LEN, ip.next_header);
            // The last address of a route isn't the one in the header.
            if at + Ipv6::LEN + usize::from(extensions.len) != l4 || extensions.is_routed {
                return Err(Fault::Request);
            }
            let payload = usize::from(ip.payload_len.get());
            (Addresses::V6(*ip), at + Ipv6::LEN + payload)
        } else {
            return Err(Fault::Request);
        };
        Ok(Self {
            is_v6: matches!(addresses, Addresses::V6(_)),
            addresses,
            end: if (l4 + Udp::LEN..=packet_len).contains(&end) {
                end
            } else {
                packet_len
            },
        })
    }

    fn pseudo(&self, l4_protocol: u8, total: usize) -> Result<Sum, Fault> {
        match &self.addresses {
            Addresses::V4(ip) => {
                let total = u16::try_from(total).map_err(|_| Fault::Size)?;
                Ok(Ipv4 {
                    protocol: l4_protocol,
                    ..*ip
                }
                .pseudo(total))
            }
            Addresses::V6(ip) => {
                let total = u32::try_from(total).map_err(|_| Fault::Size)?;
                Ok(ip.pseudo(l4_protocol, total))
            }
        }
    }
}

/// Protocol number, and the offset of the checksum in the header, of UDP or TCP.
const fn field_of(is_udp: bool) -> (u8, u16) {
    if is_udp {
        (protocol::UDP, UDP_FIELD)
    } else {
        (protocol::TCP, TCP_FIELD)
    }
}

/// The L4 checksum that the flags ask for.
fn transport(
    packet: &mut Mbuf,
    stock: &mut Stock<'_>,
    places: Places,
    passed_on: OffloadFlags,
) -> Result<(), Fault> {
    let flags = packet.flags();
    let wanted = flags & OffloadFlags::TX_L4_MASK;
    if wanted.is_empty() {
        return Ok(());
    }
    let network = Network::at(packet, places.l3, places.l4)?;
    if wanted == OffloadFlags::TX_SCTP_CKSUM {
        return sctp(packet, stock, places.l4, network.end);
    }
    let is_udp = wanted == OffloadFlags::TX_UDP_CKSUM;
    let is_whole = network.end == packet.pkt_len() as usize;
    // An outer checksum covers the inner one, and what lies behind the end is none of its business.
    if passed_on.contains(OffloadFlags::RX_PARTIAL_CKSUM)
        && is_whole
        && !flags.contains(OffloadFlags::TX_OUTER_UDP_CKSUM)
        && let Ok(start) = u16::try_from(places.l4)
    {
        let (number, offset) = field_of(is_udp);
        let pseudo = network.pseudo(number, network.end - places.l4)?;
        let checksum = PartialChecksum { start, offset };
        overwrite(
            packet,
            stock,
            checksum.field(),
            &pseudo.folded().to_be_bytes(),
        )?;
        packet.set_partial_checksum(checksum);
        return Ok(());
    }
    sum(packet, stock, places.l4, &network, is_udp)
}

/// Computes a UDP or TCP checksum, whatever the field holds.
fn sum(
    packet: &mut Mbuf,
    stock: &mut Stock<'_>,
    l4: usize,
    network: &Network,
    is_udp: bool,
) -> Result<(), Fault> {
    let (number, offset) = field_of(is_udp);
    let (field, end) = (l4 + usize::from(offset), network.end);
    let behind = end.checked_sub(field + 2).ok_or(Fault::Request)?;
    let sum = network.pseudo(number, end - l4)?;
    let sum = covered(packet, l4, usize::from(offset), sum);
    let sum = covered(packet, field + 2, behind, sum);
    overwrite(packet, stock, field, &closed(sum, is_udp))
}

/// CRC32c.
fn sctp(packet: &mut Mbuf, stock: &mut Stock<'_>, l4: usize, end: usize) -> Result<(), Fault> {
    let field = l4 + SCTP_CHECKSUM;
    let behind = end.checked_sub(field + 4).ok_or(Fault::Request)?;
    let mut crc = Crc32c::new();
    let mut reader = Reader::new(packet);
    reader.skip(l4);
    reader.each(SCTP_CHECKSUM, |part| {
        crc = crc.plus(part);
        Ok(())
    })?;
    crc = crc.plus(&[0; 4]);
    reader.skip(4);
    reader.each(behind, |part| {
        crc = crc.plus(part);
        Ok(())
    })?;
    overwrite(packet, stock, field, &crc.value().to_le_bytes())
}

/// The checksum of the IPv4 header at `at`; what the field holds isn't summed in.
fn ipv4_checksum(packet: &mut Mbuf, stock: &mut Stock<'_>, at: usize) -> Result<(), Fault> {
    let mut header = [0; 60];
    let len = packet.copy_out(at, &mut header);
    let header = header.get_mut(..len).ok_or(Fault::Request)?;
    if !Ipv4::fill_checksum(header, 0) {
        return Err(Fault::Request);
    }
    let field = header
        .get(IPV4_CHECKSUM..IPV4_CHECKSUM + 2)
        .ok_or(Fault::Request)?;
    overwrite(packet, stock, at + IPV4_CHECKSUM, field)
}

/// The checksums of a tunnel's outer headers.
fn outer(
    packet: &mut Mbuf,
    stock: &mut Stock<'_>,
    places: Places,
    flags: OffloadFlags,
) -> Result<(), Fault> {
    let asked = OffloadFlags::TX_OUTER_UDP_CKSUM | OffloadFlags::TX_OUTER_IP_CKSUM;
    if !flags.intersects(asked) {
        return Ok(());
    }
    let (l3, l4) = places.outer.ok_or(Fault::Request)?;
    if flags.contains(OffloadFlags::TX_OUTER_UDP_CKSUM) {
        let network = Network::at(packet, l3, l4)?;
        sum(packet, stock, l4, &network, true)?;
    }
    if flags.contains(OffloadFlags::TX_OUTER_IP_CKSUM) {
        ipv4_checksum(packet, stock, l3)?;
    }
    Ok(())
}

/// Makes a packet that the program wants cut one that owes that: lengths, IPv4 checksum and pseudo header are those of the
/// whole, as far as 16 bits say them.
fn segment(
    packet: &mut Mbuf,
    stock: &mut Stock<'_>,
    places: Places,
    flags: OffloadFlags,
) -> Result<(), Fault> {
    if packet.has_debt() || places.outer.is_some() {
        return Err(Fault::Request);
    }
    let size = packet.tx_offload().tso_size();
    if size == 0 {
        return Err(Fault::Size);
    }
    let is_udp = flags.contains(OffloadFlags::TX_UDP_SEG);
    let network = Network::at(packet, places.l3, places.l4)?;
    let len = packet.pkt_len() as usize;
    let total = len.checked_sub(places.l4).ok_or(Fault::Request)?;
    // Longer than a length field says: it is cut here, and the pieces have lengths of their own.
    let word = |len: usize| u16::try_from(len).unwrap_or(u16::MAX);
    let l3_field = if network.is_v6 {
        let payload = word(len.saturating_sub(places.l3 + Ipv6::LEN));
        (places.l3 + IPV6_LENGTH, payload)
    } else {
        (places.l3 + IPV4_LENGTH, word(len - places.l3))
    };
    overwrite(packet, stock, l3_field.0, &l3_field.1.to_be_bytes())?;
    if !network.is_v6 {
        ipv4_checksum(packet, stock, places.l3)?;
    }
    if is_udp {
        let field = places.l4 + UDP_LENGTH;
        overwrite(packet, stock, field, &word(total).to_be_bytes())?;
    }
    let (number, offset) = field_of(is_udp);
    let pseudo = network.pseudo(number, usize::from(word(total)))?;
    let start = u16::try_from(places.l4).map_err(|_| Fault::Request)?;
    let checksum = PartialChecksum { start, offset };
    overwrite(
        packet,
        stock,
        checksum.field(),
        &pseudo.folded().to_be_bytes(),
    )?;
    let gso = gso(packet, places, is_udp, network.is_v6, size);
    packet.set_gso(checksum, gso);
    Ok(())
}

fn gso(packet: &Mbuf, places: Places, is_udp: bool, is_v6: bool, size: u16) -> Gso {
    let mut tcp_flags = [0];
    packet.copy_out(places.l4 + TCP_FLAGS, &mut tcp_flags);
    let kind = match (is_udp, is_v6) {
        (true, _) => GsoKind::Udp,
        (false, true) => GsoKind::TcpV6,
        (false, false) => GsoKind::TcpV4,
    };
    Gso {
        kind,
        ecn: !is_udp && tcp_flags[0] & Tcp::CWR != 0,
        size,
        header_len: places.payload.min(usize::from(u16::MAX)) as u16,
    }
}
