//! The device half as the back end's ports use it: whichever layout, variant and copy kind was settled when the ring was
//! opened.
//!
//! A burst is compiled once for each copy kind and each property that its loop depends on ([`crate::dispatch`]), and reached
//! through a pointer: one indirect call a burst.

use mpps_mbuf::{Burst, Caches, OffloadFlags, Pool};

use crate::dispatch::Run;
use crate::split::device_rx::RxRing as SplitRx;
use crate::split::device_tx::TxRing as SplitTx;
use crate::{DeviceSetup, Features, Moved, PathName, RingFault};

/// Receives from a guest's transmit ring.
pub struct DeviceRx {
    ring: SplitRx,
    run: Run<SplitRx>,
    path: PathName,
}

/// Transmits to a guest's receive ring.
pub struct DeviceTx {
    ring: SplitTx,
    run: Run<SplitTx>,
    path: PathName,
}

impl DeviceRx {
    /// Opens the ring; packets go into mbufs of `pool`.
    pub fn open(setup: &DeviceSetup, pool: &Pool) -> Result<Self, RingFault> {
        let ring = SplitRx::open(setup, pool)?;
        let (run, copy) = ring.variant(setup.copy);
        let path = PathName::of(setup.features, Features::TO_DEVICE_OFFLOADS, Some(copy));
        Ok(Self { ring, run, path })
    }

    /// Appends up to `out.room()` packets.
    #[inline(always)]
    pub fn burst(&mut self, caches: &mut Caches, out: &mut Burst) -> Moved {
        self.run.call(&mut self.ring, caches, out)
    }

    /// Where a back end that takes over would go on, as GET_VRING_BASE answers.
    pub fn base(&self) -> u32 {
        u32::from(self.ring.ring.next)
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

impl DeviceTx {
    /// Opens the ring.
    pub fn open(setup: &DeviceSetup) -> Result<Self, RingFault> {
        let ring = SplitTx::open(setup)?;
        let (run, copy) = ring.variant(setup.copy);
        let path = PathName::of(setup.features, Features::TO_DRIVER_OFFLOADS, Some(copy));
        Ok(Self { ring, run, path })
    }

    /// Takes packets off the front, copies and frees them; stops where there are no buffers, and before a packet with any
    /// of the flags of [`DeviceTx::unfinished`].
    #[inline(always)]
    pub fn burst(&mut self, caches: &mut Caches, packets: &mut Burst) -> Moved {
        self.run.call(&mut self.ring, caches, packets)
    }

    /// What must be done to packets in software before they can be sent here.
    pub fn unfinished(&self) -> OffloadFlags {
        self.ring.unfinished
    }

    /// Where a back end that takes over would go on, as GET_VRING_BASE answers.
    pub fn base(&self) -> u32 {
        u32::from(self.ring.ring.next)
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
