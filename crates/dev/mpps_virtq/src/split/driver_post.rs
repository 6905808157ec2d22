//! Driver half, transmitting what isn't a plain packet of a lent pool.

use std::ptr::NonNull;

use mpps_mbuf::{Burst, Caches, Mbuf};
use mpps_shm::peer;

use super::driver_tx::TxRing;
use super::layout::INDIRECT_ENTRIES;
use super::{Descriptor, INDIRECT, NEXT};
use crate::Moved;
use crate::net_header::NetHeader;

/// The most descriptors of a chain: a count that fits the ring's books.
const CHAIN_MAX: usize = 255;

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
        let descriptors = usize::from(packet.segments()) + 1;
        let table = self.indirect && descriptors <= INDIRECT_ENTRIES;
        let needed = if table { 1 } else { descriptors };
        let postable = len > 0 && needed <= self.free.most().min(CHAIN_MAX) && self.reaches(packet);
        if !postable {
            return self.replace(caches, packets);
        }
        if self.free.len() < needed {
            return None;
        }
        if self.groups {
            self.count_groups(&packets.as_slice()[..1]);
        }
        let packet = packets.pop_front()?;
        self.mix_in(&packet);
        self.post_chain(packet, needed, table);
        self.ring.tally.count_sizes(&[len]);
        Some(Moved::default().and(1, u64::from(len)))
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
        let most = self.free.most().min(CHAIN_MAX);
        match copied {
            Some(copy) if self.fits(&copy, most) => {
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

    /// Whether a copy can be posted once there are descriptors: with a header of its own, or, plain and without anything to
    /// say, in one descriptor.
    fn fits(&self, copy: &Mbuf, most: usize) -> bool {
        let plain = copy.segments() == 1 && !copy.has_debt();
        let segments = usize::from(copy.segments());
        plain || segments < most || (self.indirect && segments < INDIRECT_ENTRIES)
    }

    fn mix_in(&mut self, packet: &Mbuf) {
        let tag = packet.kind();
        if self.uniform != Some(tag) || !tag.is_plain() {
            self.mix(tag);
            self.uniform = self.uniform.filter(|tag| tag.is_plain());
        }
    }

    /// Header from the ring's table, then a descriptor a segment; in the ring itself or in an indirect table.
    fn post_chain(&mut self, packet: Mbuf, needed: usize, table: bool) {
        let head = self.free.pop();
        let place = self.ring.header_place(head);
        let header = usize::from(self.header);
        let bytes = NetHeader::compose(&packet, self.offloads);
        // SAFETY: a place in the ring's own memory, which the device reads once it is told of it.
        unsafe { place.as_ptr().write(bytes) };
        let first = Descriptor::new(place.addr().get() as u64, header as u32, NEXT, 0);
        let segments = packet
            .segments_data()
            .map(|data| (data.as_ptr().addr() as u64, data.len() as u32));
        if table {
            let entries = self.ring.indirect_table(head);
            let n = write_table(entries, first, segments);
            let len = n as u32 * 16;
            self.ring.write_descriptor(
                head,
                Descriptor::new(entries.addr().get() as u64, len, INDIRECT, 0),
            );
        } else {
            let (mut id, mut descriptor) = (head, first);
            for (address, len) in segments {
                let next = self.free.pop();
                self.link[usize::from(id)] = next;
                self.ring.write_descriptor(
                    id,
                    Descriptor::new(descriptor.address(), descriptor.len(), NEXT, next),
                );
                (id, descriptor) = (next, Descriptor::new(address, len, 0, 0));
            }
            self.ring.write_descriptor(id, descriptor);
        }
        self.ring.write_avail(0, head);
        self.taken[usize::from(head)] = needed as u8;
        self.sent[usize::from(head)].write(packet);
        self.ring.publish(1);
    }
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
