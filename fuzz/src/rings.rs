//! Rings against another side that writes what it likes, when it likes.

mod arena;
mod device;
mod driver;
mod front;
mod hook;
mod liar;
mod packets;
pub(crate) mod pools;

pub use device::{packed_device, split_device};
pub use driver::{packed_driver, split_driver};
