//! What commands asked of one port and its queues, beyond what all ports are asked for.
//!
//! Part of a [`PortSlot`](super::PortSlot): written by commands, read when the port is configured at its next start.

use crate::text::Side;

/// What one queue is asked to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueWish {
    /// Descriptors; what all ports are asked for where `None`.
    pub size: Option<u16>,
    /// Not started with the port.
    pub deferred: bool,
    /// Offloads beyond those of the port.
    pub offloads: u64,
}

/// What one port is asked to be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortWishes {
    /// The MTU; what all ports are asked for where `None`.
    pub mtu: Option<u16>,
    rx: Vec<QueueWish>,
    tx: Vec<QueueWish>,
}

impl PortWishes {
    /// What a queue is asked to be; queues that nothing was said of are as the port.
    pub fn queue(&self, side: Side, queue: u16) -> QueueWish {
        self.side(side)
            .get(usize::from(queue))
            .copied()
            .unwrap_or_default()
    }

    /// The same, for writing.
    pub(super) fn queue_mut(&mut self, side: Side, queue: u16) -> &mut QueueWish {
        let at = usize::from(queue);
        let queues = match side {
            Side::Rx => &mut self.rx,
            Side::Tx => &mut self.tx,
        };
        if queues.len() <= at {
            queues.resize(at + 1, QueueWish::default());
        }
        &mut queues[at]
    }

    /// All queues that anything was said of.
    pub(super) fn queues_mut(&mut self, side: Side) -> impl Iterator<Item = &mut QueueWish> {
        match side {
            Side::Rx => self.rx.iter_mut(),
            Side::Tx => self.tx.iter_mut(),
        }
    }

    /// Forgets what was said of queues from `count` on: they are gone.
    pub(super) fn truncate(&mut self, side: Side, count: u16) {
        match side {
            Side::Rx => self.rx.truncate(usize::from(count)),
            Side::Tx => self.tx.truncate(usize::from(count)),
        }
    }

    fn side(&self, side: Side) -> &[QueueWish] {
        match side {
            Side::Rx => &self.rx,
            Side::Tx => &self.tx,
        }
    }
}
