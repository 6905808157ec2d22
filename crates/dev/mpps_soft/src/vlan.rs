//! Putting VLAN tags in, and taking them out, where the port doesn't.

use mpps_mbuf::{Gso, Mbuf, OffloadFlags, PartialChecksum};
use mpps_wire::ethertype;

use crate::bytes::{Stock, splice};
use crate::fault::Fault;

/// Bytes before the tags: the two addresses.
const ADDRESSES: usize = 12;
/// Bytes of a tag.
const TAG: usize = 4;
/// Addresses, tag and the type behind it.
const HEAD: usize = ADDRESSES + TAG + 2;

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
    let by = tags.len() as u16;
    shift(
        packet,
        |at| at.checked_add(by),
        |len| len.saturating_add(by),
    )
}

/// Takes the outer VLAN tag (0x8100) out of each packet that has one, and notes it in the packet; how many had one.
///
/// A packet whose data is shared, or whose first segment ends before the type behind the tag, keeps it. So does one whose
/// unfinished checksum begins in front of that, as no sane one does.
pub fn strip_tags(packets: &mut [Mbuf]) -> usize {
    packets
        .iter_mut()
        .map(|packet| usize::from(strip(packet)))
        .sum()
}

fn strip(packet: &mut Mbuf) -> bool {
    let owed = packet.partial_checksum().map_or(u16::MAX, |sum| sum.start);
    if usize::from(owed) < HEAD {
        return false;
    }
    let Some(head) = packet.front_mut::<HEAD>() else {
        return false;
    };
    let [.., a, b, c, d, _, _] = *head;
    if u16::from_be_bytes([a, b]) != ethertype::VLAN {
        return false;
    }
    head.copy_within(..ADDRESSES, TAG);
    packet.trim_front(TAG as u16);
    packet.set_vlan(u16::from_be_bytes([c, d]), 0);
    let stripped = OffloadFlags::RX_VLAN | OffloadFlags::RX_VLAN_STRIPPED;
    packet.set_flags(packet.flags() | stripped);
    let by = TAG as u16;
    // It begins behind what was read.
    shift(
        packet,
        |at| at.checked_sub(by),
        |len| len.saturating_sub(by),
    )
    .is_ok()
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

/// What the packet owes lies elsewhere: `start` says where the sum begins, `header` how long the headers are.
fn shift(
    packet: &mut Mbuf,
    start: impl Fn(u16) -> Option<u16>,
    header: impl Fn(u16) -> u16,
) -> Result<(), Fault> {
    let Some(checksum) = packet.partial_checksum() else {
        return Ok(());
    };
    let start = start(checksum.start).ok_or(Fault::Checksum)?;
    let moved = PartialChecksum { start, ..checksum };
    match packet.gso() {
        None => packet.set_partial_checksum(moved),
        Some(gso) => {
            let header_len = header(gso.header_len);
            packet.set_gso(moved, Gso { header_len, ..gso });
        }
    }
    Ok(())
}
