//! Buffers of one end of a ruler: carved out of one mapping, handed out last in first out.

use std::ptr::NonNull;

use mpps_shm::{Mapping, MemoryConfig, MemoryError, PageSource};

/// An odd number of cache lines, as the strides of real pools: an even one would put all headers into a few sets of L1.
const STRIDE: usize = 35 * 64;

/// Where a packet begins in its buffer.
pub(super) const HEADROOM: usize = 128;

/// More than both rings and both bursts can hold.
const COUNT: usize = 4096;

/// Memory for all buffers of one end, resident, on huge pages where there are any: what the product takes too.
pub(super) fn buffers(name: &str) -> Result<Mapping, MemoryError> {
    memory(name, COUNT * STRIDE)
}

/// Free buffers, each by the address of its packet. Owned by one thread; the memory outlives it.
pub(super) struct Frames {
    free: Vec<NonNull<u8>>,
}

impl Frames {
    /// All buffers in what [`buffers`] made.
    pub(super) fn of(memory: &Mapping) -> Self {
        let region = memory.region();
        let packet = |n: usize| region.at(n * STRIDE + HEADROOM, STRIDE - HEADROOM);
        Self {
            free: (0..COUNT).filter_map(packet).collect(),
        }
    }

    /// One of them.
    ///
    /// # Panics
    /// When more are out than there are: a fault of the ruler.
    #[inline(always)]
    pub(super) fn take(&mut self) -> NonNull<u8> {
        self.free
            .pop()
            .expect("more buffers than are ever in flight")
    }

    #[inline(always)]
    pub(super) fn put(&mut self, packet: NonNull<u8>) {
        self.free.push(packet);
    }
}

/// `len` bytes, zero and resident.
pub(super) fn memory(name: &str, len: usize) -> Result<Mapping, MemoryError> {
    let source = PageSource::new(MemoryConfig::default())?;
    let memory = source.reserve_private(name, len)?;
    memory.commit(0, len)?;
    Ok(memory)
}
