//! The loads and stores of memory that a peer may change meanwhile.
//!
//! Each is volatile or atomic, so that the compiler neither repeats nor splits it: what the caller checks is what the
//! caller uses. Nothing here checks a bound; [`PeerRange`](super::PeerRange) did. Stateless, but for the fuzzers' hook.

use std::sync::atomic::{AtomicU16, Ordering};

/// Called before each load with the first byte and the length of what will be read; may change these bytes, as a peer
/// might between two loads.
#[cfg(mpps_double_fetch)]
pub type DoubleFetchHook = Box<dyn FnMut(*mut u8, usize)>;

#[cfg(mpps_double_fetch)]
thread_local! {
    static HOOK: std::cell::RefCell<Option<DoubleFetchHook>> = const { std::cell::RefCell::new(None) };
}

/// Sets this thread's hook, and gives back the one that was set.
#[cfg(mpps_double_fetch)]
pub fn set_double_fetch_hook(hook: Option<DoubleFetchHook>) -> Option<DoubleFetchHook> {
    HOOK.with_borrow_mut(|slot| std::mem::replace(slot, hook))
}

#[cfg(mpps_double_fetch)]
fn hook(p: *const u8, len: usize) {
    HOOK.with(|slot| {
        // Borrowed already: a load that the hook itself makes.
        if let Ok(mut slot) = slot.try_borrow_mut()
            && let Some(hook) = slot.as_mut()
        {
            hook(p.cast_mut(), len);
        }
    });
}

#[cfg(not(mpps_double_fetch))]
#[inline(always)]
fn hook(_: *const u8, _: usize) {}

/// Reads an index that the peer publishes; what it wrote before that is seen after this.
///
/// # Safety
/// `p` is aligned to 2 bytes and lies in a mapping that stays mapped during the call.
#[inline(always)]
pub unsafe fn index(p: *const u16) -> u16 {
    hook(p.cast(), size_of::<u16>());
    // SAFETY: aligned and mapped, says the caller; other writers of it are atomic to us, as it is one aligned load.
    let index = unsafe { AtomicU16::from_ptr(p.cast_mut()) };
    // Acquire: partner is the peer's release of the index.
    index.load(Ordering::Acquire)
}

/// Publishes an index, or the flags of a descriptor, to the peer; what was written before is seen by whoever sees it.
///
/// # Safety
/// As [`index`].
#[inline(always)]
pub unsafe fn publish(p: *mut u16, value: u16) {
    // SAFETY: as in `index`.
    let index = unsafe { AtomicU16::from_ptr(p) };
    // Release: partner is the peer's acquire of the index.
    index.store(value, Ordering::Release);
}

/// Reads a descriptor in one 16-byte load (little-endian words, as the ring has them).
///
/// # Safety
/// `p` is aligned to 16 bytes and lies, all 16 of them, in a mapping that stays mapped during the call.
#[inline(always)]
pub unsafe fn descriptor(p: *const [u64; 2]) -> [u64; 2] {
    hook(p.cast(), size_of::<[u64; 2]>());
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::__m128i;
        // SAFETY: aligned and mapped, says the caller.
        let both = unsafe { p.cast::<__m128i>().read_volatile() };
        // SAFETY: two types of 16 bytes without invalid values.
        unsafe { std::mem::transmute::<__m128i, [u64; 2]>(both) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // SAFETY: aligned and mapped, says the caller.
        unsafe { p.read_volatile() }
    }
}

/// Reads a value once.
///
/// # Safety
/// `p` is aligned for `T` and lies in a mapping that stays mapped during the call; every bit pattern is a valid `T`.
#[inline(always)]
pub unsafe fn load<T: Copy>(p: *const T) -> T {
    hook(p.cast(), size_of::<T>());
    // SAFETY: as the caller says.
    unsafe { p.read_volatile() }
}

/// Writes a value once.
///
/// # Safety
/// `p` is aligned for `T` and lies in a mapping that stays mapped during the call.
#[inline(always)]
pub unsafe fn store<T: Copy>(p: *mut T, value: T) {
    // SAFETY: as the caller says.
    unsafe { p.write_volatile(value) };
}

/// To be called before bytes are copied out of a peer's memory: the fuzzers' hook, nothing else.
///
/// # Safety
/// `len` bytes from `p` lie in a mapping that stays mapped during the call.
#[inline(always)]
pub unsafe fn before_copy(p: *const u8, len: usize) {
    hook(p, len);
}
