//! Making data writable that clones share: a copy into fresh mbufs.

use mpps_dev::Lcore;
use mpps_mbuf::{Burst, Mbuf};

/// Replaces each packet of the burst whose data is shared by a copy of its own, to which `then` is applied; drops it when
/// there is no mbuf to copy into. The others stay as they are, in their places. Returns the number dropped. Off the fast
/// path: engines call it when a kernel says that packets were left alone.
#[cold]
pub(crate) fn make_private(
    lcore: &mut Lcore,
    burst: &mut Burst,
    mut then: impl FnMut(&mut Mbuf),
) -> u64 {
    let mut failed = 0;
    let packets = burst.as_mut_slice();
    for n in 0..packets.len() {
        if packets[n].data_mut().is_some() {
            continue;
        }
        if let Some(mut copy) = copy_of(lcore, &packets[n]) {
            then(&mut copy);
            lcore.free_one(std::mem::replace(&mut packets[n], copy));
        } else {
            // To the front, where a burst gives packets up; the order of the rest is kept.
            packets[failed..=n].rotate_right(1);
            failed += 1;
        }
    }
    for _ in 0..failed {
        if let Some(packet) = burst.pop_front() {
            lcore.free_one(packet);
        }
    }
    failed as u64
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
    head.copy_metadata(packet);
    Some(head)
}
