//! Time for the data path: a counter that costs no system call, and its rate.
//!
//! The time-stamp counter on x86-64 where it runs at a constant rate, nanoseconds of `CLOCK_MONOTONIC_RAW` elsewhere. A
//! program calibrates one [`Clock`] at start (some 2 ms) and copies it to its workers.
//!
//! ```
//! let clock = mpps_cpu::Clock::calibrated();
//! let start = clock.ticks();
//! let passed = clock.duration(clock.ticks() - start);
//! assert!(passed < std::time::Duration::from_secs(60));
//! ```

use std::time::Duration;

/// How long the counter is compared with the kernel's clock: right to some millionths, as long as that clock itself is.
const CALIBRATION_NS: u64 = 2_000_000;
/// How long a rate that the CPU states itself is compared: enough to see that it is sensible.
const CHECK_NS: u64 = 500_000;
/// How far a stated rate may be from the compared one: 1 in 200.
const TOLERANCE: u64 = 200;
const NS_PER_S: u64 = 1_000_000_000;

/// Nanoseconds of `CLOCK_MONOTONIC_RAW`: from an arbitrary point, never stepped or slewed.
#[inline]
#[must_use]
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicRaw);
    // The kernel's monotonic clocks begin at boot and are not negative.
    now.tv_sec.cast_unsigned() * NS_PER_S + now.tv_nsec.cast_unsigned()
}

/// A tick counter with a known rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    hz: u64,
    tsc: bool,
}

impl Clock {
    /// Finds the counter and its rate: as the CPU states it (CPUID leaf 15h) where that agrees with the kernel's clock,
    /// else by comparison with it. Takes less than 3 ms of an undisturbed CPU.
    #[must_use]
    pub fn calibrated() -> Self {
        if !tsc::is_steady() {
            return Self::kernel();
        }
        let hz = tsc::stated_hz()
            .filter(|&stated| is_sensible(stated, compared_hz(CHECK_NS)))
            .unwrap_or_else(|| compared_hz(CALIBRATION_NS));
        Self { hz, tsc: true }
    }

    /// The kernel's clock: a tick is a nanosecond.
    #[must_use]
    pub const fn kernel() -> Self {
        Self {
            hz: NS_PER_S,
            tsc: false,
        }
    }

    /// The counter now. Not ordered with the instructions round it.
    #[inline]
    #[must_use]
    pub fn ticks(&self) -> u64 {
        if self.tsc {
            tsc::read()
        } else {
            monotonic_ns()
        }
    }

    /// Ticks a second.
    #[inline]
    #[must_use]
    pub const fn hz(&self) -> u64 {
        self.hz
    }

    /// How long so many ticks take.
    #[must_use]
    pub const fn duration(&self, ticks: u64) -> Duration {
        let (seconds, rest) = (ticks / self.hz, ticks % self.hz);
        // Below a second, and the product of two 64-bit numbers fits.
        let nanoseconds = rest as u128 * NS_PER_S as u128 / self.hz as u128;
        Duration::new(seconds, nanoseconds as u32)
    }

    /// How many ticks a time takes; `u64::MAX` if they are too many to count.
    #[must_use]
    pub const fn ticks_in(&self, time: Duration) -> u64 {
        let ticks = time.as_nanos().saturating_mul(self.hz as u128) / NS_PER_S as u128;
        if ticks > u64::MAX as u128 {
            u64::MAX
        } else {
            ticks as u64
        }
    }
}

fn is_sensible(stated: u64, compared: u64) -> bool {
    stated.abs_diff(compared) <= compared / TOLERANCE
}

/// Ticks a second, by watching counter and kernel clock for `span` nanoseconds.
fn compared_hz(span: u64) -> u64 {
    let (start_ticks, start_ns) = both();
    loop {
        let (ticks, ns) = both();
        let passed = ns - start_ns;
        if passed >= span {
            let hz = u128::from(ticks - start_ticks) * u128::from(NS_PER_S) / u128::from(passed);
            return u64::try_from(hz).unwrap_or(u64::MAX).max(1);
        }
    }
}

/// The counter and the kernel's clock at the same moment: the closest of some readings, in case of an interrupt.
fn both() -> (u64, u64) {
    let reading = |_| {
        let before = tsc::read();
        let ns = monotonic_ns();
        let after = tsc::read();
        (
            after.wrapping_sub(before),
            before.wrapping_add(after.wrapping_sub(before) / 2),
            ns,
        )
    };
    let (_, ticks, ns) = (0..5).map(reading).min().unwrap_or_else(|| reading(0));
    (ticks, ns)
}

#[cfg(target_arch = "x86_64")]
mod tsc {
    use std::arch::x86_64::{__cpuid, _rdtsc};

    #[inline(always)]
    pub(super) fn read() -> u64 {
        // SAFETY: every x86-64 CPU has the counter, and Linux leaves it readable.
        unsafe { _rdtsc() }
    }

    /// Whether the counter runs at one rate in all power states (CPUID leaf 8000_0007h, EDX bit 8).
    pub(super) fn is_steady() -> bool {
        __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx >> 8 & 1 == 1
    }

    /// The rate from the crystal's and the ratio to it (leaf 15h), or the base frequency (leaf 16h) where the crystal
    /// isn't told.
    pub(super) fn stated_hz() -> Option<u64> {
        let highest = __cpuid(0).eax;
        let ratio = (highest >= 0x15).then(|| __cpuid(0x15))?;
        let base_mhz = if highest >= 0x16 {
            __cpuid(0x16).eax & 0xffff
        } else {
            0
        };
        hz_from_leaves(ratio.eax, ratio.ebx, ratio.ecx, base_mhz)
    }

    /// Intel SDM, volume 3, section "Time-Stamp Counter": TSC rate = crystal * numerator / denominator.
    pub(super) fn hz_from_leaves(
        denominator: u32,
        numerator: u32,
        crystal_hz: u32,
        base_mhz: u32,
    ) -> Option<u64> {
        if denominator == 0 || numerator == 0 {
            return None;
        }
        if crystal_hz != 0 {
            return Some(u64::from(crystal_hz) * u64::from(numerator) / u64::from(denominator));
        }
        (base_mhz != 0).then(|| u64::from(base_mhz) * 1_000_000)
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod tsc {
    pub(super) fn read() -> u64 {
        super::monotonic_ns()
    }

    pub(super) fn is_steady() -> bool {
        false
    }

    pub(super) fn stated_hz() -> Option<u64> {
        None
    }
}

#[cfg(test)]
mod tests;
