//! The driver half as the front end's ports use it.

use mpps_mbuf::{Burst, Caches, OffloadFlags};

use crate::split::driver_rx::RxRing as SplitRx;
use crate::split::driver_tx::TxRing as SplitTx;
use crate::{DriverSetup, Features, Moved, PathName, RingAddresses, RingFault};

/// Receives: mbufs lie in the ring for the device to fill.
pub struct DriverRx {
    ring: SplitRx,
    headers: bool,
    path: PathName,
}

/// Transmits: packets lie in the ring until the device has read them.
pub struct DriverTx {
    ring: SplitTx,
    in_order: bool,
    path: PathName,
}

impl DriverRx {
    /// Makes a fresh ring in the setup's memory, without buffers yet.
    pub fn open(setup: &DriverSetup) -> Result<Self, RingFault> {
        let path = PathName::of(setup.features, Features::TO_DRIVER_OFFLOADS, None);
        Ok(Self {
            ring: SplitRx::open(setup)?,
            headers: path.mergeable || path.offloads,
            path,
        })
    }

    /// Posts buffers until the ring is full or the pool is dry.
    pub fn fill(&mut self, caches: &mut Caches) {
        self.ring.fill(caches);
    }

    /// Appends up to `out.room()` packets.
    #[inline(always)]
    pub fn burst(&mut self, caches: &mut Caches, out: &mut Burst) -> Moved {
        if self.headers {
            self.ring.burst::<true>(caches, out)
        } else {
            self.ring.burst::<false>(caches, out)
        }
    }

    /// Where the parts of the ring are.
    pub fn addresses(&self) -> RingAddresses {
        self.ring.ring.addresses()
    }

    /// The variant that runs.
    pub fn path(&self) -> PathName {
        self.path
    }

    /// Why the ring moves nothing any more.
    pub fn fault(&self) -> Option<RingFault> {
        self.ring.ring.fault
    }
}

impl DriverTx {
    /// Makes a fresh ring in the setup's memory.
    pub fn open(setup: &DriverSetup) -> Result<Self, RingFault> {
        Ok(Self {
            ring: SplitTx::open(setup)?,
            in_order: setup.features.contains(Features::IN_ORDER),
            path: PathName::of(setup.features, Features::TO_DEVICE_OFFLOADS, None),
        })
    }

    /// Takes packets off the front and posts them; stops where there are no descriptors, and before a packet with any of
    /// the flags of [`DriverTx::unfinished`].
    #[inline(always)]
    pub fn burst(&mut self, caches: &mut Caches, packets: &mut Burst) -> Moved {
        if self.in_order {
            self.ring.burst::<true>(caches, packets)
        } else {
            self.ring.burst::<false>(caches, packets)
        }
    }

    /// What must be done to packets in software before they can be sent here.
    pub fn unfinished(&self) -> OffloadFlags {
        self.ring.unfinished
    }

    /// Where the parts of the ring are.
    pub fn addresses(&self) -> RingAddresses {
        self.ring.ring.addresses()
    }

    /// The variant that runs.
    pub fn path(&self) -> PathName {
        self.path
    }

    /// Why the ring moves nothing any more.
    pub fn fault(&self) -> Option<RingFault> {
        self.ring.ring.fault
    }
}
