//! The forwarding configuration as commands change it, with their checks: which ports, cores, bursts and packets.

use mpps_engines::{EngineSpec, Retry, TxSplit};

use super::App;
use crate::app_args::Burst;
use crate::text::{ConfigRefusal, Refusal, Reply};

/// Bytes of the headers of a generated packet.
const HEADERS: u32 = 42;

/// The longest burst.
const BURST_MAX: u16 = mpps_mbuf::BURST_MAX as u16;

/// The most source ports that generated packets have.
const FLOWS_MAX: u16 = 64;

impl App {
    /// Nothing forwards.
    pub(super) fn need_idle(&self) -> Result<(), Refusal> {
        if self.forwarding.running.is_some() {
            Err(Refusal::StopForwarding)
        } else {
            Ok(())
        }
    }

    /// A line for what is read when forwarding starts, where it goes on.
    pub(super) fn at_next_start(&mut self, what: &str) {
        if self.forwarding.running.is_some() {
            self.out
                .complain(format_args!("mpps: {what} changes with the next start"));
        }
    }

    /// `set fwd`: the engine of the next start.
    pub fn set_engine(&mut self, engine: &'static EngineSpec, retry: bool) {
        self.forwarding.engine = engine;
        self.forwarding.retry = retry;
        self.out.line(Reply::FwdMode(engine.name, retry));
        if let Some(notice) = engine.notice {
            self.out.complain(format_args!("mpps: {notice}"));
        }
    }

    /// `set nbcore`: how many of the chosen cores forward.
    ///
    /// # Errors
    /// Forwarding goes on, or there aren't as many.
    pub fn set_nb_cores(&mut self, count: u16) -> Result<(), ConfigRefusal> {
        self.need_idle()?;
        let have = self.forwarding.lcores.len();
        if usize::from(count) > have {
            return Err(Refusal::TooManyCores(u32::from(count), have as u32).into());
        }
        if count == 0 {
            return Err(ConfigRefusal::Own(format!(
                "set nbcore 0: must be 1 to {have}, the configured lcores"
            )));
        }
        self.forwarding.nb_cores = usize::from(count);
        self.out.line(Reply::Cores(u32::from(count)));
        self.lay_out();
        Ok(())
    }

    /// `set nbport`: how many of the chosen ports forward.
    ///
    /// # Errors
    /// Forwarding goes on, or there aren't as many.
    pub fn set_nb_ports(&mut self, count: u16) -> Result<(), ConfigRefusal> {
        self.need_idle()?;
        let have = self.forwarding.ports.len();
        if usize::from(count) > have {
            return Err(Refusal::TooManyPorts(u32::from(count), have as u32).into());
        }
        if count == 0 {
            return Err(ConfigRefusal::Own(format!(
                "set nbport 0: must be 1 to {have}, the configured ports"
            )));
        }
        self.forwarding.nb_ports = usize::from(count);
        self.out.line(Reply::Ports(u32::from(count)));
        self.lay_out();
        Ok(())
    }

    /// `set burst`. DPDK takes 0 and then polls in vain; here it is refused.
    ///
    /// # Errors
    /// Forwarding goes on, or the number isn't 1 to 512.
    pub fn set_burst(&mut self, packets: u16) -> Result<(), ConfigRefusal> {
        self.need_idle()?;
        if packets > BURST_MAX {
            return Err(Refusal::BurstTooLong(u32::from(packets)).into());
        }
        if packets == 0 {
            return Err(ConfigRefusal::Own(format!(
                "set burst 0: must be 1 to {BURST_MAX} packets, ignored; a burst of none moves nothing"
            )));
        }
        self.store_burst(packets);
        self.out.line(Reply::Burst(u32::from(packets)));
        Ok(())
    }

    pub(super) fn store_burst(&mut self, packets: u16) {
        self.forwarding.burst = packets;
        self.args.queues.burst = Burst::Packets(packets);
    }

    /// `set corelist`, `set coremask`: the cores that forward, all of them.
    ///
    /// # Errors
    /// Forwarding goes on, or a core can't forward; nothing changes then.
    pub fn set_cores(&mut self, cores: &[u32]) -> Result<(), ConfigRefusal> {
        self.need_idle()?;
        if cores.is_empty() {
            return Err(Refusal::NoCores.into());
        }
        no_twice("core", cores)?;
        for core in cores {
            if *core == self.main.id {
                return Err(Refusal::MainLcore(*core).into());
            }
            if !self.workers.iter().any(|worker| worker.id == *core) {
                return Err(Refusal::NoLcore(*core).into());
            }
        }
        let before = self.forwarding.nb_cores;
        self.forwarding.lcores = cores.to_vec();
        self.forwarding.nb_cores = cores.len();
        if before != cores.len() {
            self.out
                .line(Reply::CoresChanged(before as u32, cores.len() as u32));
        }
        self.lay_out();
        Ok(())
    }

    /// `set portlist`, `set portmask`: the ports that forward, all of them, in this order.
    ///
    /// # Errors
    /// Forwarding goes on, or there is no such port; nothing changes then.
    pub fn set_ports(&mut self, ports: &[u32]) -> Result<(), ConfigRefusal> {
        self.need_idle()?;
        if ports.is_empty() {
            return Err(Refusal::NoPorts.into());
        }
        no_twice("port", ports)?;
        let mut ids = Vec::new();
        for port in ports {
            let id = u16::try_from(*port)
                .ok()
                .filter(|id| self.port(*id).is_some());
            let id = id.ok_or(ConfigRefusal::NoPortNumber(*port))?;
            ids.push(id);
        }
        let before = self.forwarding.nb_ports;
        self.forwarding.nb_ports = ids.len();
        self.forwarding.ports = ids;
        if before != ports.len() {
            self.out
                .line(Reply::PortsChanged(before as u32, ports.len() as u32));
        }
        self.lay_out();
        Ok(())
    }

    /// `set portmask`: ports of the mask that aren't there are left out, as DPDK leaves them out.
    ///
    /// # Errors
    /// Forwarding goes on, or no port is left.
    pub fn set_port_mask(&mut self, mask: u64) -> Result<(), ConfigRefusal> {
        let ports: Vec<u32> = bits(mask)
            .into_iter()
            .filter(|bit| self.port(*bit as u16).is_some())
            .collect();
        self.set_ports(&ports)
    }

    /// `set coremask`.
    ///
    /// # Errors
    /// As [`App::set_cores`].
    pub fn set_core_mask(&mut self, mask: u64) -> Result<(), ConfigRefusal> {
        self.set_cores(&bits(mask))
    }

    /// `set default`: all ports and cores, one core forwarding, peers by number.
    ///
    /// # Errors
    /// Forwarding goes on.
    pub fn set_default(&mut self) -> Result<(), ConfigRefusal> {
        self.need_idle()?;
        self.forwarding.lcores = self.workers.iter().map(|worker| worker.id).collect();
        self.forwarding.nb_cores = 1;
        self.forwarding.ports = self.port_ids();
        self.forwarding.nb_ports = self.forwarding.ports.len();
        self.forwarding.peers.clear();
        self.out.line(Reply::Default);
        self.lay_out();
        Ok(())
    }

    /// `set burst tx delay retry`.
    pub fn set_retry(&mut self, delay_us: u32, times: u32) {
        self.forwarding.retry_figures = Retry { times, delay_us };
        self.at_next_start("how sending is tried again");
    }

    /// `set txpkts`: lengths of the segments of generated packets; all or none.
    ///
    /// # Errors
    /// A segment longer than an mbuf's buffer, or a packet too short for its headers.
    pub fn set_txpkts(&mut self, lengths: &[u32]) -> Result<(), Refusal> {
        let room = u32::from(
            self.args
                .pools
                .mbuf_sizes
                .first()
                .copied()
                .unwrap_or(u16::MAX),
        );
        if let Some((n, length)) = lengths
            .iter()
            .enumerate()
            .find(|(_, length)| **length > room)
        {
            return Err(Refusal::SegmentTooLong(n, *length, room));
        }
        let total: u32 = lengths.iter().sum();
        if total < HEADERS {
            return Err(Refusal::PacketTooShort(total, HEADERS));
        }
        self.engines.txonly.lengths = lengths.iter().map(|length| *length as u16).collect();
        Ok(())
    }

    /// `set txonly-flows`: how many source ports generated packets have.
    ///
    /// # Errors
    /// The number isn't 1 to 64.
    pub fn set_txonly_flows(&mut self, flows: u16) -> Result<(), ConfigRefusal> {
        if flows == 0 || flows > FLOWS_MAX {
            return Err(Refusal::TxonlyFlows.into());
        }
        self.engines.txonly.flows = flows;
        self.at_next_start("the number of flows");
        Ok(())
    }

    /// `set txsplit`.
    pub fn set_txsplit(&mut self, split: TxSplit) {
        self.engines.txonly.split = split;
        self.at_next_start("how packets are cut");
    }

    /// `set record-core-cycles`.
    pub fn set_record_cycles(&mut self, on: bool) {
        self.forwarding.record_cycles = on;
        self.at_next_start("what is recorded");
    }

    /// `set record-burst-stats`.
    pub fn set_record_bursts(&mut self, on: bool) {
        self.forwarding.record_bursts = on;
        self.at_next_start("what is recorded");
    }

    /// `set verbose`.
    pub fn set_verbose(&mut self, level: u16) {
        let before = u16::try_from(self.watch.level()).unwrap_or(u16::MAX);
        self.watch.set_level(u32::from(level));
        self.out.line(Reply::Verbose(before, level));
    }
}

/// Refuses a list that names something twice.
fn no_twice(what: &'static str, list: &[u32]) -> Result<(), Refusal> {
    let mut seen = std::collections::HashMap::new();
    for (at, item) in list.iter().enumerate() {
        if let Some(first) = seen.insert(*item, at) {
            return Err(Refusal::ListTwice(what, *item, first, at));
        }
    }
    Ok(())
}

/// The numbers of the bits that are set.
fn bits(mask: u64) -> Vec<u32> {
    (0..u64::BITS).filter(|bit| mask >> bit & 1 == 1).collect()
}
