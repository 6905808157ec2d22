//! Memory that a peer maps too, and may change or truncate at any time.
//!
//! What: a [`PeerMapping`] is a file descriptor of the peer's, mapped; a [`GuestMemory`] is the table that turns the
//! peer's addresses into [`PeerRange`]s of such mappings; the functions below are the only way to read or write there.
//! A [`DirtyLog`] tells a front end which pages we wrote.
//!
//! Why: the peer may be an attacker. No reference or slice to its memory may exist, and what is read twice may differ
//! the second time. So everything is read once into a local by one of these functions, and a hook under
//! `cfg(mpps_double_fetch)` lets the fuzzers change the bytes before each load. A peer that truncates its file under
//! a mapping would end the program with SIGBUS; the handler puts zero pages there instead, and
//! [`GuestMemory::is_lost`] says so.
//!
//! Life: a control thread maps what its peer sends and shares the table as `Arc<GuestMemory>`; each ring's state holds
//! a clone, so that memory stays mapped as long as a burst may run on it. The last clone unmaps it.

mod access;
mod dirty;
mod error;
mod mapping;
mod memory;
mod range;
mod sigbus;

#[cfg(mpps_double_fetch)]
pub use access::{DoubleFetchHook, set_double_fetch_hook};
pub use access::{before_copy, descriptor, index, load, publish, store};
pub use dirty::DirtyLog;
pub use error::{GuestMemoryError, PeerMapError};
pub use mapping::PeerMapping;
pub use memory::{GuestMemory, GuestRegion, MOST_REGIONS};
pub use mpps_ring::full_fence;
pub use range::PeerRange;

#[cfg(test)]
mod tests;
