//! Ports of capture files as a program sees them.

mod captures;
mod fds;
mod lines;
mod ports;
mod refusals;
mod rig;
mod unfinished;
