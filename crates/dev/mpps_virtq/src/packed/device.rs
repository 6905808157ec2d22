//! What both directions of the device half have in common: the ring in the peer's memory, and how it is read.

use std::ptr::NonNull;
use std::sync::Arc;

use mpps_shm::peer::{self, DirtyLog, GuestMemory, PeerRange};

use super::layout::EVENT_LEN;
use super::{AVAIL, Cursor, DISABLE, Descriptor, SIZES, USED, publish_word, read, wanted, word};
use crate::chain::{Chain, Table};
use crate::notify::notify;
use crate::split::device::part;
use crate::split::{INDIRECT, NEXT};
use crate::{DeviceSetup, Features, Notifier, RingFault, Tally};

/// A packed ring seen by the device.
///
/// The three parts are inside one of the memory's regions each, as checked by [`DeviceRing::open`]; `memory` keeps them
/// mapped. Buffers are used in the order in which they come, so that one place serves for both what is read and what is
/// written next, and nothing that the peer writes is ever a place.
pub(crate) struct DeviceRing {
    ring: NonNull<[u64; 2]>,
    driver: NonNull<u32>,
    pub(crate) size: u16,
    /// Next descriptor to be read, and to be used.
    pub(crate) next: Cursor,
    told: bool,
    event_idx: bool,
    call: Option<Notifier>,
    pub(crate) features: Features,
    pub(crate) memory: Arc<GuestMemory>,
    /// The region that was hit last.
    pub(crate) last: usize,
    pub(crate) log: Option<Arc<DirtyLog>>,
    /// Guest address of the ring, for the dirty log.
    guest: u64,
    pub(crate) tally: Arc<Tally>,
    pub(crate) fault: Option<RingFault>,
    pub(crate) chain: Chain,
    /// A buffer that a burst had to leave.
    begun: Option<Begun>,
    /// The driver's receive ring, whose buffers are written.
    pub(crate) writes: bool,
}

// SAFETY: the pointers lead into mappings that `memory` keeps, and whoever owns the ring is its only user on this side.
unsafe impl Send for DeviceRing {}

/// A buffer of several descriptors, collected in [`DeviceRing::chain`].
#[derive(Clone, Copy)]
pub(crate) struct Walked {
    /// Where its used descriptor goes.
    pub(crate) at: Cursor,
    pub(crate) id: u16,
    /// Descriptors that it takes.
    pub(crate) taken: u16,
}

/// A buffer that isn't collected to its end.
#[derive(Clone, Copy)]
struct Begun {
    walked: Walked,
    /// The next descriptor of the ring.
    next: Cursor,
    /// The indirect table, and the next descriptor of that.
    table: Option<(Table, u32)>,
}

impl Begun {
    fn at(from: Cursor) -> Self {
        Self {
            walked: Walked {
                at: from,
                id: 0,
                taken: 0,
            },
            next: from,
            table: None,
        }
    }
}

impl DeviceRing {
    pub(crate) fn open(setup: &DeviceSetup) -> Result<Self, RingFault> {
        let size = setup.size;
        if size == 0 || size > 32768 {
            return Err(RingFault::Size {
                size,
                allowed: SIZES,
            });
        }
        let (len, rings) = (size as usize * 16, &setup.rings);
        let ring = part(setup, "descriptor ring", rings.desc, len, 16)?;
        let driver = part(setup, "driver's event structure", rings.avail, EVENT_LEN, 4)?;
        let device = part(setup, "device's event structure", rings.used, EVENT_LEN, 4)?;
        let next = start(setup.base, size as u16)?;
        // SAFETY: both halves of the device's event structure. It is polled and never wants to be told.
        unsafe {
            let device = device.cast::<u16>().as_ptr();
            peer::store(device, 0);
            peer::store(device.add(1), DISABLE);
        }
        if let Some(log) = &setup.log {
            let _ = log.mark(guest_of(&setup.memory, rings.used), EVENT_LEN as u64);
        }
        Ok(Self {
            ring: ring.cast(),
            driver: driver.cast(),
            size: size as u16,
            next,
            told: false,
            event_idx: setup.features.contains(Features::RING_EVENT_IDX),
            call: setup.call.clone(),
            features: setup.features,
            guest: guest_of(&setup.memory, rings.desc),
            memory: setup.memory.clone(),
            last: 0,
            log: setup.log.clone(),
            tally: setup.tally.clone(),
            fault: None,
            chain: Chain::default(),
            begun: None,
            writes: false,
        })
    }

    /// Where to go on, as SET_VRING_BASE has it; available and used place are the same between bursts.
    pub(crate) fn base(&self) -> u32 {
        let bits = u32::from(self.next.bits());
        bits | bits << 16
    }

    #[cold]
    pub(crate) fn retire(&mut self, fault: RingFault) {
        self.fault.get_or_insert(fault);
    }

    /// Descriptors from the next one to the end of the ring.
    #[inline(always)]
    pub(crate) fn to_end(&self) -> usize {
        self.next.to_end(self.size)
    }

    /// The descriptor `ahead` of the next one.
    ///
    /// # Safety
    /// `ahead` is less than [`DeviceRing::to_end`].
    #[inline(always)]
    pub(crate) unsafe fn ahead(&self, ahead: usize) -> Descriptor {
        // SAFETY: inside the ring, which is aligned to 16 bytes.
        unsafe { read(self.place(ahead)) }
    }

    /// # Safety
    /// `ahead` is less than [`DeviceRing::to_end`].
    #[inline(always)]
    unsafe fn place(&self, ahead: usize) -> *mut [u64; 2] {
        debug_assert!(ahead < self.to_end());
        // SAFETY: inside the ring.
        unsafe { self.ring.as_ptr().add(usize::from(self.next.slot) + ahead) }
    }

    /// Whether the next descriptor has been made available.
    #[inline(always)]
    pub(crate) fn ready(&self) -> bool {
        self.at(self.next).flags() & (AVAIL | USED) == self.next.available()
    }

    /// Whether the driver has made `descriptors` available, or as many as the ring has: the last of them tells, since they
    /// are made available in order.
    pub(crate) fn holds(&self, descriptors: usize) -> bool {
        let ahead = descriptors.min(usize::from(self.size)).saturating_sub(1);
        // Less than the size, a u16.
        let last = self.next.advance(ahead as u16, self.size);
        let flags = self.at(last).flags();
        self.fault.is_none() && flags & (AVAIL | USED) == last.available()
    }

    #[inline(always)]
    fn at(&self, cursor: Cursor) -> Descriptor {
        // SAFETY: a cursor's place is inside the ring.
        unsafe { read(self.ring.as_ptr().add(usize::from(cursor.slot))) }
    }

    /// Memory of the peer.
    #[inline(always)]
    pub(crate) fn resolve(&mut self, address: u64, len: u32) -> Option<PeerRange> {
        self.memory.resolve(address, len, &mut self.last)
    }

    /// Gives back the next `n` descriptors, a buffer each; `used` says length, id and flags of each. The flags of the first
    /// are written last, so that the driver sees all or none.
    ///
    /// # Safety
    /// `n` isn't zero and at most [`DeviceRing::to_end`].
    #[inline(always)]
    pub(crate) unsafe fn give_back(&mut self, n: usize, used: impl Fn(usize) -> (u32, u16, u16)) {
        let flags = self.next.used();
        for k in (0..n).rev() {
            let (len, id, more) = used(k);
            // SAFETY: the second word of a descriptor, `k < n`.
            unsafe {
                let place = self.place(k).cast::<u64>().add(1);
                publish_word(place, word(len, id, flags | more));
            }
        }
        self.passed(n as u16);
    }

    /// Gives back the next `n` descriptors, read as a whole, with one used descriptor of the last one's id: only in order
    /// (virtio 1.3, section 2.8.9).
    ///
    /// # Safety
    /// As [`DeviceRing::give_back`].
    #[inline(always)]
    pub(crate) unsafe fn give_back_batch(&mut self, n: usize, id: u16) {
        // SAFETY: the second word of the next descriptor.
        unsafe {
            let place = self.place(0).cast::<u64>().add(1);
            publish_word(place, word(0, id, self.next.used()));
        }
        self.passed(n as u16);
    }

    /// Gives back one buffer whose descriptor or chain begins at `at`, without going on.
    pub(crate) fn write_used(&mut self, at: Cursor, len: u32, id: u16, more: u16) {
        // SAFETY: the second word of a descriptor; a cursor's place is inside the ring.
        unsafe {
            let place = self.ring.as_ptr().add(usize::from(at.slot)).cast::<u64>();
            publish_word(place.add(1), word(len, id, at.used() | more));
        }
        if let Some(log) = &self.log {
            let _ = log.mark(self.guest.wrapping_add(16 * u64::from(at.slot)), 16);
        }
    }

    /// Goes on by `taken` descriptors, which were given back, and tells the driver if it wants to know.
    #[inline(always)]
    pub(crate) fn passed(&mut self, taken: u16) {
        self.next = self.next.advance(taken, self.size);
        if self.call.is_some() {
            self.tell(taken);
        }
    }

    /// The driver may have gone to sleep just before it could see our flags: with a full fence between their store and the
    /// load of its wish, either it sees them or we see the wish (virtio 1.3, section 2.8.21.3.1).
    #[inline]
    fn tell(&mut self, moved: u16) {
        peer::full_fence();
        // SAFETY: the driver's event structure, four bytes, aligned.
        let event = unsafe { peer::load(self.driver.as_ptr()) };
        // A place named before the first time may be of another ring's life.
        let place = self.event_idx && std::mem::replace(&mut self.told, true);
        match &self.call {
            Some(call) if wanted(event, place, self.next, moved, self.size) => {
                notify(call, &self.tally)
            }
            _ => self.tally.suppressed.add(1),
        }
    }

    /// Collects the buffer that begins at `from` in `self.chain`; none when there is no such buffer yet, when this burst has
    /// walked enough, or when it can't be one, which retires the ring.
    #[cold]
    pub(crate) fn walk(&mut self, from: Cursor) -> Option<Walked> {
        let mut chain = std::mem::take(&mut self.chain);
        let result = self.collect(from, &mut chain);
        self.chain = chain;
        result.unwrap_or_else(|fault| {
            self.retire(fault);
            None
        })
    }

    fn collect(&mut self, from: Cursor, chain: &mut Chain) -> Result<Option<Walked>, RingFault> {
        let begun = self.begun.take().filter(|begun| begun.walked.at == from);
        let mut state = begun.unwrap_or_else(|| {
            chain.begin();
            Begun::at(from)
        });
        loop {
            if let Some((table, first)) = state.table {
                let number = chain.add_table(table, first, self.writes, &self.memory)?;
                if number >= table.size() {
                    return Ok(Some(state.walked));
                }
                state.table = Some((table, number));
                self.begun = Some(state);
                return Ok(None);
            }
            if state.walked.taken == self.size {
                return Err(RingFault::Endless { head: from.slot });
            }
            if !chain.spend() {
                self.begun = Some(state);
                return Ok(None);
            }
            let descriptor = self.at(state.next);
            let flags = descriptor.flags();
            if flags & (AVAIL | USED) != state.next.available() {
                if state.walked.taken == 0 {
                    return Ok(None);
                }
                return Err(RingFault::Endless { head: from.slot });
            }
            state.walked.id = descriptor.id();
            state.walked.taken += 1;
            if flags & INDIRECT != 0 {
                let indirect = self.features.contains(Features::RING_INDIRECT_DESC);
                let table = chain.table(descriptor.buffer(), indirect, &self.memory)?;
                state.table = Some((table, 0));
                continue;
            }
            chain.add(descriptor.buffer(), &self.memory);
            if flags & NEXT == 0 {
                return Ok(Some(state.walked));
            }
            state.next = state.next.advance(1, self.size);
        }
    }

    /// Marks what was written into `self.chain`, from its first writable byte on.
    pub(crate) fn log_chain(&self, len: usize) {
        if let Some(log) = &self.log {
            self.chain.each_written(len, |guest, len| {
                let _ = log.mark(guest, len);
            });
        }
    }
}

/// Where to begin: where the one before left off *using* buffers, since what it took and didn't give back is still to be
/// done. A front end that sends but the lower half, or takes none of the upper one, means the same place for both.
fn start(base: u32, size: u16) -> Result<Cursor, RingFault> {
    let (available, used) = (base as u16, (base >> 16) as u16);
    let bits = if used == 0 { available } else { used };
    Cursor::from_bits(bits, size).ok_or(RingFault::Descriptor {
        number: u32::from(bits & 0x7fff),
        size: u32::from(size),
    })
}

/// The guest address of what is at `user`.
fn guest_of(memory: &GuestMemory, user: u64) -> u64 {
    memory
        .regions()
        .iter()
        .find(|region| user.wrapping_sub(region.user) < region.len)
        .map_or(0, |region| {
            region.guest.wrapping_add(user.wrapping_sub(region.user))
        })
}
