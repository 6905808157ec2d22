//! Copying packet bytes.
//!
//! Which copy is fastest depends on the CPU and the length, so that the kind can be chosen (`--copy`) and the choice is
//! printed. Each kind has the loops over a burst compiled for its instructions: a call a burst, none a packet (but for
//! `libc`, which is a call by nature). All memory here is the process's own; memory that peers write is another module's.

use mpps_mbuf::Mbuf;

use crate::{Unavailable, by_name};

/// Which kernel copies (`--copy`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyKind {
    /// The fastest one measured that the CPU has.
    Auto,
    /// The C library's `memcpy`.
    Libc,
    /// Moves of 16 bytes, the last one overlapping; any CPU.
    Inline,
    /// `rep movsb`.
    Erms,
    /// Moves of 32 bytes.
    Avx2,
    /// Moves of 64 bytes.
    Avx512,
}

impl CopyKind {
    /// Names as given by the option.
    pub const NAMES: &'static [(&'static str, Self)] = &[
        ("auto", Self::Auto),
        ("libc", Self::Libc),
        ("inline", Self::Inline),
        ("erms", Self::Erms),
        ("avx2", Self::Avx2),
        ("avx512", Self::Avx512),
    ];

    /// The kernel of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        by_name(Self::NAMES, name)
    }
}

/// A chosen kernel.
#[derive(Clone, Copy)]
pub struct Copier {
    name: &'static str,
    one: fn(&mut [u8], &[u8]),
    fill: fn(&mut [Mbuf], &[u8]),
    drain: fn(&[Mbuf], &mut [u8]),
}

impl Copier {
    /// Chooses a kernel; an error when it is one that this CPU can't run.
    pub fn choose(kind: CopyKind) -> Result<Self, Unavailable> {
        let need = |kernel, needs| Unavailable { kernel, needs };
        match kind {
            // AVX-512 moves win only above 256 bytes and may lower a CPU's clock; they are there for the asking.
            CopyKind::Auto => Ok(vector::avx2().unwrap_or(plain::INLINE)),
            CopyKind::Libc => Ok(plain::LIBC),
            CopyKind::Inline => Ok(plain::INLINE),
            CopyKind::Erms => vector::erms().ok_or(need("erms", "ERMS (x86-64)")),
            CopyKind::Avx2 => vector::avx2().ok_or(need("avx2", "AVX2")),
            CopyKind::Avx512 => vector::avx512().ok_or(need("avx512", "AVX-512")),
        }
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Copies as many bytes as both sides have.
    #[inline(always)]
    pub fn copy(&self, to: &mut [u8], from: &[u8]) {
        (self.one)(to, from);
    }

    /// Copies `from` over the first segment of every packet, as far as both reach; shared data is left alone.
    #[inline(always)]
    pub fn fill(&self, packets: &mut [Mbuf], from: &[u8]) {
        (self.fill)(packets, from);
    }

    /// Copies every segment of every packet to the start of `to`, one over the other, as far as `to` reaches.
    #[inline(always)]
    pub fn drain(&self, packets: &[Mbuf], to: &mut [u8]) {
        (self.drain)(packets, to);
    }
}

impl std::fmt::Debug for Copier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Copier").field(&self.name).finish()
    }
}

/// How one kind moves bytes. For code that is compiled once a kind, inside one function for the kind's instructions.
pub trait Mover: 'static {
    /// The kind.
    const KIND: CopyKind;

    /// Moves `len` bytes.
    ///
    /// # Safety
    /// `len` bytes can be read at `from` and written at `to`, the two don't overlap, and the CPU has the instructions.
    unsafe fn move_bytes(to: *mut u8, from: *const u8, len: usize);
}

#[inline(always)]
fn copy_with<M: Mover>(to: &mut [u8], from: &[u8]) {
    let len = to.len().min(from.len());
    // SAFETY: both slices have `len` bytes, and a mutable one overlaps nothing. The instructions are there: a kernel is
    // handed out by `vector` only with its token.
    unsafe { M::move_bytes(to.as_mut_ptr(), from.as_ptr(), len) };
}

#[inline(always)]
fn fill_with<M: Mover>(packets: &mut [Mbuf], from: &[u8]) {
    for packet in packets {
        if let Some(data) = packet.data_mut() {
            copy_with::<M>(data, from);
        }
    }
}

#[inline(always)]
fn drain_with<M: Mover>(packets: &[Mbuf], to: &mut [u8]) {
    for packet in packets {
        for segment in packet.segments_data() {
            copy_with::<M>(to, segment);
        }
    }
}

/// Up to 32 bytes: two moves that overlap, of the largest power of two that fits.
///
/// # Safety
/// As [`Mover::move_bytes`], and `len` is at most 32.
#[inline(always)]
unsafe fn small(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the caller's promise; each arm reads and writes within `len`.
    unsafe {
        match len {
            16..=32 => pair::<[u8; 16]>(to, from, len),
            8..=15 => pair::<u64>(to, from, len),
            4..=7 => pair::<u32>(to, from, len),
            2..=3 => pair::<u16>(to, from, len),
            1 => to.write(from.read()),
            _ => {}
        }
    }
}

/// The first and the last `T` of `len` bytes.
///
/// # Safety
/// As [`Mover::move_bytes`], and `len` is one to two sizes of `T`.
#[inline(always)]
unsafe fn pair<T>(to: *mut u8, from: *const u8, len: usize) {
    let last = len - size_of::<T>();
    // SAFETY: the caller's promise.
    unsafe {
        let (head, tail) = (
            from.cast::<T>().read_unaligned(),
            from.add(last).cast::<T>().read_unaligned(),
        );
        to.cast::<T>().write_unaligned(head);
        to.add(last).cast::<T>().write_unaligned(tail);
    }
}

/// Moves of one width, the last one overlapping the one before.
///
/// # Safety
/// As [`Mover::move_bytes`]; `step` moves `W` bytes.
#[inline(always)]
unsafe fn stride<const W: usize>(
    to: *mut u8,
    from: *const u8,
    len: usize,
    step: impl Fn(*mut u8, *const u8),
) {
    let mut at = 0;
    while at + W <= len {
        // SAFETY: within `len`.
        unsafe { step(to.add(at), from.add(at)) };
        at += W;
    }
    if at < len {
        // SAFETY: `len` is at least `W`, or the loop would not have been chosen.
        unsafe { step(to.add(len - W), from.add(len - W)) };
    }
}

mod plain {
    //! Kinds that any CPU has.

    use mpps_mbuf::Mbuf;

    use super::{Copier, Mover, copy_with, drain_with, fill_with, small, stride};

    /// See [`super::CopyKind::Libc`].
    #[derive(Debug)]
    pub struct Libc;

    impl Mover for Libc {
        const KIND: super::CopyKind = super::CopyKind::Libc;

        #[inline(always)]
        unsafe fn move_bytes(to: *mut u8, from: *const u8, len: usize) {
            // SAFETY: the caller's promise.
            unsafe { std::ptr::copy_nonoverlapping(from, to, len) };
        }
    }

    /// See [`super::CopyKind::Inline`].
    #[derive(Debug)]
    pub struct Inline;

    impl Mover for Inline {
        const KIND: super::CopyKind = super::CopyKind::Inline;

        #[inline(always)]
        unsafe fn move_bytes(to: *mut u8, from: *const u8, len: usize) {
            // SAFETY: the caller's promise.
            unsafe {
                if len <= 32 {
                    small(to, from, len);
                } else {
                    stride::<16>(to, from, len, |to, from| {
                        to.cast::<[u8; 16]>()
                            .write_unaligned(from.cast::<[u8; 16]>().read_unaligned());
                    });
                }
            }
        }
    }

    pub(super) const LIBC: Copier = Copier {
        name: "libc",
        one: copy_with::<Libc>,
        fill: fill_with::<Libc>,
        drain: drain_with::<Libc>,
    };

    pub(super) const INLINE: Copier = Copier {
        name: "inline",
        one: inline_one,
        fill: inline_fill,
        drain: inline_drain,
    };

    fn inline_one(to: &mut [u8], from: &[u8]) {
        copy_with::<Inline>(to, from);
    }

    fn inline_fill(packets: &mut [Mbuf], from: &[u8]) {
        fill_with::<Inline>(packets, from);
    }

    fn inline_drain(packets: &[Mbuf], to: &mut [u8]) {
        drain_with::<Inline>(packets, to);
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod vector {
    //! No further kinds on this CPU.

    use super::Copier;

    pub(super) fn erms() -> Option<Copier> {
        None
    }

    pub(super) fn avx2() -> Option<Copier> {
        None
    }

    pub(super) fn avx512() -> Option<Copier> {
        None
    }
}

#[cfg(target_arch = "x86_64")]
mod vector;

/// The kinds as types, for code that is compiled once for each.
pub mod movers {
    pub use super::Mover;
    pub use super::plain::{Inline, Libc};
    #[cfg(target_arch = "x86_64")]
    pub use super::vector::{Bytes32, Bytes64, Erms};
}

#[cfg(test)]
mod tests;
