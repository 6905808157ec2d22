//! Hints that memory will be needed soon.
//!
//! Safe for any address, also one that isn't mapped: a prefetch can't fault. Does nothing on machines without one.

/// Fetches the line at `place` into the first-level cache.
#[inline(always)]
pub fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: SSE is part of x86-64, and a prefetch neither faults nor changes anything one could observe.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch neither faults nor changes anything one could observe.
    unsafe {
        std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) place, options(nostack, readonly, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}

/// Fetches the line at `place` into the first-level cache, to be written: other cores' copies of it go.
#[inline(always)]
pub fn prefetch_for_write<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_ET0, _mm_prefetch};
        // SAFETY: a hint, and no operation on CPUs that don't know it.
        unsafe { _mm_prefetch::<_MM_HINT_ET0>(place.cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch neither faults nor changes anything one could observe.
    unsafe {
        std::arch::asm!("prfm pstl1keep, [{0}]", in(reg) place, options(nostack, readonly, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}

/// Fetches the line at `place` into the second-level cache: for what is needed some bursts later.
#[inline(always)]
pub fn prefetch_far<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        // SAFETY: SSE is part of x86-64, and a prefetch neither faults nor changes anything one could observe.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(place.cast()) };
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: a prefetch neither faults nor changes anything one could observe.
    unsafe {
        std::arch::asm!("prfm pldl2keep, [{0}]", in(reg) place, options(nostack, readonly, preserves_flags));
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = place;
}

#[cfg(test)]
mod tests {
    use super::{prefetch, prefetch_far, prefetch_for_write};

    #[test]
    fn any_address_is_fine() {
        let here = 7_u64;
        for place in [
            &raw const here,
            std::ptr::null(),
            std::ptr::without_provenance(usize::MAX),
        ] {
            prefetch(place);
            prefetch_far(place);
            prefetch_for_write(place);
        }
        assert_eq!(here, 7);
    }
}
