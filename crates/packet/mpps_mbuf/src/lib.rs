//! Packet buffers: [`Mbuf`], [`Burst`], [`Pool`] and the per-lcore [`Caches`].
//!
//! An mbuf is an owned handle of eight bytes to a header of one cache line. Headers live in memory private to this
//! process; the packet bytes live in a second mapping, the only one a back end (vhost-user, AF_XDP, memif) may map.
//! So nothing that such a peer writes is ever taken for a pointer, a length or an index.
//!
//! ```text
//!  Pool ── headers  [64 B][64 B][64 B]...        private, one line each
//!     │       │ buf
//!     │       v
//!     ├── buffers  [headroom 128 | data ...]...   shareable, an odd number of lines apart
//!     ├── cold     [count, parent, timestamp]...  private, touched by clones and timestamps only
//!     └── ring     free mbufs, moved in bulk to and from the caches of the lcores
//! ```
//!
//! Life cycle: the control thread creates pools before it starts workers; each worker owns a [`Caches`] and gives back
//! what it holds when it ends; a pool is unmapped with its last handle if all its mbufs are home, else leaked with a
//! line on standard error, so that an mbuf can never outlive its memory.
#![expect(
    unsafe_code,
    reason = "mbufs are handles to memory that the pool carves by hand; ARCHITECTURE.md licenses this crate"
)]

mod burst;
mod cache;
mod debt;
mod flag_names;
mod header;
mod held;
mod mbuf;
mod metadata;
mod offload;
mod pool;
mod share;
mod store;
#[cfg(test)]
mod tests;

pub use burst::{BURST_MAX, Burst};
pub use cache::Caches;
pub use debt::{Gso, GsoKind, PartialChecksum};
pub use held::Tag;
pub use mbuf::{Mbuf, Segments};
pub use offload::{OffloadFlags, TxOffload};
pub use pool::{Pool, PoolConfig, PoolError, PoolId, PoolInfo, for_each_pool, pools};

/// Bytes kept free before the data of a fresh mbuf, for headers that are prepended.
pub const HEADROOM: u16 = 128;

/// The most mbufs that a lcore's cache of one pool is asked to keep (`--mbcache`).
pub const CACHE_MAX: usize = 512;
