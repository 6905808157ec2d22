//! The kernels that touch every packet, scalar beside vector.
//!
//! A kernel works on a whole burst: its loop is one function for each instruction set, so that nothing is called a packet.
//! Which one runs is chosen once, when a stream is set up, and can be chosen by option. The scalar twin of each is always
//! built; it is the oracle of the property tests.
#![expect(
    unsafe_code,
    reason = "vector instructions on packet bytes; ARCHITECTURE.md licenses this crate"
)]

pub mod checksum;
mod copy;
mod macswap;

pub use checksum::{Checksum, ChecksumKind};
pub use copy::{Copier, CopyKind, movers};
pub use macswap::{MacSwap, MacSwapKind, Marks};

/// The kind of this name in a table of names.
fn by_name<K: Copy>(names: &[(&str, K)], name: &str) -> Option<K> {
    names
        .iter()
        .find(|(have, _)| *have == name)
        .map(|(_, kind)| *kind)
}

/// A kernel that can't run here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unavailable {
    /// The kernel as named in the option.
    pub kernel: &'static str,
    /// The instructions that the CPU, or the limit on vector width, doesn't give.
    pub needs: &'static str,
}

impl std::fmt::Display for Unavailable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "kernel {} needs {}, which this CPU or --force-max-simd-bitwidth doesn't give",
            self.kernel, self.needs
        )
    }
}

impl std::error::Error for Unavailable {}
