//! Rings that move batches between threads, single-writer counters, and the gate that hands state over between bursts.
//!
//! What moves through a ring is the value itself: a push takes values out of a [`Source`] (a packet burst, a cache of
//! free buffers) and a pop gives them to a [`Sink`], both in at most two straight copies, with one read of the other
//! side's index and one publication of ours a batch. A ring never blocks: it moves what fits and says how many that
//! were; what is left stays with the source.
//!
//! ```text
//!  Source --take--> [ slots, a power of two of them ] --put--> Sink
//!                     ^ head (next to pop)   ^ tail (next to push)
//! ```
//!
//! Life-cycle: whoever joins two threads makes the ring ([`spsc`]) and gives each thread its end; the memory and the
//! values that are still inside go when the last end is dropped. An [`MpmcRing`] is shared by reference or `Arc`.
//! Memory is touched only where values have been, so that a big ring costs address space and nothing else.
//!
//! ```
//! let (mut tx, mut rx) = mpps_ring::spsc::<u32>(4);
//! let mut burst = vec![1, 2, 3, 4, 5];
//! assert_eq!(tx.push(&mut burst), 4);
//! assert_eq!(burst, [5]);
//! let mut out = Vec::with_capacity(3);
//! assert_eq!(rx.pop(&mut out), 3);
//! assert_eq!(out, [1, 2, 3]);
//! ```
#![expect(
    unsafe_code,
    reason = "slots and gates hold values that one thread writes and another reads; indices and turns say whose they are"
)]

mod barrier;
mod batch;
mod counter;
mod gate;
mod mpmc;
mod slots;
mod spsc;
mod sync;

pub use barrier::full_fence;
pub use batch::{Sink, SliceSink, SliceSource, Source};
pub use counter::Counter;
pub use gate::{Inside, Keeper, Poller, gate};
pub use mpmc::MpmcRing;
pub use spsc::{Consumer, Producer, spsc};
