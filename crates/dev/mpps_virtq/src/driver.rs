//! The driver half as the front end's ports use it: whichever layout was negotiated.

mod vector;

use mpps_mbuf::{Burst, Caches, OffloadFlags};

use crate::packed::{driver_rx::RxRing as PackedRx, driver_tx::TxRing as PackedTx};
use crate::split::{driver_rx::RxRing as SplitRx, driver_tx::TxRing as SplitTx};
use crate::vector::{Choice, OneByOne, Vector};
use crate::{DriverSetup, Features, Moved, PathName, RingAddresses, RingFault};

/// The least that a ring can be bounded to: a refill's worth of buffers.
const LEAST: u16 = 32;

/// A ring in either layout.
enum Layout<S, P> {
    Split(S),
    Packed(P),
}

/// Receives: mbufs lie in the ring for the device to fill.
pub struct DriverRx {
    ring: Layout<SplitRx, PackedRx>,
    headers: bool,
    vector: Vector,
    path: PathName,
}

/// Transmits: packets lie in the ring until the device has read them.
pub struct DriverTx {
    ring: Layout<SplitTx, PackedTx>,
    in_order: bool,
    vector: Vector,
    path: PathName,
}

impl DriverRx {
    /// Makes a fresh ring in the setup's memory, without buffers yet.
    ///
    /// # Errors
    /// A size that the ring can't have, too little memory, or a pool that isn't lent.
    pub fn open(setup: &DriverSetup) -> Result<Self, RingFault> {
        let path = PathName::of(setup.features, Features::TO_DRIVER_OFFLOADS, None);
        let ring = if path.packed {
            Layout::Packed(PackedRx::open(setup)?)
        } else {
            Layout::Split(SplitRx::open(setup)?)
        };
        let choice = Choice::to_receive(setup.vector, setup.size, setup.features);
        Ok(Self {
            ring,
            headers: path.offloads,
            vector: choice.vector,
            path: path.with(choice),
        })
    }

    /// Has at most `most` descriptors posted at a time, of a ring that may have more; 32 at least. Before anything is.
    pub fn bound(&mut self, most: u16) {
        let most = most.max(LEAST);
        match &mut self.ring {
            Layout::Split(ring) => ring.free.bound(most),
            Layout::Packed(ring) => ring.ring.most = most.min(ring.ring.size),
        }
    }

    /// Posts buffers until the ring is full or the pool is dry.
    pub fn fill(&mut self, caches: &mut Caches) {
        match &mut self.ring {
            Layout::Split(ring) => ring.fill(caches),
            Layout::Packed(ring) => ring.fill(caches),
        }
    }

    /// Appends up to `out.room()` packets.
    #[inline(always)]
    pub fn burst(&mut self, caches: &mut Caches, out: &mut Burst) -> Moved {
        // A look alone: what a burst sets up costs more than an idle ring may. The burst looks for itself again.
        let idle = match &self.ring {
            Layout::Split(ring) => ring.is_idle(),
            Layout::Packed(ring) => ring.is_idle(),
        };
        if idle {
            return Moved::default();
        }
        if self.vector != Vector::Scalar {
            return vector::receive(&mut self.ring, self.vector, caches, out);
        }
        match (&mut self.ring, self.headers) {
            (Layout::Split(ring), true) => ring.burst::<true, OneByOne>(caches, out),
            (Layout::Split(ring), false) => ring.burst::<false, OneByOne>(caches, out),
            (Layout::Packed(ring), true) => ring.burst::<true, OneByOne>(caches, out),
            (Layout::Packed(ring), false) => ring.burst::<false, OneByOne>(caches, out),
        }
    }

    /// Where the parts of the ring are.
    pub fn addresses(&self) -> RingAddresses {
        match &self.ring {
            Layout::Split(ring) => ring.ring.addresses(),
            Layout::Packed(ring) => ring.ring.addresses(),
        }
    }

    /// The variant that runs.
    pub fn path(&self) -> PathName {
        self.path
    }

    /// Why the ring moves nothing any more.
    pub fn fault(&self) -> Option<RingFault> {
        match &self.ring {
            Layout::Split(ring) => ring.ring.fault,
            Layout::Packed(ring) => ring.ring.fault,
        }
    }
}

impl DriverTx {
    /// Makes a fresh ring in the setup's memory.
    ///
    /// # Errors
    /// As [`DriverRx::open`].
    pub fn open(setup: &DriverSetup) -> Result<Self, RingFault> {
        let path = PathName::of(setup.features, Features::TO_DEVICE_OFFLOADS, None);
        let ring = if path.packed {
            Layout::Packed(PackedTx::open(setup)?)
        } else {
            Layout::Split(SplitTx::open(setup)?)
        };
        let choice = Choice::to_transmit(setup.vector, setup.size);
        Ok(Self {
            ring,
            in_order: path.in_order,
            vector: choice.vector,
            path: path.with(choice),
        })
    }

    /// As [`DriverRx::bound`].
    pub fn bound(&mut self, most: u16) {
        let most = most.max(LEAST);
        match &mut self.ring {
            // They are taken in pairs.
            Layout::Split(ring) => ring.free.bound(most / 2),
            Layout::Packed(ring) => ring.ring.most = most.min(ring.ring.size),
        }
    }

    /// Takes packets off the front and posts them; stops where there are no descriptors, and before a packet with any of
    /// the flags of [`DriverTx::unfinished`].
    #[inline(always)]
    pub fn burst(&mut self, caches: &mut Caches, packets: &mut Burst) -> Moved {
        if self.vector != Vector::Scalar {
            let run = if self.in_order {
                vector::transmit::<true>
            } else {
                vector::transmit::<false>
            };
            return run(&mut self.ring, self.vector, caches, packets);
        }
        match (&mut self.ring, self.in_order) {
            (Layout::Split(ring), true) => ring.burst::<true, OneByOne>(caches, packets),
            (Layout::Split(ring), false) => ring.burst::<false, OneByOne>(caches, packets),
            (Layout::Packed(ring), true) => ring.burst::<true, OneByOne>(caches, packets),
            (Layout::Packed(ring), false) => ring.burst::<false, OneByOne>(caches, packets),
        }
    }

    /// Whether `packets` plain packets can be posted, or as many as the ring can have. Sees what the last burst has freed.
    pub fn has_room(&self, packets: usize) -> bool {
        let (free, most) = match &self.ring {
            Layout::Split(ring) => (ring.free.len(), ring.ring.size),
            Layout::Packed(ring) => (ring.ring.room().min(ring.free.len()), ring.ring.size),
        };
        free >= packets.min(usize::from(most)) && self.fault().is_none()
    }

    /// Counts packets that were to go into this ring and are lost with it.
    pub fn lose(&self, packets: usize) {
        let tally = match &self.ring {
            Layout::Split(ring) => &ring.ring.tally,
            Layout::Packed(ring) => &ring.ring.tally,
        };
        tally.too_long.add(packets as u64);
    }

    /// What must be done to packets in software before they can be sent here.
    pub fn unfinished(&self) -> OffloadFlags {
        match &self.ring {
            Layout::Split(ring) => ring.unfinished,
            Layout::Packed(ring) => ring.unfinished,
        }
    }

    /// Where the parts of the ring are.
    pub fn addresses(&self) -> RingAddresses {
        match &self.ring {
            Layout::Split(ring) => ring.ring.addresses(),
            Layout::Packed(ring) => ring.ring.addresses(),
        }
    }

    /// The variant that runs.
    pub fn path(&self) -> PathName {
        self.path
    }

    /// Why the ring moves nothing any more.
    pub fn fault(&self) -> Option<RingFault> {
        match &self.ring {
            Layout::Split(ring) => ring.ring.fault,
            Layout::Packed(ring) => ring.ring.fault,
        }
    }
}
