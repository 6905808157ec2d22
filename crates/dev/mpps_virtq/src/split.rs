//! The split ring (virtio 1.3, section 2.7): descriptor table, available ring, used ring.

pub(crate) mod device;
pub(crate) mod device_rx;
pub(crate) mod device_tx;
pub(crate) mod driver;
pub(crate) mod driver_post;
pub(crate) mod driver_rx;
pub(crate) mod driver_tx;
pub(crate) mod free_ids;
pub(crate) mod layout;

/// A descriptor continues in `next`.
pub(crate) const NEXT: u16 = 1;
/// The device writes the buffer.
pub(crate) const WRITE: u16 = 2;
/// The buffer is a table of descriptors.
pub(crate) const INDIRECT: u16 = 4;
/// Available ring: the driver wants no interrupts. Used ring: the device wants no kicks.
pub(crate) const QUIET: u16 = 1;

/// A descriptor, read once.
#[derive(Clone, Copy)]
pub(crate) struct Descriptor(pub(crate) [u64; 2]);

impl Descriptor {
    #[inline(always)]
    pub(crate) const fn new(address: u64, len: u32, flags: u16, next: u16) -> Self {
        Self([
            address,
            len as u64 | (flags as u64) << 32 | (next as u64) << 48,
        ])
    }

    #[inline(always)]
    pub(crate) const fn address(self) -> u64 {
        self.0[0]
    }

    #[inline(always)]
    pub(crate) const fn len(self) -> u32 {
        self.0[1] as u32
    }

    #[inline(always)]
    pub(crate) const fn flags(self) -> u16 {
        (self.0[1] >> 32) as u16
    }

    #[inline(always)]
    pub(crate) const fn next(self) -> u16 {
        (self.0[1] >> 48) as u16
    }
}
