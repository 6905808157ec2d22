//! The device half as the back end's ports use it: whichever layout, variant and copy kind was settled when the ring was
//! opened.
//!
//! A burst is compiled once for each copy kind and each property that its loop depends on ([`crate::dispatch`]), and reached
//! through a pointer: one predictable branch for the layout and one indirect call a burst.

use mpps_mbuf::{Burst, Caches, OffloadFlags, Pool};

use crate::dispatch::Run;
use crate::packed::{device_rx::RxRing as PackedRx, device_tx::TxRing as PackedTx};
use crate::split::{device_rx::RxRing as SplitRx, device_tx::TxRing as SplitTx};
use crate::{DeviceSetup, Features, Moved, PathName, RingFault};

/// A ring in either layout, and its burst.
enum Layout<S, P> {
    Split(S, Run<S>),
    Packed(P, Run<P>),
}

/// Receives from a guest's transmit ring.
pub struct DeviceRx {
    ring: Layout<SplitRx, PackedRx>,
    path: PathName,
}

/// Transmits to a guest's receive ring.
pub struct DeviceTx {
    ring: Layout<SplitTx, PackedTx>,
    path: PathName,
}

impl DeviceRx {
    /// Opens the ring; packets go into mbufs of `pool`.
    ///
    /// # Errors
    /// A size or place that the ring can't have, or one outside the peer's memory.
    pub fn open(setup: &DeviceSetup, pool: &Pool) -> Result<Self, RingFault> {
        let (ring, copy) = if setup.features.contains(Features::RING_PACKED) {
            let ring = PackedRx::open(setup, pool)?;
            let (run, copy) = ring.variant(setup.copy);
            (Layout::Packed(ring, run), copy)
        } else {
            let ring = SplitRx::open(setup, pool)?;
            let (run, copy) = ring.variant(setup.copy);
            (Layout::Split(ring, run), copy)
        };
        let path = PathName::of(setup.features, Features::TO_DEVICE_OFFLOADS, Some(copy));
        Ok(Self { ring, path })
    }

    /// Appends up to `out.room()` packets.
    #[inline(always)]
    pub fn burst(&mut self, caches: &mut Caches, out: &mut Burst) -> Moved {
        // A look alone: what a burst sets up costs more than an idle ring may. The burst looks for itself again.
        let idle = match &self.ring {
            Layout::Split(ring, _) => ring.ring.is_idle(),
            Layout::Packed(ring, _) => !ring.ring.ready(),
        };
        if idle {
            return Moved::default();
        }
        match &mut self.ring {
            Layout::Split(ring, run) => {
                ring.ring.chain.allow();
                run.call(ring, caches, out)
            }
            Layout::Packed(ring, run) => {
                ring.ring.chain.allow();
                run.call(ring, caches, out)
            }
        }
    }

    /// Where a back end that takes over would go on, as GET_VRING_BASE answers.
    pub fn base(&self) -> u32 {
        match &self.ring {
            Layout::Split(ring, _) => u32::from(ring.ring.next),
            Layout::Packed(ring, _) => ring.ring.base(),
        }
    }

    /// The variant that runs.
    pub fn path(&self) -> PathName {
        self.path
    }

    /// Why the ring moves nothing any more.
    pub fn fault(&self) -> Option<RingFault> {
        match &self.ring {
            Layout::Split(ring, _) => ring.ring.fault,
            Layout::Packed(ring, _) => ring.ring.fault,
        }
    }
}

impl DeviceTx {
    /// Opens the ring.
    ///
    /// # Errors
    /// As [`DeviceRx::open`].
    pub fn open(setup: &DeviceSetup) -> Result<Self, RingFault> {
        let (ring, copy) = if setup.features.contains(Features::RING_PACKED) {
            let ring = PackedTx::open(setup)?;
            let (run, copy) = PackedTx::variant(setup.copy);
            (Layout::Packed(ring, run), copy)
        } else {
            let ring = SplitTx::open(setup)?;
            let (run, copy) = ring.variant(setup.copy);
            (Layout::Split(ring, run), copy)
        };
        let path = PathName::of(setup.features, Features::TO_DRIVER_OFFLOADS, Some(copy));
        Ok(Self { ring, path })
    }

    /// Takes packets off the front, copies and frees them; stops where there are no buffers, and before a packet with any
    /// of the flags of [`DeviceTx::unfinished`].
    #[inline(always)]
    pub fn burst(&mut self, caches: &mut Caches, packets: &mut Burst) -> Moved {
        match &mut self.ring {
            Layout::Split(ring, run) => {
                ring.ring.chain.allow();
                run.call(ring, caches, packets)
            }
            Layout::Packed(ring, run) => {
                ring.ring.chain.allow();
                run.call(ring, caches, packets)
            }
        }
    }

    /// Whether the driver has posted `packets` buffers that aren't used, or as many as the ring can have.
    pub fn has_room(&mut self, packets: usize) -> bool {
        match &mut self.ring {
            Layout::Split(ring, _) => ring.ring.holds(packets),
            Layout::Packed(ring, _) => ring.ring.holds(packets),
        }
    }

    /// Counts packets that were to go into this ring and are lost with it.
    pub fn lose(&self, packets: usize) {
        let tally = match &self.ring {
            Layout::Split(ring, _) => &ring.ring.tally,
            Layout::Packed(ring, _) => &ring.ring.tally,
        };
        tally.too_long.add(packets as u64);
    }

    /// What must be done to packets in software before they can be sent here.
    pub fn unfinished(&self) -> OffloadFlags {
        match &self.ring {
            Layout::Split(ring, _) => ring.unfinished,
            Layout::Packed(ring, _) => ring.unfinished,
        }
    }

    /// Where a back end that takes over would go on, as GET_VRING_BASE answers.
    pub fn base(&self) -> u32 {
        match &self.ring {
            Layout::Split(ring, _) => u32::from(ring.ring.next),
            Layout::Packed(ring, _) => ring.ring.base(),
        }
    }

    /// The variant that runs.
    pub fn path(&self) -> PathName {
        self.path
    }

    /// Why the ring moves nothing any more.
    pub fn fault(&self) -> Option<RingFault> {
        match &self.ring {
            Layout::Split(ring, _) => ring.ring.fault,
            Layout::Packed(ring, _) => ring.ring.fault,
        }
    }
}
