//! Driver half, receiving: mbufs lie in the ring for the device to fill, and come out as packets.
//!
//! Two passes, as in the split ring: the used descriptors of up to 32 buffers are read and checked and the headers that lie
//! in the buffers prefetched, then the packets are made. Packets of several buffers, and headers that say something, go
//! through [`RxRing::take_slowly`]. Buffers are known by their id, never by their place, since a device need not keep the
//! order.

mod vector;

use std::mem::MaybeUninit;

use mpps_cpu::prefetch;
use mpps_mbuf::{Burst, Caches, HEADROOM, Mbuf, PoolId};
use mpps_shm::peer;

use super::device_rx::HEADER;
use super::driver::{DriverRing, Used};
use super::free_ids::FreeIds;
use crate::net_header::{NetHeader, NetOffloads, Verdict};
use crate::split::WRITE;
use crate::split::device_rx::BATCH;
use crate::split::driver_rx::is_plain;
use crate::tally::Lengths;
use crate::vector::{Lanes, OneByOne};
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
    /// Mbufs in the ring by buffer id.
    posted: Box<[Option<Mbuf>]>,
    free: FreeIds,
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
        let room = u32::from(pool.ok_or(missing)?.data_capacity()) + HEADER;
        let mergeable = setup.features.contains(Features::MRG_RXBUF);
        Ok(Self {
            groups: setup.groups,
            mark: setup.trusted_mark(),
            pool: setup.pool,
            posted: (0..ring.size).map(|_| None).collect(),
            free: FreeIds::all(ring.size),
            room,
            whole: room - u32::from(mergeable),
            offloads: NetOffloads::to_driver(setup.features),
            mergeable,
            ring,
        })
    }

    /// Posts buffers until the ring is full or the pool is dry.
    pub(crate) fn fill(&mut self, caches: &mut Caches) {
        while self.ring.room() > 0 && self.refill::<OneByOne>(caches) > 0 {}
    }

    /// Posts up to a batch of buffers; says how many.
    #[inline(always)]
    fn refill<L: Lanes>(&mut self, caches: &mut Caches) -> usize {
        let mut fresh = [const { MaybeUninit::uninit() }; BATCH];
        let mut buffers = [(0, 0); BATCH];
        let want = self.ring.straight_room().min(self.free.len()).min(BATCH);
        let n = caches.take(self.pool, &mut fresh[..want]);
        if n == 0 {
            return 0;
        }
        for (mbuf, buffer) in fresh[..n].iter().zip(&mut buffers) {
            // SAFETY: `take` filled the first `n`.
            let mbuf: Mbuf = unsafe { mbuf.assume_init_read() };
            // As many ids are free as descriptors at least: each buffer takes one of both.
            let id = self.free.pop().unwrap_or_default();
            let start = mbuf.buffer().addr().get() + usize::from(HEADROOM);
            *buffer = (start as u64 - u64::from(HEADER), id);
            self.posted[usize::from(id)] = Some(mbuf);
        }
        let room = self.room;
        // SAFETY: `n` isn't zero and at most `straight_room`; the caller was compiled for `L`.
        unsafe {
            self.ring.post::<L>(n, |k| {
                let (address, id) = buffers[k];
                (address, room, id, WRITE)
            });
        }
        n
    }

    /// Whether a burst would move and post nothing.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        self.ring.room() < REFILL && self.ring.next_used().is_none()
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
            let n = out.room().min(BATCH).min(self.ring.straight_out());
            if n == 0 {
                break;
            }
            let (done, bytes) = self.run::<HEADERS, L>(n, out);
            moved = moved.and(done, bytes);
            if done < n && !self.take_next(caches, out, &mut moved) {
                break;
            }
        }
        while self.ring.room() >= REFILL && self.refill::<L>(caches) > 0 {}
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
        if n == 0 {
            return (0, 0);
        }
        let mut lens = [0_u32; BATCH];
        let mut sum = Lengths::from(batch[0].len - HEADER);
        let (mut done, mut group, first) = (0, 0, out.len());
        for (used, len) in batch[..n].iter().zip(&mut lens) {
            let place = &mut self.posted[usize::from(used.id)];
            let Some(mbuf) = place else {
                break;
            };
            if HEADERS && !is_plain(mbuf, HEADER, self.mergeable) {
                break;
            }
            let Some(mut packet) = place.take() else {
                break;
            };
            *len = used.len - HEADER;
            sum.add(*len);
            // SAFETY: `look` or `look_by` saw that `len` is at most what the buffer has behind the headroom.
            unsafe { packet.set_received(HEADROOM, *len as u16) };
            packet.set_header_by(self.mark);
            if self.groups {
                group |= packet.data()[0];
            }
            if out.push(packet).is_err() {
                break;
            }
            self.free.push(used.id);
            done += 1;
        }
        self.ring.reclaimed(done as u16);
        if group & 1 != 0 {
            self.count_groups(&out.as_slice()[first..]);
        }
        if done > 0 {
            self.ring.tally.count_run(sum, &lens[..done]);
        }
        (done, sum.bytes)
    }

    /// Reads up to `n` used descriptors, all before the ring's end; stops at the first that isn't there or can't be right.
    #[inline(always)]
    fn look<const HEADERS: bool>(&mut self, n: usize, batch: &mut [Used; BATCH]) -> usize {
        for (k, place) in batch.iter_mut().take(n).enumerate() {
            // SAFETY: `k < n`, at most `straight_out`.
            let Some(used) = (unsafe { self.ring.used_ahead(k) }) else {
                return k;
            };
            let Some(Some(mbuf)) = self.posted.get(usize::from(used.id)) else {
                return k;
            };
            // No packet, or more than the buffer holds; or, as in the split ring, perhaps not the last buffer of a packet.
            if used.len.wrapping_sub(HEADER + 1) >= self.whole - HEADER {
                return k;
            }
            if HEADERS {
                prefetch::prefetch_for_write(header_ptr(mbuf));
            }
            *place = used;
        }
        n
    }

    #[cold]
    fn count_groups(&self, packets: &[Mbuf]) {
        for packet in packets {
            if packet.data().first().is_some_and(|byte| byte & 1 != 0) {
                self.ring.tally.count_group(packet.data());
            }
        }
    }

    /// Takes the next packet, if there is one; false when nothing more can be done in this burst.
    #[inline(always)]
    fn take_next(&mut self, caches: &mut Caches, out: &mut Burst, moved: &mut Moved) -> bool {
        match self.ring.next_used() {
            Some(used) => self.take_slowly(used, caches, out, moved),
            None => false,
        }
    }

    /// Takes the packet that begins with this used buffer, whatever it looks like; false when nothing more can be done.
    #[cold]
    fn take_slowly(
        &mut self,
        used: Used,
        caches: &mut Caches,
        out: &mut Burst,
        moved: &mut Moved,
    ) -> bool {
        let refuse = |why| RingFault::Used {
            id: u32::from(used.id),
            len: used.len,
            why,
        };
        let Some(header) = self.header_of(used.id) else {
            self.ring.retire(refuse("it isn't in the ring"));
            return false;
        };
        let buffers = if self.mergeable {
            header.num_buffers.max(1)
        } else {
            1
        };
        if buffers > self.ring.outstanding() {
            let why = "its header announces more buffers than there are in the ring";
            self.ring.retire(refuse(why));
            return false;
        }
        if self.ring.used_run(buffers).count() < usize::from(buffers) {
            // The rest is still on its way.
            return false;
        }
        match self.merge(buffers, caches) {
            Ok(Some(packet)) => self.deliver(packet, header, caches, out, moved),
            Ok(None) => {}
            Err(fault) => {
                self.ring.retire(fault);
                return false;
            }
        }
        true
    }

    fn deliver(
        &mut self,
        mut packet: Mbuf,
        header: NetHeader,
        caches: &mut Caches,
        out: &mut Burst,
        moved: &mut Moved,
    ) {
        let len = packet.pkt_len();
        if NetHeader::apply(header.to_bytes(), &mut packet, self.offloads) == Verdict::BadHeader {
            self.ring.tally.bad.add(1);
            caches.free_one(packet);
            return;
        }
        if self.groups {
            self.count_groups(std::slice::from_ref(&packet));
        }
        self.ring.tally.count_sizes(&[len]);
        moved.packets += 1;
        moved.bytes += u64::from(len);
        // The caller saw that there is room.
        if let Err(packet) = out.push(packet) {
            caches.free_one(packet);
        }
    }

    /// The header in a posted buffer, copied out once.
    fn header_of(&self, id: u16) -> Option<NetHeader> {
        let mbuf = self.posted.get(usize::from(id))?.as_ref()?;
        let from = header_ptr(mbuf);
        let mut bytes = [0; 12];
        for (k, byte) in bytes.iter_mut().enumerate() {
            // SAFETY: the header's place is inside the buffer, before the end of the headroom.
            *byte = unsafe { peer::load(from.add(k)) };
        }
        Some(NetHeader::from_bytes(bytes))
    }

    /// One packet of the next `buffers` used buffers; none, and counted, when a length is none. Their ids are free
    /// afterwards.
    fn merge(&mut self, buffers: u16, caches: &mut Caches) -> Result<Option<Mbuf>, RingFault> {
        let mut packet: Option<Mbuf> = None;
        let (mut bad, mut fault, mut done) = (false, None, 0);
        for used in self.ring.used_run(buffers) {
            let place = self.posted.get_mut(usize::from(used.id));
            let Some(mbuf) = place.and_then(Option::take) else {
                fault = Some(RingFault::Used {
                    id: u32::from(used.id),
                    len: used.len,
                    why: "it isn't in the ring",
                });
                break;
            };
            self.free.push(used.id);
            let skip = if done == 0 { HEADER } else { 0 };
            done += 1;
            if let Err(mbuf) = join(&mut packet, mbuf, used.len, skip, self.room) {
                bad = true;
                caches.free_one(mbuf);
            }
        }
        self.ring.reclaimed(done);
        if (bad || fault.is_some())
            && let Some(packet) = packet.take()
        {
            caches.free_one(packet);
        }
        if bad {
            self.ring.tally.bad.add(1);
        }
        fault.map_or(Ok(packet), Err)
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

/// Appends what the device wrote into a buffer: `len` bytes, of which the first `skip` are the header. Gives the buffer back
/// when there is no such part.
fn join(
    packet: &mut Option<Mbuf>,
    mut mbuf: Mbuf,
    len: u32,
    skip: u32,
    room: u32,
) -> Result<(), Mbuf> {
    mbuf.set_header_by(0);
    if len <= skip || len > room {
        return Err(mbuf);
    }
    // Only the first buffer has a header; in the others data begins where it would be.
    let offset = HEADROOM - (HEADER - skip) as u16;
    // SAFETY: `len` is at most `room`, which ends with the buffer.
    unsafe { mbuf.set_received(offset, (len - skip) as u16) };
    match packet {
        None => *packet = Some(mbuf),
        Some(head) => return head.chain(mbuf),
    }
    Ok(())
}

/// Where the header of a packet in this buffer is.
#[inline(always)]
fn header_ptr(mbuf: &Mbuf) -> *const u8 {
    let headroom = usize::from(HEADROOM) - HEADER as usize;
    mbuf.buffer().as_ptr().wrapping_add(headroom)
}
