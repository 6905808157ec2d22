//! Finishing one packet: its requests, its tags, its debts, in this order.

use mpps_mbuf::{Caches, Mbuf, OffloadFlags, PoolId, TxOffload};

use crate::bytes::Stock;
use crate::fault::Fault;
use crate::{checksum, cut, request, vlan};

/// The longest packet that is handed on to be cut elsewhere: an Ethernet header and the most that an IP length says. A
/// peer's buffers needn't take more (virtio 1.3, section 5.1.6.3.1).
const MAX_PASSED_ON: u32 = 14 + 65_535;

/// Finishes a packet and hands on what leaves in its place, in order: itself, or its pieces, with neither flags nor debts.
/// Returns how many there are.
///
/// New mbufs are taken from `pool`'s cache: one where data can't be changed in place, and those of the pieces. A packet
/// that can't be finished is freed; pieces may have left by then if mbufs run out, as if the rest had been lost on the
/// wire.
pub fn finish(
    packet: Mbuf,
    caches: &mut Caches,
    pool: PoolId,
    out: &mut impl FnMut(Mbuf),
) -> Result<usize, Fault> {
    finish_but(packet, caches, pool, OffloadFlags::empty(), out)
}

/// As [`finish`], but for the debts in `passed_on`, which whoever gets the packet settles: it keeps these, and requests of
/// the program are turned into them. A large packet is handed on whole if all it owes is passed on.
pub fn finish_but(
    packet: Mbuf,
    caches: &mut Caches,
    pool: PoolId,
    passed_on: OffloadFlags,
    out: &mut impl FnMut(Mbuf),
) -> Result<usize, Fault> {
    let mut packet = packet;
    let mut stock = Stock { caches, pool };
    let prepared = prepare(&mut packet, &mut stock, passed_on);
    let done = match prepared {
        Err(fault) => Err(fault),
        Ok(Left::Nothing) => {
            out(packet);
            return Ok(1);
        }
        Ok(Left::Cut) => cut::cut(&packet, &mut stock, out),
    };
    caches.free_one(packet);
    done
}

/// What is left to do.
enum Left {
    Nothing,
    Cut,
}

fn prepare(
    packet: &mut Mbuf,
    stock: &mut Stock<'_>,
    passed_on: OffloadFlags,
) -> Result<Left, Fault> {
    request::settle(packet, stock, passed_on)?;
    vlan::insert(packet, stock)?;
    let debt = packet.flags() & OffloadFlags::DEBT;
    if packet.gso().is_some() {
        if !passed_on.contains(debt) || packet.pkt_len() > MAX_PASSED_ON {
            return Ok(Left::Cut);
        }
    } else if !passed_on.contains(debt) {
        checksum::complete(packet, stock)?;
        packet.clear_debt();
    }
    // Where there is no debt this clears the word as well.
    packet.set_offload(OffloadFlags::empty(), TxOffload::default());
    Ok(Left::Nothing)
}
