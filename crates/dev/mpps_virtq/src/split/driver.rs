//! What both directions of the driver half have in common: a ring in our own memory, which the device writes in part.

use std::ptr::NonNull;
use std::sync::Arc;

use mpps_cpu::prefetch;
use mpps_shm::peer;

use super::free_ids::ids_from;
use super::layout::Layout;
use super::{Descriptor, QUIET};
use crate::foreign::{load_unaligned, store_unaligned};
use crate::notify::{notify, passed};
use crate::vector::WRITTEN;
use crate::{DriverSetup, Features, Notifier, RingAddresses, RingFault, Tally};

/// A split ring seen by the driver.
///
/// Its memory is ours, of [`Layout::total`] bytes as checked by [`DriverRing::open`], and stays mapped as long as the ring
/// (whoever made it sees to that). The device may write all of it; what we need to know of the descriptors is kept in
/// private memory, and of what the device writes only the used ring is read.
pub(crate) struct DriverRing {
    start: NonNull<u8>,
    desc: NonNull<[u64; 2]>,
    avail: NonNull<u16>,
    used: NonNull<u16>,
    layout: Layout,
    pub(crate) size: u16,
    pub(crate) mask: u16,
    /// Next entry of the available ring to be written; published unless a burst is under way.
    pub(crate) avail_idx: u16,
    /// Next entry of the used ring to be read.
    pub(crate) used_idx: u16,
    /// The used index as last read.
    seen: u16,
    event_idx: bool,
    told: bool,
    kick: Option<Notifier>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) fault: Option<RingFault>,
}

// SAFETY: the pointers lead into memory that outlives the ring, and whoever owns the ring is its only user on this side.
unsafe impl Send for DriverRing {}

impl DriverRing {
    pub(crate) fn open(setup: &DriverSetup) -> Result<Self, RingFault> {
        let size = setup.size;
        if !size.is_power_of_two() || size > 32768 {
            return Err(RingFault::Size {
                size,
                allowed: "a power of two from 1 to 32768",
            });
        }
        let layout = Layout::of(size);
        let memory = setup.memory.part(0, layout.total);
        let memory = memory.filter(|part| part.as_ptr().addr().get().is_multiple_of(64));
        let unmapped = RingFault::Unmapped {
            what: "ring",
            address: 0,
            len: layout.total as u64,
        };
        let start = memory.ok_or(unmapped)?.as_ptr();
        // SAFETY: offsets of the layout are inside `total` bytes.
        let (avail, used) = unsafe { (start.add(layout.avail), start.add(layout.used)) };
        let ring = Self {
            start,
            desc: start.cast(),
            avail: avail.cast(),
            used: used.cast(),
            layout,
            size: size as u16,
            mask: (size - 1) as u16,
            avail_idx: 0,
            used_idx: 0,
            seen: 0,
            event_idx: setup.features.contains(Features::RING_EVENT_IDX),
            told: false,
            kick: setup.kick.clone(),
            tally: setup.tally.clone(),
            fault: None,
        };
        ring.clear();
        Ok(ring)
    }

    /// A new ring: all zero, no interrupts wanted, since it is polled, and the available ring filled with the numbers of
    /// the descriptors in order, which a ring in order never needs to write again.
    fn clear(&self) {
        let event = self.event_idx;
        // SAFETY: all inside the layout; the device doesn't know of the ring yet.
        unsafe {
            self.start.as_ptr().write_bytes(0, self.layout.total);
            peer::store(self.avail.as_ptr(), if event { 0 } else { QUIET });
        }
        for slot in 0..self.size {
            self.write_avail(slot, slot);
        }
    }

    /// Where the parts are; guest and user address of the driver's own memory are its virtual address.
    pub(crate) fn addresses(&self) -> RingAddresses {
        let at = |part: NonNull<u16>| part.addr().get() as u64;
        RingAddresses {
            desc: self.desc.addr().get() as u64,
            avail: at(self.avail),
            used: at(self.used),
            log: at(self.used),
        }
    }

    /// Entries of the available ring that have not come back.
    #[inline(always)]
    pub(crate) fn outstanding(&self) -> u16 {
        self.avail_idx.wrapping_sub(self.used_idx)
    }

    /// Used entries that can be read now, at most `most`. The device's index is read when fewer than that are known.
    #[inline(always)]
    pub(crate) fn used(&mut self, most: usize) -> usize {
        let known = usize::from(self.seen.wrapping_sub(self.used_idx));
        if known >= most {
            return most;
        }
        // SAFETY: the second word of the used ring. Acquire: pairs with the device's release of the entries before it.
        self.seen = unsafe { peer::index(self.used.as_ptr().add(1)) };
        let known = self.seen.wrapping_sub(self.used_idx);
        if known > self.outstanding() {
            self.ahead();
            return 0;
        }
        usize::from(known).min(most)
    }

    /// Whether the device's index says that nothing was used.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        // SAFETY: the second word of the used ring.
        unsafe { peer::index(self.used.as_ptr().add(1)) == self.used_idx }
    }

    #[cold]
    fn ahead(&mut self) {
        let limit = self.outstanding();
        self.retire(RingFault::Index {
            index: self.seen,
            ours: self.used_idx,
            limit,
        });
        self.seen = self.used_idx;
    }

    #[cold]
    pub(crate) fn retire(&mut self, fault: RingFault) {
        self.fault.get_or_insert(fault);
    }

    /// Number and length of the used entry `ahead` of the next one: whatever the device wrote there, read once.
    #[inline(always)]
    pub(crate) fn used_entry(&self, ahead: usize) -> (u32, u32) {
        let entry = self.used_word(ahead);
        (entry as u32, (entry >> 32) as u32)
    }

    /// The same as a word, with the number in the lower half.
    #[inline(always)]
    pub(crate) fn used_word(&self, ahead: usize) -> u64 {
        let slot = self.used_idx.wrapping_add(ahead as u16) & self.mask;
        // SAFETY: as in `used_place`.
        unsafe { load_unaligned(self.used_place(slot)) }
    }

    /// Where the `n` used entries are that begin `ahead` of the next one; none where they go over the ring's end.
    #[inline(always)]
    pub(crate) fn used_group(&self, ahead: usize, n: usize) -> Option<*const u64> {
        let slot = self.used_idx.wrapping_add(ahead as u16) & self.mask;
        let inside = usize::from(slot) + n <= usize::from(self.size);
        inside.then(|| self.used_place(slot))
    }

    /// Where used entry `slot` is.
    #[inline(always)]
    fn used_place(&self, slot: u16) -> *const u64 {
        // SAFETY: entry `slot` of `size`, 8 bytes each behind two words; the part is aligned to two lines, so that the
        // entries are aligned to 4 bytes.
        unsafe { self.used.as_ptr().add(2 + 4 * usize::from(slot)).cast() }
    }

    /// Fetches the next `n` used entries, all at once: the device wrote them last, and one after the other each line would
    /// be waited for.
    #[inline(always)]
    pub(crate) fn prefetch_used(&self, n: usize) {
        for k in (0..n).step_by(8) {
            let slot = self.used_idx.wrapping_add(k as u16) & self.mask;
            // SAFETY: entry `slot` of `size`.
            prefetch::prefetch(unsafe { self.used.as_ptr().add(2 + 4 * usize::from(slot)) });
        }
    }

    /// What a burst's loop needs, in values that can stay in registers.
    #[inline(always)]
    pub(crate) fn view(&self) -> View {
        View {
            desc: self.desc,
            avail: self.avail,
            mask: self.mask,
            avail_idx: self.avail_idx,
        }
    }

    /// Writes an entry of the available ring, whichever comes `ahead` of the next one.
    pub(crate) fn write_avail(&self, ahead: u16, id: u16) {
        self.view().write_avail(ahead, id);
    }

    /// Writes a descriptor.
    pub(crate) fn write_descriptor(&self, id: u16, descriptor: Descriptor) {
        self.view().write_descriptor(id, descriptor);
    }

    /// The place for a header that belongs to descriptor `id`.
    pub(crate) fn header_place(&self, id: u16) -> NonNull<[u8; 12]> {
        let at = self.layout.headers + usize::from(id & self.mask) * super::layout::HEADER_STRIDE;
        // SAFETY: inside the layout.
        unsafe { self.start.add(at).cast() }
    }

    /// The indirect table that belongs to descriptor `id`.
    pub(crate) fn indirect_table(&self, id: u16) -> NonNull<[u64; 2]> {
        let at = self.layout.indirect
            + usize::from(id & self.mask) * super::layout::INDIRECT_ENTRIES * 16;
        // SAFETY: inside the layout.
        unsafe { self.start.add(at).cast() }
    }

    /// Makes `n` entries available that were written, and kicks the device if it wants that.
    #[inline(always)]
    pub(crate) fn publish(&mut self, n: usize) {
        let old = self.avail_idx;
        self.avail_idx = old.wrapping_add(n as u16);
        // SAFETY: the second word of the available ring. Release: pairs with the device's acquire; entries, descriptors and
        // headers come first.
        unsafe { peer::publish(self.avail.as_ptr().add(1), self.avail_idx) };
        if self.kick.is_some() {
            self.tell(old);
        }
    }

    /// As in the device half: a full fence between our index and the device's wish, or a device that goes to sleep just
    /// now is never woken (virtio 1.3, section 2.7.13.4.1).
    #[inline]
    fn tell(&mut self, old: u16) {
        peer::full_fence();
        let wanted = if self.event_idx {
            // SAFETY: the word behind the used ring's entries, inside the layout.
            let event =
                unsafe { peer::load(self.used.as_ptr().add(2 + 4 * usize::from(self.size))) };
            !self.told || passed(event, self.avail_idx, old)
        } else {
            // SAFETY: the first word of the used ring.
            unsafe { peer::load(self.used.as_ptr()) & QUIET == 0 }
        };
        self.told = true;
        match &self.kick {
            Some(kick) if wanted => notify(kick, &self.tally),
            _ => self.tally.suppressed.add(1),
        }
    }
}

/// The parts of a ring that a loop writes: a copy of the ring's pointers, used while the ring is borrowed.
#[derive(Clone, Copy)]
pub(crate) struct View {
    desc: NonNull<[u64; 2]>,
    avail: NonNull<u16>,
    mask: u16,
    avail_idx: u16,
}

impl View {
    /// Writes an entry of the available ring, `ahead` entries from the next one.
    ///
    /// Only where it says something else: a store would take the line away from the device, and with buffers used in
    /// order every entry stays as it is.
    #[inline(always)]
    pub(crate) fn write_avail(self, ahead: u16, id: u16) {
        let slot = self.avail_idx.wrapping_add(ahead) & self.mask;
        // SAFETY: entry `slot` of `size`.
        unsafe {
            let entry = self.avail.as_ptr().add(2 + usize::from(slot));
            if peer::load(entry) != id {
                peer::store(entry, id);
            }
        }
    }

    /// Writes the next [`WRITTEN`] entries of the available ring that come `ahead` of the next one: numbers from `first` on.
    #[inline(always)]
    pub(crate) fn write_avail_run(self, ahead: u16, first: u16) {
        let slot = self.avail_idx.wrapping_add(ahead) & self.mask;
        if usize::from(slot) + WRITTEN > usize::from(self.mask) + 1 {
            for k in 0..WRITTEN as u16 {
                self.write_avail(ahead.wrapping_add(k), first.wrapping_add(k));
            }
            return;
        }
        // SAFETY: entries `slot` to `slot + 3` of `size`. Only where they say something else, as in `write_avail`.
        unsafe {
            let entries = self.avail.as_ptr().add(2 + usize::from(slot)).cast::<u64>();
            let run = ids_from(first);
            if load_unaligned(entries) != run {
                store_unaligned(entries, run);
            }
        }
    }

    /// Where the descriptors from `id` on are.
    #[inline(always)]
    pub(crate) fn descriptors(self, id: u16) -> *mut [u64; 2] {
        self.descriptor(id)
    }

    #[inline(always)]
    fn descriptor(self, id: u16) -> *mut [u64; 2] {
        // SAFETY: descriptor `id` of `size`.
        unsafe { self.desc.as_ptr().add(usize::from(id & self.mask)) }
    }

    /// Writes a descriptor.
    #[inline(always)]
    pub(crate) fn write_descriptor(self, id: u16, descriptor: Descriptor) {
        let place = self.descriptor(id).cast::<u64>();
        // SAFETY: a descriptor of the ring. Two words: an array would take a detour over the stack.
        unsafe {
            peer::store(place, descriptor.0[0]);
            peer::store(place.add(1), descriptor.0[1]);
        }
    }

    /// Writes the address of a descriptor whose other fields stay.
    #[inline(always)]
    pub(crate) fn write_address(self, id: u16, address: u64) {
        // SAFETY: a descriptor of the ring.
        unsafe { peer::store(self.descriptor(id).cast::<u64>(), address) };
    }

    /// Fetches the lines of the descriptors that will be written next, which the device had last: all at once, while
    /// something else is done, instead of one store waiting after the other.
    #[inline(always)]
    pub(crate) fn prefetch_descriptors(self, id: u16, count: u16) {
        for k in (0..count).step_by(4) {
            prefetch::prefetch_for_write(self.descriptor(id.wrapping_add(k)));
        }
    }
}
