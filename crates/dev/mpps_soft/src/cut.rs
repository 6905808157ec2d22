//! Cutting a large TCP or UDP packet into pieces that a wire takes.
//!
//! Headers are copied once into a template, which is written anew for each piece: lengths, IPv4 identification and
//! checksum, TCP sequence number and flags, L4 checksum. Payload goes straight from the packet into new mbufs; nothing of
//! the original is shared, and its length fields aren't believed (the large packet's may not even fit 16 bits).

use mpps_mbuf::{Gso, GsoKind, Mbuf};
use mpps_wire::checksum::Sum;
use mpps_wire::{Header, Ipv4, Ipv6, Layers, Tcp, Udp, parse, protocol};

use crate::bytes::{Reader, Stock, Writer};
use crate::checksum::{TCP_FIELD, UDP_FIELD, closed};
use crate::fault::Fault;

/// The longest headers that are looked at, Ethernet to L4.
const MAX_HEADERS: usize = 512;

/// The most pieces: 64 KiB at 48 bytes, the smallest segment size that Linux sends. A peer that asks for smaller ones only
/// wants to keep us busy.
pub(crate) const MAX_PIECES: usize = 65_536 / 48 + 1;

/// What every piece begins with.
struct Template {
    bytes: [u8; MAX_HEADERS],
    len: usize,
    layers: Layers,
    is_udp: bool,
    identification: u16,
    sequence: u32,
    tcp_flags: u8,
}

/// Where a piece lies in the payload.
struct Piece {
    number: usize,
    offset: usize,
    len: usize,
    is_last: bool,
}

/// Hands the pieces of a packet on, in order, and returns how many there are.
pub(crate) fn cut(
    packet: &Mbuf,
    stock: &mut Stock<'_>,
    out: &mut impl FnMut(Mbuf),
) -> Result<usize, Fault> {
    let gso = packet.gso().ok_or(Fault::Headers)?;
    let mut template = Template::of(packet, gso)?;
    let size = usize::from(gso.size);
    let payload = packet.pkt_len() as usize - template.len;
    let count =
        payload.checked_div(size).ok_or(Fault::Size)? + usize::from(!payload.is_multiple_of(size));
    let count = count.max(1);
    if count > MAX_PIECES || template.l3_and_l4() + size.min(payload) > usize::from(u16::MAX) {
        return Err(Fault::Size);
    }
    let (mut summed, mut copied) = (Reader::new(packet), Reader::new(packet));
    summed.skip(template.len);
    copied.skip(template.len);
    for number in 0..count {
        let offset = number * size;
        let piece = Piece {
            number,
            offset,
            len: size.min(payload - offset),
            is_last: number + 1 == count,
        };
        let header = template.header(&piece, &mut summed)?;
        let mut writer = Writer::new(stock);
        writer.put(header)?;
        copied.each(piece.len, |part| writer.put(part))?;
        let mut new = writer.finish()?;
        new.set_port(packet.port());
        out(new);
    }
    Ok(count)
}

impl Template {
    fn of(packet: &Mbuf, gso: Gso) -> Result<Self, Fault> {
        let mut bytes = [0; MAX_HEADERS];
        let len = packet.copy_out(0, &mut bytes);
        let layers = parse(bytes.get(..len).ok_or(Fault::Headers)?, None);
        let is_udp = gso.kind == GsoKind::Udp;
        let is_kind = match gso.kind {
            GsoKind::TcpV4 => layers.is_ipv4() && layers.l4_proto == protocol::TCP,
            GsoKind::TcpV6 => layers.is_ipv6() && layers.l4_proto == protocol::TCP,
            GsoKind::Udp => layers.l4_proto == protocol::UDP,
        };
        let field = if is_udp { UDP_FIELD } else { TCP_FIELD };
        // What is to be summed is the L4 packet that is cut, not one within a tunnel. The last address of a route isn't the
        // one in the header.
        let is_meant = packet.partial_checksum().is_some_and(|checksum| {
            usize::from(checksum.start) == layers.l4_offset() && checksum.offset == field
        });
        if !is_kind || !is_meant || layers.l4_len == 0 || layers.is_fragment() || layers.is_routed {
            return Err(Fault::Headers);
        }
        let (l3, l4) = (layers.l3_offset(), layers.l4_offset());
        let identification = Ipv4::at(&bytes, l3).map_or(0, |ip| ip.identification.get());
        let tcp = Tcp::at(&bytes, l4);
        Ok(Self {
            len: layers.payload_offset(),
            layers,
            is_udp,
            identification,
            sequence: tcp.map_or(0, |tcp| tcp.sequence.get()),
            tcp_flags: tcp.map_or(0, |tcp| tcp.flags),
            bytes,
        })
    }

    /// Bytes of network and L4 header.
    fn l3_and_l4(&self) -> usize {
        self.len - self.layers.l3_offset()
    }

    /// The headers of a piece; `payload` stands where the piece begins.
    fn header(&mut self, piece: &Piece, payload: &mut Reader<'_>) -> Result<&[u8], Fault> {
        self.network(piece)?;
        let field = if self.is_udp {
            self.udp(piece)?
        } else {
            self.tcp(piece)?
        };
        let l4 = self.layers.l4_offset();
        let total = self.len - l4 + piece.len;
        let headers = self.bytes.get(..self.len).ok_or(Fault::Headers)?;
        let pseudo = self.layers.pseudo(headers, total).ok_or(Fault::Headers)?;
        let mut sum: Sum = pseudo.plus(headers.get(l4..).ok_or(Fault::Headers)?);
        payload.each(piece.len, |part| {
            sum = sum.plus(part);
            Ok(())
        })?;
        let at = l4 + usize::from(field);
        let checksum = self.bytes.get_mut(at..at + 2).ok_or(Fault::Headers)?;
        checksum.copy_from_slice(&closed(sum, self.is_udp));
        self.bytes.get(..self.len).ok_or(Fault::Headers)
    }

    fn network(&mut self, piece: &Piece) -> Result<(), Fault> {
        let l3 = self.layers.l3_offset();
        let len = self.l3_and_l4() + piece.len;
        if self.layers.is_ipv4() {
            let ip = Ipv4::at_mut(&mut self.bytes, l3).ok_or(Fault::Headers)?;
            ip.total_len
                .set(u16::try_from(len).map_err(|_| Fault::Size)?);
            // As many as there are pieces; the sender leaves that many free.
            ip.identification
                .set(self.identification.wrapping_add(piece.number as u16));
            Ipv4::fill_checksum(&mut self.bytes, l3);
        } else {
            let ip = Ipv6::at_mut(&mut self.bytes, l3).ok_or(Fault::Headers)?;
            let len = len.checked_sub(Ipv6::LEN).ok_or(Fault::Headers)?;
            ip.payload_len
                .set(u16::try_from(len).map_err(|_| Fault::Size)?);
        }
        Ok(())
    }

    /// Writes the UDP header but for the checksum, which is zeroed; returns where that is in it.
    fn udp(&mut self, piece: &Piece) -> Result<u16, Fault> {
        let at = self.layers.l4_offset();
        let udp = Udp::at_mut(&mut self.bytes, at).ok_or(Fault::Headers)?;
        let len = Udp::LEN + piece.len;
        udp.length.set(u16::try_from(len).map_err(|_| Fault::Size)?);
        udp.checksum.set(0);
        Ok(UDP_FIELD)
    }

    /// As [`Template::udp`].
    fn tcp(&mut self, piece: &Piece) -> Result<u16, Fault> {
        let at = self.layers.l4_offset();
        let tcp = Tcp::at_mut(&mut self.bytes, at).ok_or(Fault::Headers)?;
        tcp.sequence
            .set(self.sequence.wrapping_add(piece.offset as u32));
        let mut flags = self.tcp_flags;
        if !piece.is_last {
            flags &= !(Tcp::FIN | Tcp::PSH);
        }
        if piece.number != 0 {
            // Said once (RFC 3168, 6.1.2).
            flags &= !Tcp::CWR;
        }
        tcp.flags = flags;
        tcp.checksum.set(0);
        Ok(TCP_FIELD)
    }
}
