//! Barriers between a store and a load that follows it: the one order that processors don't keep by themselves.
//!
//! What: [`full_fence`], which both sides of a handshake pay, and a pair of which one side pays nearly nothing
//! ([`Asymmetry`]): the kernel's `membarrier(2)` runs a full barrier on every CPU that runs this program, at the moment
//! the rare side asks for it, so that the frequent side only has to keep the compiler from reordering.
//!
//! Stateless but for the answer to whether the kernel has membarrier, found once for the process.

/// A full barrier: every store before it is visible to other CPUs before any load after it is done.
///
/// On x86-64 a locked instruction on the stack, which is a third of the price of the `mfence` that the standard
/// library's fence may become.
#[inline(always)]
pub fn full_fence() {
    #[cfg(all(target_arch = "x86_64", not(loom)))]
    // SAFETY: an OR with 0 changes no bit, so it doesn't matter what the red zone below the stack pointer holds. The
    // block doesn't say `nomem`, so the compiler moves no access over it either.
    unsafe {
        core::arch::asm!("lock or dword ptr [rsp - 8], 0", options(nostack));
    }
    // SeqCst: partner is the fence on the other side of the caller's handshake.
    #[cfg(all(not(target_arch = "x86_64"), not(loom)))]
    std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    // SeqCst: as above.
    #[cfg(loom)]
    loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
}

/// Whether barriers may be asymmetric in this process. Both sides of a handshake must use the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asymmetry {
    /// The rare side calls membarrier(2).
    #[cfg(not(loom))]
    Membarrier,
    /// Both sides use a full fence: an old kernel, or a filter on system calls.
    None,
}

#[cfg(not(loom))]
impl Asymmetry {
    /// The process's answer. Registers it with the kernel at the first call.
    pub(crate) fn of_process() -> Asymmetry {
        use rustix::thread::{MembarrierCommand, membarrier};
        static ANSWER: std::sync::OnceLock<Asymmetry> = std::sync::OnceLock::new();
        *ANSWER.get_or_init(|| {
            let works = membarrier(MembarrierCommand::RegisterPrivateExpedited)
                .and_then(|()| membarrier(MembarrierCommand::PrivateExpedited));
            if works.is_ok() {
                Asymmetry::Membarrier
            } else {
                Asymmetry::None
            }
        })
    }

    /// The frequent side's barrier.
    #[inline(always)]
    pub(crate) fn light(self) {
        match self {
            Asymmetry::Membarrier => {
                // Partner: the membarrier in `heavy`, which makes a full barrier of this point on our CPU.
                std::sync::atomic::compiler_fence(std::sync::atomic::Ordering::SeqCst);
            }
            Asymmetry::None => full_fence(),
        }
    }

    /// The rare side's barrier.
    pub(crate) fn heavy(self) {
        use rustix::thread::{MembarrierCommand, membarrier};
        full_fence();
        if self == Asymmetry::Membarrier {
            let done = membarrier(MembarrierCommand::PrivateExpedited);
            // It worked at registration. Going on without it could free memory that is in use.
            assert!(done.is_ok(), "membarrier(2) stopped working: {done:?}");
        }
    }
}

#[cfg(loom)]
impl Asymmetry {
    pub(crate) fn of_process() -> Asymmetry {
        Asymmetry::None
    }

    pub(crate) fn light(self) {
        full_fence();
    }

    pub(crate) fn heavy(self) {
        full_fence();
    }
}
