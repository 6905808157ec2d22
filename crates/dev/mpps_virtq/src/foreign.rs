//! Reads, writes and copies of the other side's memory that need no alignment.

use mpps_shm::peer::{self, PeerRange};

#[repr(C, packed)]
#[derive(Clone, Copy)]
struct Unaligned<T: Copy>(T);

/// Reads a value once, wherever it lies.
///
/// # Safety
/// As [`peer::load`], but `p` needs no alignment.
#[inline(always)]
pub(crate) unsafe fn load_unaligned<T: Copy>(p: *const T) -> T {
    // SAFETY: the caller's promise; a packed type is aligned anywhere.
    unsafe { peer::load(p.cast::<Unaligned<T>>()).0 }
}

/// Writes a value once, wherever it lies.
///
/// # Safety
/// As [`peer::store`], but `p` needs no alignment.
#[inline(always)]
pub(crate) unsafe fn store_unaligned<T: Copy>(p: *mut T, value: T) {
    // SAFETY: as above.
    unsafe { peer::store(p.cast::<Unaligned<T>>(), Unaligned(value)) };
}

/// Copies the first `to.len()` bytes of a range out; the caller cut it to that.
pub(crate) fn copy_to(range: PeerRange, to: &mut [u8]) {
    let n = range.len().min(to.len());
    let from = range.as_ptr();
    // SAFETY: `n` bytes of a range, which its memory keeps mapped; `to` is our own memory.
    unsafe {
        peer::before_copy(from, n);
        std::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), n);
    }
}

/// Copies `from` to the start of a range, as far as it reaches.
pub(crate) fn copy_from(range: PeerRange, from: &[u8]) {
    let n = range.len().min(from.len());
    // SAFETY: as in `copy_to`.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), range.as_ptr(), n) };
}
