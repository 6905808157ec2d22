//! Why a ring is retired: what its peer did that it must not do.

/// What is wrong with a ring. The ring moves nothing any more; the queue must be enabled anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RingFault {
    /// A queue size that the layout can't have.
    #[error("a ring of {size} descriptors; {allowed} would be right")]
    Size {
        /// As announced.
        size: u32,
        /// What is allowed.
        allowed: &'static str,
    },
    /// Part of the ring isn't in the peer's memory.
    #[error("the {what} at {address:#x} with {len} bytes isn't in memory that the peer shares")]
    Unmapped {
        /// Which part.
        what: &'static str,
        /// Where it should be.
        address: u64,
        /// How long it is.
        len: u64,
    },
    /// Part of the ring isn't aligned.
    #[error("the {what} at {address:#x} isn't aligned to {align} bytes")]
    Unaligned {
        /// Which part.
        what: &'static str,
        /// Where it is.
        address: u64,
        /// What it must be a multiple of.
        align: u64,
    },
    /// The peer's index is further ahead than the ring is long.
    #[error("index {index} is more than {limit} ahead of {ours}")]
    Index {
        /// The peer's.
        index: u16,
        /// Ours.
        ours: u16,
        /// The most that it may be ahead.
        limit: u16,
    },
    /// A descriptor's number is none of the ring.
    #[error("descriptor {number} doesn't exist, the table has {size}")]
    Descriptor {
        /// The number.
        number: u32,
        /// How many there are.
        size: u32,
    },
    /// A chain doesn't end within the ring's size.
    #[error("a chain of descriptors that begins at {head} doesn't end")]
    Endless {
        /// Its first descriptor.
        head: u16,
    },
    /// An indirect table that isn't one.
    #[error("an indirect table of {len} bytes at {address:#x}: {why}")]
    Indirect {
        /// Where it is.
        address: u64,
        /// How long it is.
        len: u32,
        /// What is wrong.
        why: &'static str,
    },
    /// A buffer was given back that wasn't out, or with a length it can't have.
    #[error("buffer {id} came back with {len} bytes: {why}")]
    Used {
        /// Its number.
        id: u32,
        /// Bytes that the device says it wrote.
        len: u32,
        /// What is wrong.
        why: &'static str,
    },
    /// The peer's memory was cut off under our mapping.
    #[error("the memory that the peer shares was truncated")]
    MemoryLost,
}
