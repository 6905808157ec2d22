//! What a port tells the program unasked: a peer came, went, or switched a queue on or off; and lines for the person who watches.
//!
//! The program makes one [`Events`] from a listener and hands it to each port when it is probed
//! ([`crate::ProbeContext`]); a port's control thread calls it. The listener must not wait for that port.

use std::fmt::Display;
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

/// Who hears of events. Called on the threads of ports, possibly on several at a time.
pub trait Listener: Send + Sync {
    /// Something happened to a port.
    fn event(&self, port: PortId, event: PortEvent);

    /// A port has one line to say, without a newline at its end: a peer that broke the rules, a path taken.
    fn note(&self, port: PortId, line: &str);
}

/// Whom a port tells.
#[derive(Clone, Default)]
pub struct Events(Option<Arc<dyn Listener>>);

impl Events {
    /// Calls `listener` with events; lines go nowhere.
    pub fn to(listener: impl Fn(PortId, PortEvent) + Send + Sync + 'static) -> Self {
        Self::heard_by(EventsAlone(listener))
    }

    /// Tells `listener` of everything, on the thread of the port that has something to tell.
    pub fn heard_by(listener: impl Listener + 'static) -> Self {
        Self(Some(Arc::new(listener)))
    }

    /// Tells of `event`.
    pub fn tell(&self, port: PortId, event: PortEvent) {
        if let Some(listener) = &self.0 {
            listener.event(port, event);
        }
    }

    /// Says `line`, which the program shows as one line with the port's number.
    pub fn note(&self, port: PortId, line: impl Display) {
        if let Some(listener) = &self.0 {
            listener.note(port, &line.to_string());
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

struct EventsAlone<F>(F);

impl<F: Fn(PortId, PortEvent) + Send + Sync> Listener for EventsAlone<F> {
    fn event(&self, port: PortId, event: PortEvent) {
        (self.0)(port, event);
    }

    fn note(&self, _: PortId, _: &str) {}
}

#[cfg(test)]
mod tests;
