//! Why memory could not be had, each in one line with the way out.
//!
//! Made by this crate, shown by the program at start; a pool that grows while packets flow counts it as "no buffer".

use std::io;

/// Why memory could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MemoryError {
    /// More was asked for than an option allows.
    #[error("needs {} for {name}, {option} allows {} ({} in use); ask for less or raise {option}",
        Size(*.need), Size(*.allowed), Size(*.used))]
    Budget {
        /// What the memory was for.
        name: String,
        /// Bytes asked for.
        need: u64,
        /// Bytes that the option allows in all.
        allowed: u64,
        /// Bytes of these in use already.
        used: u64,
        /// The option as the user gave it, with the node or page size where it has one.
        option: String,
    },
    /// A length of 0, or a range outside the mapping.
    #[error("bytes {offset} to {offset}+{len} are not inside {name}, which has {size}")]
    Range {
        /// The mapping.
        name: String,
        /// Where the range starts.
        offset: usize,
        /// How long it is.
        len: usize,
        /// How long the mapping is.
        size: usize,
    },
    /// The kernel refused to reserve memory.
    #[error("can't reserve {} for {name}: {source}; {hint}", Size(*.len))]
    Reserve {
        /// What the memory was for.
        name: String,
        /// Bytes asked for.
        len: u64,
        /// What to do about it.
        hint: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The kernel refused to make reserved memory resident.
    #[error("can't get {} more for {name}: {source}; {hint}", Size(*.len))]
    Commit {
        /// What the memory was for.
        name: String,
        /// Bytes asked for.
        len: u64,
        /// What to do about it.
        hint: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

/// Bytes as a person reads them: the largest binary unit that divides them, MiB with one decimal otherwise.
pub(crate) struct Size(pub(crate) u64);

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const KIB: u64 = 1 << 10;
        const MIB: u64 = 1 << 20;
        const GIB: u64 = 1 << 30;
        match self.0 {
            n if n >= GIB && n % GIB == 0 => write!(f, "{} GiB", n / GIB),
            n if n % MIB == 0 => write!(f, "{} MiB", n / MIB),
            n if n > MIB => write!(f, "{}.{} MiB", n / MIB, n % MIB * 10 / MIB),
            n if n % KIB == 0 => write!(f, "{} KiB", n / KIB),
            n => write!(f, "{n} bytes"),
        }
    }
}
