//! net_virtio_user: the front end of a vhost-user connection, a virtio network driver without a guest.
//!
//! What: the port lends a back end (vhost) its rings and the buffers of its pools, and moves packets through virtqueues.
//! Received packets land in mbufs of the queue's pool, transmitted mbufs are posted as they are: nothing is copied here.
//!
//! Who owns what:
//!
//! ```text
//!  VirtioUser (EthDev)  ── start: Plan ──> control thread `vuser-ctl-N` ── Session ── vhost-user socket ── back end
//!       │                                        │ Keeper<ring>                                              │
//!       └── Queues ──> lcore: Poller<ring> <─────┘          rings and buffers: shared memory ────────────────┘
//! ```
//!
//! The control thread lives from probing to the port's end. It listens or connects, settles features with each back end
//! anew, makes fresh rings in `memory` and opens them to the pollers; when the back end goes it takes them back, frees
//! what was posted, and waits for the next. The port can be started and stopped at any time, with or without a back end.
//!
//! The control queue is answered inside the port: a vhost-user back end has none. Of its commands only the number of
//! queues reaches the back end, as rings switched on and off.
#![forbid(unsafe_code)]

mod args;
mod control;
mod device;
mod enable;
mod info;
mod memory;
mod negotiate;
mod plan;
mod published;
mod queue;
mod session;
mod told;
mod xstats;

use mpps_dev::{ArgSpec, DevArgs, Driver, EthDev, ProbeContext, ProbeError};

use crate::args::{ARGS, Settings};
use crate::device::VirtioUserDev;

/// The driver.
pub struct VirtioUser;

const NAME: &str = "net_virtio_user";

impl Driver for VirtioUser {
    fn name(&self) -> &'static str {
        NAME
    }

    fn aliases(&self) -> &'static [&'static str] {
        &["virtio_user"]
    }

    fn args(&self) -> &'static [ArgSpec] {
        ARGS
    }

    fn probe(&self, args: &DevArgs, context: &ProbeContext) -> Result<Box<dyn EthDev>, ProbeError> {
        let settings = Settings::parse(args)?;
        VirtioUserDev::new(args, settings, context).map(|dev| Box::new(dev) as Box<dyn EthDev>)
    }
}
