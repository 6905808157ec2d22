//! Driver half, transmitting what isn't a plain packet of a lent pool.

use std::ptr::NonNull;

use mpps_mbuf::{Burst, Caches, Mbuf};
use mpps_shm::peer;

use super::driver_tx::{CHANGED, TxRing};
use super::layout::INDIRECT_ENTRIES;
use super::{Descriptor, INDIRECT, NEXT};
use crate::Moved;
use crate::net_header::NetHeader;

/// The most pairs of descriptors of a chain: a count that fits the ring's books beside [`CHANGED`].
const PAIRS_MAX: usize = 127;

/// How a packet is posted.
#[derive(Clone, Copy)]
struct Way {
    pairs: usize,
    /// In an indirect table.
    table: bool,
    /// With one piece given in two, so that whole pairs are used.
    cut: bool,
}

impl TxRing {
    /// Posts the first packet, or puts a copy in its place that can be posted; none when it has to wait.
    #[cold]
    pub(super) fn post_slowly(
        &mut self,
        caches: &mut Caches,
        packets: &mut Burst,
    ) -> Option<Moved> {
        let packet = packets.as_slice().first()?;
        if packet.flags().intersects(self.unfinished) {
            return None;
        }
        let len = packet.pkt_len();
        let way = self.way(packet).filter(|_| self.reaches(packet));
        let Some(way) = way else {
            return self.replace(caches, packets);
        };
        if self.free.len() < way.pairs {
            return None;
        }
        if self.groups {
            self.count_groups(&packets.as_slice()[..1]);
        }
        let packet = packets.pop_front()?;
        self.mix_in(&packet);
        self.post_chain(packet, way);
        self.ring.tally.count_sizes(&[len]);
        Some(Moved::default().and(1, u64::from(len)))
    }

    /// How a packet can be posted, if it can at all.
    fn way(&self, packet: &Mbuf) -> Option<Way> {
        let pieces = pieces(packet, false).count();
        if pieces == 0 {
            return None;
        }
        // In order, descriptors are used one by one (virtio 1.3, section 2.7): half a pair can't be left out.
        if self.indirect && !self.in_order && pieces < INDIRECT_ENTRIES {
            return Some(Way {
                pairs: 1,
                table: true,
                cut: false,
            });
        }
        let cut = pieces.is_multiple_of(2);
        let pairs = (pieces + 1).div_ceil(2);
        let even = !cut || packet.segments_data().any(|data| data.len() > 1);
        let most = self.free.most().min(PAIRS_MAX);
        (even && pairs <= most).then_some(Way {
            pairs,
            table: false,
            cut,
        })
    }

    /// Whether the device has mapped all of a packet's data, whosever buffer it is in.
    fn reaches(&self, packet: &Mbuf) -> bool {
        packet.segments_data().all(|data| {
            let start = NonNull::from(data).cast::<u8>();
            self.lent.pools().iter().any(|pool| {
                let buffers = pool.buffers().region();
                buffers
                    .offset_of(start)
                    .is_some_and(|at| buffers.at(at, data.len()).is_some())
            })
        })
    }

    /// Puts a copy in lent mbufs in the place of the first packet; a packet that can't be sent in any way is lost, which is
    /// not counted as sent.
    fn replace(&mut self, caches: &mut Caches, packets: &mut Burst) -> Option<Moved> {
        let packet = packets.as_mut_slice().first_mut()?;
        let copied = copy(packet, self.pool, caches);
        match copied {
            Some(copy) if self.way(&copy).is_some() => {
                caches.free_one(std::mem::replace(packet, copy));
                return Some(Moved::default());
            }
            Some(copy) => caches.free_one(copy),
            None if packet.pkt_len() > 0 => {
                self.ring.tally.no_mbuf.add(1);
                return None;
            }
            None => {}
        }
        self.ring.tally.too_long.add(1);
        if let Some(packet) = packets.pop_front() {
            caches.free_one(packet);
        }
        Some(Moved::default())
    }

    fn mix_in(&mut self, packet: &Mbuf) {
        let tag = packet.kind();
        if self.uniform != Some(tag) || !tag.is_plain() {
            self.mix(tag);
            self.uniform = self.uniform.filter(|tag| tag.is_plain());
        }
    }

    /// Header from the ring's table, then a descriptor a piece; in the ring itself or in an indirect table.
    fn post_chain(&mut self, packet: Mbuf, way: Way) {
        let head = self.free.pop();
        let place = self.ring.header_place(head);
        let bytes = NetHeader::compose(&packet, self.offloads);
        // SAFETY: a place in the ring's own memory, which the device reads once it is told of it.
        unsafe { place.as_ptr().write(bytes) };
        let (address, len) = (place.addr().get() as u64, u32::from(self.header));
        let first = Descriptor::new(address, len, NEXT, head + 1);
        if way.table {
            let entries = self.ring.indirect_table(head);
            let n = write_table(entries, first, pieces(&packet, false));
            let table = entries.addr().get() as u64;
            self.ring
                .write_descriptor(head, Descriptor::new(table, n as u32 * 16, INDIRECT, 0));
        } else {
            self.link_pieces(head, first, pieces(&packet, way.cut));
        }
        self.ring.write_avail(0, head);
        self.taken[usize::from(head)] = way.pairs as u8 | CHANGED;
        self.sent[usize::from(head)].write(packet);
        self.ring.publish(1);
    }

    /// Writes a chain that fills whole pairs.
    fn link_pieces(
        &mut self,
        head: u16,
        first: Descriptor,
        pieces: impl Iterator<Item = (u64, u32)>,
    ) {
        let (mut id, mut descriptor) = (head, first);
        for (address, len) in pieces {
            let next = if id.is_multiple_of(2) {
                id + 1
            } else {
                self.free.pop()
            };
            if next.is_multiple_of(2) {
                self.link[usize::from(id - 1)] = next;
            }
            let linked = Descriptor::new(descriptor.address(), descriptor.len(), NEXT, next);
            self.ring.write_descriptor(id, linked);
            (id, descriptor) = (next, Descriptor::new(address, len, 0, 0));
        }
        self.ring.write_descriptor(id, descriptor);
    }
}

/// Address and length of each piece of a packet's data; with `cut`, one more than there are, as the first that has two
/// bytes is given in two.
fn pieces(packet: &Mbuf, cut: bool) -> impl Iterator<Item = (u64, u32)> {
    let mut cut = cut;
    let segments = packet.segments_data().filter(|data| !data.is_empty());
    segments.flat_map(move |data| {
        let (address, len) = (data.as_ptr().addr() as u64, data.len() as u32);
        let front = if cut && len > 1 { len / 2 } else { 0 };
        cut &= front == 0;
        let front_piece = (front > 0).then_some((address, front));
        let rest = (address + u64::from(front), len - front);
        front_piece.into_iter().chain(std::iter::once(rest))
    })
}

/// Fills an indirect table; says how many entries it has.
fn write_table(
    entries: NonNull<[u64; 2]>,
    first: Descriptor,
    segments: impl Iterator<Item = (u64, u32)>,
) -> usize {
    let (mut n, mut descriptor) = (0, first);
    for (address, len) in segments {
        let linked = Descriptor::new(descriptor.address(), descriptor.len(), NEXT, n as u16 + 1);
        // SAFETY: the caller saw that header and segments fit the table, which is in the ring's own memory.
        unsafe { peer::store(entries.as_ptr().add(n), linked.0) };
        (n, descriptor) = (n + 1, Descriptor::new(address, len, 0, 0));
    }
    // SAFETY: as above.
    unsafe { peer::store(entries.as_ptr().add(n), descriptor.0) };
    n + 1
}

/// A copy of a packet in mbufs of `pool`, with all that travels beside its bytes; none when there are no mbufs or no bytes.
pub(crate) fn copy(packet: &Mbuf, pool: mpps_mbuf::PoolId, caches: &mut Caches) -> Option<Mbuf> {
    let len = packet.pkt_len() as usize;
    let mut whole: Option<Mbuf> = None;
    let mut at = 0;
    while at < len {
        let Some(mut part) = caches.alloc_one(pool) else {
            if let Some(whole) = whole {
                caches.free_one(whole);
            }
            return None;
        };
        let n = (len - at).min(usize::from(part.tailroom()));
        // `n` fits the tail, a u16.
        if part.resize(n as u16)
            && let Some(data) = part.data_mut()
        {
            packet.copy_out(at, data);
        }
        at += n.max(1);
        match &mut whole {
            None => whole = Some(part),
            Some(head) => {
                if let Err(part) = head.chain(part) {
                    caches.free_one(part);
                }
            }
        }
    }
    if let Some(whole) = &mut whole {
        whole.copy_metadata(packet);
    }
    whole
}
