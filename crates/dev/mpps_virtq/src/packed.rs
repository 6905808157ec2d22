//! The packed ring (virtio 1.3, section 2.8): one ring of descriptors that both sides write, and for each side a small
//! structure in which it says when it wants to be told.
//!
//! There is no index. A descriptor's flags say whose it is, relative to a wrap counter that each side flips whenever it
//! comes to the end of the ring ([`Cursor`]). Sizes need not be powers of two, so that places are compared and subtracted,
//! never masked, and no batch goes over the end.

pub(crate) mod device;
pub(crate) mod device_rx;
pub(crate) mod device_tx;
pub(crate) mod driver;
mod driver_post;
pub(crate) mod driver_rx;
pub(crate) mod driver_tx;
pub(crate) mod free_ids;
pub(crate) mod layout;

use std::sync::atomic::{AtomicU64, Ordering, fence};

use mpps_shm::peer;

use crate::split::{self, INDIRECT, NEXT, WRITE};

/// Made available in the round that the wrap counter names.
const AVAIL: u16 = 1 << 7;
/// Used in the round that the wrap counter names.
const USED: u16 = 1 << 15;
/// The flags that make a descriptor simple or not, beside whose it is.
const SHAPE: u16 = AVAIL | USED | NEXT | WRITE | INDIRECT;

/// Event structure: tell me nothing (0: of everything).
const DISABLE: u16 = 1;
/// Event structure: tell me when a place in the ring is passed (needs EVENT_IDX).
const DESC: u16 = 2;

/// Sizes that a packed ring can have (virtio 1.3, section 2.8.10.1).
const SIZES: &str = "1 to 32768";

/// A descriptor, read once: address; then length, buffer id and flags in one word.
#[derive(Clone, Copy)]
pub(crate) struct Descriptor(pub(crate) [u64; 2]);

impl Descriptor {
    #[inline(always)]
    const fn new(address: u64, len: u32, id: u16, flags: u16) -> Self {
        Self([address, word(len, id, flags)])
    }

    #[inline(always)]
    const fn address(self) -> u64 {
        self.0[0]
    }

    #[inline(always)]
    const fn len(self) -> u32 {
        self.0[1] as u32
    }

    #[inline(always)]
    const fn id(self) -> u16 {
        (self.0[1] >> 32) as u16
    }

    #[inline(always)]
    const fn flags(self) -> u16 {
        (self.0[1] >> 48) as u16
    }

    /// What it says of its buffer, in the split ring's layout.
    const fn buffer(self) -> split::Descriptor {
        split::Descriptor::new(
            self.address(),
            self.len(),
            self.flags() & (NEXT | WRITE | INDIRECT),
            0,
        )
    }
}

/// The second word of a descriptor.
#[inline(always)]
const fn word(len: u32, id: u16, flags: u16) -> u64 {
    len as u64 | (id as u64) << 32 | (flags as u64) << 48
}

/// A place in the ring, and the wrap counter there. The place is always inside the ring that it was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    slot: u16,
    wrap: bool,
}

impl Cursor {
    /// Where both sides begin.
    const START: Self = Self {
        slot: 0,
        wrap: true,
    };

    /// From 15 bits of place and one of wrap counter; none where the ring has no such place.
    fn from_bits(bits: u16, size: u16) -> Option<Self> {
        let slot = bits & 0x7fff;
        (slot < size).then_some(Self {
            slot,
            wrap: bits & 0x8000 != 0,
        })
    }

    fn bits(self) -> u16 {
        self.slot | if self.wrap { 0x8000 } else { 0 }
    }

    /// The flags of a descriptor that is made available here.
    #[inline(always)]
    const fn available(self) -> u16 {
        if self.wrap { AVAIL } else { USED }
    }

    /// The flags of a descriptor that is used here.
    #[inline(always)]
    const fn used(self) -> u16 {
        if self.wrap { AVAIL | USED } else { 0 }
    }

    /// `n` places on, at most `size`.
    #[inline(always)]
    fn advance(self, n: u16, size: u16) -> Self {
        // Both are at most 2^15.
        let slot = u32::from(self.slot) + u32::from(n);
        if slot >= u32::from(size) {
            Self {
                slot: (slot - u32::from(size)) as u16,
                wrap: !self.wrap,
            }
        } else {
            Self {
                slot: slot as u16,
                ..self
            }
        }
    }

    /// Descriptors from here to the ring's end.
    #[inline(always)]
    fn to_end(self, size: u16) -> usize {
        usize::from(size - self.slot)
    }
}

/// Whether the side whose event structure holds `event` wants to be told of the `moved` descriptors before `now` (virtio
/// 1.3, section 2.8.10): all, none, or if the place that it names is among them.
#[inline]
fn wanted(event: u32, event_idx: bool, now: Cursor, moved: u16, size: u16) -> bool {
    match (event >> 16) as u16 & 3 {
        DISABLE => false,
        DESC if event_idx => {
            let (slot, wrap) = (event as i32 & 0x7fff, event & 0x8000 != 0);
            let round = if wrap == now.wrap { 0 } else { i32::from(size) };
            let behind = i32::from(now.slot) + round - slot;
            1 <= behind && behind <= i32::from(moved)
        }
        _ => true,
    }
}

/// Reads a descriptor: when its flags say that the other side has published it, the rest is what was published with them.
///
/// # Safety
/// As [`peer::descriptor`].
#[inline(always)]
unsafe fn read(p: *const [u64; 2]) -> Descriptor {
    // SAFETY: the second of two words; the caller's promise.
    let second = unsafe { read_word(p.cast::<u64>().add(1)) };
    // SAFETY: the caller's promise.
    let first = unsafe { peer::load(p.cast::<u64>()) };
    Descriptor([first, second])
}

/// Reads the second word of a descriptor, after which all is seen that was written before its flags.
///
/// # Safety
/// `p` is that word, aligned to 8 bytes, in a mapping that stays mapped.
#[inline(always)]
unsafe fn read_word(p: *const u64) -> u64 {
    // Whoever writes the flags last, with two bytes, has written the rest of the word before: one load of all eight bytes
    // may see the new flags with the old rest only where loads of different sizes aren't kept in order.
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the caller's promise.
    let word = unsafe { peer::load(p) };
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's promise; the flags are the last two bytes.
    let word = unsafe {
        // Acquire: partner is the other side's release of the flags.
        let flags = peer::index(p.cast::<u16>().add(3));
        peer::load(p) & 0x0000_ffff_ffff_ffff | u64::from(flags) << 48
    };
    // Acquire: partner is the other side's release of the flags; on x86-64 it keeps the compiler from moving loads up.
    fence(Ordering::Acquire);
    word
}

/// Writes the second word of a descriptor, flags included, after everything else.
///
/// # Safety
/// `p` is that word, aligned to 8 bytes, in a mapping that stays mapped.
#[inline(always)]
unsafe fn publish_word(p: *mut u64, word: u64) {
    // SAFETY: the caller's promise.
    let place = unsafe { AtomicU64::from_ptr(p) };
    // Release: partner is the other side's acquire of the flags.
    place.store(word, Ordering::Release);
}
