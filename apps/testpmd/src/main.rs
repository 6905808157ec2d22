//! The `testpmd` program.
#![forbid(unsafe_code)]

fn main() {}
