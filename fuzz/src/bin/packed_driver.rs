//! libFuzzer's entry for [`mpps_fuzz::packed_driver`].
#![no_main]
#![forbid(unsafe_code)]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mpps_fuzz::packed_driver(data));
