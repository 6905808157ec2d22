//! Where the parts of a packed ring of the driver lie in its memory.

use crate::split::layout::{APART, HEADER_STRIDE, INDIRECT_ENTRIES};

/// Offsets in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    /// The driver's event structure.
    pub(crate) driver: usize,
    /// The device's event structure.
    pub(crate) device: usize,
    /// Headers for packets that have no room for one: 16 bytes a buffer id.
    pub(crate) headers: usize,
    /// Indirect tables, one a buffer id.
    pub(crate) indirect: usize,
    pub(crate) total: usize,
}

/// Bytes of an event structure.
pub(crate) const EVENT_LEN: usize = 4;

impl Layout {
    pub(crate) const fn of(size: u32) -> Self {
        let size = size as usize;
        let driver = (size * 16).next_multiple_of(APART);
        let device = driver + APART;
        let headers = device + APART;
        let indirect = (headers + size * HEADER_STRIDE).next_multiple_of(APART);
        let total = (indirect + size * INDIRECT_ENTRIES * 16).next_multiple_of(4096);
        Self {
            driver,
            device,
            headers,
            indirect,
            total,
        }
    }
}
