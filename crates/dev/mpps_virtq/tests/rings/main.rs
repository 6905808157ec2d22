//! Rings between two halves: ours against ours, and each half against a stranger that breaks the rules.
#![expect(
    unsafe_code,
    reason = "strangers write descriptors into shared memory by hand"
)]

mod bounds;
mod header_marks;
mod hostile_device;
mod hostile_tables;
mod lying_device;
mod made_device;
mod notify;
mod pairs;
mod rig;
mod stranger;
mod vector_paths;
mod vmm_queue;
