//! Device half, transmitting: packets are copied into the driver's receive ring and freed.
//!
//! As in receiving, a burst takes runs of simple packets and buffers (one plain segment with nothing owed, into one
//! writable descriptor that is long enough) in two passes; anything else goes through [`TxRing::put_packet`].

use mpps_cpu::prefetch;
use mpps_kernels::CopyKind;
use mpps_kernels::movers::Mover;
use mpps_mbuf::{Burst, Caches, Mbuf, OffloadFlags, Tag};

use super::SHAPE;
use super::device::{DeviceRing, Walked};
use super::device_rx::HEADER;
use crate::dispatch::{Body, Run};
use crate::foreign::copy_from;
use crate::net_header::{self, NetHeader, NetOffloads};
use crate::split::WRITE;
use crate::split::device_rx::BATCH;
use crate::split::device_tx::Rest;
use crate::tally::Lengths;
use crate::{DeviceSetup, Features, Moved, RingFault};

/// The transmitting side.
pub(crate) struct TxRing {
    pub(crate) ring: DeviceRing,
    mergeable: bool,
    /// What headers may say.
    offloads: NetOffloads,
    /// Packets with any of these must be finished in software first.
    pub(crate) unfinished: OffloadFlags,
    /// The buffers of one packet with the bytes written into each, before any is given back: until then the driver's
    /// descriptors must stay as they are.
    filled: Vec<(Walked, u32)>,
}

/// The only variant.
struct Variant;

impl Body for Variant {
    type Ring = TxRing;

    #[inline(always)]
    fn run<M: Mover>(ring: &mut TxRing, caches: &mut Caches, burst: &mut Burst) -> Moved {
        ring.burst::<M>(caches, burst)
    }
}

/// A simple packet and the buffer for it, checked.
#[derive(Clone, Copy)]
struct Simple {
    /// Where the header goes, and behind it the packet.
    to: *mut u8,
    from: *const u8,
    id: u16,
}

/// What became of a packet that isn't simple.
enum Put {
    /// In the ring.
    Sent,
    /// It fits no buffer; lost.
    Lost,
    /// No buffers yet; it stays the caller's.
    Later,
}

impl TxRing {
    pub(crate) fn open(setup: &DeviceSetup) -> Result<Self, RingFault> {
        let offloads = NetOffloads::to_driver(setup.features);
        let mut ring = DeviceRing::open(setup)?;
        ring.writes = true;
        Ok(Self {
            ring,
            mergeable: setup.features.contains(Features::MRG_RXBUF),
            offloads,
            unfinished: offloads.unfinished(),
            filled: Vec::new(),
        })
    }

    /// The variant for this copy kind.
    pub(crate) fn variant(copy: CopyKind) -> (Run<Self>, CopyKind) {
        Run::of::<Variant>(copy)
    }

    /// Moves packets off the front of `packets` as long as there are buffers.
    #[inline(always)]
    fn burst<M: Mover>(&mut self, caches: &mut Caches, packets: &mut Burst) -> Moved {
        let mut moved = Moved::default();
        if self.ring.fault.is_some() {
            return moved;
        }
        while !packets.is_empty() {
            let n = packets.len().min(BATCH).min(self.ring.to_end());
            let (done, bytes) = self.run::<M>(n, caches, packets);
            moved = moved.and(done, bytes);
            if done < n {
                let one = if self.ring.ready() {
                    self.put_first(caches, packets)
                } else {
                    None
                };
                let Some(one) = one else {
                    break;
                };
                moved = moved.and(one.packets, one.bytes);
            }
        }
        moved
    }

    /// Copies a run of at most `n` simple packets and frees them; says how many packets and bytes that were.
    #[inline(always)]
    fn run<M: Mover>(
        &mut self,
        n: usize,
        caches: &mut Caches,
        packets: &mut Burst,
    ) -> (usize, u64) {
        let mut batch = [Simple {
            to: std::ptr::null_mut(),
            from: std::ptr::null(),
            id: 0,
        }; BATCH];
        let mut lens = [0_u32; BATCH];
        let Some((n, tag)) = self.look(n, packets.as_slice(), &mut batch, &mut lens) else {
            return (0, 0);
        };
        let (mut group, mut sum) = (0, Lengths::from(lens[0]));
        for (place, &len) in batch.iter().zip(&lens).take(n) {
            // SAFETY: `look` resolved header and `len` bytes at `to` in the peer's memory, which the ring keeps mapped; `from`
            // is the data of a packet that the burst still owns.
            unsafe {
                group |= *place.from;
                net_header::write_plain::<true>(place.to);
                M::move_bytes(place.to.add(HEADER as usize), place.from, len as usize);
            }
            sum.add(len);
        }
        // SAFETY: `look` found one packet at least, and no more than `burst` allowed.
        unsafe {
            self.ring
                .give_back(n, |k| (HEADER + lens[k], batch[k].id, WRITE));
        }
        if group & 1 != 0 {
            self.count_groups(&packets.as_slice()[..n]);
        }
        self.ring.tally.count_run(sum, &lens[..n]);
        // SAFETY: `look` saw that the first `n` packets have this plain tag; the burst gives them up with `forget`.
        unsafe {
            caches.free_same(&packets.handles()[..n], tag);
            packets.forget(n);
        }
        (n, sum.bytes)
    }

    /// Looks at packets and the buffers for them, all before the ring's end; stops at the first pair that isn't simple. None
    /// when that is the first.
    #[inline(always)]
    fn look(
        &mut self,
        n: usize,
        packets: &[Mbuf],
        batch: &mut [Simple; BATCH],
        lens: &mut [u32; BATCH],
    ) -> Option<(usize, Tag)> {
        let tag = packets.first()?.kind();
        if !tag.is_plain() || self.ring.log.is_some() {
            return None;
        }
        let wanted = self.ring.next.available() | WRITE;
        let mut found = 0;
        for (k, (packet, (place, len))) in packets
            .iter()
            .zip(batch.iter_mut().zip(lens))
            .take(n)
            .enumerate()
        {
            // SAFETY: `k < n`, which is before the end.
            let descriptor = unsafe { self.ring.ahead(k) };
            let bytes = u32::from(packet.data_len());
            let simple = (descriptor.flags() & SHAPE == wanted)
                & (descriptor.len() >= HEADER + bytes)
                & (packet.kind() == tag)
                & (packet.flags().bits() & OffloadFlags::UNFINISHED.bits() == 0)
                & (bytes > 0);
            if !simple {
                break;
            }
            let Some(range) = self.ring.resolve(descriptor.address(), HEADER + bytes) else {
                break;
            };
            let to = range.as_ptr();
            prefetch::prefetch_for_write(to);
            *place = Simple {
                to,
                from: packet.data_ptr().as_ptr(),
                id: descriptor.id(),
            };
            *len = bytes;
            found = k + 1;
        }
        (found > 0).then_some((found, tag))
    }

    #[cold]
    fn count_groups(&self, packets: &[Mbuf]) {
        for packet in packets {
            if packet.data().first().is_some_and(|byte| byte & 1 != 0) {
                self.ring.tally.count_group(packet.data());
            }
        }
    }

    /// Sends the first packet, whatever it and the buffers look like; none when it has to wait. A packet that is lost is
    /// taken as well, since the caller could do nothing better with it, but isn't counted as sent.
    #[cold]
    fn put_first(&mut self, caches: &mut Caches, packets: &mut Burst) -> Option<Moved> {
        let packet = packets.as_slice().first()?;
        if packet.flags().intersects(self.unfinished) {
            return None;
        }
        let len = packet.pkt_len();
        let mut moved = Moved::default();
        match self.put_packet(packet) {
            Put::Later => return None,
            Put::Lost => self.ring.tally.too_long.add(1),
            Put::Sent => {
                if packet.data().first().is_some_and(|byte| byte & 1 != 0) {
                    self.ring.tally.count_group(packet.data());
                }
                self.ring.tally.count_sizes(&[len]);
                moved = moved.and(1, u64::from(len));
            }
        }
        if let Some(packet) = packets.pop_front() {
            caches.free_one(packet);
        }
        Some(moved)
    }

    fn put_packet(&mut self, packet: &Mbuf) -> Put {
        let header = NetHeader::compose(packet, self.offloads);
        let mut rest = Rest::of(packet);
        let (mut at, mut place) = (self.ring.next, None);
        self.filled.clear();
        // More descriptors than the ring has would lead round to those of this packet.
        let (mut left, mut least) = (self.ring.size, 0);
        let fresh = self.ring.chain.is_fresh();
        while self.filled.is_empty() || rest.left > 0 {
            if left == 0 || left < least {
                // All buffers that the driver can have posted are too small together.
                return Put::Lost;
            }
            let Some(walked) = self.ring.walk(at).filter(|walked| walked.taken <= left) else {
                return self.unwalked(fresh);
            };
            left -= walked.taken;
            least = if least == 0 {
                walked.taken
            } else {
                least.min(walked.taken)
            };
            at = at.advance(walked.taken, self.ring.size);
            let first = self.filled.is_empty();
            let skip = if first { HEADER as usize } else { 0 };
            let room = self.ring.chain.writable().saturating_sub(skip as u64);
            if self.ring.chain.unmapped || room == 0 || self.ring.chain.readable() > 0 {
                // This buffer is of no use: it is given back empty, and so are those before it.
                self.filled.push((walked, 0));
                return self.give_up();
            }
            if !self.mergeable && room < rest.left as u64 {
                return Put::Lost;
            }
            if first {
                place = self.ring.chain.place(10, 2);
                if self.mergeable && place.is_none() {
                    // A number across two stretches of memory: no driver does that. Nothing is written, since what is given
                    // back empty isn't marked in the log.
                    self.filled.push((walked, 0));
                    return self.give_up();
                }
                self.ring.chain.write(0, &header);
            }
            let n = rest.fill(&self.ring.chain, skip);
            self.ring.log_chain(skip + n);
            self.filled.push((walked, (skip + n) as u32));
        }
        if self.mergeable
            && let Some(place) = place
        {
            copy_from(place, &(self.filled.len() as u16).to_le_bytes());
        }
        self.give_back(WRITE);
        Put::Sent
    }

    /// A buffer isn't there, or couldn't be looked at to its end. Where even a burst that does nothing else can't see all
    /// buffers that the packet takes, there is no use in waiting.
    fn unwalked(&self, fresh: bool) -> Put {
        let hopeless = fresh && !self.filled.is_empty() && self.ring.chain.is_spent();
        if hopeless && self.ring.fault.is_none() {
            Put::Lost
        } else {
            Put::Later
        }
    }

    /// Gives back the buffers looked at, without anything in them.
    fn give_up(&mut self) -> Put {
        for (_, len) in &mut self.filled {
            *len = 0;
        }
        self.give_back(0);
        Put::Lost
    }

    /// Gives back the buffers of a packet, the first one last.
    fn give_back(&mut self, more: u16) {
        let mut taken = 0;
        for &(walked, len) in self.filled.iter().rev() {
            self.ring.write_used(walked.at, len, walked.id, more);
            taken += walked.taken;
        }
        self.ring.passed(taken);
    }
}
