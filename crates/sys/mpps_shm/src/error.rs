//! Why memory could not be had, each in one line with the way out.
//!
//! Made by this crate, shown by the program at start; a pool that grows while packets flow counts it as "no buffer".

use std::io;
use std::path::PathBuf;

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
    /// A NUMA node that the machine doesn't have.
    #[error("{what}: there is no NUMA node {node}; this machine has {}", Nodes(.nodes))]
    NoNode {
        /// The option, or what the memory was for.
        what: String,
        /// The node asked for.
        node: u32,
        /// Those there are.
        nodes: Vec<u32>,
    },
    /// An option wants more memory set aside than is free.
    #[error("{option}: needs {}{}, but {}; ask for less, or get more huge pages through {knob}",
        Size(*.need), OnNode(*.node), Free(.huge, *.memory))]
    Short {
        /// The option.
        option: String,
        /// Bytes asked for.
        need: u64,
        /// On this node; `None`: on all together.
        node: Option<u32>,
        /// Page sizes of hugetlbfs in bytes, and how many pages of each are free.
        huge: Vec<(u64, u64)>,
        /// Bytes free as ordinary pages.
        memory: u64,
        /// The kernel's file that makes more huge pages.
        knob: String,
    },
    /// `--huge-dir` is given, and its pages don't suffice.
    #[error("needs {need} huge pages of {} for {name}, but {have} can be had{}; ask for less, raise {knob} \
        (and the control group's limit) by {}, or leave --huge-dir out",
        Size(*.size), OnNode(*.node), .need.saturating_sub(*.have))]
    NoHugePages {
        /// What the memory was for.
        name: String,
        /// Pages asked for.
        need: u64,
        /// Pages free, and allowed by the control group.
        have: u64,
        /// Page size in bytes.
        size: u64,
        /// On this node; `None`: on all together.
        node: Option<u32>,
        /// The kernel's file that makes more huge pages.
        knob: String,
    },
    /// `--huge-dir` can't be used.
    #[error("--huge-dir '{}': {why}; name a hugetlbfs mount you may write to, or leave the option out", .path.display())]
    HugeDir {
        /// The folder named.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// `--iova-mode=pa`, and the kernel doesn't tell physical addresses.
    #[error(
        "--iova-mode=pa: physical addresses can't be read from /proc/self/pagemap \
        (needs CAP_SYS_ADMIN); use --iova-mode=va or leave it out"
    )]
    NoPhysicalAddresses,
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

struct Nodes<'a>(&'a [u32]);

impl std::fmt::Display for Nodes<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, node) in self.0.iter().enumerate() {
            write!(f, "{}{node}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

struct OnNode(Option<u32>);

impl std::fmt::Display for OnNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.map_or(Ok(()), |node| write!(f, " on node {node}"))
    }
}

struct Free<'a>(&'a [(u64, u64)], u64);

impl std::fmt::Display for Free<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (size, pages) in self.0 {
            write!(f, "{pages} huge pages of {}, ", Size(*size))?;
        }
        write!(f, "{} of other memory are free", Size(self.1 & !0xf_ffff))
    }
}

/// What to do when the kernel refuses to reserve memory.
pub(crate) fn reserve_hint(errno: rustix::io::Errno) -> &'static str {
    use rustix::io::Errno;
    match errno {
        Errno::AGAIN => {
            "the limit on locked memory is reached: raise it (ulimit -l) or give --no-mlockall"
        }
        Errno::MFILE => {
            "too many open files: raise the limit (ulimit -n) or give --single-file-segments"
        }
        Errno::NOMEM => "ask for less, or raise the limit on address space (ulimit -v)",
        Errno::ACCESS | Errno::PERM => "use a folder you may write to",
        _ => "ask for less",
    }
}

/// What to do when the kernel refuses to make memory resident.
pub(crate) fn commit_hint(errno: rustix::io::Errno, hugetlb: bool) -> &'static str {
    use rustix::io::Errno;
    match errno {
        Errno::HWPOISON => "the memory is defective",
        _ if hugetlb => {
            "no huge page is left, or the control group's limit on them (hugetlb.*.max) is reached: raise it or give --no-huge"
        }
        _ => "free memory, or raise the control group's limit (memory.max)",
    }
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
