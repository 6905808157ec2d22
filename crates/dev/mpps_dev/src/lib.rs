//! The port model: what a driver is, what a port offers, how its queues are polled, and how all of it is tested.
//!
//! A [`Driver`] is found by a device's name and makes an [`EthDev`], the control side of a port. Starting a port hands
//! its queues out ([`Queues`]); whoever polls a queue owns it, so that a running queue can't be reconfigured. Stopping
//! takes them back. What may change while a queue is being polled goes through its [`Mailbox`]; what a queue counts is
//! read through [`QueueStats`], which both sides hold.
//!
//! ```text
//!  control thread                          worker thread (one lcore)
//!  EthDev ── start ──> Queues ───────────> RxQueue::rx_burst(&mut Lcore, &mut Burst)
//!    │                                     TxQueue::tx_burst(&mut Lcore, &mut Burst)
//!    ├── Mailbox   ── stopped, MTU ──────>   one load a burst
//!    └── QueueStats <── counters ─────────   single writer, load and store
//! ```
#![forbid(unsafe_code)]

pub mod conformance;
pub mod devargs;
mod ethdev;
mod events;
mod ids;
mod info;
mod lcore;
pub mod middleware;
mod port;
mod queue;
mod rss;
mod stats;

pub use devargs::{ArgKind, ArgSpec, DevArgError, DevArgs};
pub use ethdev::{ConfigError, Driver, EthDev, ProbeContext, ProbeError, StartError, Unsupported};
pub use events::{Events, Listener, PortEvent};
pub use ids::{BurstSize, LcoreId, OutOfRange, PortId, QueueSize};
pub use info::{
    DevConfig, DevInfo, Link, QueueConfig, QueueInfo, RssSettings, RxMode, RxOffloads,
    RxQueueConfig, Thresholds, TxOffloads, TxQueueConfig,
};
pub use lcore::Lcore;
pub use port::Port;
pub use queue::{Mailbox, Queues, RxQueue, TxQueue};
pub use rss::{Rss, RssError, SoftRss};
pub use stats::{PortStats, QueueCounts, QueueStats, XStat};
