//! `port config all`: what is asked of every port, while all are stopped. Applied when the ports start.

use super::port_settings::mtu_fits;
use super::{App, PortSlot};
use crate::text::{ConfigRefusal, Reply, Side};

/// Ethernet header and FCS: what a frame is longer than its MTU.
const OVERHEAD: u32 = 18;

/// The shortest frame.
const FRAME_MIN: u32 = 64;

/// A threshold register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threshold {
    /// Prefetch of receive rings.
    RxPrefetch,
    /// Host, of receive rings.
    RxHost,
    /// Write-back of receive rings.
    RxWriteBack,
    /// Prefetch of transmit rings.
    TxPrefetch,
    /// Host, of transmit rings.
    TxHost,
    /// Write-back of transmit rings.
    TxWriteBack,
}

/// A threshold of buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FreeThreshold {
    /// Free threshold of receive rings.
    RxFree,
    /// Free threshold of transmit rings.
    TxFree,
    /// RS threshold of transmit rings.
    TxRs,
}

/// The word that commands have for the queues of a side.
fn queues_word(side: Side) -> &'static str {
    match side {
        Side::Rx => "rxq",
        Side::Tx => "txq",
    }
}

impl App {
    /// Every port applies its configuration anew when it starts.
    fn reconfigure_all(&mut self) {
        self.ports
            .iter_mut()
            .flatten()
            .for_each(|slot| slot.reconfigure = true);
    }

    /// `port config all rxq|txq`: queues of each port.
    ///
    /// # Errors
    /// A port runs or can't have as many, or no queue would be left.
    pub fn set_queue_count(&mut self, side: Side, count: u16) -> Result<(), ConfigRefusal> {
        self.need_all_stopped()?;
        let other = match side {
            Side::Rx => self.forwarding.txq,
            Side::Tx => self.forwarding.rxq,
        };
        if count == 0 && other == 0 {
            return Err(ConfigRefusal::NoQueues);
        }
        let most = |slot: &PortSlot| match side {
            Side::Rx => slot.dev.info().max_rx_queues,
            Side::Tx => slot.dev.info().max_tx_queues,
        };
        // The port that can have the fewest is named, as DPDK names it.
        let least = self.ports.iter().flatten().min_by_key(|slot| most(slot));
        if let Some(slot) = least.filter(|slot| most(slot) < count) {
            return Err(ConfigRefusal::TooManyQueues(
                queues_word(side),
                count,
                most(slot),
                slot.id,
            ));
        }
        match side {
            Side::Rx => self.forwarding.rxq = count,
            Side::Tx => self.forwarding.txq = count,
        }
        self.ports
            .iter_mut()
            .flatten()
            .for_each(|slot| slot.wishes.truncate(side, count));
        self.reconfigure_all();
        self.lay_out();
        Ok(())
    }

    /// `port config all rxd|txd`: descriptors of every queue; 0 for what the port prefers.
    ///
    /// # Errors
    /// A port runs or can't have as many.
    pub fn set_descriptors(&mut self, side: Side, count: u16) -> Result<(), ConfigRefusal> {
        self.need_all_stopped()?;
        for slot in self.ports.iter().flatten() {
            descriptors_fit(slot, side, count)?;
        }
        let wish = (count != 0).then_some(count);
        match side {
            Side::Rx => self.forwarding.rxd = wish,
            Side::Tx => self.forwarding.txd = wish,
        }
        for slot in self.ports.iter_mut().flatten() {
            slot.wishes
                .queues_mut(side)
                .for_each(|queue| queue.size = None);
        }
        self.reconfigure_all();
        Ok(())
    }

    /// `port config all burst`. 0 asks the first port for its recommendation, and no port here has one.
    ///
    /// # Errors
    /// A port runs, or the number is more than 512.
    pub fn set_burst_of_all(&mut self, packets: u16) -> Result<(), ConfigRefusal> {
        self.need_all_stopped()?;
        if packets == 0 {
            self.out.line(Reply::NoBurst);
        } else if usize::from(packets) > mpps_mbuf::BURST_MAX {
            return Err(ConfigRefusal::Burst);
        } else {
            self.store_burst(packets);
        }
        Ok(())
    }

    /// `port config all max-pkt-len`: the longest frame, FCS included, as the MTU of every port. All ports or none.
    ///
    /// # Errors
    /// A port runs or can't have frames as long.
    pub fn set_max_pkt_len(&mut self, bytes: u32) -> Result<(), ConfigRefusal> {
        self.need_all_stopped()?;
        if bytes < FRAME_MIN {
            return Err(ConfigRefusal::MaxPktLen);
        }
        let mtu = bytes - OVERHEAD;
        for slot in self.ports.iter().flatten() {
            mtu_fits(slot, mtu).map_err(|_| ConfigRefusal::Mtu(mtu, slot.id))?;
        }
        for slot in self.ports.iter_mut().flatten() {
            let fitting = u16::try_from(mtu).unwrap_or(u16::MAX);
            slot.dev
                .set_mtu(fitting)
                .map_err(|_| ConfigRefusal::Mtu(mtu, slot.id))?;
            slot.wishes.mtu = None;
        }
        self.args.pools.max_pkt_len = Some(bytes);
        self.reconfigure_all();
        Ok(())
    }

    /// `port config all max-lro-pkt-size`: kept for ports that do LRO; none here does.
    ///
    /// # Errors
    /// A port runs.
    pub fn set_max_lro(&mut self, bytes: u32) -> Result<(), ConfigRefusal> {
        self.need_all_stopped()?;
        self.args.pools.max_lro_pkt_size = bytes;
        self.out
            .complain("mpps: max-lro-pkt-size has no effect: no port here does LRO");
        Ok(())
    }

    /// `port config all drop-en`.
    ///
    /// # Errors
    /// A port runs.
    pub fn set_drop_en(&mut self, on: bool) -> Result<(), ConfigRefusal> {
        self.need_all_stopped()?;
        self.args.offloads.drop_en = on;
        self.reconfigure_all();
        Ok(())
    }

    /// `port config all rxpt` and the like; shown by `show config rxtx`, of no effect on software ports.
    ///
    /// # Errors
    /// A port runs.
    pub fn set_threshold(&mut self, which: Threshold, value: u8) -> Result<(), ConfigRefusal> {
        self.need_all_stopped()?;
        let queues = &mut self.args.queues;
        let register = match which {
            Threshold::RxPrefetch => &mut queues.rxpt,
            Threshold::RxHost => &mut queues.rxht,
            Threshold::RxWriteBack => &mut queues.rxwt,
            Threshold::TxPrefetch => &mut queues.txpt,
            Threshold::TxHost => &mut queues.txht,
            Threshold::TxWriteBack => &mut queues.txwt,
        };
        *register = Some(value);
        self.reconfigure_all();
        Ok(())
    }

    /// `port config all rxfreet|txfreet|txrst`; likewise.
    ///
    /// # Errors
    /// A port runs.
    pub fn set_free_threshold(
        &mut self,
        which: FreeThreshold,
        value: u16,
    ) -> Result<(), ConfigRefusal> {
        self.need_all_stopped()?;
        let queues = &mut self.args.queues;
        let threshold = match which {
            FreeThreshold::RxFree => &mut queues.rxfreet,
            FreeThreshold::TxFree => &mut queues.txfreet,
            FreeThreshold::TxRs => &mut queues.txrst,
        };
        *threshold = Some(value);
        self.reconfigure_all();
        Ok(())
    }
}

/// Whether a queue of the port can have so many descriptors; 0 always fits, being the port's own choice.
pub(super) fn descriptors_fit(
    slot: &PortSlot,
    side: Side,
    count: u16,
) -> Result<(), ConfigRefusal> {
    let info = slot.dev.info();
    let (name, (least, most, align)) = match side {
        Side::Rx => ("nb_rx_desc", info.rx_descriptors),
        Side::Tx => ("nb_tx_desc", info.tx_descriptors),
    };
    if count == 0 || (count >= least && count <= most && count.is_multiple_of(align.max(1))) {
        return Ok(());
    }
    Err(ConfigRefusal::Own(format!(
        "port {}: Invalid value for {name}(={count}), should be: <= {most}, >= {least}, and a product of {align}",
        slot.id
    )))
}
