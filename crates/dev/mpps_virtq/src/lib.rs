//! Virtqueues (virtio 1.3, section 2.6 to 2.8): split and packed ring, the driver's half and the device's half side by side.
//!
//! The **driver half** is the front end's: virtio-user owns the ring memory and the buffers. The **device half** is the
//! back end's: vhost reaches a guest's rings and buffers through [`mpps_shm::peer`] and copies packets out of and into
//! them. Each half has a receive and a transmit side, which move whole bursts:
//!
//! ```text
//!             front end (driver half)                     back end (device half)
//!  packets <- DriverRx <──── receive ring (2n) ─────────── DeviceTx <- packets
//!  packets -> DriverTx ───── transmit ring (2n+1) ───────> DeviceRx -> packets
//! ```
//!
//! A ring is made by a port's control thread each time the queue is enabled, since firmware, kernel and a peer that comes
//! back negotiate anew; it lives in a gate (`mpps_ring::gate`) between that thread and the poller, and is dropped when the
//! queue is disabled. Which variant of a burst runs (layout, order, offloads, copy kind) is chosen once at that time and
//! can be asked for by name ([`PathName`]).
//!
//! Whatever the other side writes, nothing here panics, loops without bound or leaves the memory it was given. A ring whose
//! peer breaks the rules retires: it moves nothing any more and says why once ([`RingFault`]).
#![expect(
    unsafe_code,
    reason = "rings and buffers are bare memory shared with a peer; ARCHITECTURE.md licenses this crate"
)]

mod chain;
mod device;
mod dispatch;
mod driver;
mod fault;
mod features;
mod foreign;
mod gather;
mod lent;
pub mod limit;
pub mod net_header;
mod notify;
mod packed;
mod path;
mod setup;
mod split;
mod tally;
mod vector;

pub use device::{DeviceRx, DeviceTx};
pub use driver::{DriverRx, DriverTx};
pub use fault::RingFault;
pub use features::Features;
pub use lent::Lent;
pub use mpps_cpu::Isa;
pub use notify::Notifier;
pub use path::PathName;
pub use setup::{DeviceSetup, DriverSetup, HeaderMark, RingAddresses, driver_memory, first_base};
pub use tally::{Moved, SIZES, Tally};
