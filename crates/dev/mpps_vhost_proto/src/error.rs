//! What can be wrong with a message.

use std::fmt;

use crate::{MAX_PAYLOAD, MAX_TABLE_REGIONS, RequestKind};

/// A message that can't be taken. Its descriptors are closed. After [`DecodeError::Unknown`] the connection may go on;
/// after any other the two sides no longer agree on the protocol.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Version or flags.
    #[error("{}: flags {flags:#x}; version 1 with bits 2 and 3 would be right", Named(*request))]
    Flags {
        /// Number of the message.
        request: u32,
        /// As read.
        flags: u32,
    },
    /// More payload than any message has.
    #[error("{}: a payload of {size} bytes; at most {MAX_PAYLOAD} would be right", Named(*request))]
    TooLong {
        /// Number of the message.
        request: u32,
        /// As announced.
        size: u32,
    },
    /// A message with a number that isn't known.
    #[error("request {request} is not known here")]
    Unknown {
        /// Its number.
        request: u32,
    },
    /// A request with the flag of a reply, or a reply without.
    #[error("{message}: {}", if *.reply { "a reply where a request belongs" } else { "a request where a reply belongs" })]
    Direction {
        /// Which message.
        message: &'static str,
        /// Whether it was a reply.
        reply: bool,
    },
    /// An answer to something else.
    #[error("an answer to {}; {expected} was asked", Named(*got))]
    OtherReply {
        /// What was asked.
        expected: &'static str,
        /// What was answered.
        got: u32,
    },
    /// A payload of the wrong length.
    #[error("{message}: a payload of {got} bytes; {want} would be right")]
    Size {
        /// Which message.
        message: &'static str,
        /// Its payload.
        got: usize,
        /// What would be right.
        want: usize,
    },
    /// Too many or too few file descriptors.
    #[error("{message}: {got} file descriptors; {want} would be right")]
    Fds {
        /// Which message.
        message: &'static str,
        /// How many came.
        got: usize,
        /// What would be right.
        want: usize,
    },
    /// More regions than a table can have.
    #[error("{message}: {got} memory regions; at most {MAX_TABLE_REGIONS} would be right")]
    Regions {
        /// Which message.
        message: &'static str,
        /// How many there are.
        got: u32,
    },
    /// A field that can't have that value.
    #[error("{message}: {field} is {value:#x}; {right} would be right")]
    Value {
        /// Which message.
        message: &'static str,
        /// Which field.
        field: &'static str,
        /// What it is.
        value: u64,
        /// What would be right.
        right: &'static str,
    },
}

/// A request by name, else by number.
struct Named(u32);

impl fmt::Display for Named {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match RequestKind::of(self.0) {
            Some(kind) => f.write_str(kind.name()),
            None => write!(f, "request {}", self.0),
        }
    }
}

impl DecodeError {
    /// Whether the connection may go on: the message was whole, only its meaning is unknown.
    pub const fn is_unknown(&self) -> bool {
        matches!(self, Self::Unknown { .. })
    }
}
