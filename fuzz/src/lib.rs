//! Fuzz targets as ordinary functions: each takes bytes that a stranger may have written and panics where the code under
//! test breaks a promise. `cargo xtask fuzz` runs them under libFuzzer; the tests replay the committed corpora and a few
//! thousand mutations of them. The functions own nothing between calls.
#![forbid(unsafe_code)]

mod captures;
mod command_line;
mod frames;
mod input;
mod messages;
mod offloads;
mod rings;

pub use captures::pcap_reader;
pub use command_line::{arguments, console, devargs};
pub use frames::wire_parse;
pub use messages::vhost_messages;
pub use offloads::net_header;
pub use rings::{packed_device, packed_driver, split_device, split_driver};

/// A target's name, which is that of its program and its corpus, and its function.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: &[Target] = &[
    ("arguments", arguments),
    ("console", console),
    ("devargs", devargs),
    ("net_header", net_header),
    ("packed_device", packed_device),
    ("packed_driver", packed_driver),
    ("pcap_reader", pcap_reader),
    ("split_device", split_device),
    ("split_driver", split_driver),
    ("vhost_messages", vhost_messages),
    ("wire_parse", wire_parse),
];

#[cfg(test)]
mod replay_tests;
