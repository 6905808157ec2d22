//! VLAN handling of ports: stripping, filtering, insertion.

use super::offload_settings::capable;
use super::{App, PortSlot};
use crate::text::{ConfigRefusal, Refusal, Side};

/// Bits of receive offloads.
const STRIP: u64 = 1;
const QINQ_STRIP: u64 = 1 << 5;
const FILTER: u64 = 1 << 9;
const EXTEND: u64 = 1 << 10;

/// Bits of transmit offloads.
const INSERT: u64 = 1;
const QINQ_INSERT: u64 = 1 << 8;

/// VLAN ids are below.
const IDS: u16 = 4096;

/// What `vlan set` turns on or off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VlanKind {
    /// Tags are taken out.
    Strip,
    /// Only chosen VLANs pass.
    Filter,
    /// Both tags are taken out.
    QinqStrip,
    /// Two tags are understood.
    Extend,
}

impl VlanKind {
    /// The bit, and DPDK's function.
    fn bit(self) -> (u64, &'static str) {
        match self {
            Self::Strip => (STRIP, "rx_vlan_strip_set"),
            Self::Filter => (FILTER, "rx_vlan_filter_set"),
            Self::QinqStrip => (QINQ_STRIP, "rx_vlan_qinq_strip_set"),
            Self::Extend => (EXTEND, "rx_vlan_extend_set"),
        }
    }
}

fn id_fits(id: u16) -> Result<(), Refusal> {
    if id < IDS {
        Ok(())
    } else {
        Err(Refusal::VlanId(u32::from(id)))
    }
}

impl App {
    /// `vlan set strip|filter|qinq_strip|extend`.
    ///
    /// # Errors
    /// No such port, it lacks the offload, or it runs: offloads are applied when a port starts.
    pub fn set_vlan_offload(
        &mut self,
        id: u16,
        what: VlanKind,
        on: bool,
    ) -> Result<(), ConfigRefusal> {
        let slot = self.need_port(id)?;
        let (bit, function) = what.bit();
        let (have, _) = capable(slot, Side::Rx);
        if on == (slot.rx_offloads & bit != 0) {
            return Ok(());
        }
        if on && have & bit == 0 {
            return Err(ConfigRefusal::Vlan {
                port: id,
                bits: bit,
                have,
                function,
            });
        }
        if slot.is_started() {
            let why = "VLAN offloads are applied when a port starts".to_owned();
            return Err(ConfigRefusal::With(Refusal::StopPort(id), why));
        }
        slot.rx_offloads = if on {
            slot.rx_offloads | bit
        } else {
            slot.rx_offloads & !bit
        };
        slot.reconfigure = true;
        Ok(())
    }

    /// `vlan set stripq`: one queue at a time. No port here can.
    ///
    /// # Errors
    /// Always.
    pub fn set_vlan_strip_queue(&mut self, at: &str, on: bool) -> Result<(), ConfigRefusal> {
        let numbers = at
            .split_once(',')
            .and_then(|(port, queue)| Some((port.parse().ok()?, queue.parse().ok()?)));
        let Some((port, queue)) = numbers else {
            return Err(ConfigRefusal::Own(format!(
                "'{at}' is no port and queue, as in 0,1"
            )));
        };
        self.need_port(port)?;
        Err(ConfigRefusal::VlanQueue(port, queue, on))
    }

    /// `vlan set inner|outer tpid`: no port here can.
    ///
    /// # Errors
    /// Always.
    pub fn set_vlan_type(
        &mut self,
        id: u16,
        outer: bool,
        ether_type: u16,
    ) -> Result<(), ConfigRefusal> {
        self.need_port(id)?;
        Err(ConfigRefusal::VlanType(id, 1 + u8::from(outer), ether_type))
    }

    /// `rx_vlan add|rm`: which VLANs pass.
    ///
    /// # Errors
    /// No such port or VLAN, or the port doesn't filter.
    pub fn set_vlan_member(&mut self, id: u16, vlan: u16, on: bool) -> Result<(), ConfigRefusal> {
        let slot = self.need_port(id)?;
        id_fits(vlan)?;
        if slot.rx_offloads & FILTER == 0 {
            return Err(ConfigRefusal::VlanFilterOff(
                id,
                Refusal::VlanMember(id, vlan, on, -38),
            ));
        }
        Err(Refusal::VlanMember(id, vlan, on, -95).into())
    }

    /// `tx_vlan set`: the tags that packets sent by the port get; the second is the outer one.
    ///
    /// # Errors
    /// No such port or VLAN, the port runs, or it can't insert tags.
    pub fn set_tx_vlan(
        &mut self,
        id: u16,
        vlan: u16,
        outer: Option<u16>,
    ) -> Result<(), ConfigRefusal> {
        let slot = self.need_stopped(id)?;
        id_fits(vlan)?;
        outer.map_or(Ok(()), id_fits)?;
        let (of_port, of_queues) = capable(slot, Side::Tx);
        let (bits, refusal) = match outer {
            None if slot.rx_offloads & EXTEND != 0 => return Err(Refusal::QinqOn.into()),
            None => (INSERT, Refusal::VlanInsert(id)),
            Some(_) => (INSERT | QINQ_INSERT, Refusal::QinqInsert(id)),
        };
        if bits & !(of_port | of_queues) != 0 {
            return Err(refusal.into());
        }
        forget_tags(slot);
        slot.tx_offloads |= bits;
        slot.tx_vlan = (vlan, outer.unwrap_or(0));
        Ok(())
    }

    /// `tx_vlan reset`: no tags are inserted.
    ///
    /// # Errors
    /// No such port, or it runs.
    pub fn reset_tx_vlan(&mut self, id: u16) -> Result<(), ConfigRefusal> {
        forget_tags(self.need_stopped(id)?);
        Ok(())
    }

    /// `tx_vlan set pvid`: a tag that the device gives to whatever has none. No port here can.
    ///
    /// # Errors
    /// Always.
    pub fn set_pvid(&mut self, id: u16) -> Result<(), ConfigRefusal> {
        self.need_port(id)?;
        Err(ConfigRefusal::Own(format!(
            "port {id}: a port VLAN id is not available here; 'tx_vlan set' tags what engines send"
        )))
    }
}

fn forget_tags(slot: &mut PortSlot) {
    slot.tx_offloads &= !(INSERT | QINQ_INSERT);
    slot.tx_vlan = (0, 0);
    slot.reconfigure = true;
}
