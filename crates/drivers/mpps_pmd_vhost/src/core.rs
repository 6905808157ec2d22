//! What the main thread and the control thread share under one lock: the front end, and the rings' keepers.
//!
//! Made with the port and dropped with it. The control thread holds the lock while it handles a message, the main thread
//! while it starts or stops the port or asks for something; nobody holds it while telling others of events, and no poller
//! ever takes it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use mpps_dev::PortEvent;
use mpps_kernels::CopyKind;
use mpps_mbuf::Pool;
use mpps_ring::{Keeper, gate};
use mpps_virtq::{PathName, Tally};

use crate::peer::Peer;
use crate::queue::{RxState, TxState};
use crate::settings::Settings;

/// What others read without the lock.
#[derive(Debug, Default)]
pub(crate) struct Published {
    pub(crate) link_up: AtomicBool,
    /// A front end has been connected, ever.
    pub(crate) was_connected: AtomicBool,
    /// MTU as the front end set it; zero where it didn't.
    pub(crate) mtu: AtomicU32,
}

impl Published {
    pub(crate) fn is_up(&self) -> bool {
        // Relaxed: a lone flag, shown to people.
        self.link_up.load(Ordering::Relaxed)
    }
}

/// A receive queue: the front end's transmit ring.
pub(crate) struct RxSide {
    pub(crate) keeper: Keeper<RxState>,
    /// Where packets go; none while the port is stopped or has no such queue.
    pub(crate) pool: Option<Pool>,
    pub(crate) tally: Arc<Tally>,
    pub(crate) path: Option<PathName>,
}

/// A transmit queue: the front end's receive ring.
pub(crate) struct TxSide {
    pub(crate) keeper: Keeper<TxState>,
    /// The port is started and has such a queue.
    pub(crate) used: bool,
    pub(crate) tally: Arc<Tally>,
    pub(crate) path: Option<PathName>,
}

/// The back end of one port.
pub(crate) struct Core {
    pub(crate) settings: Arc<Settings>,
    pub(crate) published: Arc<Published>,
    pub(crate) copy: CopyKind,
    pub(crate) peer: Option<Peer>,
    pub(crate) rx: Vec<RxSide>,
    pub(crate) tx: Vec<TxSide>,
    /// Features as last told.
    pub(crate) told_features: Option<u64>,
}

/// What is to be done once the lock is released.
#[derive(Default)]
pub(crate) struct Outcome {
    /// Bytes for the front end.
    pub(crate) reply: Option<Vec<u8>>,
    /// Events in order.
    pub(crate) events: Vec<PortEvent>,
    /// Lines for whoever watches.
    pub(crate) notes: Vec<String>,
    /// The connection can't go on.
    pub(crate) hang_up: bool,
}

impl Core {
    pub(crate) fn new(settings: Arc<Settings>, published: Arc<Published>, copy: CopyKind) -> Self {
        let pairs = usize::from(settings.pairs);
        let rx = std::iter::repeat_with(|| RxSide {
            keeper: gate(),
            pool: None,
            tally: Arc::default(),
            path: None,
        });
        let tx = std::iter::repeat_with(|| TxSide {
            keeper: gate(),
            used: false,
            tally: Arc::default(),
            path: None,
        });
        Self {
            settings,
            published,
            copy,
            peer: None,
            rx: rx.take(pairs).collect(),
            tx: tx.take(pairs).collect(),
            told_features: None,
        }
    }

    /// A front end has come.
    pub(crate) fn connect(&mut self) {
        self.peer = Some(Peer::new(self.settings.rings()));
        // Relaxed, here and below: lone values, shown to people.
        self.published.was_connected.store(true, Ordering::Relaxed);
    }

    /// The front end has gone: its memory is given back, all that it told is forgotten.
    pub(crate) fn disconnect(&mut self) -> Outcome {
        let mut out = Outcome::default();
        self.close_all();
        self.stop_running(&mut out);
        self.peer = None;
        out
    }

    /// Whether the front end cut off some of what it shares.
    pub(crate) fn is_lost(&self) -> bool {
        self.peer.as_ref().is_some_and(Peer::is_lost)
    }

    /// The device runs no more.
    pub(crate) fn stop_running(&mut self, out: &mut Outcome) {
        if let Some(peer) = &mut self.peer
            && peer.running
        {
            peer.running = false;
            // Relaxed: a lone flag, partner of nothing.
            self.published.link_up.store(false, Ordering::Relaxed);
            out.events.push(PortEvent::LinkState);
        }
    }

    /// Brings everything in line with what the front end has told: whether the device runs, which rings are open, and
    /// what is to be told of it.
    pub(crate) fn refresh(&mut self, out: &mut Outcome) {
        if self.peer.as_ref().is_some_and(|peer| !peer.driver_ok()) {
            self.stop_running(out);
        }
        let Some(peer) = &mut self.peer else {
            return;
        };
        let up = !peer.running && peer.driver_ok() && peer.ready(0) && peer.ready(1);
        peer.running |= up;
        if up && self.told_features.replace(peer.features) != Some(peer.features) {
            out.notes
                .push(format!("the front end took features {:#x}", peer.features));
        }
        for index in 0..peer.rings.len() {
            let ready = peer.ready(index);
            if let Some(ring) = peer.rings.get_mut(index)
                && ring.was_ready != ready
            {
                ring.was_ready = ready;
                out.events.push(PortEvent::QueueState);
            }
        }
        self.open_ready(out);
        if up {
            // Relaxed: a lone flag, partner of nothing.
            self.published.link_up.store(true, Ordering::Relaxed);
            out.events.push(PortEvent::LinkState);
        }
    }
}
