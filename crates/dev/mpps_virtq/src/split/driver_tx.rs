//! Driver half, transmitting: packets lie in the ring, as they are, until the device has read them.
//!
//! A plain packet of a lent pool takes one descriptor, its header lies in its headroom, where the device may have left one
//! that serves ([`crate::HeaderMark`]). Anything else (chains, shared data,
//! no headroom, a pool that isn't lent) goes through [`TxRing::post_slowly`]: header from the ring's table, a descriptor a
//! segment or an indirect table, and a copy where the device could not reach the data.

mod vector;

use std::mem::MaybeUninit;

use mpps_mbuf::{Burst, Caches, Mbuf, OffloadFlags, PoolId, Tag};

use super::Descriptor;
use super::device_rx::BATCH;
use super::driver::DriverRing;
use super::free_ids::FreeIds;
use crate::net_header::NetOffloads;
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
    /// Packets in the ring, by the number of their first descriptor.
    pub(super) sent: Box<[MaybeUninit<Mbuf>]>,
    /// How many descriptors each takes; zero where there is none, which says whether `sent` is initialised.
    pub(super) taken: Box<[u8]>,
    /// The descriptor behind each in its chain.
    pub(super) link: Box<[u16]>,
    pub(crate) free: FreeIds,
    /// In order: the first descriptor of the packet that comes back next.
    oldest: u16,
    pub(super) header: u16,
    pub(super) indirect: bool,
    pub(super) offloads: NetOffloads,
    /// Packets with any of these must be finished in software first.
    pub(crate) unfinished: OffloadFlags,
}

impl TxRing {
    pub(crate) fn open(setup: &DriverSetup) -> Result<Self, RingFault> {
        let ring = DriverRing::open(setup)?;
        // Copies that can't be posted either would be copied again and again.
        setup.lent.needs(setup.pool)?;
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
            link: vec![0; size].into(),
            free: FreeIds::all(ring.size),
            oldest: 0,
            header: setup.features.header_len() as u16,
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
        let next = packets.len().min(BATCH) as u16;
        self.ring
            .view()
            .prefetch_descriptors(self.free.peek(0), next);
        self.reclaim::<IN_ORDER>(caches);
        while !packets.is_empty() {
            let (n, bytes) = self.run::<L>(packets);
            moved = moved.and(n, bytes);
            if n == BATCH {
                continue;
            }
            if packets.is_empty() || self.free.len() == 0 {
                break;
            }
            let Some(one) = self.post_slowly(caches, packets) else {
                break;
            };
            moved = moved.and(one.packets, one.bytes);
        }
        moved
    }

    /// Posts a run of at most a batch of simple packets; says how many packets and bytes that were.
    #[inline(always)]
    fn run<L: Lanes>(&mut self, packets: &mut Burst) -> (usize, u64) {
        let Some(tag) = self.simple_tag(packets) else {
            return (0, 0);
        };
        let (view, header, groups) = (self.ring.view(), self.header, self.groups);
        let mark = self.mark;
        let most = self.free.len().min(packets.len()).min(BATCH);
        let front = &packets.as_slice()[..most];
        let mut lens = [0_u32; BATCH];
        let mut sum = Lengths::from_front(packets);
        let (mut done, mut group) = (0, 0);
        if L::GROUP > 1 {
            done = self.write_groups::<L>(front, tag, &mut lens, &mut sum, &mut group);
        }
        let first = usize::from(done);
        for (packet, place) in front[first..].iter().zip(&mut lens[first..]) {
            let len = u32::from(packet.data_len());
            if !is_simple(packet, tag, header) {
                break;
            }
            *place = len;
            sum.add(len);
            let id = self.free.peek(done);
            // SAFETY: there is room before the data, by the test above; the packet is plain, so that nobody else sees its
            // headroom. The handle is copied; the burst forgets it below.
            let start = unsafe {
                if groups {
                    group |= *packet.data_ptr().as_ptr();
                }
                let start = packet.data_ptr().sub(usize::from(header));
                let mut packet = std::ptr::read(packet);
                if mark == 0 || packet.header_by() != mark {
                    write_zeros(start.as_ptr(), header);
                    packet.set_header_by(mark);
                }
                self.sent[usize::from(id)].write(packet);
                start
            };
            self.taken[usize::from(id)] = 1;
            let address = start.addr().get() as u64;
            view.write_descriptor(id, Descriptor::new(address, len + u32::from(header), 0, 0));
            view.write_avail(done, id);
            done += 1;
        }
        let n = usize::from(done);
        if n == 0 {
            return (0, 0);
        }
        self.free.advance(done);
        if group & 1 != 0 {
            self.count_groups(&packets.as_slice()[..n]);
        }
        // SAFETY: the first `n` were moved into the ring.
        unsafe { packets.forget(n) };
        self.ring.publish(n);
        self.ring.tally.count_run(sum, &lens[..n]);
        (n, sum.bytes)
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
        self.uniform = (self.ring.outstanding() == 0).then_some(tag);
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
        loop {
            let n = self.ring.used(BATCH);
            if n == 0 {
                return;
            }
            let mut handles = [const { MaybeUninit::uninit() }; BATCH];
            let got = self.collect::<IN_ORDER>(n, &mut handles);
            self.ring.used_idx = self.ring.used_idx.wrapping_add(got as u16);
            match self.uniform {
                // SAFETY: `collect` moved `got` packets out of the ring, which all have this tag.
                Some(tag) => unsafe { caches.free_same(&handles[..got], tag) },
                None => free_each(&handles[..got], caches),
            }
            if got < n {
                return;
            }
        }
    }

    /// Moves the packets of the next `n` used entries into `handles`; fewer when an entry can't be right, which retires the
    /// ring.
    #[inline(always)]
    fn collect<const IN_ORDER: bool>(
        &mut self,
        n: usize,
        handles: &mut [MaybeUninit<Mbuf>; BATCH],
    ) -> usize {
        for (k, handle) in handles.iter_mut().take(n).enumerate() {
            // In order one entry may stand for a batch, so that the others say nothing (virtio 1.3, section 2.7.9); numbers
            // are taken in order, so that the oldest is known.
            let (id, len) = if IN_ORDER {
                (u32::from(self.oldest), 0)
            } else {
                self.ring.used_entry(k)
            };
            let taken = self.taken.get(id as usize).copied().unwrap_or(0);
            if taken == 0 {
                self.ring.retire(RingFault::Used {
                    id,
                    len,
                    why: "it isn't in the ring",
                });
                return k;
            }
            let at = id as usize;
            // SAFETY: a count that isn't zero says that the place is initialised; it is given up here.
            *handle = MaybeUninit::new(unsafe { self.sent[at].assume_init_read() });
            self.taken[at] = 0;
            self.oldest = (id as u16).wrapping_add(u16::from(taken)) & self.ring.mask;
            if taken == 1 {
                self.free.push(id as u16);
            } else {
                self.free_chain(id as u16, taken);
            }
        }
        n
    }

    /// Frees the descriptors of a chain, which are linked in private memory.
    #[cold]
    fn free_chain(&mut self, id: u16, taken: u8) {
        let mut id = id;
        for _ in 0..taken {
            self.free.push(id);
            id = self.link[usize::from(id)];
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

/// Whether a packet can be posted as it is, in one descriptor behind a header in its headroom; this tag can.
#[inline(always)]
pub(crate) fn is_simple(packet: &Mbuf, tag: Tag, header: u16) -> bool {
    (packet.kind() == tag)
        & (packet.headroom() >= header)
        & (packet.flags().bits() & OffloadFlags::UNFINISHED.bits() == 0)
        & (packet.data_len() > 0)
}

/// Frees packets one by one.
#[cold]
pub(crate) fn free_each(packets: &[MaybeUninit<Mbuf>], caches: &mut Caches) {
    for packet in packets {
        // SAFETY: the caller moved them out of the ring.
        caches.free_one(unsafe { packet.assume_init_read() });
    }
}

/// A header that says nothing; to the device the number of buffers is zero too (virtio 1.3, section 5.1.6.2).
///
/// # Safety
/// `len` bytes at `to` can be written; `len` is ten or twelve.
#[inline(always)]
pub(crate) unsafe fn write_zeros(to: *mut u8, len: u16) {
    // SAFETY: the caller's promise; the two stores overlap where the header has ten bytes.
    unsafe {
        to.cast::<u64>().write_unaligned(0);
        to.add(usize::from(len) - 4)
            .cast::<u32>()
            .write_unaligned(0);
    }
}
