//! What a port tells the program unasked: a peer came, went, or switched a queue on or off.
//!
//! The program makes one [`Events`] from a function and hands it to each port when it is probed
//! ([`crate::ProbeContext`]); a port's control thread calls it. The function must not block on that port.

use std::sync::Arc;

use crate::PortId;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PortEvent {
    /// The link came up or went down; [`crate::EthDev::link`] says which.
    LinkState,
    /// The peer switched a queue on or off.
    QueueState,
}

/// Whom a port tells.
#[derive(Clone, Default)]
pub struct Events(Option<Arc<dyn Fn(PortId, PortEvent) + Send + Sync>>);

impl Events {
    /// Calls `listener`, on the thread of the port that has something to tell.
    pub fn to(listener: impl Fn(PortId, PortEvent) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// Tells of `event`.
    pub fn tell(&self, port: PortId, event: PortEvent) {
        if let Some(listener) = &self.0 {
            listener(port, event);
        }
    }
}

impl std::fmt::Debug for Events {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() {
            "Events(heard)"
        } else {
            "Events(unheard)"
        })
    }
}
