//! What both directions of the device half have in common: the ring in the peer's memory, and how it is read.

use std::ptr::NonNull;
use std::sync::Arc;

use mpps_cpu::prefetch;
use mpps_shm::peer::{self, DirtyLog, GuestMemory, PeerRange};

use super::{Descriptor, QUIET, layout};
use crate::chain::{Chain, Table};
use crate::notify::{notify, passed};
use crate::{DeviceSetup, Features, Notifier, RingFault, Tally};

/// A split ring seen by the device.
///
/// The three parts are inside one of the memory's regions each, for the ring's size, as checked by [`DeviceRing::open`];
/// `memory` keeps them mapped. Numbers that the peer writes are reduced to the size before they become addresses.
pub(crate) struct DeviceRing {
    desc: NonNull<[u64; 2]>,
    avail: NonNull<u16>,
    used: NonNull<u16>,
    pub(crate) size: u16,
    mask: u16,
    /// Next entry of the available ring to be read.
    pub(crate) next: u16,
    /// The available index as last read.
    seen: u16,
    /// Next entry of the used ring to be written; published unless a burst is under way.
    pub(crate) used_idx: u16,
    /// Used index that the driver was last told of or asked not to be told of; none before the first time.
    told: Option<u16>,
    event_idx: bool,
    call: Option<Notifier>,
    pub(crate) header: usize,
    pub(crate) features: Features,
    pub(crate) memory: Arc<GuestMemory>,
    /// The region that was hit last.
    pub(crate) last: usize,
    pub(crate) log: Option<Arc<DirtyLog>>,
    used_log: u64,
    pub(crate) tally: Arc<Tally>,
    pub(crate) fault: Option<RingFault>,
    pub(crate) chain: Chain,
}

// SAFETY: the pointers lead into mappings that `memory` keeps, and whoever owns the ring is its only user on this side.
unsafe impl Send for DeviceRing {}

/// Sizes that a split ring can have (virtio 1.3, section 2.7).
const SIZES: &str = "a power of two from 1 to 32768";

impl DeviceRing {
    pub(crate) fn open(setup: &DeviceSetup) -> Result<Self, RingFault> {
        let size = setup.size;
        if !size.is_power_of_two() || size > 32768 {
            return Err(RingFault::Size {
                size,
                allowed: SIZES,
            });
        }
        let event = setup.features.contains(Features::RING_EVENT_IDX);
        let (len, rings) = (size as usize, &setup.rings);
        let desc = part(setup, "descriptor table", rings.desc, len * 16, 16)?;
        let avail = part(
            setup,
            "available ring",
            rings.avail,
            layout::avail_len(len, event),
            2,
        )?;
        let used = part(
            setup,
            "used ring",
            rings.used,
            layout::used_len(len, event),
            4,
        )?;
        let mut ring = Self {
            desc: desc.cast(),
            avail: avail.cast(),
            used: used.cast(),
            size: size as u16,
            mask: (size - 1) as u16,
            next: setup.base as u16,
            seen: setup.base as u16,
            used_idx: setup.base as u16,
            told: None,
            event_idx: event,
            call: setup.call.clone(),
            header: setup.features.header_len(),
            features: setup.features,
            memory: setup.memory.clone(),
            last: 0,
            log: setup.log.clone(),
            used_log: rings.log,
            tally: setup.tally.clone(),
            fault: None,
            chain: Chain::default(),
        };
        ring.resume();
        Ok(ring)
    }

    /// Goes on where the used ring in memory says: everything that was made available and not used is still to be done.
    /// Asks for no kicks, since the ring is polled.
    fn resume(&mut self) {
        // SAFETY: both words are in the used ring.
        unsafe {
            self.used_idx = peer::index(self.used.as_ptr().add(1));
            peer::store(self.used.as_ptr(), if self.event_idx { 0 } else { QUIET });
        }
        if let Some(log) = &self.log {
            let _ = log.mark(self.used_log, 2);
        }
        self.next = self.used_idx;
        self.seen = self.used_idx;
    }

    /// Entries that can be read now, at most `most`. The peer's index is read when fewer than that are known.
    #[inline(always)]
    pub(crate) fn available(&mut self, most: usize) -> usize {
        let known = usize::from(self.seen.wrapping_sub(self.next));
        if known >= most {
            return most;
        }
        // SAFETY: the second word of the available ring. Acquire: pairs with the driver's release of the entries before it.
        self.seen = unsafe { peer::index(self.avail.as_ptr().add(1)) };
        let known = self.seen.wrapping_sub(self.next);
        if known > self.size {
            self.ahead();
            return 0;
        }
        usize::from(known).min(most)
    }

    /// Whether the driver's index says that nothing is available.
    #[inline(always)]
    pub(crate) fn is_idle(&self) -> bool {
        // SAFETY: the second word of the available ring.
        unsafe { peer::index(self.avail.as_ptr().add(1)) == self.next }
    }

    /// Whether the driver has made `chains` available, or as many as the ring can have.
    pub(crate) fn holds(&mut self, chains: usize) -> bool {
        let chains = chains.min(usize::from(self.size));
        self.fault.is_none() && self.available(chains) >= chains
    }

    #[cold]
    fn ahead(&mut self) {
        self.retire(RingFault::Index {
            index: self.seen,
            ours: self.next,
            limit: self.size,
        });
        self.seen = self.next;
    }

    #[cold]
    pub(crate) fn retire(&mut self, fault: RingFault) {
        self.fault.get_or_insert(fault);
    }

    /// The head of the chain `ahead` entries from the next one: whatever the peer wrote there.
    #[inline(always)]
    pub(crate) fn head(&self, ahead: usize) -> u16 {
        let slot = self.next.wrapping_add(ahead as u16) & self.mask;
        // SAFETY: entry `slot` of `size`.
        unsafe { peer::load(self.avail.as_ptr().add(2 + usize::from(slot))) }
    }

    /// Whether this is the number of a descriptor.
    #[inline(always)]
    pub(crate) fn has(&self, number: u16) -> bool {
        number < self.size
    }

    /// The descriptor of this number, reduced to the ring's size.
    #[inline(always)]
    pub(crate) fn descriptor(&self, number: u16) -> Descriptor {
        // SAFETY: one of `size` descriptors, aligned to 16 bytes.
        Descriptor(unsafe {
            peer::descriptor(self.desc.as_ptr().add(usize::from(number & self.mask)))
        })
    }

    /// Fetches the descriptors of the next `n` chains, all at once: the driver wrote them last, and one after the other each
    /// line would be waited for.
    #[inline(always)]
    pub(crate) fn prefetch_descriptors(&self, n: usize) {
        for k in (0..n).step_by(2) {
            let number = usize::from(self.head(k) & self.mask);
            // SAFETY: one of `size` descriptors.
            prefetch::prefetch(unsafe { self.desc.as_ptr().add(number) });
        }
    }

    /// Memory of the peer.
    #[inline(always)]
    pub(crate) fn resolve(&mut self, address: u64, len: u32) -> Option<PeerRange> {
        self.memory.resolve(address, len, &mut self.last)
    }

    /// Writes an entry of the used ring, `ahead` entries from the next one, without publishing it.
    #[inline(always)]
    pub(crate) fn write_used(&mut self, ahead: usize, head: u16, len: u32) {
        let slot = self.used_idx.wrapping_add(ahead as u16) & self.mask;
        // SAFETY: entry `slot` of `size`, 8 bytes each behind two words; the part is aligned to 4 bytes.
        unsafe {
            let entry = self
                .used
                .as_ptr()
                .add(2 + 4 * usize::from(slot))
                .cast::<u32>();
            peer::store(entry, u32::from(head));
            peer::store(entry.add(1), len);
        }
    }

    /// Publishes `used` entries that stand for `taken` chains, and tells the driver if it wants to know.
    #[inline(always)]
    pub(crate) fn publish(&mut self, taken: usize) {
        self.next = self.next.wrapping_add(taken as u16);
        let old = self.used_idx;
        self.used_idx = old.wrapping_add(taken as u16);
        // SAFETY: the second word of the used ring. Release: pairs with the driver's acquire; entries and buffers come first.
        unsafe { peer::publish(self.used.as_ptr().add(1), self.used_idx) };
        if self.log.is_some() {
            self.log_used(old, taken);
        }
        if self.call.is_some() {
            self.tell(old);
        }
    }

    #[cold]
    fn log_used(&self, first: u16, count: usize) {
        let Some(log) = &self.log else { return };
        for n in 0..count {
            let slot = first.wrapping_add(n as u16) & self.mask;
            let _ = log.mark(self.used_log.wrapping_add(4 + 8 * u64::from(slot)), 8);
        }
        let _ = log.mark(self.used_log, 4);
    }

    /// The driver may have gone to sleep just before it could see our index: with a full fence between the store of the
    /// index and the load of its wish, either it sees the index or we see the wish (virtio 1.3, section 2.7.13.4.1).
    #[inline]
    fn tell(&mut self, old: u16) {
        peer::full_fence();
        let wanted = if self.event_idx {
            // SAFETY: the word behind the available ring's entries; `open` checked its length with the event index.
            let event = unsafe { peer::load(self.avail.as_ptr().add(2 + usize::from(self.size))) };
            self.told.is_none_or(|_| passed(event, self.used_idx, old))
        } else {
            // SAFETY: the first word of the available ring.
            unsafe { peer::load(self.avail.as_ptr()) & QUIET == 0 }
        };
        self.told = Some(self.used_idx);
        match &self.call {
            Some(call) if wanted => notify(call, &self.tally),
            _ => self.tally.suppressed.add(1),
        }
    }

    /// Collects the chain `ahead` entries from the next one in `self.chain`. An error is one that retires the ring, or means
    /// that this burst has walked enough.
    #[cold]
    pub(crate) fn walk(&mut self, ahead: usize) -> Result<u16, ()> {
        let table = Table::Ring {
            first: self.desc,
            size: u32::from(self.size),
        };
        let indirect = self.features.contains(Features::RING_INDIRECT_DESC);
        let mut chain = std::mem::take(&mut self.chain);
        let entry = self.next.wrapping_add(ahead as u16);
        chain.begin_at(entry, || self.head(ahead), table);
        let result = chain.walk(indirect, &self.memory);
        self.chain = chain;
        let head = result.map_err(|fault| self.retire(fault))?;
        head.ok_or(())
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

pub(crate) fn part(
    setup: &DeviceSetup,
    what: &'static str,
    address: u64,
    len: usize,
    align: u64,
) -> Result<NonNull<u8>, RingFault> {
    if !address.is_multiple_of(align) {
        return Err(RingFault::Unaligned {
            what,
            address,
            align,
        });
    }
    let range = setup.memory.resolve_user(address, len);
    let start = range.and_then(|range| NonNull::new(range.as_ptr()));
    let start = start.ok_or(RingFault::Unmapped {
        what,
        address,
        len: len as u64,
    })?;
    // A front end that is aligned in its own space and not in its file would make us load unaligned.
    if !(start.addr().get() as u64).is_multiple_of(align) {
        return Err(RingFault::Unaligned {
            what,
            address,
            align,
        });
    }
    Ok(start)
}
