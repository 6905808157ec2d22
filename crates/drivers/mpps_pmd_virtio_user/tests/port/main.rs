//! The port against a back end written by hand for these tests: good, slow, lying, or gone at any message.
#![forbid(unsafe_code)]

mod back_end;
mod faults;
mod field;
mod life;
mod refusals;
mod rig;
mod silence;
mod traffic;
mod vector;
