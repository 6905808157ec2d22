//! What can be wrong with a capture file, and where.

use std::io;

use super::MAX_FRAME;
use crate::linktype::LinkType;

/// What is wrong, without the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// The file ends in the middle of something.
    #[error("the file ends inside {what}, after {have} of {need} bytes")]
    Truncated {
        /// Of what.
        what: &'static str,
        /// Bytes there.
        have: u64,
        /// Bytes needed.
        need: u64,
    },
    /// Not a capture file.
    #[error(
        "not a capture file: it begins with {:02x} {:02x} {:02x} {:02x}, and neither pcap nor pcapng does", .0[0], .0[1], .0[2], .0[3]
    )]
    NotCapture([u8; 4]),
    /// A version of the format that isn't known.
    #[error("{format} version {major}.{minor} is not known, {known} is")]
    Version {
        /// The format.
        format: &'static str,
        /// Major.
        major: u16,
        /// Minor.
        minor: u16,
        /// What is.
        known: &'static str,
    },
    /// Frames that aren't Ethernet.
    #[error("link type {0}, but only ETHERNET (1) can be received")]
    LinkType(LinkType),
    /// A frame longer than any may be.
    #[error("a record claims {0} bytes, the most is {MAX_FRAME}")]
    LongFrame(u32),
    /// A block whose length can't be.
    #[error("a block of type {kind:#x} claims {length} bytes, must be {allowed}")]
    BlockLength {
        /// Its type.
        kind: u32,
        /// Its length.
        length: u32,
        /// What is allowed.
        allowed: &'static str,
    },
    /// The two lengths of a block differ.
    #[error("a block's length is {head} at its head and {tail} at its end")]
    BlockEnd {
        /// The first.
        head: u32,
        /// The second.
        tail: u32,
    },
    /// A section header without a byte order.
    #[error("a section's byte-order magic is {0:#010x}, must be 0x1a2b3c4d in either order")]
    ByteOrder(u32),
    /// A frame doesn't fit its block.
    #[error("a packet block claims a frame of {claimed} bytes and holds {holds}")]
    FrameInBlock {
        /// What it claims.
        claimed: u32,
        /// What it holds.
        holds: u32,
    },
    /// A frame of an interface that wasn't described.
    #[error("a packet block names interface {interface}, the section has {have}")]
    Interface {
        /// Its number.
        interface: u32,
        /// How many there are.
        have: usize,
    },
    /// More interfaces than anyone has.
    #[error("a section has more than {0} interfaces")]
    ManyInterfaces(usize),
}

/// What is wrong with a capture, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {offset}: {kind}")]
pub struct Fault {
    /// Where the record or block begins.
    pub offset: u64,
    /// What is wrong.
    pub kind: FaultKind,
}

/// Why no more frames come.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file's content.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// The system.
    #[error("at byte {offset}: {source}")]
    Io {
        /// Where.
        offset: u64,
        /// What it says.
        source: io::Error,
    },
}
