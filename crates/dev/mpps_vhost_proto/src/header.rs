//! What stands before each payload.

use crate::{DecodeError, HEADER_LEN, MAX_PAYLOAD};

/// Request number, flags, and the length of what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Which message, by number; requests of both directions are numbered from 1.
    pub request: u32,
    /// The answer to a request, not a request.
    pub reply: bool,
    /// The sender waits for an acknowledgement (REPLY_ACK).
    pub need_reply: bool,
    /// Bytes of payload, at most [`MAX_PAYLOAD`].
    pub size: u32,
}

const VERSION: u32 = 1;
const VERSION_BITS: u32 = 3;
const REPLY: u32 = 1 << 2;
const NEED_REPLY: u32 = 1 << 3;

impl Header {
    /// Reads a header: three 32-bit numbers, request, flags and size.
    ///
    /// # Errors
    /// Another version than 1, flags that don't exist, a payload that is too long.
    pub fn parse(bytes: [u8; HEADER_LEN]) -> Result<Self, DecodeError> {
        let [r0, r1, r2, r3, f0, f1, f2, f3, s0, s1, s2, s3] = bytes;
        let request = u32::from_ne_bytes([r0, r1, r2, r3]);
        let flags = u32::from_ne_bytes([f0, f1, f2, f3]);
        let size = u32::from_ne_bytes([s0, s1, s2, s3]);
        if flags & VERSION_BITS != VERSION || flags & !(VERSION_BITS | REPLY | NEED_REPLY) != 0 {
            return Err(DecodeError::Flags { request, flags });
        }
        if size > MAX_PAYLOAD {
            return Err(DecodeError::TooLong { request, size });
        }
        Ok(Self {
            request,
            reply: flags & REPLY != 0,
            need_reply: flags & NEED_REPLY != 0,
            size,
        })
    }

    /// Writes it.
    pub fn to_bytes(self) -> [u8; HEADER_LEN] {
        let flags = VERSION
            | if self.reply { REPLY } else { 0 }
            | if self.need_reply { NEED_REPLY } else { 0 };
        let [r0, r1, r2, r3] = self.request.to_ne_bytes();
        let [f0, f1, f2, f3] = flags.to_ne_bytes();
        let [s0, s1, s2, s3] = self.size.to_ne_bytes();
        [r0, r1, r2, r3, f0, f1, f2, f3, s0, s1, s2, s3]
    }
}
