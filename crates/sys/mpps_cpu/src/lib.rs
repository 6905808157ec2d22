//! The machine: topology, affinity, clock, instruction sets.
//!
//! What a poll-mode program must know of the hardware under it, read once at start and passed down by value: which
//! CPUs there are and which are ours ([`Topology`], [`CpuSet`]), how a thread is kept on them ([`pin_current_thread`]),
//! how time is told without a system call ([`Clock`]), and which vector instructions may be used (the tokens in
//! [`isa`]). Nothing here owns a resource; only the SIMD limit is kept for the process.
#![expect(
    unsafe_code,
    reason = "affinity masks beyond 1024 CPUs, the time-stamp counter and prefetches have no safe interface"
)]

mod affinity;
pub mod clock;
mod cpu_set;
pub mod isa;
pub mod prefetch;
mod topology;

pub use affinity::{AffinityError, current_affinity, pin_current_thread};
pub use clock::Clock;
pub use cpu_set::{CpuSet, ListError};
pub use isa::{Avx2, Avx512, Avx512Vbmi, Isa, Ssse3};
pub use topology::{Cpu, Roots, Topology};
