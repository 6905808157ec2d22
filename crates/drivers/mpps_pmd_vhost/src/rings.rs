//! Opening and closing rings as what the front end has told of them changes.

use std::sync::Arc;

use mpps_mbuf::Pool;
use mpps_shm::peer::GuestMemory;
use mpps_vhost_proto::{F_LOG_ALL, F_PROTOCOL_FEATURES};
use mpps_virtq::{DeviceRx, DeviceSetup, DeviceTx, Features, Notifier, PathName, RingFault};

use crate::core::{Core, Outcome};
use crate::peer::{Peer, Vring};
use crate::queue::{RxState, TxState};

/// Whether a ring is a transmit queue of the port: a receive ring of the front end.
fn is_transmit(ring: usize) -> bool {
    ring.is_multiple_of(2)
}

/// A ring's number as the port's queue.
fn queue_name(index: usize) -> String {
    let direction = if is_transmit(index) {
        "transmit"
    } else {
        "receive"
    };
    format!("{direction} queue {}", index / 2)
}

impl Core {
    /// Takes a ring back from its poller. What was not done yet is still in the ring.
    pub(crate) fn close(&mut self, index: usize) {
        let queue = index / 2;
        let base = if is_transmit(index) {
            let state = self.tx.get_mut(queue).and_then(|tx| tx.keeper.close());
            state.map(|state| state.ring.base())
        } else {
            let state = self.rx.get_mut(queue).and_then(|rx| rx.keeper.close());
            state.map(|state| state.ring.base())
        };
        if let Some(base) = base
            && let Some(ring) = self.vring(index)
        {
            ring.base = base;
        }
    }

    pub(crate) fn close_all(&mut self) {
        for index in 0..self.settings.rings() {
            self.close(index);
        }
    }

    pub(crate) fn vring(&mut self, index: usize) -> Option<&mut Vring> {
        self.peer.as_mut()?.rings.get_mut(index)
    }

    fn is_open(&self, index: usize) -> bool {
        let queue = index / 2;
        if is_transmit(index) {
            self.tx.get(queue).is_some_and(|tx| tx.keeper.is_open())
        } else {
            self.rx.get(queue).is_some_and(|rx| rx.keeper.is_open())
        }
    }

    /// Closes rings that must not be polled, opens those that can be.
    pub(crate) fn open_ready(&mut self, out: &mut Outcome) {
        for index in 0..self.settings.rings() {
            let wanted = self.peer.as_ref().is_some_and(|peer| {
                peer.running
                    && peer.ready(index)
                    && peer.rings.get(index).is_some_and(|ring| !ring.dead)
            });
            match (wanted, self.is_open(index)) {
                (true, false) => self.open(index, out),
                (false, true) => self.close(index),
                _ => {}
            }
        }
    }

    fn open(&mut self, index: usize, out: &mut Outcome) {
        let Some(setup) = self.setup(index) else {
            return;
        };
        let opened = if is_transmit(index) {
            self.open_tx(index / 2, &setup)
        } else {
            self.open_rx(index / 2, &setup)
        };
        match opened {
            None => {}
            // What the ring says is no word of the front end; the connection is about to end for this.
            Some(_) if self.is_lost() => {}
            Some(Ok(opened)) => {
                // A packed ring has no index of its own that could say otherwise.
                if !setup.features.contains(Features::RING_PACKED) && opened.base != setup.base {
                    out.notes.push(format!(
                        "{}: the front end says that it goes on at {}, its ring says {}; the ring is right",
                        queue_name(index), setup.base, opened.base
                    ));
                }
                if let Some(path) = opened.new_path {
                    out.notes.push(format!("{}: {path}", queue_name(index)));
                }
            }
            Some(Err(fault)) => self.bury(index, &fault, out),
        }
    }

    fn setup(&mut self, index: usize) -> Option<DeviceSetup> {
        let (copy, linear) = (self.copy, self.settings.linear);
        let tally = if is_transmit(index) {
            self.tx.get(index / 2)?.tally.clone()
        } else {
            self.rx.get(index / 2)?.tally.clone()
        };
        let peer = self.peer.as_ref()?;
        let memory: Arc<GuestMemory> = peer.memory.table()?.clone();
        let ring = peer.rings.get(index)?;
        let call = ring
            .call
            .clone()
            .map(|event| -> Notifier { Arc::new(move || event.signal()) });
        Some(DeviceSetup {
            size: ring.size,
            rings: ring.addresses?,
            base: ring.base,
            features: device_features(peer),
            memory,
            call,
            log: peer.log.clone().filter(|_| peer.features & F_LOG_ALL != 0),
            copy,
            tally,
            linear,
        })
    }

    fn open_rx(&mut self, queue: usize, setup: &DeviceSetup) -> Option<Result<Opened, RingFault>> {
        let side = self.rx.get_mut(queue)?;
        let pool: Pool = side.pool.clone()?;
        let ring = match DeviceRx::open(setup, &pool) {
            Ok(ring) => ring,
            Err(fault) => return Some(Err(fault)),
        };
        let opened = Opened::of(ring.base(), ring.path(), &mut side.path);
        let mut state = RxState::new(ring, pool, setup.memory.clone());
        if queue == 0 {
            state.announce = self.peer.as_mut().and_then(|peer| peer.announce.take());
        }
        side.keeper.open(Box::new(state));
        Some(Ok(opened))
    }

    fn open_tx(&mut self, queue: usize, setup: &DeviceSetup) -> Option<Result<Opened, RingFault>> {
        let side = self.tx.get_mut(queue)?;
        if !side.used {
            return None;
        }
        let ring = match DeviceTx::open(setup) {
            Ok(ring) => ring,
            Err(fault) => return Some(Err(fault)),
        };
        let opened = Opened::of(ring.base(), ring.path(), &mut side.path);
        side.keeper
            .open(Box::new(TxState::new(ring, setup.memory.clone())));
        Some(Ok(opened))
    }

    /// Looks after what pollers and the kernel have found: rings that retired, memory that was cut off.
    pub(crate) fn look_after(&mut self) -> Outcome {
        let mut out = Outcome::default();
        if self.is_lost() {
            out.notes.push(
                "the front end truncated the memory that it shares; waiting for a new front end"
                    .to_owned(),
            );
            out.hang_up = true;
            return out;
        }
        for index in 0..self.settings.rings() {
            let queue = index / 2;
            let fault = if is_transmit(index) {
                let side = self.tx.get_mut(queue);
                side.and_then(|tx| tx.keeper.with(|state| state.ring.fault()))
            } else {
                let side = self.rx.get_mut(queue);
                side.and_then(|rx| rx.keeper.with(|state| state.ring.fault()))
            };
            if let Some(fault) = fault.flatten() {
                self.close(index);
                self.bury(index, &fault, &mut out);
            }
        }
        out
    }

    /// A ring stays closed until the front end describes it anew or switches it on again.
    fn bury(&mut self, index: usize, fault: &RingFault, out: &mut Outcome) {
        if let Some(ring) = self.vring(index) {
            ring.dead = true;
            if let Some(err) = &ring.err {
                err.signal();
            }
        }
        out.notes.push(format!(
            "{}: {fault}; the queue rests until the front end sets it up again",
            queue_name(index)
        ));
    }
}

struct Opened {
    base: u32,
    new_path: Option<PathName>,
}

impl Opened {
    fn of(base: u32, path: PathName, last: &mut Option<PathName>) -> Self {
        let new_path = (*last != Some(path)).then_some(path);
        *last = Some(path);
        Self { base, new_path }
    }
}

fn device_features(peer: &Peer) -> Features {
    Features::from_bits_retain(peer.features & !(F_LOG_ALL | F_PROTOCOL_FEATURES))
}
