//! Making data writable that clones share: a copy into fresh mbufs.

use mpps_dev::Lcore;
use mpps_mbuf::{Burst, Mbuf};

/// Replaces each packet of the burst whose data is shared by a copy of its own; drops it when there is no mbuf to copy
/// into. Returns the number dropped. Off the fast path: engines call it when a kernel says that packets were left alone.
#[cold]
pub(crate) fn make_private(
    lcore: &mut Lcore,
    burst: &mut Burst,
    mut then: impl FnMut(&mut Mbuf),
) -> u64 {
    let mut dropped = 0;
    for _ in 0..burst.len() {
        let Some(mut packet) = burst.pop_front() else {
            break;
        };
        if packet.data_mut().is_none() {
            let copy = copy_of(lcore, &packet);
            lcore.free_one(packet);
            let Some(copy) = copy else {
                dropped += 1;
                continue;
            };
            packet = copy;
            then(&mut packet);
        }
        // A slot was just freed at the front; where the burst is full to its end there is none behind.
        if let Err(packet) = burst.push(packet) {
            lcore.free_one(packet);
            dropped += 1;
        }
    }
    dropped
}

/// A copy of a packet in mbufs of the same pool, with its offload metadata.
pub(crate) fn copy_of(lcore: &mut Lcore, packet: &Mbuf) -> Option<Mbuf> {
    let mut head: Option<Mbuf> = None;
    for data in packet.segments_data() {
        let mut rest = data;
        loop {
            let mut segment = lcore.alloc_one(packet.pool())?;
            let n = rest.len().min(usize::from(segment.tailroom()));
            segment.append(&rest[..n]);
            rest = &rest[n..];
            head = Some(match head {
                None => segment,
                Some(mut head) => {
                    head.chain(segment).ok()?;
                    head
                }
            });
            if rest.is_empty() {
                break;
            }
        }
    }
    let mut head = head?;
    head.set_offload(packet.flags(), packet.tx_offload());
    head.set_vlan(packet.vlan(), packet.vlan_outer());
    head.set_port(packet.port());
    Some(head)
}
