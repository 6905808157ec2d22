//! Rings between two halves: ours against ours, and each half against a stranger that breaks the rules.
#![expect(
    unsafe_code,
    reason = "strangers write descriptors into shared memory by hand"
)]

mod hostile_device;
mod hostile_driver;
mod notify;
mod pairs;
mod rig;
