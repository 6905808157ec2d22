//! What commands do to single queues: size, start and stop, deferred start.

use super::App;
use super::all_ports::descriptors_fit;
use crate::text::{ConfigRefusal, Side};

/// The words of a side: `RX`, `rxq`.
fn words(side: Side) -> (&'static str, &'static str) {
    match side {
        Side::Rx => ("RX", "rxq"),
        Side::Tx => ("TX", "txq"),
    }
}

impl App {
    /// How many queues of the side each port has.
    pub(super) fn queue_count(&self, side: Side) -> u16 {
        match side {
            Side::Rx => self.forwarding.rxq,
            Side::Tx => self.forwarding.txq,
        }
    }

    /// There is such a queue.
    fn need_queue(&mut self, id: u16, side: Side, queue: u16) -> Result<(), ConfigRefusal> {
        self.need_port(id)?;
        let ((name, word), have) = (words(side), self.queue_count(side));
        if queue < have {
            Ok(())
        } else {
            Err(ConfigRefusal::NoQueue(name, queue, word, have))
        }
    }

    /// `port config {p} rxq|txq {q} ring_size`: descriptors of one queue from the next start on; 0 for what the port prefers.
    ///
    /// # Errors
    /// No such port or queue, or a size that the port can't have.
    pub fn set_ring_size(
        &mut self,
        id: u16,
        side: Side,
        queue: u16,
        size: u16,
    ) -> Result<(), ConfigRefusal> {
        self.need_queue(id, side, queue)?;
        let slot = self.need_port(id)?;
        descriptors_fit(slot, side, size)?;
        slot.wishes.queue_mut(side, queue).size = (size != 0).then_some(size);
        slot.reconfigure = true;
        Ok(())
    }

    /// `port {p} rxq|txq {q} start|stop`, also while forwarding. A stream whose queue was stopped at the start of forwarding
    /// isn't visited until the next one.
    ///
    /// # Errors
    /// No such port or queue, or the port doesn't run.
    pub fn start_queue(
        &mut self,
        id: u16,
        side: Side,
        queue: u16,
        start: bool,
    ) -> Result<(), ConfigRefusal> {
        self.need_queue(id, side, queue)?;
        let slot = self.need_port(id)?;
        if !slot.is_started() {
            return Err(ConfigRefusal::StartPort(id));
        }
        let port = slot.dev.port();
        let was = match side {
            Side::Rx => port.rx_started(usize::from(queue)),
            Side::Tx => port.tx_started(usize::from(queue)),
        };
        let done = match side {
            Side::Rx => port.set_rx_started(usize::from(queue), start),
            Side::Tx => port.set_tx_started(usize::from(queue), start),
        };
        if !done {
            let (name, _) = words(side);
            return Err(ConfigRefusal::Own(format!(
                "port {id}: {name} queue {queue} has nothing to start or stop"
            )));
        }
        if start && !was && self.is_forwarding(id) {
            self.out.complain("mpps: a queue that was stopped when forwarding started is visited from the next start on");
        }
        Ok(())
    }

    /// `port {p} rxq|txq {q} deferred_start`: whether the queue stays stopped when the port starts.
    ///
    /// # Errors
    /// No such port or queue, or the port runs.
    pub fn set_deferred(
        &mut self,
        id: u16,
        side: Side,
        queue: u16,
        on: bool,
    ) -> Result<(), ConfigRefusal> {
        self.need_stopped(id)?;
        self.need_queue(id, side, queue)?;
        let slot = self.need_port(id)?;
        slot.wishes.queue_mut(side, queue).deferred = on;
        slot.reconfigure = true;
        Ok(())
    }

    /// `port {p} rxq|txq {q} setup`: the queue is made anew when the port starts; a port that runs keeps its queues.
    ///
    /// # Errors
    /// No such port or queue, or the port runs.
    pub fn set_up_queue(&mut self, id: u16, side: Side, queue: u16) -> Result<(), ConfigRefusal> {
        let slot = self.need_port(id)?;
        let started = slot.is_started();
        let ((name, word), have) = (words(side), self.queue_count(side));
        if queue >= have {
            return Err(ConfigRefusal::NoQueueToSetUp(name, queue, word, have));
        }
        if started {
            let hint = format!(
                "a running port keeps its queues; 'port stop {id}' and 'port start {id}' make them anew"
            );
            return Err(ConfigRefusal::Setup(name, hint));
        }
        self.need_port(id)?.reconfigure = true;
        Ok(())
    }
}
