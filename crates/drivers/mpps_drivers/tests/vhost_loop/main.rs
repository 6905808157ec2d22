//! Both ends of vhost-user in one process: net_virtio_user lends its memory, net_vhost copies from and into it.
#![forbid(unsafe_code)]

mod lengths;
mod orders;
mod rig;
mod threads;
