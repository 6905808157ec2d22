//! Polling threads: each runs the streams of one lcore until it is told to stop.
//!
//! The program lays streams out over lcores, hands each [`Lot`] of streams to a thread ([`Workers::launch`]), and gets
//! the streams, with their queues, back from [`Workers::stop`]. A worker owns what it polls: nothing in its loop is locked
//! or shared but counters and the stop flag, which it reads each turn. No clock is read unless cycles
//! are recorded.
#![forbid(unsafe_code)]

mod position;
mod worker;

pub use position::{Position, position};
pub use worker::{LaunchError, LcoreUsage, Lot, Prelude, Stream, Workers};

#[cfg(test)]
mod tests;
