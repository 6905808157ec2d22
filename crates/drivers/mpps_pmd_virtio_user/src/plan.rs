//! What the control thread needs to enable the port's rings, at each connection anew.

use std::sync::Arc;

use mpps_kernels::CopyKind;
use mpps_mbuf::{Caches, PoolId};
use mpps_os::EventFd;
use mpps_ring::Keeper;
use mpps_virtq::{
    DriverRx, DriverSetup, DriverTx, Features, HeaderMark, Notifier, PathName, RingAddresses,
    RingFault, Tally,
};

use crate::memory::Memory;
use crate::negotiate::Wish;
use crate::queue::{Alarm, RxState, TxState};

/// A started port, owned by the control thread until the stop.
pub(crate) struct Plan {
    pub(crate) wish: Wish,
    pub(crate) memory: Arc<Memory>,
    /// By number: receive ring of pair n is 2n, its transmit ring 2n + 1.
    pub(crate) rings: Vec<Ring>,
    pub(crate) copy: CopyKind,
    pub(crate) vector: bool,
    pub(crate) groups: bool,
}

/// One ring of the port.
pub(crate) struct Ring {
    pub(crate) gate: Gate,
    /// Pool whose mbufs are posted, or copied into.
    pub(crate) pool: PoolId,
    /// The most descriptors that are posted at a time, where it was asked for.
    pub(crate) most: Option<u16>,
    pub(crate) tally: Arc<Tally>,
}

/// The control thread's end of a queue.
pub(crate) enum Gate {
    Rx(Keeper<RxState>),
    Tx(Keeper<TxState>),
}

/// A ring that was made and that no poller sees yet.
pub(crate) struct Fresh {
    state: State,
    pub(crate) addresses: RingAddresses,
    pub(crate) path: PathName,
    pub(crate) kick: Arc<EventFd>,
    /// Handed to the back end, which never uses it: the ring is polled. Some want one all the same.
    pub(crate) call: EventFd,
}

enum State {
    Rx(Box<RxState>),
    Tx(Box<TxState>),
}

/// Why a ring can't be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RingError {
    #[error("ring {index}: {source}")]
    Fault { index: usize, source: RingFault },
    #[error("ring {index}: {source}")]
    System {
        index: usize,
        source: std::io::Error,
    },
}

impl Plan {
    /// Makes all rings, fresh: indices at zero, no buffers; and for a device of their own, since what comes with the next
    /// connection need not be what wrote headers over the last one.
    pub(crate) fn make_rings(
        &self,
        features: Features,
        alarm: &Alarm,
    ) -> Result<Vec<Fresh>, RingError> {
        let mark = HeaderMark::fresh();
        (0..self.rings.len())
            .map(|index| self.make_ring(index, features, mark, alarm))
            .collect()
    }

    fn make_ring(
        &self,
        index: usize,
        features: Features,
        mark: HeaderMark,
        alarm: &Alarm,
    ) -> Result<Fresh, RingError> {
        let fault = |source| RingError::Fault { index, source };
        let system = |source| RingError::System { index, source };
        let missing = RingFault::Size {
            size: 0,
            allowed: "a ring of the port",
        };
        let (Some(ring), Some(memory)) = (self.rings.get(index), self.memory.ring(index)) else {
            return Err(fault(missing));
        };
        let kick = Arc::new(EventFd::new().map_err(system)?);
        let setup = DriverSetup {
            size: self.memory.size(index),
            features,
            memory,
            pool: ring.pool,
            lent: self.memory.lent().clone(),
            kick: Some(notifier(kick.clone())),
            copy: self.copy,
            mark,
            vector: self.vector.then(mpps_virtq::Isa::best),
            groups: self.groups,
            tally: ring.tally.clone(),
        };
        let (alarm, memory) = (alarm.clone(), self.memory.clone());
        let most = ring.most.unwrap_or(u16::MAX);
        let (state, addresses, path) = match ring.gate {
            Gate::Rx(_) => {
                let mut ring = DriverRx::open(&setup).map_err(fault)?;
                ring.bound(most);
                // Now, not by the first poll: a back end that finds no buffers drops what it was about to send.
                ring.fill(&mut Caches::new(self.memory.lent().pools()));
                let (addresses, path) = (ring.addresses(), ring.path());
                let state = Box::new(RxState::new(ring, alarm, memory));
                (State::Rx(state), addresses, path)
            }
            Gate::Tx(_) => {
                let mut ring = DriverTx::open(&setup).map_err(fault)?;
                ring.bound(most);
                let (addresses, path) = (ring.addresses(), ring.path());
                let state = Box::new(TxState::new(ring, alarm, memory));
                (State::Tx(state), addresses, path)
            }
        };
        Ok(Fresh {
            state,
            addresses,
            path,
            kick,
            call: EventFd::new().map_err(system)?,
        })
    }

    /// Lets the pollers have the rings.
    pub(crate) fn open(&mut self, fresh: Vec<Fresh>) {
        for (ring, fresh) in self.rings.iter_mut().zip(fresh) {
            match (&mut ring.gate, fresh.state) {
                (Gate::Rx(keeper), State::Rx(state)) => keeper.open(state),
                (Gate::Tx(keeper), State::Tx(state)) => keeper.open(state),
                _ => unreachable!("a ring is made for its own gate"),
            }
        }
    }

    /// Takes the rings back from the pollers and frees what is posted.
    pub(crate) fn close(&mut self) {
        for ring in &mut self.rings {
            match &mut ring.gate {
                Gate::Rx(keeper) => drop(keeper.close()),
                Gate::Tx(keeper) => drop(keeper.close()),
            }
        }
    }

    /// The first ring that has retired, and why.
    pub(crate) fn fault(&mut self) -> Option<(usize, RingFault)> {
        self.rings.iter_mut().enumerate().find_map(|(index, ring)| {
            let fault = match &mut ring.gate {
                Gate::Rx(keeper) => keeper.with(|state| state.ring.fault()),
                Gate::Tx(keeper) => keeper.with(|state| state.ring.fault()),
            };
            Some((index, fault??))
        })
    }
}

fn notifier(kick: Arc<EventFd>) -> Notifier {
    Arc::new(move || kick.signal())
}
