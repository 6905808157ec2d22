//! What single queues say of themselves, where their port tells: `show rxq|txq info`, `desc used count`.

use mpps_dev::{QueueInfo, Thresholds};

use super::{App, PortSlot};
use crate::text::{
    self, BurstMode, QueueInfoFailure, QueueState, Reply, RxQueueInfo, ShowRefusal, Side,
    TxQueueInfo,
};

impl App {
    /// `show rxq|txq info`. Most software ports have no rings of their own to tell of, and DPDK's answer in the same way.
    pub fn show_queue_info(&mut self, id: u16, side: Side, queue: u16) {
        let word = if side == Side::Rx { "Rx" } else { "Tx" };
        let (reason, code) = match self.queues_of(id, side) {
            None => {
                self.out.complain(ShowRefusal::NoPort(id));
                ("No such device", -19)
            }
            Some(n) if queue >= n => {
                self.out.complain(ShowRefusal::NoQueue(word, queue));
                ("Invalid argument", -22)
            }
            Some(_) => match self.port(id).and_then(|slot| block(slot, side, queue)) {
                Some(block) => return self.out.block(block),
                None => ("Operation not supported", -95),
            },
        };
        let side = if side == Side::Rx { "RX" } else { "TX" };
        self.out.complain(QueueInfoFailure {
            port: id,
            side,
            queue,
            reason,
            code,
        });
    }

    /// `show port P rxq|txq Q desc used count`.
    pub fn show_used_descriptors(&mut self, id: u16, side: Side, queue: u16) {
        let Some(slot) = self.port(id) else {
            return self.out.complain(ShowRefusal::PortId(id));
        };
        let exists = self.queues_of(id, side).is_some_and(|n| queue < n);
        let (word, used) = match side {
            Side::Rx => ("Rx", slot.dev.rx_queue_used(queue)),
            Side::Tx => ("Tx", slot.dev.tx_queue_used(queue)),
        };
        match used.filter(|_| exists) {
            Some(used) => self.out.line(Reply::UsedDescriptors(word, queue, used)),
            None => self.out.complain(ShowRefusal::UsedQueue(queue)),
        }
    }
}

/// The block of a queue whose port tells.
fn block(slot: &PortSlot, side: Side, queue: u16) -> Option<String> {
    match side {
        Side::Rx => rx_block(slot, queue, &slot.dev.rx_queue_info(queue)?),
        Side::Tx => tx_block(slot, queue, &slot.dev.tx_queue_info(queue)?),
    }
}

fn rx_block(slot: &PortSlot, queue: u16, info: &QueueInfo) -> Option<String> {
    let port = slot.dev.port();
    let config = port.config().rx.get(usize::from(queue))?;
    let block = RxQueueInfo {
        port: slot.id,
        queue,
        pool: Some(&config.pool.config().name),
        thresholds: registers(&config.queue.thresholds),
        free: config.queue.thresholds.free,
        drop: config.drop_en,
        deferred: config.queue.deferred_start,
        scattered: info.scattered,
        state: state(port.rx_started(usize::from(queue))),
        buffer: info.buffer_size,
        desc: info.descriptors,
        burst_mode: burst_mode(info),
    };
    Some(block.to_string())
}

fn tx_block(slot: &PortSlot, queue: u16, info: &QueueInfo) -> Option<String> {
    let port = slot.dev.port();
    let config = port.config().tx.get(usize::from(queue))?;
    let block = TxQueueInfo {
        port: slot.id,
        queue,
        thresholds: registers(&config.queue.thresholds),
        rs: config.queue.thresholds.rs,
        free: config.queue.thresholds.free,
        deferred: config.queue.deferred_start,
        desc: info.descriptors,
        state: state(port.tx_started(usize::from(queue))),
        burst_mode: burst_mode(info),
    };
    Some(block.to_string())
}

fn registers(thresholds: &Thresholds) -> text::Thresholds {
    text::Thresholds {
        prefetch: thresholds.prefetch,
        host: thresholds.host,
        writeback: thresholds.write_back,
    }
}

fn state(started: bool) -> QueueState {
    if started {
        QueueState::Started
    } else {
        QueueState::Stopped
    }
}

fn burst_mode(info: &QueueInfo) -> Option<BurstMode<'_>> {
    info.burst_mode.as_deref().map(|text| BurstMode {
        text,
        per_queue: false,
    })
}
