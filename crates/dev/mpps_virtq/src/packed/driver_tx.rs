//! Driver half, transmitting: packets lie in the ring, as they are, until the device has read them.
//!
//! A plain packet of a lent pool takes one descriptor, its header lies in its headroom, where the device may have left one
//! that serves ([`crate::HeaderMark`]). Anything else (chains, shared data,
//! no headroom, a pool that isn't lent) goes through [`TxRing::post_slowly`]. A packet takes one buffer id however many
//! descriptors it has; ids are taken in order, so that in order the packets of a batch are those from the oldest id to the
//! one that the device names.

use std::mem::MaybeUninit;

use mpps_mbuf::{Burst, Caches, Mbuf, OffloadFlags, PoolId, Tag};

use super::device_rx::HEADER;
use super::driver::{DriverRing, Used};
use super::free_ids::FreeIds;
use crate::net_header::NetOffloads;
use crate::split::device_rx::BATCH;
use crate::split::driver_tx::{free_each, is_simple, write_zeros};
use crate::tally::Lengths;
use crate::vector::Lanes;
use crate::{DriverSetup, Features, Lent, Moved, RingFault};

/// The transmitting side with the packets that the device has not given back.
pub(crate) struct TxRing {
    pub(crate) ring: DriverRing,
    /// Count packets to group addresses.
    pub(super) groups: bool,
    /// Whose headers serve as they are; zero where none do.
    mark: u16,
    pub(super) pool: PoolId,
    pub(super) lent: Lent,
    /// The tag of packets that were found to be plain and lent.
    known: Option<Tag>,
    /// The tag of all packets in the ring, if they have the same.
    pub(super) uniform: Option<Tag>,
    /// Packets in the ring by buffer id.
    pub(super) sent: Box<[MaybeUninit<Mbuf>]>,
    /// How many descriptors each takes; zero where there is none, which says whether `sent` is initialised.
    pub(super) taken: Box<[u16]>,
    pub(crate) free: FreeIds,
    /// In order: the buffer id that comes back next.
    oldest: u16,
    pub(super) indirect: bool,
    pub(super) offloads: NetOffloads,
    /// Packets with any of these must be finished in software first.
    pub(crate) unfinished: OffloadFlags,
}

impl TxRing {
    pub(crate) fn open(setup: &DriverSetup) -> Result<Self, RingFault> {
        let ring = DriverRing::open(setup)?;
        if !setup.lent.contains(setup.pool) {
            // Copies that can't be posted either would be copied again and again.
            return Err(RingFault::Unmapped {
                what: "mbuf pool",
                address: 0,
                len: 0,
            });
        }
        let offloads = NetOffloads::to_device(setup.features);
        let size = usize::from(ring.size);
        Ok(Self {
            groups: setup.groups,
            mark: setup.trusted_mark(),
            pool: setup.pool,
            lent: setup.lent.clone(),
            known: None,
            uniform: None,
            sent: (0..size).map(|_| MaybeUninit::uninit()).collect(),
            taken: vec![0; size].into(),
            free: FreeIds::all(ring.size),
            oldest: 0,
            indirect: setup.features.contains(Features::RING_INDIRECT_DESC),
            unfinished: offloads.unfinished(),
            offloads,
            ring,
        })
    }

    /// Moves packets off the front of `packets` as long as there are descriptors.
    #[inline(always)]
    pub(crate) fn burst<const IN_ORDER: bool, L: Lanes>(
        &mut self,
        caches: &mut Caches,
        packets: &mut Burst,
    ) -> Moved {
        let mut moved = Moved::default();
        if self.ring.fault.is_some() {
            return moved;
        }
        self.reclaim::<IN_ORDER>(caches);
        while !packets.is_empty() {
            let n = self.ring.straight_room().min(packets.len()).min(BATCH);
            if n == 0 {
                break;
            }
            let (done, bytes) = self.run::<L>(n, packets);
            moved = moved.and(done, bytes);
            if done < n && !self.post_slowly(caches, packets, &mut moved) {
                break;
            }
        }
        moved
    }

    /// Posts a run of at most `n` simple packets; says how many packets and bytes that were.
    #[inline(always)]
    fn run<L: Lanes>(&mut self, n: usize, packets: &mut Burst) -> (usize, u64) {
        let Some(tag) = self.simple_tag(packets) else {
            return (0, 0);
        };
        let mut sum = Lengths::from_front(packets);
        let mut lens = [0_u32; BATCH];
        let mut buffers = [(0_u64, 0_u16); BATCH];
        let (mut done, mut group) = (0, 0);
        for (packet, (len, buffer)) in packets.as_slice()[..n]
            .iter()
            .zip(lens.iter_mut().zip(&mut buffers))
        {
            if !is_simple(packet, tag, HEADER as u16) {
                break;
            }
            let Some(id) = self.free.pop() else {
                break;
            };
            *len = u32::from(packet.data_len());
            sum.add(*len);
            let data = packet.data_ptr();
            // SAFETY: there is room before the data, by the test above, and data of at least one byte; the packet is plain, so
            // that nobody else sees its headroom. The handle is copied; the burst forgets it below.
            let start = unsafe {
                if self.groups {
                    group |= *data.as_ptr();
                }
                let start = data.sub(HEADER as usize);
                let mut packet = std::ptr::read(packet);
                if self.mark == 0 || packet.header_by() != self.mark {
                    write_zeros(start.as_ptr(), HEADER as u16);
                    packet.set_header_by(self.mark);
                }
                self.sent[usize::from(id)].write(packet);
                start
            };
            self.taken[usize::from(id)] = 1;
            *buffer = (start.addr().get() as u64, id);
            done += 1;
        }
        if done == 0 {
            return (0, 0);
        }
        if group & 1 != 0 {
            self.count_groups(&packets.as_slice()[..done]);
        }
        // SAFETY: the first `done` were moved into the ring; there are as many descriptors, at most `straight_room`.
        unsafe {
            packets.forget(done);
            self.ring.post::<L>(done, |k| {
                let (address, id) = buffers[k];
                (address, lens[k] + HEADER, id, 0)
            });
        }
        self.ring.tally.count_run(sum, &lens[..done]);
        (done, sum.bytes)
    }

    /// The tag of the first packet, if packets with it can be posted as they are. Notes what the ring holds.
    #[inline(always)]
    fn simple_tag(&mut self, packets: &Burst) -> Option<Tag> {
        let tag = packets.as_slice().first()?.kind();
        if self.known != Some(tag) {
            self.learn(tag)?;
        }
        if self.uniform != Some(tag) {
            self.mix(tag);
        }
        Some(tag)
    }

    #[cold]
    fn learn(&mut self, tag: Tag) -> Option<()> {
        self.lent.takes(tag).then(|| self.known = Some(tag))
    }

    #[cold]
    pub(super) fn mix(&mut self, tag: Tag) {
        self.uniform = (self.ring.outstanding() == 0 && tag.is_plain()).then_some(tag);
    }

    #[cold]
    pub(super) fn count_groups(&self, packets: &[Mbuf]) {
        for packet in packets {
            if packet.data().first().is_some_and(|byte| byte & 1 != 0) {
                self.ring.tally.count_group(packet.data());
            }
        }
    }

    /// Frees what the device has used.
    #[inline(always)]
    fn reclaim<const IN_ORDER: bool>(&mut self, caches: &mut Caches) {
        while let Some(used) = self.ring.next_used() {
            let right = if IN_ORDER {
                self.reclaim_to(used, caches)
            } else {
                self.reclaim_run(caches)
            };
            if !right {
                self.refuse(used);
                return;
            }
        }
    }

    #[cold]
    fn refuse(&mut self, used: Used) {
        self.ring.retire(RingFault::Used {
            id: u32::from(used.id),
            len: used.len,
            why: "it isn't in the ring",
        });
    }

    /// In order: frees the packets up to the one that the device names, which stands for those before it (virtio 1.3,
    /// section 2.8.9); false if that one isn't out.
    #[inline(always)]
    fn reclaim_to(&mut self, used: Used, caches: &mut Caches) -> bool {
        if self.taken.get(usize::from(used.id)).is_none_or(|n| *n == 0) {
            return false;
        }
        loop {
            let mut handles = [const { MaybeUninit::uninit() }; BATCH];
            let (mut n, mut descriptors, mut last) = (0, 0, false);
            for handle in &mut handles {
                let id = self.oldest;
                let Some((packet, taken)) = self.take(id) else {
                    break;
                };
                *handle = packet;
                (n, descriptors) = (n + 1, descriptors + taken);
                self.oldest = if id + 1 == self.ring.size { 0 } else { id + 1 };
                last = id == used.id;
                if last {
                    break;
                }
            }
            self.ring.reclaimed(descriptors);
            self.free_all(&handles[..n], caches);
            if last || n == 0 {
                return last;
            }
        }
    }

    /// Not in order: frees the packets of up to a batch of used descriptors; false when the first isn't one that is out.
    #[inline(always)]
    fn reclaim_run(&mut self, caches: &mut Caches) -> bool {
        let mut handles = [const { MaybeUninit::uninit() }; BATCH];
        let mut n = 0;
        for handle in &mut handles {
            let Some(used) = self.ring.next_used() else {
                break;
            };
            let Some((packet, taken)) = self.take(used.id) else {
                break;
            };
            *handle = packet;
            self.ring.reclaimed(taken);
            n += 1;
        }
        self.free_all(&handles[..n], caches);
        n > 0
    }

    /// The packet with this buffer id and the descriptors that it took.
    #[inline(always)]
    fn take(&mut self, id: u16) -> Option<(MaybeUninit<Mbuf>, u16)> {
        let taken = self.taken.get_mut(usize::from(id)).map(std::mem::take)?;
        if taken == 0 {
            return None;
        }
        // SAFETY: a count that isn't zero says that the place is initialised; it is given up here.
        let packet = unsafe { self.sent[usize::from(id)].assume_init_read() };
        self.free.push(id);
        Some((MaybeUninit::new(packet), taken))
    }

    /// Frees packets that were taken out of the ring.
    #[inline(always)]
    fn free_all(&self, packets: &[MaybeUninit<Mbuf>], caches: &mut Caches) {
        match self.uniform {
            // SAFETY: `take` moved these out of the ring, where all have this tag.
            Some(tag) => unsafe { caches.free_same(packets, tag) },
            None => free_each(packets, caches),
        }
    }
}

impl Drop for TxRing {
    /// Frees what the device never gave back: it has lost the ring.
    fn drop(&mut self) {
        for (place, taken) in self.sent.iter_mut().zip(&mut self.taken) {
            if std::mem::take(taken) != 0 {
                // SAFETY: a count that isn't zero says that the place is initialised.
                drop(unsafe { place.assume_init_read() });
            }
        }
    }
}
