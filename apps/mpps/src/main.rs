//! The `mpps` program.
#![forbid(unsafe_code)]

fn main() {}
