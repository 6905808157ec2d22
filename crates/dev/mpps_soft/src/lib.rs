//! Offloads in software: what a packet owes, or what a program asked of a port that can't do it, is done before the bytes
//! leave.
//!
//! A transmit queue whose port lacks an offload owns a [`Finisher`] and looks at the flags of each burst
//! ([`mpps_mbuf::Burst::flags_union`]). Only where they have something of [`mpps_mbuf::OffloadFlags::UNFINISHED`] that the
//! port doesn't take does the burst go through it; ports that settle nothing (a ring passes handles on, null frees them)
//! need none. [`finish`] is the same for one packet.
//!
//! ```text
//!  burst ── flags_union() & unfinished == 0 ──────────────────────────> send
//!     └──── else: Finisher ─ request ─> debt ─ tags ─ sum │ cut ─ staged ──┘
//! ```
//!
//! - **Requests** of the program (`TX_` flags and header lengths) become a debt, or are done at once.
//! - **VLAN tags** are put in. (Taken out they are on the way in: [`strip_tags`].)
//! - **Debts** ([`mpps_mbuf::PartialChecksum`], [`mpps_mbuf::Gso`]) that the port doesn't take over are settled: the
//!   checksum is computed in place, in a copy where clones share the data; a large packet is cut into new ones.
//!
//! The packet may come from a stranger: headers are copied once, and what they say is checked against the packet's real
//! length. What can't be finished is dropped and counted ([`Fault`]): never half a checksum on a wire.
#![forbid(unsafe_code)]

mod bytes;
mod checksum;
mod cut;
mod fault;
mod finish;
mod finisher;
mod request;
#[cfg(test)]
mod tests;
mod vlan;

pub use checksum::complete_checksum;
pub use fault::{Drops, Fault};
pub use finish::{finish, finish_but};
pub use finisher::{Finisher, Sent};
pub use vlan::strip_tags;
