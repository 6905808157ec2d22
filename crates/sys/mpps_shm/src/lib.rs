//! Memory from the kernel: page sources, mappings and the regions that peers can see.
//!
//! What: [`PageSource`] turns the program's memory options ([`MemoryConfig`]) into [`Mapping`]s. A mapping is reserved
//! address space; [`Mapping::commit`] makes a part of it resident, with huge pages where they can be had, and turns
//! every shortage into a [`MemoryError`] where a plain store would end in SIGBUS.
//!
//! Why: pools reserve room for all the ports that may ever be attached, and a run must only cost what it uses. Huge
//! pages matter (buffers on 4 KiB pages cost a tenth to a fifth of the rate), but must need neither privileges nor set-up.
//!
//! Life: the program makes one `PageSource` from its options and shares it as an `Arc`; pools and ports own the
//! mappings, which give memory, file and budget back when dropped. A [`Region`] is a mapping's pointer and length
//! without ownership. Nothing here knows of packets.
//!
//! Where pages come from, in this order:
//!
//! 1. hugetlbfs: `--huge-dir`, or `MFD_HUGETLB` where the kernel has huge pages free for the whole length;
//! 2. a 2 MiB-aligned memfd (or anonymous memory for [`PageSource::reserve_private`]) whose chunks are collapsed into
//!    transparent huge pages by `MADV_COLLAPSE`, which needs no privileges and no setting of the machine;
//! 3. 4 KiB pages where that is refused.
#![expect(
    unsafe_code,
    reason = "maps, populates and unmaps memory; licensed by ARCHITECTURE.md"
)]

mod backing;
mod books;
mod cgroup;
mod config;
mod error;
mod hugedir;
mod limits;
mod machine;
mod mapping;
mod pagemap;
pub mod peer;
mod region;
mod report;
mod source;
mod sys;

pub use config::{HugeUnlink, IovaMode, MemoryConfig};
pub use error::MemoryError;
pub use mapping::Mapping;
pub use region::Region;
pub use report::{PageKind, PageReport};
pub use source::PageSource;
