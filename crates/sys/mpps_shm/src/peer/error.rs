//! Why a peer's memory can't be used, each in one line; shown by the port that drops the peer.

use std::io;

/// Why a peer's file can't be mapped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PeerMapError {
    /// A length of 0.
    #[error(
        "the region at offset {offset:#x} of the peer's file has length 0; a region needs at least one byte"
    )]
    Empty {
        /// Where it starts in the file.
        offset: u64,
    },
    /// Offset plus length, rounded up to pages, is more than an address can be.
    #[error(
        "the region at offset {offset:#x} of the peer's file has length {len:#x}, and no address space holds that"
    )]
    Overflow {
        /// Where it starts in the file.
        offset: u64,
        /// Its length in bytes.
        len: u64,
    },
    /// The file ends before the region does.
    #[error(
        "the region at offset {offset:#x} has length {len:#x}, but the peer's file ends at {size:#x}"
    )]
    TooShort {
        /// Where it starts in the file.
        offset: u64,
        /// Its length in bytes.
        len: u64,
        /// The file's size in bytes.
        size: u64,
    },
    /// Not a file that memory can be shared by.
    #[error(
        "the peer's file is {what}; shared memory is a memfd, or a file on tmpfs, hugetlbfs or a local disk"
    )]
    NotMemory {
        /// What it is.
        what: &'static str,
    },
    /// More mappings than the SIGBUS handler's table has room for.
    #[error(
        "more than {most} mappings of peers' memory at once; stop a port, or let front ends use fewer regions"
    )]
    TooMany {
        /// How many there may be.
        most: usize,
    },
    /// The kernel refused.
    #[error("can't map {len:#x} bytes at offset {offset:#x} of the peer's file: {call}: {source}")]
    System {
        /// Where the region starts in the file.
        offset: u64,
        /// Its length in bytes.
        len: u64,
        /// The system call.
        call: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

/// Why regions don't make a memory table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuestMemoryError {
    /// A length of 0.
    #[error(
        "memory region at guest address {guest:#x} has length 0; a region needs at least one byte"
    )]
    Empty {
        /// Where it starts.
        guest: u64,
    },
    /// A region that goes beyond the last address.
    #[error(
        "memory region at guest address {guest:#x}, user address {user:#x} has length {len:#x}, which goes beyond the last address"
    )]
    Overflow {
        /// Where it starts for the guest.
        guest: u64,
        /// Where it starts in the front end's process.
        user: u64,
        /// Its length in bytes.
        len: u64,
    },
    /// A region that isn't all inside its mapping.
    #[error(
        "memory region at guest address {guest:#x} has length {len:#x} at offset {offset:#x} of its mapping, which ends at {size:#x}"
    )]
    Outside {
        /// Where it starts for the guest.
        guest: u64,
        /// Its length in bytes.
        len: u64,
        /// Where it starts in the mapping.
        offset: usize,
        /// The mapping's length.
        size: usize,
    },
    /// Two regions share guest addresses.
    #[error("memory regions at guest addresses {low:#x} (length {len:#x}) and {high:#x} overlap")]
    Overlap {
        /// Start of the lower one.
        low: u64,
        /// Its length in bytes.
        len: u64,
        /// Start of the other.
        high: u64,
    },
    /// More regions than a table may have.
    #[error(
        "{count} memory regions, the one at guest address {guest:#x} is too much; at most {most} are supported"
    )]
    TooMany {
        /// How many there are.
        count: usize,
        /// The first beyond the limit.
        guest: u64,
        /// How many there may be.
        most: usize,
    },
}
