//! Device half, receiving: packets are copied out of the driver's transmit ring.
//!
//! A burst takes runs of *simple* chains (header and data in one readable descriptor, or in one each; mapped in one piece;
//! that fit an mbuf, with nothing to say in the header) in two passes: the first reads and checks up to 32 descriptors and prefetches what they point to,
//! the second copies. Anything else goes through [`RxRing::take_chain`], one packet at a time.

use std::mem::MaybeUninit;

use mpps_cpu::prefetch;
use mpps_kernels::CopyKind;
use mpps_kernels::movers::Mover;
use mpps_mbuf::{Burst, Caches, HEADROOM, Mbuf, Pool, PoolId};
use mpps_shm::peer;

use super::device::DeviceRing;
use super::{Descriptor, NEXT};
use crate::dispatch::{Body, Run};
use crate::foreign::load_unaligned;
use crate::net_header::{NetHeader, NetOffloads, Verdict};
use crate::tally::Lengths;
use crate::{DeviceSetup, Moved, RingFault};

/// Chains that are looked at before the first is copied.
pub(crate) const BATCH: usize = 32;

/// Longest packet that is taken over: a GSO packet of 64 KiB with its headers.
pub(crate) const LONGEST: u64 = 65_536 + 1024;

/// The receiving side and where its packets come from.
pub(crate) struct RxRing {
    pub(crate) ring: DeviceRing,
    pub(crate) pool: PoolId,
    /// The most bytes of data of an mbuf.
    capacity: u32,
    /// Chains of mbufs are refused.
    linear: bool,
    /// What headers may say.
    offloads: NetOffloads,
}

/// A burst whose headers may say something, or not.
struct Variant<const OFFLOADS: bool>;

impl<const OFFLOADS: bool> Body for Variant<OFFLOADS> {
    type Ring = RxRing;

    #[inline(always)]
    fn run<M: Mover>(ring: &mut RxRing, caches: &mut Caches, burst: &mut Burst) -> Moved {
        ring.burst::<M, OFFLOADS>(caches, burst)
    }
}

/// A simple chain, checked.
#[derive(Clone, Copy)]
struct Simple {
    /// Its packet bytes.
    from: *const u8,
    head: u16,
}

impl RxRing {
    pub(crate) fn open(setup: &DeviceSetup, pool: &Pool) -> Result<Self, RingFault> {
        Ok(Self {
            ring: DeviceRing::open(setup)?,
            pool: pool.id(),
            capacity: u32::from(pool.data_capacity()),
            linear: setup.linear,
            offloads: NetOffloads::to_device(setup.features),
        })
    }

    /// The variant for this copy kind and what was negotiated.
    pub(crate) fn variant(&self, copy: CopyKind) -> (Run<Self>, CopyKind) {
        if self.offloads.says_something() {
            Run::of::<Variant<true>>(copy)
        } else {
            Run::of::<Variant<false>>(copy)
        }
    }

    /// Moves up to `out.room()` packets.
    #[inline(always)]
    fn burst<M: Mover, const OFFLOADS: bool>(
        &mut self,
        caches: &mut Caches,
        out: &mut Burst,
    ) -> Moved {
        let mut moved = Moved::default();
        if self.ring.fault.is_some() {
            return moved;
        }
        let mut slow = 0;
        loop {
            let room = out.room();
            let n = self.ring.available(room.min(BATCH));
            if n == 0 {
                return moved;
            }
            let (done, bytes) = self.run::<M, OFFLOADS>(n, caches, out);
            moved = moved.and(done, bytes);
            if done == n && done < BATCH {
                return moved;
            }
            if done < n {
                // A driver that makes bad chains available as fast as they are dropped must not keep us here.
                if slow == self.ring.size {
                    return moved;
                }
                let Some(one) = self.take_chain(caches, out) else {
                    return moved;
                };
                moved = moved.and(one.packets, one.bytes);
                slow += 1;
            }
        }
    }

    /// Copies a run of at most `n` simple chains; says how many packets and bytes that were.
    #[inline(always)]
    fn run<M: Mover, const OFFLOADS: bool>(
        &mut self,
        n: usize,
        caches: &mut Caches,
        out: &mut Burst,
    ) -> (usize, u64) {
        let mut batch = [Simple {
            from: std::ptr::null(),
            head: 0,
        }; BATCH];
        let mut lens = [0_u32; BATCH];
        let n = self.look::<OFFLOADS>(n, &mut batch, &mut lens);
        let first = out.len();
        let n = caches.take_to(self.pool, n, out);
        if n == 0 {
            return (0, 0);
        }
        let (mut group, mut sum) = (0, Lengths::from(lens[0]));
        for ((chain, &len), (packet, k)) in batch
            .iter()
            .zip(&lens)
            .zip(out.as_mut_slice()[first..].iter_mut().zip(0..))
        {
            // SAFETY: `look` resolved `len` bytes at `from` in the peer's memory, which the ring keeps mapped, and `len` is
            // at most the room behind the headroom of an mbuf of this pool.
            unsafe {
                peer::before_copy(chain.from, len as usize);
                let to = packet.buffer().as_ptr().add(usize::from(HEADROOM));
                M::move_bytes(to, chain.from, len as usize);
                packet.set_received(HEADROOM, len as u16);
                group |= *to;
            }
            sum.add(len);
            self.ring.write_used(k, chain.head, 0);
        }
        if group & 1 != 0 {
            self.count_groups(&out.as_slice()[first..]);
        }
        self.ring.publish(n);
        self.ring.tally.count_run(sum, &lens[..n]);
        (n, sum.bytes)
    }

    /// Reads up to `n` chains; stops at the first that isn't simple.
    #[inline(always)]
    fn look<const OFFLOADS: bool>(
        &mut self,
        n: usize,
        batch: &mut [Simple; BATCH],
        lens: &mut [u32; BATCH],
    ) -> usize {
        let header = self.ring.header as u32;
        if self.ring.log.is_some() {
            return 0;
        }
        self.ring.prefetch_descriptors(n);
        for (k, (chain, len)) in batch.iter_mut().zip(lens).take(n).enumerate() {
            let head = self.ring.head(k);
            let first = self.ring.descriptor(head);
            // The header alone, then the data, or both in one.
            let apart = first.flags() == NEXT && first.len() == header;
            let (data, skip) = if apart {
                (self.ring.descriptor(first.next()), 0)
            } else {
                (first, header)
            };
            // A packet of no bytes, or of fewer than none, wraps to more than any capacity.
            let bytes = data.len().wrapping_sub(skip);
            let simple = self.ring.has(head)
                & (!apart || self.ring.has(first.next()))
                & (data.flags() == 0)
                & (bytes.wrapping_sub(1) < self.capacity);
            if !simple || (OFFLOADS && self.says_something(first)) {
                return k;
            }
            let Some(range) = self.ring.resolve(data.address(), data.len()) else {
                return k;
            };
            // SAFETY: the range is longer than what is skipped.
            let from = unsafe { range.as_ptr().add(skip as usize) }.cast_const();
            prefetch::prefetch(from);
            *chain = Simple { from, head };
            *len = bytes;
        }
        n
    }

    /// Whether the header at the start of a descriptor says something, or can't be read.
    #[inline(always)]
    fn says_something(&mut self, first: Descriptor) -> bool {
        let Some(range) = self.ring.resolve(first.address(), self.ring.header as u32) else {
            return true;
        };
        // Flags and GSO type: without them the other fields mean nothing.
        // SAFETY: the range is as long as the header.
        unsafe { load_unaligned(range.as_ptr().cast::<u16>()) != 0 }
    }

    #[cold]
    fn count_groups(&self, packets: &[Mbuf]) {
        for packet in packets {
            if packet.data().first().is_some_and(|byte| byte & 1 != 0) {
                self.ring.tally.count_group(packet.data());
            }
        }
    }

    /// Takes the next chain, whatever it looks like; none when nothing more can be done in this burst.
    #[cold]
    fn take_chain(&mut self, caches: &mut Caches, out: &mut Burst) -> Option<Moved> {
        let head = self.ring.walk(0).ok()?;
        let mut moved = Moved::default();
        if let Some(packet) = self.copy_chain(caches) {
            let len = packet.pkt_len();
            if packet.data().first().is_some_and(|byte| byte & 1 != 0) {
                self.ring.tally.count_group(packet.data());
            }
            self.ring.tally.count_sizes(&[len]);
            moved = moved.and(1, u64::from(len));
            // The caller saw that there is room.
            if let Err(packet) = out.push(packet) {
                caches.free_one(packet);
            }
        }
        self.ring.write_used(0, head, 0);
        self.ring.publish(1);
        Some(moved)
    }

    /// A packet of the chain that was collected; none, and counted, when there can't be one.
    fn copy_chain(&mut self, caches: &mut Caches) -> Option<Mbuf> {
        let (chain, header) = (&self.ring.chain, self.ring.header);
        let len = chain.readable().saturating_sub(header as u64);
        let too_long = len > LONGEST || (self.linear && len > u64::from(self.capacity));
        if chain.unmapped || chain.writable() > 0 || len == 0 || too_long {
            self.ring.tally.bad.add(1);
            return None;
        }
        let mut bytes = [0; 12];
        chain.read(0, &mut bytes[..header]);
        let copied = gather(
            len as usize,
            header,
            &self.ring,
            self.pool,
            self.capacity as usize,
            caches,
        );
        let Some(mut packet) = copied else {
            self.ring.tally.no_mbuf.add(1);
            return None;
        };
        if NetHeader::apply(bytes, &mut packet, self.offloads) == Verdict::Accept {
            return Some(packet);
        }
        self.ring.tally.bad.add(1);
        caches.free_one(packet);
        None
    }
}

/// Copies `len` bytes of the ring's collected chain, from `offset` on, into as many mbufs as they need.
fn gather(
    len: usize,
    offset: usize,
    ring: &DeviceRing,
    pool: PoolId,
    capacity: usize,
    caches: &mut Caches,
) -> Option<Mbuf> {
    let mut packet: Option<Mbuf> = None;
    let mut done = 0;
    while done < len {
        let n = (len - done).min(capacity);
        let segment = segment(n, offset + done, ring, pool, caches);
        match (segment, &mut packet) {
            (Some(segment), None) => packet = Some(segment),
            (Some(segment), Some(head)) => {
                if let Err(segment) = head.chain(segment) {
                    caches.free_one(segment);
                }
            }
            (None, _) => {
                if let Some(packet) = packet {
                    caches.free_one(packet);
                }
                return None;
            }
        }
        done += n;
    }
    packet
}

fn segment(
    n: usize,
    offset: usize,
    ring: &DeviceRing,
    pool: PoolId,
    caches: &mut Caches,
) -> Option<Mbuf> {
    let mut one = [MaybeUninit::uninit()];
    if caches.take(pool, &mut one) == 0 {
        return None;
    }
    let [one] = one;
    // SAFETY: `take` filled it.
    let mut segment: Mbuf = unsafe { one.assume_init() };
    // SAFETY: `n` is at most the pool's capacity behind the headroom.
    unsafe { segment.set_received(HEADROOM, n as u16) };
    if let Some(data) = segment.data_mut() {
        ring.chain.read(offset, data);
    }
    Some(segment)
}
