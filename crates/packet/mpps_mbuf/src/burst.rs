//! A burst: up to 512 packets on their way through a stage.
//!
//! Made once by the worker for each stream and used for ever: receive appends at the tail, transmit takes from the
//! head, and what is left over stays where it is. Packets are never shifted.

use std::mem::MaybeUninit;
use std::ptr::NonNull;

use crate::header::Header;
use crate::mbuf::Mbuf;

/// The most packets of a burst.
pub const BURST_MAX: usize = 512;

/// An ordered batch of packets, on cache lines of its own: every stage writes it.
#[repr(align(128))]
pub struct Burst {
    /// Initialised from `head` to `tail`.
    pub(crate) slots: [MaybeUninit<Mbuf>; BURST_MAX],
    pub(crate) head: usize,
    pub(crate) tail: usize,
    limit: usize,
    source: u16,
}

impl Burst {
    /// An empty burst that takes up to `limit` packets at a time (`--burst`), at least 1 and at most 512.
    pub fn new(limit: usize) -> Box<Self> {
        Box::new(Self {
            slots: [const { MaybeUninit::uninit() }; BURST_MAX],
            head: 0,
            tail: 0,
            limit: limit.clamp(1, BURST_MAX),
            source: u16::MAX,
        })
    }

    /// Packets in it.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.tail - self.head
    }

    /// Whether there are none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.tail == self.head
    }

    /// How many more it takes.
    #[inline(always)]
    pub fn room(&self) -> usize {
        self.limit
            .saturating_sub(self.len())
            .min(BURST_MAX - self.tail)
    }

    /// The most packets at a time.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Sets the most packets at a time, kept within 1 to 512.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit.clamp(1, BURST_MAX);
    }

    /// The port that all packets came from.
    pub fn source(&self) -> u16 {
        self.source
    }

    /// Says which port the packets come from.
    #[inline(always)]
    pub fn set_source(&mut self, port: u16) {
        self.source = port;
    }

    /// Appends a packet; gives it back when there is no room.
    #[inline(always)]
    pub fn push(&mut self, packet: Mbuf) -> Result<(), Mbuf> {
        if self.room() == 0 {
            return Err(packet);
        }
        self.slots[self.tail].write(packet);
        self.tail += 1;
        Ok(())
    }

    /// Takes the first packet.
    #[inline(always)]
    pub fn pop_front(&mut self) -> Option<Mbuf> {
        if self.is_empty() {
            return None;
        }
        // SAFETY: slots from head to tail are initialised, and this one is given up.
        let packet = unsafe { self.slots[self.head].assume_init_read() };
        self.advance(1);
        Some(packet)
    }

    /// The packets.
    #[inline(always)]
    pub fn as_slice(&self) -> &[Mbuf] {
        // SAFETY: slots from head to tail are initialised.
        unsafe { self.slots[self.head..self.tail].assume_init_ref() }
    }

    /// The packets, for writing.
    #[inline(always)]
    pub fn as_mut_slice(&mut self) -> &mut [Mbuf] {
        // SAFETY: slots from head to tail are initialised.
        unsafe { self.slots[self.head..self.tail].assume_init_mut() }
    }

    /// Moves as many packets as fit from the front of `self` to the end of `other`.
    pub fn move_to(&mut self, other: &mut Burst) -> usize {
        let n = self.len().min(other.room());
        let (from, to) = (self.head..self.head + n, other.tail..other.tail + n);
        for (source, target) in self.slots[from].iter().zip(&mut other.slots[to]) {
            // SAFETY: initialised in `self`, which gives them up below.
            target.write(unsafe { source.assume_init_read() });
        }
        other.tail += n;
        self.advance(n);
        n
    }

    /// Gives up the first `n` slots, whose packets have been moved out.
    #[inline(always)]
    pub(crate) fn advance(&mut self, n: usize) {
        debug_assert!(n <= self.len());
        self.head += n;
        if self.head == self.tail {
            self.head = 0;
            self.tail = 0;
        }
    }

    /// The headers of the packets, first to last.
    #[inline(always)]
    pub(crate) fn headers(&self) -> &[NonNull<Header>] {
        let slots = &self.slots[self.head..self.tail];
        // SAFETY: Mbuf is a transparent handle, and these slots are initialised.
        unsafe { std::slice::from_raw_parts(slots.as_ptr().cast(), slots.len()) }
    }
}

impl Drop for Burst {
    fn drop(&mut self) {
        while let Some(packet) = self.pop_front() {
            drop(packet);
        }
    }
}

impl std::fmt::Debug for Burst {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Burst({} of {}, from port {})",
            self.len(),
            self.limit,
            self.source
        )
    }
}

// SAFETY: `take` initialises all of `dst` with packets from the front, and gives these up.
unsafe impl mpps_ring::Source<Mbuf> for Burst {
    #[inline(always)]
    fn available(&self) -> usize {
        self.len()
    }

    #[inline(always)]
    fn take(&mut self, dst: &mut [MaybeUninit<Mbuf>]) {
        let from = &self.slots[self.head..self.tail][..dst.len()];
        // SAFETY: both are valid for `dst.len()` handles, and a ring's storage is not ours.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), dst.as_mut_ptr(), from.len()) };
        self.advance(dst.len());
    }
}

// SAFETY: `put` appends every packet, and `room` is what the slots have left.
unsafe impl mpps_ring::Sink<Mbuf> for Burst {
    #[inline(always)]
    fn room(&self) -> usize {
        self.room()
    }

    #[inline(always)]
    unsafe fn put(&mut self, src: &[MaybeUninit<Mbuf>]) {
        let to = &mut self.slots[self.tail..][..src.len()];
        // SAFETY: both are valid for `src.len()` handles; ownership passes by the caller's promise.
        unsafe { std::ptr::copy_nonoverlapping(src.as_ptr(), to.as_mut_ptr(), src.len()) };
        self.tail += src.len();
    }
}
