//! Device half, transmitting: packets are copied into the driver's receive ring and freed.
//!
//! As in receiving, a burst takes runs of simple packets and buffers (one plain segment with nothing owed, into one
//! writable descriptor that is long enough) in two passes; anything else goes through [`TxRing::put_packet`].

use mpps_cpu::prefetch;
use mpps_kernels::CopyKind;
use mpps_kernels::movers::Mover;
use mpps_mbuf::{Burst, Caches, Mbuf, OffloadFlags, Tag};

use super::WRITE;
use super::device::DeviceRing;
use super::device_rx::BATCH;
use crate::chain::Chain;
use crate::dispatch::{Body, Run};
use crate::foreign::copy_from;
use crate::net_header::{self, NetHeader, NetOffloads};
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
}

/// A burst with headers of twelve bytes, or of ten.
struct Variant<const WIDE: bool>;

impl<const WIDE: bool> Body for Variant<WIDE> {
    type Ring = TxRing;

    #[inline(always)]
    fn run<M: Mover>(ring: &mut TxRing, caches: &mut Caches, burst: &mut Burst) -> Moved {
        ring.burst::<M, WIDE>(caches, burst)
    }
}

/// A simple packet and the buffer for it, checked.
#[derive(Clone, Copy)]
struct Simple {
    /// Where the header goes, and behind it the packet.
    to: *mut u8,
    from: *const u8,
    head: u16,
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
        Ok(Self {
            ring: DeviceRing::open(setup)?,
            mergeable: setup.features.contains(Features::MRG_RXBUF),
            offloads,
            unfinished: offloads.unfinished(),
        })
    }

    /// The variant for this copy kind and what was negotiated.
    pub(crate) fn variant(&self, copy: CopyKind) -> (Run<Self>, CopyKind) {
        if self.ring.header == 12 {
            Run::of::<Variant<true>>(copy)
        } else {
            Run::of::<Variant<false>>(copy)
        }
    }

    /// Moves packets off the front of `packets` as long as there are buffers.
    #[inline(always)]
    fn burst<M: Mover, const WIDE: bool>(
        &mut self,
        caches: &mut Caches,
        packets: &mut Burst,
    ) -> Moved {
        let mut moved = Moved::default();
        if self.ring.fault.is_some() {
            return moved;
        }
        while !packets.is_empty() {
            let n = self.ring.available(packets.len().min(BATCH));
            if n == 0 {
                break;
            }
            let (done, bytes) = self.run::<M, WIDE>(n, caches, packets);
            moved = moved.and(done, bytes);
            if done < n {
                let Some(one) = self.put_first(caches, packets) else {
                    break;
                };
                moved = moved.and(one.packets, one.bytes);
            }
        }
        moved
    }

    /// Copies a run of at most `n` simple packets and frees them; says how many packets and bytes that were.
    #[inline(always)]
    fn run<M: Mover, const WIDE: bool>(
        &mut self,
        n: usize,
        caches: &mut Caches,
        packets: &mut Burst,
    ) -> (usize, u64) {
        let mut batch = [Simple {
            to: std::ptr::null_mut(),
            from: std::ptr::null(),
            head: 0,
        }; BATCH];
        let mut lens = [0_u32; BATCH];
        let Some((n, tag)) = self.look(n, packets.as_slice(), &mut batch, &mut lens) else {
            return (0, 0);
        };
        let header = self.ring.header;
        let (mut group, mut sum) = (0, Lengths::from(lens[0]));
        for (k, (place, &len)) in batch.iter().zip(&lens).take(n).enumerate() {
            // SAFETY: `look` resolved header and `len` bytes at `to` in the peer's memory, which the ring keeps mapped; `from`
            // is the data of a packet that the burst still owns.
            unsafe {
                group |= *place.from;
                net_header::write_plain::<WIDE>(place.to);
                M::move_bytes(place.to.add(header), place.from, len as usize);
            }
            sum.add(len);
            self.ring.write_used(k, place.head, header as u32 + len);
        }
        if group & 1 != 0 {
            self.count_groups(&packets.as_slice()[..n]);
        }
        self.ring.publish(n);
        self.ring.tally.count_run(sum, &lens[..n]);
        // SAFETY: `look` saw that the first `n` packets have this plain tag; the burst gives them up with `forget`.
        unsafe {
            caches.free_same(&packets.handles()[..n], tag);
            packets.forget(n);
        }
        (n, sum.bytes)
    }

    /// Looks at packets and the buffers for them; stops at the first pair that isn't simple. None when that is the first.
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
        let header = self.ring.header as u32;
        self.ring.prefetch_descriptors(n);
        let mut found = 0;
        for (k, (packet, (place, len))) in packets
            .iter()
            .zip(batch.iter_mut().zip(lens))
            .take(n)
            .enumerate()
        {
            let head = self.ring.head(k);
            let descriptor = self.ring.descriptor(head);
            let bytes = u32::from(packet.data_len());
            let simple = self.ring.has(head)
                & (descriptor.flags() == WRITE)
                & (descriptor.len() >= header + bytes)
                & (packet.kind() == tag)
                & (packet.flags().bits() & OffloadFlags::UNFINISHED.bits() == 0)
                & (bytes > 0);
            if !simple {
                break;
            }
            let Some(range) = self.ring.resolve(descriptor.address(), header + bytes) else {
                break;
            };
            let to = range.as_ptr();
            prefetch::prefetch_for_write(to);
            prefetch::prefetch_for_write(to.wrapping_add(header as usize));
            *place = Simple {
                to,
                from: packet.data_ptr().as_ptr(),
                head,
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
        let (mut buffers, mut place) = (0_usize, None);
        // Descriptors that the driver can still have posted, and those of the smallest buffer here.
        let (mut left, mut least) = (self.ring.size, u16::MAX);
        let fresh = self.ring.chain.is_fresh();
        while buffers == 0 || rest.left > 0 {
            if buffers > 0 && left < least {
                // All buffers that the driver can have posted are too small together.
                return Put::Lost;
            }
            if self.ring.available(buffers + 1) <= buffers || self.ring.fault.is_some() {
                return Put::Later;
            }
            let Ok(head) = self.ring.walk(buffers) else {
                return self.unwalked(fresh && buffers > 0);
            };
            left = left.saturating_sub(self.ring.chain.descriptors);
            least = least.min(self.ring.chain.descriptors);
            let skip = if buffers == 0 { self.ring.header } else { 0 };
            let room = self.ring.chain.writable().saturating_sub(skip as u64);
            if self.ring.chain.unmapped || room == 0 || self.ring.chain.readable() > 0 {
                // This buffer is of no use: it is given back empty, and so are those before it.
                return self.give_up(buffers);
            }
            if !self.mergeable && room < rest.left as u64 {
                return Put::Lost;
            }
            if buffers == 0 {
                place = self.ring.chain.place(10, 2);
                if self.mergeable && place.is_none() {
                    // A number across two stretches of memory: no driver does that. Nothing is written, since what is given
                    // back empty isn't marked in the log.
                    return self.give_up(buffers);
                }
                self.ring.chain.write(0, &header[..skip]);
            }
            let n = rest.fill(&self.ring.chain, skip);
            self.ring.log_chain(skip + n);
            self.ring.write_used(buffers, head, (skip + n) as u32);
            buffers += 1;
        }
        if self.mergeable
            && let Some(place) = place
        {
            copy_from(place, &(buffers as u16).to_le_bytes());
        }
        self.ring.publish(buffers);
        Put::Sent
    }

    /// A buffer couldn't be looked at to its end. Where even a burst that does nothing else can't see all buffers that the
    /// packet takes, there is no use in waiting.
    fn unwalked(&self, hopeless: bool) -> Put {
        if hopeless && self.ring.fault.is_none() {
            Put::Lost
        } else {
            Put::Later
        }
    }

    /// Gives back the buffers looked at, without anything in them.
    fn give_up(&mut self, before: usize) -> Put {
        for k in 0..=before {
            let head = self.ring.head(k);
            self.ring.write_used(k, head, 0);
        }
        self.ring.publish(before + 1);
        Put::Lost
    }
}

/// What is left of a packet to be copied.
pub(crate) struct Rest<'a> {
    packet: &'a Mbuf,
    at: usize,
    pub(crate) left: usize,
}

impl<'a> Rest<'a> {
    pub(crate) fn of(packet: &'a Mbuf) -> Self {
        Self {
            packet,
            at: 0,
            left: packet.pkt_len() as usize,
        }
    }

    /// Copies into a chain's writable part, from `skip` bytes on, as much as there is room; says how much that was.
    pub(crate) fn fill(&mut self, chain: &Chain, skip: usize) -> usize {
        let (mut offset, mut filled) = (self.at, 0);
        for data in self.packet.segments_data() {
            if offset >= data.len() {
                offset -= data.len();
                continue;
            }
            let n = chain.write(skip + filled, &data[offset..]);
            filled += n;
            if offset + n < data.len() {
                break;
            }
            offset = 0;
        }
        self.at += filled;
        self.left -= filled;
        filled
    }
}
