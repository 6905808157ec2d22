//! What the control thread knows and the port's owner asks for: state of the link, features agreed, paths taken.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpps_virtq::{Features, PathName};

/// Written by the control thread, read by whoever owns the port.
#[derive(Default)]
pub(crate) struct Published {
    link_up: AtomicBool,
    /// A queue has met a fault, or was told to look.
    alarm: AtomicBool,
    running: Mutex<Option<Running>>,
}

/// A port with its rings enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) features: Features,
    pub(crate) rx: Option<PathName>,
    pub(crate) tx: Option<PathName>,
}

impl Published {
    pub(crate) fn link_up(&self) -> bool {
        // Relaxed: a lone flag.
        self.link_up.load(Ordering::Relaxed)
    }

    pub(crate) fn running(&self) -> Option<Running> {
        *self.lock()
    }

    /// Whether the link has changed by this.
    pub(crate) fn publish(&self, running: Option<Running>) -> bool {
        *self.lock() = running;
        let up = running.is_some();
        // Relaxed: a lone flag.
        self.link_up.swap(up, Ordering::Relaxed) != up
    }

    /// A poller found that its ring has retired.
    pub(crate) fn raise_alarm(&self) {
        // Relaxed: the waker that follows orders it.
        self.alarm.store(true, Ordering::Relaxed);
    }

    /// Whether there was an alarm since the last call.
    pub(crate) fn take_alarm(&self) -> bool {
        // Relaxed: the waker that came before orders it.
        self.alarm.swap(false, Ordering::Relaxed)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
