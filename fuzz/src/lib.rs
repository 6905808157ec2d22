//! Fuzz targets as ordinary functions: each takes bytes that a stranger may have written and panics where the code under
//! test breaks a promise. `cargo xtask fuzz` runs them under libFuzzer; the tests replay the committed corpora and a few
//! thousand mutations of them. The functions own nothing between calls.
#![forbid(unsafe_code)]

mod captures;
mod command_line;
mod frames;

pub use captures::pcap_reader;
pub use command_line::{arguments, console, devargs};
pub use frames::wire_parse;

/// A target's name, which is that of its program and its corpus, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("arguments", arguments),
    ("console", console),
    ("devargs", devargs),
    ("pcap_reader", pcap_reader),
    ("wire_parse", wire_parse),
];

#[cfg(test)]
mod replay_tests;
