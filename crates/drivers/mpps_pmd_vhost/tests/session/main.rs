//! The port against front ends of our own, good and bad, over its socket.
#![forbid(unsafe_code)]

mod changes;
mod dirty;
mod front;
mod interrupts;
mod lengths;
mod lies;
mod life;
mod messages;
mod returning;
mod rig;
mod settings;
mod truncated;
