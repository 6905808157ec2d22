//! Rings between two halves: ours against ours, and each half against a stranger that breaks the rules.
#![expect(
    unsafe_code,
    reason = "strangers write descriptors into shared memory by hand"
)]

mod header_marks;
mod hostile_device;
mod hostile_tables;
mod made_device;
mod pairs;
mod rig;
mod stranger;
