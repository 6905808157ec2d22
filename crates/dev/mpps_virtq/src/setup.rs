//! What a ring is made from.

use std::sync::Arc;
use std::sync::atomic::AtomicU16;
use std::sync::atomic::Ordering::Relaxed;

use mpps_cpu::Isa;
use mpps_kernels::CopyKind;
use mpps_mbuf::PoolId;
use mpps_shm::Region;
use mpps_shm::peer::{DirtyLog, GuestMemory};

use crate::net_header::NetOffloads;
use crate::{Features, Lent, Notifier, Tally};

/// Where the parts of a ring are, in the address space that the front end announces (SET_VRING_ADDR: its own virtual
/// addresses). Packed ring: descriptors, driver's event structure, device's event structure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingAddresses {
    /// Descriptor table, or packed ring.
    pub desc: u64,
    /// Available ring, or the driver's event structure.
    pub avail: u64,
    /// Used ring, or the device's event structure.
    pub used: u64,
    /// Guest address of the used ring, for the dirty log.
    pub log: u64,
}

/// A ring as the back end learns of it.
#[derive(Clone)]
pub struct DeviceSetup {
    /// Number of descriptors.
    pub size: u32,
    /// Where it is.
    pub rings: RingAddresses,
    /// Where to go on, as in SET_VRING_BASE: for a split ring the next available index; for a packed one bits 0 to 14 the
    /// available offset, bit 15 its wrap counter, bits 16 to 30 and 31 the same for used; where these are all zero, used is
    /// taken to be at the available offset ([`first_base`] for a ring that is new).
    pub base: u32,
    /// As negotiated.
    pub features: Features,
    /// The front end's memory.
    pub memory: Arc<GuestMemory>,
    /// How the driver is told; none in poll mode.
    pub call: Option<Notifier>,
    /// Where pages written are noted.
    pub log: Option<Arc<DirtyLog>>,
    /// How packets are copied.
    pub copy: CopyKind,
    /// Counters of the queue.
    pub tally: Arc<Tally>,
    /// Packets that arrive longer than an mbuf are refused instead of put into a chain.
    pub linear: bool,
}

/// Stands for a device in the headers that packets carry in their headroom ([`mpps_mbuf::Mbuf::header_by`]).
///
/// Where nothing was negotiated that a header could say, the header that a device wrote before a received packet serves when
/// the packet goes back to it as it is: neither side then touches that line (`docs/adr/0010`). It must never reach
/// another device, which owes nothing to the one that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderMark(pub(crate) u16);

impl HeaderMark {
    /// A mark that no other device has; after 65,535 of them one that stands for none, whose packets all get a header.
    pub fn fresh() -> Self {
        static LAST: AtomicU16 = AtomicU16::new(0);
        // Relaxed: a number that nobody else gets, nothing more.
        let next = LAST.fetch_update(Relaxed, Relaxed, |last| last.checked_add(1));
        Self(next.map_or(0, |last| last + 1))
    }
}

/// A ring as the front end makes it.
#[derive(Clone)]
pub struct DriverSetup {
    /// Number of descriptors.
    pub size: u32,
    /// As negotiated.
    pub features: Features,
    /// Memory that is shared with the back end, [`driver_memory`] bytes, page-aligned, all ours to write and zero.
    pub memory: Region,
    /// The pool whose mbufs are posted to receive, or into which packets that can't be lent are copied.
    pub pool: PoolId,
    /// Pools whose buffers the back end has mapped.
    pub lent: Lent,
    /// How the device is told; none where it polls.
    pub kick: Option<Notifier>,
    /// How packets are copied that can't be lent.
    pub copy: CopyKind,
    /// The device, the same for all its rings.
    pub mark: HeaderMark,
    /// Vector paths are wanted (`vectorized=1`), with these instructions.
    pub vector: Option<Isa>,
    /// Count packets to group addresses, which costs a look at each packet: a cache line that need not come here else.
    pub groups: bool,
    /// Counters of the queue.
    pub tally: Arc<Tally>,
}

impl DriverSetup {
    /// Whose headers serve as they are: the device's, where headers can't say anything in either direction; else zero.
    pub(crate) fn trusted_mark(&self) -> u16 {
        let says = |offloads: NetOffloads| offloads.says_something();
        if says(NetOffloads::to_device(self.features))
            || says(NetOffloads::to_driver(self.features))
        {
            0
        } else {
            self.mark.0
        }
    }
}

/// Bytes of shared memory that one ring of the front end needs, in whichever layout, with its tables of headers and of
/// indirect descriptors. A packed ring's size need not be a power of two.
pub const fn driver_memory(size: u32) -> usize {
    let split = crate::split::layout::Layout::of(size).total;
    let packed = crate::packed::layout::Layout::of(size).total;
    if split > packed { split } else { packed }
}

/// The base of a ring that nothing has gone through, as [`DeviceSetup::base`]: a front end that never sends one means this.
pub const fn first_base(features: Features) -> u32 {
    if features.contains(Features::RING_PACKED) {
        1 << 15 | 1 << 31
    } else {
        0
    }
}
