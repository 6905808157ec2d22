//! What both directions of the driver half have in common: a ring in our own memory, which the device writes too.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

use mpps_shm::peer;

use super::layout::Layout;
use super::{AVAIL, Cursor, DISABLE, Descriptor, SIZES, USED, publish_word, read_word, wanted};
use crate::notify::notify;
use crate::split::layout::{HEADER_STRIDE, INDIRECT_ENTRIES};
use crate::vector::{Lanes, Pass, WRITTEN, halves};
use crate::{DriverSetup, Features, Notifier, RingAddresses, RingFault, Tally};

/// A packed ring seen by the driver.
///
/// Its memory is ours, of [`Layout::total`] bytes as checked by [`DriverRing::open`], and stays mapped as long as the ring
/// (whoever made it sees to that). The device may write all of it; what we need to know of the buffers is kept in private
/// memory by buffer id, and of what the device writes only length, id and flags of used descriptors are read.
pub(crate) struct DriverRing {
    start: NonNull<u8>,
    ring: NonNull<[u64; 2]>,
    layout: Layout,
    pub(crate) size: u16,
    /// The most descriptors to be made available at a time.
    pub(crate) most: u16,
    /// Next descriptor to be made available.
    pub(crate) avail: Cursor,
    /// Next descriptor that the device will use.
    used: Cursor,
    /// Descriptors made available that have not come back.
    out: u16,
    event_idx: bool,
    told: bool,
    kick: Option<Notifier>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) fault: Option<RingFault>,
}

// SAFETY: the pointers lead into memory that outlives the ring, and whoever owns the ring is its only user on this side.
unsafe impl Send for DriverRing {}

/// What a used descriptor says.
///
/// Laid out as the second word of a descriptor.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Used {
    /// Bytes that the device says it wrote.
    pub(crate) len: u32,
    pub(crate) id: u16,
    flags: u16,
}

impl Used {
    pub(crate) const NONE: Self = Self {
        len: 0,
        id: 0,
        flags: 0,
    };
}

const _: () = assert!(size_of::<Used>() == 8);

impl DriverRing {
    pub(crate) fn open(setup: &DriverSetup) -> Result<Self, RingFault> {
        let size = setup.size;
        if size == 0 || size > 32768 {
            return Err(RingFault::Size {
                size,
                allowed: SIZES,
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
        // SAFETY: `total` bytes, which the device doesn't know of yet; the driver's event structure is among them. The ring
        // is polled, so that the device need not tell us anything.
        unsafe {
            start.as_ptr().write_bytes(0, layout.total);
            let event = start.add(layout.driver).cast::<u16>().as_ptr();
            peer::store(event.add(1), DISABLE);
        }
        Ok(Self {
            start,
            ring: start.cast(),
            layout,
            size: size as u16,
            most: size as u16,
            avail: Cursor::START,
            used: Cursor::START,
            out: 0,
            event_idx: setup.features.contains(Features::RING_EVENT_IDX),
            told: false,
            kick: setup.kick.clone(),
            tally: setup.tally.clone(),
            fault: None,
        })
    }

    /// Where the parts are; guest and user address of the driver's own memory are its virtual address.
    pub(crate) fn addresses(&self) -> RingAddresses {
        let start = self.start.addr().get();
        RingAddresses {
            desc: start as u64,
            avail: (start + self.layout.driver) as u64,
            used: (start + self.layout.device) as u64,
            log: start as u64,
        }
    }

    #[cold]
    pub(crate) fn retire(&mut self, fault: RingFault) {
        self.fault.get_or_insert(fault);
    }

    /// Descriptors made available that have not come back.
    #[inline(always)]
    pub(crate) fn outstanding(&self) -> u16 {
        self.out
    }

    /// Descriptors that can be made available.
    #[inline(always)]
    pub(crate) fn room(&self) -> usize {
        usize::from(self.most - self.out)
    }

    /// Descriptors that can be made available without going over the ring's end.
    #[inline(always)]
    pub(crate) fn straight_room(&self) -> usize {
        self.room().min(self.avail.to_end(self.size))
    }

    /// Descriptors that may have been used, without going over the ring's end.
    #[inline(always)]
    pub(crate) fn straight_out(&self) -> usize {
        usize::from(self.out).min(self.used.to_end(self.size))
    }

    #[inline(always)]
    fn place(&self, at: Cursor) -> *mut [u64; 2] {
        debug_assert!(at.slot < self.size);
        // SAFETY: a cursor's place is inside the ring.
        unsafe { self.ring.as_ptr().add(usize::from(at.slot)) }
    }

    /// Id and length that the device wrote at the place `ahead` of the next one, if it has.
    ///
    /// # Safety
    /// `ahead` is less than [`DriverRing::straight_out`].
    #[inline(always)]
    pub(crate) unsafe fn used_ahead(&self, ahead: usize) -> Option<Used> {
        debug_assert!(ahead < self.straight_out());
        let at = Cursor {
            slot: self.used.slot + ahead as u16,
            ..self.used
        };
        self.used_at(at)
    }

    #[inline(always)]
    fn used_at(&self, at: Cursor) -> Option<Used> {
        let used = self.read_at(at);
        (used.flags & (AVAIL | USED) == at.used()).then_some(used)
    }

    #[inline(always)]
    fn read_at(&self, at: Cursor) -> Used {
        // SAFETY: the second word of a descriptor of the ring.
        let word = unsafe { read_word(self.place(at).cast::<u64>().add(1)) };
        let descriptor = Descriptor([0, word]);
        Used {
            len: descriptor.len(),
            id: descriptor.id(),
            flags: descriptor.flags(),
        }
    }

    /// What stands at the place `ahead` of the next one, used or not.
    ///
    /// # Safety
    /// As [`DriverRing::used_ahead`].
    #[inline(always)]
    pub(crate) unsafe fn read_ahead(&self, ahead: usize) -> Used {
        debug_assert!(ahead < self.straight_out());
        self.read_at(Cursor {
            slot: self.used.slot + ahead as u16,
            ..self.used
        })
    }

    /// Whether what was read says that the device has used it, in this round.
    #[inline(always)]
    pub(crate) const fn is_used(&self, used: Used) -> bool {
        used.flags & (AVAIL | USED) == self.used.used()
    }

    /// What a used descriptor must say before the ring's end: used in this round, an id of the ring, a length from `least`
    /// on, of which there are `lengths`.
    #[inline(always)]
    pub(crate) fn used_pass(&self, least: u32, lengths: u32) -> Pass {
        let high = |id: u16, flags: u16| u32::from(id) | u32::from(flags) << 16;
        Pass {
            and: halves(u32::MAX, high(u16::MAX, AVAIL | USED)),
            xor: halves(0, high(0, self.used.used())),
            minus: halves(least, 0),
            below: halves(lengths, u32::from(self.size)),
        }
    }

    /// Reads the second words of as many descriptors as `L` takes, from the place `ahead` of the next one; says whether all
    /// pass. Each is read once.
    ///
    /// # Safety
    /// `ahead` and so many are at most [`DriverRing::straight_out`], `to` has as many places, and the CPU has the
    /// instructions.
    #[inline(always)]
    pub(crate) unsafe fn used_group<L: Lanes>(
        &self,
        ahead: usize,
        to: *mut Used,
        pass: &Pass,
    ) -> bool {
        debug_assert!(ahead + L::GROUP <= self.straight_out());
        let at = Cursor {
            slot: self.used.slot + ahead as u16,
            ..self.used
        };
        // SAFETY: descriptors of the ring, by the caller's promise, as the rest is.
        let all = unsafe { L::second_words(self.place(at), to.cast(), pass) };
        // Acquire: partner is the device's release of each descriptor's flags, which are in the word with the rest.
        fence(Ordering::Acquire);
        all
    }

    /// The next used descriptor, if there is one.
    #[inline(always)]
    pub(crate) fn next_used(&self) -> Option<Used> {
        if self.out == 0 {
            return None;
        }
        self.used_at(self.used)
    }

    /// Used descriptors of the next `n`, of one descriptor each, which may go over the ring's end; fewer when they aren't
    /// there yet.
    pub(crate) fn used_run(&self, n: u16) -> impl Iterator<Item = Used> {
        (0..n.min(self.out)).map_while(|k| self.used_at(self.used.advance(k, self.size)))
    }

    /// Goes on by `n` descriptors that came back; at most as many as are out.
    #[inline(always)]
    pub(crate) fn reclaimed(&mut self, n: u16) {
        debug_assert!(n <= self.out);
        let n = n.min(self.out);
        self.out -= n;
        self.used = self.used.advance(n, self.size);
    }

    /// Makes the next `n` descriptors available, a buffer each; `descriptor` says address, length, id and flags of each. The
    /// first is written last, so that the device sees all or none.
    ///
    /// # Safety
    /// `n` isn't zero and at most [`DriverRing::straight_room`]; the CPU has the instructions of `L`.
    #[inline(always)]
    pub(crate) unsafe fn post<L: Lanes>(
        &mut self,
        n: usize,
        descriptor: impl Fn(usize) -> (u64, u32, u16, u16),
    ) {
        debug_assert!(0 < n && n <= self.straight_room());
        let (first, own) = (self.place(self.avail), self.avail.available());
        let made = |k| {
            let (address, len, id, flags) = descriptor(k);
            Descriptor::new(address, len, id, flags | own)
        };
        let mut left = n;
        while L::GROUP > 1 && left > WRITTEN {
            let at = left - WRITTEN;
            // Whole lines, and never the first descriptor.
            if !(usize::from(self.avail.slot) + left).is_multiple_of(WRITTEN) {
                left -= 1;
                // SAFETY: descriptor `left < n` from the next one on, before the end.
                unsafe { publish(first.add(left), made(left)) };
                continue;
            }
            let four = std::array::from_fn(|k| made(at + k).0);
            // SAFETY: descriptors from `at` on, all below `n`; the caller was compiled for `L`.
            unsafe { L::write(first.add(at), four) };
            left = at;
        }
        for k in (0..left).rev() {
            // SAFETY: descriptor `k < n` from the next one on, before the end.
            unsafe { publish(first.add(k), made(k)) };
        }
        self.posted(n as u16);
    }

    /// Writes one descriptor of a chain, without going on.
    pub(crate) fn write(&self, at: Cursor, address: u64, len: u32, id: u16, flags: u16) {
        let descriptor = Descriptor::new(address, len, id, flags | at.available());
        // SAFETY: a descriptor of the ring.
        unsafe { publish(self.place(at), descriptor) };
    }

    /// Goes on by `n` descriptors that were made available, and kicks the device if it wants that.
    #[inline(always)]
    pub(crate) fn posted(&mut self, n: u16) {
        self.avail = self.avail.advance(n, self.size);
        self.out += n;
        if self.kick.is_some() {
            self.tell(n);
        }
    }

    /// As in the device half: a full fence between our flags and the device's wish, or a device that goes to sleep just now
    /// is never woken (virtio 1.3, section 2.8.21.3.1).
    #[inline]
    fn tell(&mut self, moved: u16) {
        peer::full_fence();
        // SAFETY: the device's event structure, inside the layout, aligned.
        let event = unsafe {
            let place = self.start.as_ptr().add(self.layout.device).cast::<u32>();
            peer::load(place)
        };
        // A place named before the first time may be of another ring's life.
        let place = self.event_idx && std::mem::replace(&mut self.told, true);
        match &self.kick {
            Some(kick) if wanted(event, place, self.avail, moved, self.size) => {
                notify(kick, &self.tally)
            }
            _ => self.tally.suppressed.add(1),
        }
    }

    /// The place for a header that belongs to buffer `id`.
    pub(crate) fn header_place(&self, id: u16) -> NonNull<[u8; 12]> {
        debug_assert!(id < self.size);
        let at = self.layout.headers + usize::from(id) * HEADER_STRIDE;
        // SAFETY: inside the layout; ids come from `FreeIds` and are below the size.
        unsafe { self.start.add(at).cast() }
    }

    /// The indirect table that belongs to buffer `id`.
    pub(crate) fn indirect_table(&self, id: u16) -> NonNull<[u64; 2]> {
        debug_assert!(id < self.size);
        let at = self.layout.indirect + usize::from(id) * INDIRECT_ENTRIES * 16;
        // SAFETY: as above.
        unsafe { self.start.add(at).cast() }
    }
}

/// Writes a descriptor, its flags after everything else.
///
/// # Safety
/// `p` is one of the ring.
#[inline(always)]
unsafe fn publish(p: *mut [u64; 2], descriptor: Descriptor) {
    let [address, word] = descriptor.0;
    let p = p.cast::<u64>();
    // SAFETY: the caller's promise.
    unsafe {
        peer::store(p, address);
        publish_word(p.add(1), word);
    }
}
