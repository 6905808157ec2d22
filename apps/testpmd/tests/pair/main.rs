//! A vhost port and a virtio-user port in two processes of the built program: what users do to such a pair.
//!
//! The loop as DPDK's recorded sessions have it is in the sessions' tests (`tests/session`). Workers poll whole CPUs, so
//! the tests here take turns too.

mod chains;
mod counters;
mod endings;
mod frames;
mod offloads;
mod order;
mod pcap;
mod queues;
mod relay;
mod returns;
mod rig;
#[expect(dead_code, reason = "made for sessions of DPDK's program as well")]
#[path = "../session/rig.rs"]
mod run;
mod settings;
