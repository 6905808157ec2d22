//! Driver half, receiving: mbufs lie in the ring for the device to fill, and come out as packets.
//!
//! Two passes, as in the device half: the used entries of up to 32 buffers are read and checked and the headers that lie in
//! the buffers prefetched, then the packets are made. Packets of several buffers, and headers that say something, go
//! through [`RxRing::take_slowly`].

mod used;
mod vector;

use std::mem::MaybeUninit;

use mpps_cpu::prefetch;
use mpps_mbuf::{Burst, Caches, HEADROOM, Mbuf, PoolId};
use mpps_shm::peer;

use self::used::Used;
use super::device_rx::BATCH;
use super::driver::DriverRing;
use super::free_ids::FreeIds;
use super::{Descriptor, WRITE};
use crate::foreign::load_unaligned;
use crate::net_header::{NetHeader, NetOffloads, Verdict};
use crate::tally::Lengths;
use crate::vector::{Lanes, halves};
use crate::{DriverSetup, Features, Moved, RingFault};

/// Free descriptors that are worth a refill.
const REFILL: usize = 32;

/// The receiving side with the mbufs that it has posted.
pub(crate) struct RxRing {
    pub(crate) ring: DriverRing,
    /// Count packets to group addresses.
    groups: bool,
    /// Whose headers serve as they are; zero where none do.
    mark: u16,
    pool: PoolId,
    /// Mbufs in the ring, by the number of their descriptor.
    posted: Box<[Option<Mbuf>]>,
    pub(crate) free: FreeIds,
    /// Bytes of the header before each packet.
    header: u32,
    /// Bytes of a posted buffer, header included.
    room: u32,
    /// The most bytes of a used buffer that is known to be a whole packet without a look at its header.
    whole: u32,
    offloads: NetOffloads,
    mergeable: bool,
}

impl RxRing {
    pub(crate) fn open(setup: &DriverSetup) -> Result<Self, RingFault> {
        let ring = DriverRing::open(setup)?;
        let header = setup.features.header_len() as u32;
        let pool = setup
            .lent
            .pools()
            .iter()
            .find(|pool| pool.id() == setup.pool);
        let missing = RingFault::Unmapped {
            what: "mbuf pool",
            address: 0,
            len: 0,
        };
        let room = u32::from(pool.ok_or(missing)?.data_capacity()) + header;
        let mergeable = setup.features.contains(Features::MRG_RXBUF);
        for id in 0..ring.size {
            ring.write_descriptor(id, Descriptor::new(0, room, WRITE, 0));
        }
        Ok(Self {
            groups: setup.groups,
            mark: setup.trusted_mark(),
            pool: setup.pool,
            posted: (0..ring.size).map(|_| None).collect(),
            free: FreeIds::all(ring.size),
            header,
            room,
            whole: room - u32::from(mergeable),
            offloads: NetOffloads::to_driver(setup.features),
            mergeable,
            ring,
        })
    }

    /// Posts buffers until the ring is full or the pool is dry.
    pub(crate) fn fill(&mut self, caches: &mut Caches) {
        while self.free.len() > 0 && self.refill(caches) > 0 {}
    }

    /// Posts up to a batch of buffers; says how many.
    #[inline(always)]
    fn refill(&mut self, caches: &mut Caches) -> usize {
        let mut fresh = [const { MaybeUninit::uninit() }; BATCH];
        let want = self.free.len().min(BATCH);
        let n = caches.take(self.pool, &mut fresh[..want]);
        let (view, header) = (self.ring.view(), u64::from(self.header));
        for (k, mbuf) in (0..).zip(&fresh[..n]) {
            // SAFETY: `take` filled the first `n`.
            let mbuf: Mbuf = unsafe { mbuf.assume_init_read() };
            let id = self.free.peek(k);
            let start = mbuf.buffer().addr().get() + usize::from(HEADROOM);
            view.write_address(id, start as u64 - header);
            view.write_avail(k, id);
            self.posted[usize::from(id)] = Some(mbuf);
        }
        self.free.advance(n as u16);
        if n > 0 {
            self.ring.publish(n);
        }
        n
    }

    /// Whether a burst would move and post nothing.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.free.len() < REFILL && self.ring.is_idle()
    }

    /// Moves up to `out.room()` packets.
    #[inline(always)]
    pub(crate) fn burst<const HEADERS: bool, L: Lanes>(
        &mut self,
        caches: &mut Caches,
        out: &mut Burst,
    ) -> Moved {
        let mut moved = Moved::default();
        if self.ring.fault.is_some() {
            return moved;
        }
        loop {
            let n = self.ring.used(out.room().min(BATCH));
            if n == 0 {
                break;
            }
            self.ring
                .view()
                .prefetch_descriptors(self.free.peek(0), n as u16);
            let (done, bytes) = self.run::<HEADERS, L>(n, out);
            moved = moved.and(done, bytes);
            if done == n && done < BATCH {
                break;
            }
            if done < n {
                let Some(one) = self.take_slowly(caches, out) else {
                    break;
                };
                moved = moved.and(one.packets, one.bytes);
            }
        }
        while self.free.len() >= REFILL && self.refill(caches) > 0 {}
        moved
    }

    /// Makes packets of up to `n` used buffers; stops at the first that needs more thought. Says how many packets and bytes
    /// that were.
    #[inline(always)]
    fn run<const HEADERS: bool, L: Lanes>(&mut self, n: usize, out: &mut Burst) -> (usize, u64) {
        let mut batch = [Used::NONE; BATCH];
        let n = if L::GROUP > 1 {
            self.look_by::<L>(n, &mut batch)
        } else {
            self.look::<HEADERS>(n, &mut batch)
        };
        let (header, mergeable, groups) = (self.header, self.mergeable, self.groups);
        let mark = self.mark;
        let (mut group, first) = (0, out.len());
        let mut lens = [0_u32; BATCH];
        let mut sum = Lengths::from(batch[0].len().wrapping_sub(header));
        let mut done = 0;
        for (used, len) in batch[..n].iter().zip(&mut lens) {
            let place = &mut self.posted[usize::from(used.id())];
            let Some(mbuf) = place else {
                break;
            };
            if HEADERS && !is_plain(mbuf, header, mergeable) {
                break;
            }
            let Some(mut packet) = place.take() else {
                break;
            };
            *len = used.len() - header;
            sum.add(*len);
            // SAFETY: `look` or `look_by` saw that `len` is at most what the buffer has behind the headroom.
            unsafe { packet.set_received(HEADROOM, *len as u16) };
            packet.set_header_by(mark);
            if groups {
                group |= packet.data().first().map_or(0, |byte| *byte);
            }
            if out.push(packet).is_err() {
                break;
            }
            self.free.put(done, used.id());
            done += 1;
        }
        self.free.commit(done);
        self.ring.used_idx = self.ring.used_idx.wrapping_add(done);
        let done = usize::from(done);
        if group & 1 != 0 {
            self.count_groups(&out.as_slice()[first..]);
        }
        if done > 0 {
            self.ring.tally.count_run(sum, &lens[..done]);
        }
        (done, sum.bytes)
    }

    /// Reads up to `n` used entries; stops at the first that can't be right.
    #[inline(always)]
    fn look<const HEADERS: bool>(&mut self, n: usize, batch: &mut [Used; BATCH]) -> usize {
        self.ring.prefetch_used(n);
        for (k, used) in batch.iter_mut().take(n).enumerate() {
            let (id, len) = self.ring.used_entry(k);
            let Some(Some(mbuf)) = self.posted.get(id as usize) else {
                return k;
            };
            // No packet, or more than the buffer holds. A device that merges buffers fills all but the last (virtio 1.3,
            // section 5.1.6.4.1), so that one that isn't full is a packet.
            if len.wrapping_sub(self.header + 1) >= self.whole - self.header {
                return k;
            }
            if HEADERS {
                prefetch::prefetch_for_write(
                    mbuf.buffer()
                        .as_ptr()
                        .wrapping_add(usize::from(HEADROOM) - self.header as usize),
                );
            }
            *used = Used(halves(id, len));
        }
        n
    }

    /// What `look` looks for in an entry, but for the buffer.
    #[inline(always)]
    const fn is_simple(&self, used: Used) -> bool {
        (used.0 as u32) < self.ring.size as u32
            && used.len().wrapping_sub(self.header + 1) < self.whole - self.header
    }

    #[cold]
    fn count_groups(&self, packets: &[Mbuf]) {
        for packet in packets {
            if packet.data().first().is_some_and(|byte| byte & 1 != 0) {
                self.ring.tally.count_group(packet.data());
            }
        }
    }

    /// Takes the next packet, whatever it looks like; none when nothing more can be done in this burst.
    #[cold]
    fn take_slowly(&mut self, caches: &mut Caches, out: &mut Burst) -> Option<Moved> {
        let (id, len) = self.ring.used_entry(0);
        let Some(header) = self.header_of(id) else {
            self.ring.retire(RingFault::Used {
                id,
                len,
                why: "it isn't in the ring",
            });
            return None;
        };
        let buffers = if self.mergeable {
            header.num_buffers.max(1)
        } else {
            1
        };
        let outstanding = self.ring.outstanding();
        if buffers > outstanding {
            let why = "its header announces more buffers than there are in the ring";
            self.ring.retire(RingFault::Used { id, len, why });
            return None;
        }
        if self.ring.used(usize::from(buffers)) < usize::from(buffers) {
            // The rest is still on its way.
            return None;
        }
        let packet = match self.merge(buffers, caches) {
            Ok(packet) => packet,
            Err(fault) => {
                self.ring.retire(fault);
                return None;
            }
        };
        self.ring.used_idx = self.ring.used_idx.wrapping_add(buffers);
        let delivered = packet.map(|packet| self.deliver(packet, header, caches, out));
        Some(delivered.unwrap_or_default())
    }

    fn deliver(
        &mut self,
        mut packet: Mbuf,
        header: NetHeader,
        caches: &mut Caches,
        out: &mut Burst,
    ) -> Moved {
        let len = packet.pkt_len();
        if NetHeader::apply(header.to_bytes(), &mut packet, self.offloads) == Verdict::BadHeader {
            self.ring.tally.bad.add(1);
            caches.free_one(packet);
            return Moved::default();
        }
        if self.groups {
            self.count_groups(std::slice::from_ref(&packet));
        }
        self.ring.tally.count_sizes(&[len]);
        // The caller saw that there is room.
        if let Err(packet) = out.push(packet) {
            caches.free_one(packet);
        }
        Moved::default().and(1, u64::from(len))
    }

    /// The header in a posted buffer, copied out once.
    fn header_of(&self, id: u32) -> Option<NetHeader> {
        let mbuf = self.posted.get(id as usize)?.as_ref()?;
        let mut bytes = [0; 12];
        let from = mbuf
            .buffer()
            .as_ptr()
            .wrapping_add(usize::from(HEADROOM) - self.header as usize);
        for (k, byte) in bytes.iter_mut().take(self.header as usize).enumerate() {
            // SAFETY: the header's place is inside the buffer, before the end of the headroom.
            *byte = unsafe { peer::load(from.add(k)) };
        }
        Some(NetHeader::from_bytes(bytes))
    }

    /// One packet of the next `buffers` used buffers; none, and counted, when its length is none. Their numbers are free
    /// afterwards.
    fn merge(&mut self, buffers: u16, caches: &mut Caches) -> Result<Option<Mbuf>, RingFault> {
        let mut packet: Option<Mbuf> = None;
        let mut bad = false;
        for k in 0..usize::from(buffers) {
            let (id, len) = self.ring.used_entry(k);
            let place = self.posted.get_mut(id as usize);
            let Some(mut mbuf) = place.and_then(Option::take) else {
                free(packet, caches);
                return Err(RingFault::Used {
                    id,
                    len,
                    why: "it isn't in the ring",
                });
            };
            self.free.push(id as u16);
            let skip = if k == 0 { self.header } else { 0 };
            if len <= skip || len > self.room {
                bad = true;
                mbuf.set_header_by(0);
                caches.free_one(mbuf);
                continue;
            }
            // Only the first buffer has a header; in the others data begins where it would be.
            let offset = HEADROOM - (self.header - skip) as u16;
            // SAFETY: `len` is at most `room`, which ends with the buffer.
            unsafe { mbuf.set_received(offset, (len - skip) as u16) };
            mbuf.set_header_by(0);
            match &mut packet {
                None => packet = Some(mbuf),
                Some(head) => {
                    if let Err(mbuf) = head.chain(mbuf) {
                        bad = true;
                        caches.free_one(mbuf);
                    }
                }
            }
        }
        if bad {
            self.ring.tally.bad.add(1);
            free(packet, caches);
            return Ok(None);
        }
        Ok(packet)
    }
}

impl Drop for RxRing {
    /// The device may have written to any buffer that it didn't give back, also where a header would be.
    fn drop(&mut self) {
        for mbuf in self.posted.iter_mut().flatten() {
            mbuf.set_header_by(0);
        }
    }
}

fn free(packet: Option<Mbuf>, caches: &mut Caches) {
    if let Some(packet) = packet {
        caches.free_one(packet);
    }
}

/// Whether the header in a buffer says nothing but "one buffer".
#[inline(always)]
pub(crate) fn is_plain(mbuf: &Mbuf, header: u32, mergeable: bool) -> bool {
    let start = mbuf.buffer().as_ptr().wrapping_add(usize::from(HEADROOM));
    // SAFETY: the header lies before the end of the headroom; it is ten or twelve bytes long.
    unsafe {
        let says = load_unaligned(start.wrapping_sub(header as usize).cast::<u16>());
        let buffers = load_unaligned(start.wrapping_sub(2).cast::<u16>());
        says == 0 && (!mergeable || buffers == 1)
    }
}
