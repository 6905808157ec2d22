//! Keeping the process's memory from being paged out.
//!
//! Asked for by `main` before anything big is allocated; holds until the process ends.

use crate::errno::errno_text;
use rustix::mm::MlockAllFlags;
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, capabilities};

/// Why memory isn't locked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// The limit on locked memory is finite. The lock might succeed now, but then every allocation beyond the limit
    /// would fail later, so it isn't tried.
    #[error(
        "memory cannot be locked: {text}: the limit is {limit} bytes; raise it (ulimit -l unlimited), grant CAP_IPC_LOCK, or pass --no-mlockall",
        text = errno_text(libc::ENOMEM)
    )]
    Limited {
        /// `RLIMIT_MEMLOCK`, in bytes.
        limit: u64,
    },
    /// The kernel refused.
    #[error("memory cannot be locked: {text}; --no-mlockall does without", text = errno_text(*errno))]
    Kernel {
        /// Its reason.
        errno: i32,
    },
}

impl LockError {
    /// The C library's text for the reason, without anything else: `Cannot allocate memory`.
    #[must_use]
    pub fn errno_text(&self) -> String {
        errno_text(match self {
            Self::Limited { .. } => libc::ENOMEM,
            Self::Kernel { errno } => *errno,
        })
    }
}

/// Locks all memory that the process has and will have; with `on_fault`, each page only when it is first touched, so
/// that reserved address space stays free (`MCL_ONFAULT`, Linux 4.4).
///
/// # Errors
/// When the process may not lock without limit, or the kernel refuses. Nothing is locked then.
pub fn lock_memory(on_fault: bool) -> Result<(), LockError> {
    check_limit(getrlimit(Resource::Memlock).current, may_lock_all())?;
    let mut flags = MlockAllFlags::CURRENT | MlockAllFlags::FUTURE;
    flags.set(MlockAllFlags::ONFAULT, on_fault);
    rustix::mm::mlockall(flags).map_err(|errno| LockError::Kernel {
        errno: errno.raw_os_error(),
    })
}

/// Whether the limit doesn't apply to this process.
fn may_lock_all() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK))
}

/// `None` is no limit.
fn check_limit(limit: Option<u64>, privileged: bool) -> Result<(), LockError> {
    match limit {
        Some(limit) if !privileged => Err(LockError::Limited { limit }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
