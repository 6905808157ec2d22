//! Where the parts of a ring of the driver lie in its memory, and how long the parts of any ring are.

/// Offsets in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Layout {
    pub(crate) avail: usize,
    pub(crate) used: usize,
    /// Headers for packets that have no room for one: 16 bytes a descriptor.
    pub(crate) headers: usize,
    /// Tables of [`INDIRECT_ENTRIES`] descriptors, one a descriptor of the ring.
    pub(crate) indirect: usize,
    pub(crate) total: usize,
}

/// Descriptors of an indirect table: a header and the segments of a packet.
pub(crate) const INDIRECT_ENTRIES: usize = 8;
/// Bytes of a header's place in the table of headers.
pub(crate) const HEADER_STRIDE: usize = 16;

/// What one side writes lies on other lines than what the other one does; two lines, as CPUs fetch pairs.
pub(crate) const APART: usize = 128;

impl Layout {
    pub(crate) const fn of(size: u32) -> Self {
        let size = size as usize;
        let avail = (size * 16).next_multiple_of(APART);
        let used = (avail + avail_len(size, true)).next_multiple_of(APART);
        let headers = (used + used_len(size, true)).next_multiple_of(APART);
        let indirect = (headers + size * HEADER_STRIDE).next_multiple_of(APART);
        let total = (indirect + size * INDIRECT_ENTRIES * 16).next_multiple_of(4096);
        Self {
            avail,
            used,
            headers,
            indirect,
            total,
        }
    }
}

/// Bytes of an available ring, with the event index where it is used.
pub(crate) const fn avail_len(size: usize, event: bool) -> usize {
    4 + 2 * size + if event { 2 } else { 0 }
}

/// Bytes of a used ring, with the event index where it is used.
pub(crate) const fn used_len(size: usize, event: bool) -> usize {
    4 + 8 * size + if event { 2 } else { 0 }
}
