//! Which CPUs the calling thread may run on.
//!
//! Goes to the kernel with masks as long as they need to be: the C library's own type ends at CPU 1023. A thread pins
//! itself at its start; nobody undoes it.

use crate::cpu_set::CpuSet;
use std::io;

/// Why a thread could not be pinned.
#[derive(Debug, thiserror::Error)]
pub enum AffinityError {
    /// No CPU was named.
    #[error("cannot pin a thread to no CPU at all: expected at least one")]
    Empty,
    /// None of the CPUs is online and ours.
    #[error("cannot pin a thread to CPU {wanted}: this process may use CPU {allowed}")]
    NotAllowed {
        /// The CPUs asked for.
        wanted: CpuSet,
        /// Those that the calling thread runs on now.
        allowed: CpuSet,
    },
    /// The kernel refused for another reason.
    #[error("cannot pin a thread to CPU {wanted}: {source}")]
    Kernel {
        /// The CPUs asked for.
        wanted: CpuSet,
        /// The kernel's reason.
        source: io::Error,
    },
}

/// Keeps the calling thread on `cpus`.
///
/// # Errors
/// When `cpus` is empty, or none of them is online and in this process's cgroup.
pub fn pin_current_thread(cpus: &CpuSet) -> Result<(), AffinityError> {
    if cpus.is_empty() {
        return Err(AffinityError::Empty);
    }
    let words = cpus.words();
    // SAFETY: the kernel reads that many bytes, and the slice has them; 0 is the calling thread.
    let done = unsafe { libc::sched_setaffinity(0, size_of_val(words), words.as_ptr().cast()) };
    if done == 0 {
        return Ok(());
    }
    let (wanted, source) = (cpus.clone(), io::Error::last_os_error());
    match current_affinity() {
        Ok(allowed) if source.raw_os_error() == Some(libc::EINVAL) => {
            Err(AffinityError::NotAllowed { wanted, allowed })
        }
        _ => Err(AffinityError::Kernel { wanted, source }),
    }
}

/// The CPUs that the calling thread may run on: what it was pinned to, within what its cgroup allows.
///
/// # Errors
/// What the kernel says (`EPERM` under a strict seccomp filter).
pub fn current_affinity() -> io::Result<CpuSet> {
    // The kernel refuses a mask shorter than its own number of CPUs, which isn't told anywhere.
    let mut words = vec![0_u64; 1024 / 64];
    loop {
        // SAFETY: the kernel writes at most that many bytes, and the vector has them; 0 is the calling thread.
        let got = unsafe {
            libc::sched_getaffinity(0, size_of_val(words.as_slice()), words.as_mut_ptr().cast())
        };
        if got == 0 {
            return Ok(CpuSet::from_words(words));
        }
        let error = io::Error::last_os_error();
        if error.raw_os_error() != Some(libc::EINVAL) || words.len() >= CpuSet::LIMIT / 64 {
            return Err(error);
        }
        words.resize(words.len() * 2, 0);
    }
}

#[cfg(test)]
mod tests;
