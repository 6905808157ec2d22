//! Driver half, transmitting what isn't a plain packet of a lent pool: header from the ring's table, a descriptor a segment
//! or an indirect table, and a copy where the device could not reach the data.

use std::ptr::NonNull;

use mpps_mbuf::{Burst, Caches, Mbuf, OffloadFlags};
use mpps_shm::peer;

use super::Descriptor;
use super::device_rx::HEADER;
use super::driver_tx::TxRing;
use crate::Moved;
use crate::net_header::NetHeader;
use crate::split::driver_post::copy;
use crate::split::layout::INDIRECT_ENTRIES;
use crate::split::{INDIRECT, NEXT};

impl TxRing {
    /// Posts the first packet, or puts a copy in its place that can be posted; false when it has to wait.
    #[cold]
    pub(super) fn post_slowly(
        &mut self,
        caches: &mut Caches,
        packets: &mut Burst,
        moved: &mut Moved,
    ) -> bool {
        let Some(packet) = packets.as_slice().first() else {
            return false;
        };
        if packet.flags().intersects(self.unfinished) {
            return false;
        }
        let len = packet.pkt_len();
        let descriptors = usize::from(packet.segments()) + 1;
        let table = self.indirect && descriptors <= INDIRECT_ENTRIES;
        let needed = if table { 1 } else { descriptors };
        let postable = len > 0 && needed <= usize::from(self.ring.most) && self.reaches(packet);
        if !postable {
            return self.replace(caches, packets);
        }
        if self.ring.room() < needed {
            return false;
        }
        let Some(id) = self.free.pop() else {
            return false;
        };
        if self.groups {
            self.count_groups(&packets.as_slice()[..1]);
        }
        let Some(packet) = packets.pop_front() else {
            return false;
        };
        self.mix_in(&packet);
        // At most the ring's size, which is a u16.
        self.post_chain(packet, id, needed as u16, table);
        self.ring.tally.count_sizes(&[len]);
        moved.packets += 1;
        moved.bytes += u64::from(len);
        true
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

    /// Puts a copy in lent mbufs in the place of the first packet; a packet that can't be sent in any way is lost.
    fn replace(&mut self, caches: &mut Caches, packets: &mut Burst) -> bool {
        let Some(packet) = packets.as_mut_slice().first_mut() else {
            return false;
        };
        match copy(packet, self.pool, caches) {
            Some(copy) if self.holds(&copy) => {
                caches.free_one(std::mem::replace(packet, copy));
                return true;
            }
            Some(copy) => caches.free_one(copy),
            None if packet.pkt_len() > 0 => {
                self.ring.tally.no_mbuf.add(1);
                return false;
            }
            None => {}
        }
        self.ring.tally.too_long.add(1);
        if let Some(packet) = packets.pop_front() {
            caches.free_one(packet);
        }
        true
    }

    /// Whether a fresh copy can be posted: as one plain packet, or as a chain that is no longer than the ring.
    fn holds(&self, copy: &Mbuf) -> bool {
        let plain = copy.segments() == 1 && !copy.flags().intersects(OffloadFlags::UNFINISHED);
        plain
            || copy.segments() < self.ring.most
            || (self.indirect && usize::from(copy.segments()) < INDIRECT_ENTRIES)
    }

    fn mix_in(&mut self, packet: &Mbuf) {
        let tag = packet.kind();
        if self.uniform != Some(tag) {
            self.mix(tag);
        }
    }

    /// Header from the ring's table, then a descriptor a segment; in the ring itself or in an indirect table.
    fn post_chain(&mut self, packet: Mbuf, id: u16, needed: u16, table: bool) {
        let place = self.ring.header_place(id);
        let bytes = NetHeader::compose(&packet, self.offloads);
        // SAFETY: a place in the ring's own memory, which the device reads once it is told of it.
        unsafe { place.as_ptr().write(bytes) };
        let header = (place.addr().get() as u64, HEADER);
        let segments = packet
            .segments_data()
            .map(|data| (data.as_ptr().addr() as u64, data.len() as u32));
        if table {
            let entries = self.ring.indirect_table(id);
            let n = write_table(entries, std::iter::once(header).chain(segments));
            let address = entries.addr().get() as u64;
            self.ring
                .write(self.ring.avail, address, n * 16, id, INDIRECT);
        } else {
            // All but the last one have a successor, the header too; the first is written last.
            let mut at = self.ring.avail;
            for (k, (address, len)) in (2..).zip(segments) {
                at = at.advance(1, self.ring.size);
                let next = if k < needed { NEXT } else { 0 };
                self.ring.write(at, address, len, id, next);
            }
            self.ring
                .write(self.ring.avail, header.0, header.1, id, NEXT);
        }
        self.taken[usize::from(id)] = needed;
        self.sent[usize::from(id)].write(packet);
        self.ring.posted(needed);
    }
}

/// Fills an indirect table; says how many entries it has.
fn write_table(entries: NonNull<[u64; 2]>, buffers: impl Iterator<Item = (u64, u32)>) -> u32 {
    let mut n = 0;
    for (address, len) in buffers.take(INDIRECT_ENTRIES) {
        let entry = Descriptor::new(address, len, 0, 0);
        // SAFETY: one of the table's entries, which are in the ring's own memory.
        unsafe { peer::store(entries.as_ptr().add(n), entry.0) };
        n += 1;
    }
    // At most `INDIRECT_ENTRIES`.
    n as u32
}
