use super::{
    Avx2, Avx512, Avx512Vbmi, Isa, IsaError, Ssse3, limit_from, max_simd_bits, set_max_simd_bits,
};

#[test]
fn the_lower_limit_wins() {
    assert_eq!(limit_from(0, None), Ok(512));
    assert_eq!(limit_from(512, Some("scalar")), Ok(64));
    assert_eq!(limit_from(0, Some("avx2")), Ok(256));
    assert_eq!(limit_from(128, Some("avx512")), Ok(128));
    assert_eq!(limit_from(256, Some("")), Ok(256));
}

#[test]
fn bad_limits_are_refused_by_name() {
    for bits in [1, 32, 96, 1024, u32::MAX] {
        assert_eq!(limit_from(bits, None), Err(IsaError::Width(bits)));
    }
    let error = limit_from(0, Some("avx3")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "MPPS_ISA=\"avx3\" is not an instruction set: expected scalar, avx2 or avx512"
    );
    assert_eq!(
        IsaError::Width(96).to_string(),
        "SIMD width \"96\" is not one of 64, 128, 256, 512, or 0 for no limit"
    );
}

#[test]
fn a_limit_hides_what_the_cpu_has() {
    assert_eq!(Ssse3::detect_within(64), None);
    assert_eq!(Avx2::detect_within(128), None);
    assert_eq!(Avx512::detect_within(256), None);
    assert_eq!(Avx512Vbmi::detect_within(256), None);
    assert_eq!(Isa::best_within(64), Isa::Scalar);
    assert_ne!(Isa::best_within(256).to_string(), "avx512");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn tokens_say_what_the_cpu_says() {
    assert_eq!(
        Ssse3::detect_within(512).is_some(),
        std::arch::is_x86_feature_detected!("ssse3")
    );
    assert_eq!(
        Avx2::detect_within(512).is_some(),
        std::arch::is_x86_feature_detected!("avx2")
    );
    let wide = ["avx512f", "avx512bw", "avx512dq", "avx512vl"];
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let has = |name: &str| flags.split_whitespace().any(|flag| flag == name);
    assert_eq!(
        Avx512::detect_within(512).is_some(),
        wide.iter().all(|name| has(name))
    );
    if let Some(vbmi) = Avx512Vbmi::detect_within(512) {
        assert!(has("avx512vbmi"));
        assert_eq!(
            Some(Avx2::from(Avx512::from(vbmi))),
            Avx2::detect_within(512)
        );
    }
}

#[test]
fn the_limit_is_set_once() {
    let now = max_simd_bits();
    assert_eq!(set_max_simd_bits(now), Ok(()));
    let other = if now == 64 { return } else { 64 };
    assert_eq!(
        set_max_simd_bits(other),
        Err(IsaError::TooLate { now, wanted: other })
    );
    assert_eq!(max_simd_bits(), now);
}
