use super::{Clock, is_sensible, monotonic_ns};
use std::time::Duration;

#[test]
fn ticks_agree_with_the_kernel() {
    let clock = Clock::calibrated();
    let agrees = || {
        let (ticks, ns) = (clock.ticks(), monotonic_ns());
        std::thread::sleep(Duration::from_millis(20));
        let by_ticks = clock.duration(clock.ticks() - ticks).as_nanos();
        let by_kernel = u128::from(monotonic_ns() - ns);
        by_ticks.abs_diff(by_kernel) < by_kernel / 100
    };
    // Again when a preemption came between the two readings at either end.
    assert!((0..20).any(|_| agrees()), "{clock:?}");
}

#[test]
fn calibration_repeats_itself() {
    let (a, b) = (Clock::calibrated().hz(), Clock::calibrated().hz());
    assert!(is_sensible(a, b), "{a} Hz, then {b} Hz");
}

#[test]
fn the_monotonic_clock_goes_forward() {
    let mut last = monotonic_ns();
    for _ in 0..1000 {
        let now = monotonic_ns();
        assert!(now >= last);
        last = now;
    }
}

#[test]
fn ticks_and_durations_are_converted_without_overflow() {
    let clock = Clock {
        hz: 2_600_000_000,
        tsc: false,
    };
    assert_eq!(clock.duration(0), Duration::ZERO);
    assert_eq!(clock.duration(1_300_000_000), Duration::from_millis(500));
    assert_eq!(clock.duration(u64::MAX).as_secs(), u64::MAX / 2_600_000_000);
    assert_eq!(clock.ticks_in(Duration::from_micros(100)), 260_000);
    assert_eq!(clock.ticks_in(Duration::MAX), u64::MAX);
    assert_eq!(Clock::kernel().ticks_in(Duration::from_nanos(7)), 7);
}

#[test]
fn a_stated_rate_must_be_near_the_compared_one() {
    assert!(is_sensible(2_600_000_000, 2_601_000_000));
    assert!(!is_sensible(2_500_000_000, 2_600_000_000));
    assert!(!is_sensible(0, 2_600_000_000));
    assert!(!is_sensible(u64::MAX, 1));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn rates_from_cpuid_leaves() {
    use super::tsc::hz_from_leaves;
    assert_eq!(
        hz_from_leaves(2, 216, 24_000_000, 2600),
        Some(2_592_000_000)
    );
    assert_eq!(hz_from_leaves(2, 216, 0, 2600), Some(2_600_000_000));
    assert_eq!(hz_from_leaves(2, 216, 0, 0), None);
    assert_eq!(hz_from_leaves(0, 216, 24_000_000, 2600), None);
    assert_eq!(hz_from_leaves(2, 0, 24_000_000, 2600), None);
}
