//! Whole sessions of the built program, as scripts and people hold them, through pipes and signals.
//!
//! What is expected was recorded from DPDK's testpmd 26.11 (`tests/golden`), or is asked of the installed one. The workers of
//! a session poll whole CPUs, so all of these take turns ([`rig::alone`]), and each ends within seconds.

mod commands;
mod differences;
mod differential;
mod dumps;
mod golden;
mod loops;
mod mistakes;
mod peers;
mod rig;
mod scripts;
mod transcript;
