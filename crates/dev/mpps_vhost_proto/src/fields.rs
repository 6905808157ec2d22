//! The fields of messages as plain data.

/// A piece of the front end's memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryRegion {
    /// Its address as the guest sees it, the one in descriptors.
    pub guest: u64,
    /// Bytes.
    pub size: u64,
    /// Its address as the front end sees it, the one in SET_VRING_ADDR.
    pub user: u64,
    /// Where it begins in the file that comes along.
    pub offset: u64,
}

/// A number for a ring: its size, its base, on or off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VringState {
    /// Which ring.
    pub index: u32,
    /// The number.
    pub num: u32,
}

/// Where the parts of a ring are, as the front end sees them. Packed: descriptors, driver's events, device's events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VringAddr {
    /// Which ring.
    pub index: u32,
    /// Bit 0: log writes to the used ring.
    pub flags: u32,
    /// Descriptor table.
    pub descriptor: u64,
    /// Used ring.
    pub used: u64,
    /// Available ring.
    pub available: u64,
    /// Guest address of the used ring, for the log.
    pub log: u64,
}

impl VringAddr {
    /// Writes to the used ring are logged (`VHOST_VRING_F_LOG`).
    pub const LOG: u32 = 1;
}

/// An event descriptor for a ring, or the word that there is none and the ring is polled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VringFd<F> {
    /// Which ring.
    pub index: u8,
    /// The descriptor.
    pub fd: Option<F>,
}

/// Where the dirty log is in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogArea {
    /// Bytes.
    pub size: u64,
    /// From the start of the file.
    pub offset: u64,
}

/// A change of the IOMMU's translations, or a miss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Iotlb {
    /// Address as the device sees it.
    pub iova: u64,
    /// Bytes.
    pub size: u64,
    /// Address as the front end sees it.
    pub user: u64,
    /// Bit 0 read, bit 1 write.
    pub permissions: u8,
    /// 1 miss, 2 update, 3 invalidate, 4 access failed.
    pub kind: u8,
}

/// A part of the device's configuration space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfigSpace {
    /// From the start of the space.
    pub offset: u32,
    /// 0 written by the driver, 1 by a migration.
    pub flags: u32,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Memory where buffers in flight are noted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Inflight {
    /// Bytes to map.
    pub size: u64,
    /// From the start of the file.
    pub offset: u64,
    /// Rings.
    pub queues: u16,
    /// Descriptors of each.
    pub queue_size: u16,
}

/// An area of a file for a ring.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VringArea {
    /// Bits 0 to 7 which ring, bit 8: no descriptor comes along.
    pub index_and_flags: u64,
    /// Bytes.
    pub size: u64,
    /// From the start of the file.
    pub offset: u64,
}
