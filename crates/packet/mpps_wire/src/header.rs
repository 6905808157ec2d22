//! How a header is laid over bytes: one checked step gives a reference whose fields are then read and written freely.
//!
//! Headers are plain structs of bytes and big-endian integers, so any offset in a packet is well aligned for them. They
//! are borrowed from a packet's bytes and live as long as that borrow; nothing is copied and nothing can be left behind.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

/// A fixed-size header that can be laid over packet bytes at any offset.
///
/// Only the length is checked; what a field may hold is up to the header's own methods.
///
/// ```
/// use mpps_wire::{Header, Udp};
///
/// let mut frame = [0u8; 42];
/// Udp::at_mut(&mut frame, 34).expect("8 bytes from 34").dst_port.set(9);
/// assert_eq!(frame[36..38], [0, 9]);
/// assert!(Udp::at(&frame, 35).is_none());
/// ```
pub trait Header: FromBytes + IntoBytes + KnownLayout + Immutable + Unaligned + Sized {
    /// Length of the fixed part, in bytes.
    const LEN: usize = size_of::<Self>();

    /// The header at `offset`, if it lies whole within `bytes`.
    #[inline(always)]
    fn at(bytes: &[u8], offset: usize) -> Option<&Self> {
        let (header, _) = Self::ref_from_prefix(bytes.get(offset..)?).ok()?;
        Some(header)
    }

    /// The header at `offset` for writing, if it lies whole within `bytes`.
    #[inline(always)]
    fn at_mut(bytes: &mut [u8], offset: usize) -> Option<&mut Self> {
        let (header, _) = Self::mut_from_prefix(bytes.get_mut(offset..)?).ok()?;
        Some(header)
    }
}
