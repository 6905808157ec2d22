//! Device half, receiving: packets are copied out of the driver's transmit ring.
//!
//! As in the split ring, a burst takes runs of *simple* buffers (one readable descriptor, mapped in one piece, that fits an
//! mbuf, with nothing to say in its header) in two passes. In order, the whole run is given back with one used descriptor,
//! so that of its lines only one changes hands.

use mpps_cpu::prefetch;
use mpps_kernels::CopyKind;
use mpps_kernels::movers::Mover;
use mpps_mbuf::{Burst, Caches, HEADROOM, Mbuf, Pool};
use mpps_shm::peer;

use super::SHAPE;
use super::device::DeviceRing;
use crate::dispatch::{Body, Run};
use crate::foreign::load_unaligned;
use crate::gather::Gather;
use crate::net_header::NetOffloads;
use crate::split::device_rx::BATCH;
use crate::tally::Lengths;
use crate::{DeviceSetup, Features, Moved, RingFault};

/// Bytes of the header: always twelve (virtio 1.3, section 5.1.6.1), also for a front end that takes the ring for a legacy
/// device's.
pub(crate) const HEADER: u32 = 12;

/// The receiving side and where its packets come from.
pub(crate) struct RxRing {
    pub(crate) ring: DeviceRing,
    gather: Gather,
    in_order: bool,
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

/// A simple buffer, checked.
#[derive(Clone, Copy)]
struct Simple {
    /// Its packet bytes.
    from: *const u8,
    id: u16,
}

impl RxRing {
    pub(crate) fn open(setup: &DeviceSetup, pool: &Pool) -> Result<Self, RingFault> {
        Ok(Self {
            ring: DeviceRing::open(setup)?,
            gather: Gather {
                pool: pool.id(),
                capacity: u32::from(pool.data_capacity()),
                linear: setup.linear,
                header: HEADER as usize,
                offloads: NetOffloads::to_device(setup.features),
            },
            in_order: setup.features.contains(Features::IN_ORDER),
        })
    }

    /// The variant for this copy kind and what was negotiated.
    pub(crate) fn variant(&self, copy: CopyKind) -> (Run<Self>, CopyKind) {
        if self.gather.offloads.says_something() {
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
            let n = out.room().min(BATCH).min(self.ring.to_end());
            if n == 0 {
                return moved;
            }
            let (done, bytes) = self.run::<M, OFFLOADS>(n, caches, out);
            moved = moved.and(done, bytes);
            if done < n {
                // As in the split ring: bad chains must not keep us here.
                let ready = slow < self.ring.size && self.ring.ready();
                let one = if ready {
                    self.take_chain(caches, out)
                } else {
                    None
                };
                let Some(one) = one else {
                    return moved;
                };
                moved = moved.and(one.packets, one.bytes);
                slow += 1;
            }
        }
    }

    /// Copies a run of at most `n` simple buffers; says how many packets and bytes that were.
    #[inline(always)]
    fn run<M: Mover, const OFFLOADS: bool>(
        &mut self,
        n: usize,
        caches: &mut Caches,
        out: &mut Burst,
    ) -> (usize, u64) {
        let mut batch = [Simple {
            from: std::ptr::null(),
            id: 0,
        }; BATCH];
        let mut lens = [0_u32; BATCH];
        let n = self.look::<OFFLOADS>(n, &mut batch, &mut lens);
        if n == 0 {
            return (0, 0);
        }
        let first = out.len();
        let n = caches.take_to(self.gather.pool, n, out);
        let packets = &mut out.as_mut_slice()[first..];
        let (mut group, mut sum) = (0, Lengths::from(lens[0]));
        for ((simple, &len), packet) in batch.iter().zip(&lens).zip(packets) {
            // SAFETY: `look` resolved `len` bytes at `from` in the peer's memory, which the ring keeps mapped, and `len` is
            // at most the room behind the headroom of an mbuf of this pool.
            unsafe {
                peer::before_copy(simple.from, len as usize);
                let to = packet.buffer().as_ptr().add(usize::from(HEADROOM));
                M::move_bytes(to, simple.from, len as usize);
                packet.set_received(HEADROOM, len as u16);
                group |= *to;
            }
            sum.add(len);
        }
        if n == 0 {
            return (0, 0);
        }
        // SAFETY: `n` isn't zero and at most what `burst` allowed.
        unsafe {
            if self.in_order {
                self.ring.give_back_batch(n, batch[n - 1].id);
            } else {
                self.ring.give_back(n, |k| (0, batch[k].id, 0));
            }
        }
        if group & 1 != 0 {
            self.count_groups(&out.as_slice()[first..]);
        }
        self.ring.tally.count_run(sum, &lens[..n]);
        (n, sum.bytes)
    }

    /// Reads up to `n` descriptors, all before the ring's end; stops at the first that isn't there or isn't simple.
    #[inline(always)]
    fn look<const OFFLOADS: bool>(
        &mut self,
        n: usize,
        batch: &mut [Simple; BATCH],
        lens: &mut [u32; BATCH],
    ) -> usize {
        if self.ring.log.is_some() {
            return 0;
        }
        let wanted = self.ring.next.available();
        for (k, (simple, len)) in batch.iter_mut().zip(lens).take(n).enumerate() {
            // SAFETY: `k < n`, which is before the end.
            let descriptor = unsafe { self.ring.ahead(k) };
            // A packet of no bytes, or of fewer than none, wraps to more than any capacity.
            let bytes = descriptor.len().wrapping_sub(HEADER);
            let fits = bytes.wrapping_sub(1) < self.gather.capacity;
            if (descriptor.flags() & SHAPE != wanted) | !fits {
                return k;
            }
            let Some(range) = self.ring.resolve(descriptor.address(), descriptor.len()) else {
                return k;
            };
            let start = range.as_ptr();
            if OFFLOADS {
                // SAFETY: the header's bytes are inside the range.
                let says = unsafe { load_unaligned(start.cast::<u16>()) };
                // Flags and GSO type: without them the other fields mean nothing.
                if says != 0 {
                    return k;
                }
            }
            // SAFETY: the range is longer than the header.
            let from = unsafe { start.add(HEADER as usize) }.cast_const();
            prefetch::prefetch(from);
            *simple = Simple {
                from,
                id: descriptor.id(),
            };
            *len = bytes;
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

    /// Takes the next buffer, whatever it looks like; none when nothing more can be done in this burst.
    #[cold]
    fn take_chain(&mut self, caches: &mut Caches, out: &mut Burst) -> Option<Moved> {
        let walked = self.ring.walk(self.ring.next)?;
        let mut moved = Moved::default();
        let (chain, tally) = (&self.ring.chain, &self.ring.tally);
        if let Some(packet) = self.gather.packet(chain, tally, caches) {
            let len = packet.pkt_len();
            if packet.data().first().is_some_and(|byte| byte & 1 != 0) {
                tally.count_group(packet.data());
            }
            tally.count_sizes(&[len]);
            moved = moved.and(1, u64::from(len));
            // The caller saw that there is room.
            if let Err(packet) = out.push(packet) {
                caches.free_one(packet);
            }
        }
        self.ring.write_used(walked.at, 0, walked.id, 0);
        self.ring.passed(walked.taken);
        Some(moved)
    }
}
