//! Commands that configure, against a program with two null ports whose text is captured.
#![forbid(unsafe_code)]

mod capable;
mod forwarding;
mod links;
mod ports;
mod queues;
mod refusals;
mod rig;
mod robustness;
mod telling;
