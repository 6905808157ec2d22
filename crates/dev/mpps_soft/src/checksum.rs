//! Completing a checksum that was left to whoever sends the packet.

use mpps_mbuf::{Mbuf, PartialChecksum};
use mpps_wire::checksum::Sum;

use crate::bytes::{Reader, Stock, overwrite};
use crate::fault::Fault;

/// Where the checksum is in a UDP header; no other protocol has it there.
pub(crate) const UDP_FIELD: u16 = 6;
/// Where the checksum is in a TCP header.
pub(crate) const TCP_FIELD: u16 = 16;

/// The sum of `len` bytes of a packet from `at` on, behind `sum`.
pub(crate) fn covered(packet: &Mbuf, at: usize, len: usize, sum: Sum) -> Sum {
    let mut reader = Reader::new(packet);
    reader.skip(at);
    let mut sum = sum;
    let mut left = len;
    while left != 0 {
        let Some(part) = reader.next(left) else {
            break;
        };
        left -= part.len();
        sum = sum.plus(part);
    }
    sum
}

/// What belongs in the field: in UDP zero would say that there is none (RFC 768).
pub(crate) fn closed(sum: Sum, is_udp: bool) -> [u8; 2] {
    if is_udp {
        sum.udp_checksum().to_be_bytes()
    } else {
        sum.checksum().to_be_bytes()
    }
}

/// The value of the field; `None` where the packet hasn't got it.
fn value(packet: &Mbuf, checksum: PartialChecksum) -> Option<[u8; 2]> {
    if !checksum.fits(packet.pkt_len()) {
        return None;
    }
    let start = usize::from(checksum.start);
    let len = packet.pkt_len() as usize - start;
    let sum = covered(packet, start, len, Sum::new());
    Some(closed(sum, checksum.offset == UDP_FIELD))
}

/// Computes the checksum that a packet owes, in place, and clears the debt. True, too, for a packet that owes none.
///
/// False, and nothing changed, where this can't be done in place: the data is shared, the field isn't in the first
/// segment, or the packet is one to be cut, whose pieces get checksums of their own ([`crate::finish`]).
pub fn complete_checksum(packet: &mut Mbuf) -> bool {
    let Some(checksum) = packet.partial_checksum() else {
        return packet.gso().is_none();
    };
    if packet.gso().is_some() {
        return false;
    }
    let Some(value) = value(packet, checksum) else {
        return false;
    };
    let at = checksum.field();
    let Some(field) = packet
        .data_mut()
        .and_then(|data| data.get_mut(at..at + value.len()))
    else {
        return false;
    };
    field.copy_from_slice(&value);
    packet.clear_debt();
    true
}

/// As [`complete_checksum`], in a copy where need be, and whether the packet is to be cut or not.
pub(crate) fn complete(packet: &mut Mbuf, stock: &mut Stock<'_>) -> Result<(), Fault> {
    let Some(checksum) = packet.partial_checksum() else {
        return Ok(());
    };
    let value = value(packet, checksum).ok_or(Fault::Checksum)?;
    overwrite(packet, stock, checksum.field(), &value)?;
    packet.clear_debt();
    Ok(())
}
