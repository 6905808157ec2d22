//! Keeping the process's memory from being paged out.
//!
//! Asked for by `main` before anything big is allocated; holds until the process ends.

use crate::errno::errno_text;
use rustix::io::Errno;
use rustix::mm::{MlockAllFlags, MlockFlags};
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
    rustix::mm::mlockall(flags).map_err(kernel)
}

/// As [`lock_memory`] on fault, but for the mappings in `apart` (first byte, byte behind the last), which are left as
/// they are. For memory on hugetlbfs, which is never paged out and which a lock of everything would make resident at
/// once, `MCL_ONFAULT` or not: the kernel keeps no such mark on its mappings.
///
/// # Errors
/// As [`lock_memory`]; what was locked before the kernel refused stays locked.
pub fn lock_memory_apart_from(apart: &[(usize, usize)]) -> Result<(), LockError> {
    check_limit(getrlimit(Resource::Memlock).current, may_lock_all())?;
    rustix::mm::mlockall(MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT).map_err(kernel)?;
    let maps = std::fs::read_to_string("/proc/self/maps").map_err(|error| LockError::Kernel {
        errno: error.raw_os_error().unwrap_or(libc::EIO),
    })?;
    for (start, end) in maps.lines().filter_map(lockable) {
        if apart.iter().any(|(from, to)| start < *to && *from < end) {
            continue;
        }
        let at = std::ptr::with_exposed_provenance_mut(start);
        // SAFETY: locking changes no byte and no access right; a mapping that is gone by now is an error number.
        let locked = unsafe { rustix::mm::mlock_with(at, end - start, MlockFlags::ONFAULT) };
        match locked {
            // Gone since it was listed.
            Ok(()) | Err(Errno::NOMEM) => {}
            Err(errno) => return Err(kernel(errno)),
        }
    }
    Ok(())
}

/// The bounds of a mapping that can be locked, from its line in `/proc/self/maps`.
fn lockable(line: &str) -> Option<(usize, usize)> {
    // The kernel's own pages: [vvar], [vdso], [vsyscall].
    if line.ends_with(']') && line.contains("[v") {
        return None;
    }
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    Some((
        usize::from_str_radix(start, 16).ok()?,
        usize::from_str_radix(end, 16).ok()?,
    ))
}

fn kernel(errno: Errno) -> LockError {
    LockError::Kernel {
        errno: errno.raw_os_error(),
    }
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
