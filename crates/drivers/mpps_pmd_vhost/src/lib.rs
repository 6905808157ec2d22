//! net_vhost: a port whose other side is a virtio-net driver, reached by vhost-user: a guest in QEMU, or virtio-user.
//!
//! The port is the **back end**: it maps the front end's memory, polls its rings and copies packets. It listens at a UNIX
//! socket, or connects to it (`client=1`), and serves one front end after another for as long as the port lives.
//!
//! ```text
//!  main thread              control thread "vhost-ctl-N"                    worker thread
//!  VhostDev ── Mutex ─── Core: session, memory, rings ── Keeper ─ gate ─ Poller ── RxQueue / TxQueue
//!     └── Waker, stop ──────> poll(2) on socket and waker    <── Waker, trouble ── (ring retired)
//! ```
//!
//! The control thread owns the connection. It handles one message at a time under the `Core`'s lock and tells of
//! events after it has let go of it. Whatever changes a ring (a new memory table, other features, a size, GET_VRING_BASE,
//! the end of the connection) first takes the ring back through its gate, so that no burst runs on what is about to be
//! unmapped, and afterwards opens again all rings that are ready. Receive queue n is ring 2n+1 (the guest's transmit ring),
//! transmit queue n is ring 2n.
#![forbid(unsafe_code)]

mod control;
mod core;
mod device;
mod inbox;
mod memory;
mod peer;
mod queue;
mod request;
mod rings;
mod said;
mod settings;
mod stats;

use mpps_dev::{ArgSpec, DevArgs, Driver, EthDev, ProbeContext, ProbeError};

/// The driver.
pub struct Vhost;

const NAME: &str = "net_vhost";

impl Driver for Vhost {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["eth_vhost"]
    }

    fn args(&self) -> &'static [ArgSpec] {
        settings::ARGS
    }

    fn probe(&self, args: &DevArgs, context: &ProbeContext) -> Result<Box<dyn EthDev>, ProbeError> {
        let settings = settings::Settings::parse(args)?;
        Ok(Box::new(device::VhostDev::new(args, settings, context)?))
    }
}
