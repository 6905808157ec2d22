//! Putting VLAN tags in where the port doesn't.

use mpps_mbuf::{Gso, Mbuf, OffloadFlags, PartialChecksum};
use mpps_wire::ethertype;

use crate::bytes::{Stock, splice};
use crate::fault::Fault;

/// Bytes before the tags: the two addresses.
const ADDRESSES: usize = 12;
/// Bytes of a tag.
const TAG: usize = 4;

/// Puts in the tags that the flags ask for; what the packet owes moves along.
pub(crate) fn insert(packet: &mut Mbuf, stock: &mut Stock<'_>) -> Result<(), Fault> {
    let flags = packet.flags();
    let mut tags = [0; 2 * TAG];
    let tags = if flags.contains(OffloadFlags::TX_QINQ) {
        let (outer, inner) = tags.split_at_mut(TAG);
        fill(outer, ethertype::QINQ, packet.vlan_outer());
        fill(inner, ethertype::VLAN, packet.vlan());
        &tags[..]
    } else if flags.contains(OffloadFlags::TX_VLAN) {
        fill(&mut tags[..TAG], ethertype::VLAN, packet.vlan());
        &tags[..TAG]
    } else {
        return Ok(());
    };
    put(packet, stock, tags)?;
    let asked = OffloadFlags::TX_VLAN | OffloadFlags::TX_QINQ;
    packet.set_flags(packet.flags().difference(asked));
    shift(packet, tags.len() as u16)
}

fn fill(tag: &mut [u8], kind: u16, tci: u16) {
    tag[..2].copy_from_slice(&kind.to_be_bytes());
    tag[2..].copy_from_slice(&tci.to_be_bytes());
}

fn put(packet: &mut Mbuf, stock: &mut Stock<'_>, tags: &[u8]) -> Result<(), Fault> {
    if (packet.pkt_len() as usize) < ADDRESSES {
        return Err(Fault::Request);
    }
    if usize::from(packet.data_len()) >= ADDRESSES
        && packet.prepend(tags.len() as u16).is_some()
        && let Some(data) = packet.data_mut()
    {
        data.copy_within(tags.len()..tags.len() + ADDRESSES, 0);
        data[ADDRESSES..ADDRESSES + tags.len()].copy_from_slice(tags);
        return Ok(());
    }
    splice(packet, stock, ADDRESSES, tags, 0)
}

/// What the packet owes lies `by` bytes further behind.
fn shift(packet: &mut Mbuf, by: u16) -> Result<(), Fault> {
    let Some(checksum) = packet.partial_checksum() else {
        return Ok(());
    };
    let start = checksum.start.checked_add(by).ok_or(Fault::Checksum)?;
    let moved = PartialChecksum { start, ..checksum };
    match packet.gso() {
        None => packet.set_partial_checksum(moved),
        Some(gso) => {
            let header_len = gso.header_len.saturating_add(by);
            packet.set_gso(moved, Gso { header_len, ..gso });
        }
    }
    Ok(())
}
