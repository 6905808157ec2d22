//! libFuzzer's entry for [`mpps_fuzz::vhost_messages`].
#![no_main]
#![forbid(unsafe_code)]

libfuzzer_sys::fuzz_target!(|data: &[u8]| mpps_fuzz::vhost_messages(data));
