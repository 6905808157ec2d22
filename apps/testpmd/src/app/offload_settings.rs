//! Offloads of ports and queues, while the port is stopped. What a port lacks is refused at once, not at its next start.

use super::{App, PortSlot, Which};
use crate::text::{ConfigRefusal, Names, Side};

/// What the port can have as a whole, and what each queue can.
pub(super) fn capable(slot: &PortSlot, side: Side) -> (u64, u64) {
    let info = slot.dev.info();
    match side {
        Side::Rx => (info.rx_offloads.bits(), info.rx_queue_offloads.bits()),
        Side::Tx => (info.tx_offloads.bits(), info.tx_queue_offloads.bits()),
    }
}

/// What is asked of the port as a whole.
pub(super) fn wanted(slot: &mut PortSlot, side: Side) -> &mut u64 {
    match side {
        Side::Rx => &mut slot.rx_offloads,
        Side::Tx => &mut slot.tx_offloads,
    }
}

/// The names of offloads, or "none".
fn listed(side: Side, bits: u64) -> String {
    let names = Names {
        table: side.table(),
        bits,
    }
    .to_string();
    if bits == 0 {
        "none".to_owned()
    } else {
        names.trim().to_owned()
    }
}

impl App {
    /// `port config {p}|all rx_offload|tx_offload {name}`: an offload of the port and all its queues.
    ///
    /// # Errors
    /// No such port, it runs, or it lacks the offload; with `all` nothing changes then at any port.
    pub fn set_offload(
        &mut self,
        which: Which,
        side: Side,
        bits: u64,
        on: bool,
    ) -> Result<(), ConfigRefusal> {
        let ids = match which {
            Which::All => self.port_ids(),
            Which::One(id) => vec![id],
        };
        for id in &ids {
            let slot = self.port(*id).ok_or(ConfigRefusal::NoInfo(*id))?;
            if slot.is_started() {
                return Err(ConfigRefusal::OffloadRunning(*id));
            }
            let (of_port, of_queues) = capable(slot, side);
            let missing = bits & !(of_port | of_queues);
            if on && missing != 0 {
                return Err(lacks(*id, "it", side, missing, of_port | of_queues));
            }
        }
        for slot in self
            .ports
            .iter_mut()
            .flatten()
            .filter(|slot| ids.contains(&slot.id))
        {
            let now = wanted(slot, side);
            *now = if on { *now | bits } else { *now & !bits };
            if !on {
                slot.wishes
                    .queues_mut(side)
                    .for_each(|queue| queue.offloads &= !bits);
            }
            slot.reconfigure = true;
        }
        if which == Which::All {
            // A port that is attached later has them too.
            let options = match side {
                Side::Rx => &mut self.args.offloads.rx,
                Side::Tx => &mut self.args.offloads.tx,
            };
            *options = if on {
                *options | bits
            } else {
                *options & !bits
            };
        }
        Ok(())
    }

    /// `port {p} rxq|txq {q} rx_offload|tx_offload {name}`: an offload of one queue.
    ///
    /// # Errors
    /// No such port or queue, the port runs, or a queue of it can't have the offload alone.
    pub fn set_queue_offload(
        &mut self,
        id: u16,
        side: Side,
        queue: u16,
        bits: u64,
        on: bool,
    ) -> Result<(), ConfigRefusal> {
        let have = self.queue_count(side);
        let slot = self.port_mut(id).ok_or(ConfigRefusal::NoInfo(id))?;
        if slot.is_started() {
            return Err(ConfigRefusal::OffloadRunning(id));
        }
        if queue >= have {
            return Err(ConfigRefusal::OffloadQueue(have.saturating_sub(1)));
        }
        let (_, of_queues) = capable(slot, side);
        let of_port = *wanted(slot, side);
        if !on && bits & of_port != 0 {
            let names = listed(side, bits & of_port);
            return Err(ConfigRefusal::Own(format!(
                "port {id}: {names} is on for the port as a whole; turn it off there"
            )));
        }
        // What the whole port has, each queue has already.
        let missing = bits & !(of_queues | of_port);
        if on && missing != 0 {
            return Err(lacks(id, "a queue of it alone", side, missing, of_queues));
        }
        let wish = &mut slot.wishes.queue_mut(side, queue).offloads;
        *wish = if on {
            *wish | (bits & !of_port)
        } else {
            *wish & !bits
        };
        slot.reconfigure = true;
        Ok(())
    }
}

fn lacks(id: u16, who: &str, side: Side, missing: u64, have: u64) -> ConfigRefusal {
    let direction = if side == Side::Rx { "Rx" } else { "Tx" };
    ConfigRefusal::Own(format!(
        "port {id}: {direction} offload {} is not available; {who} can have {}",
        listed(side, missing),
        listed(side, have)
    ))
}
