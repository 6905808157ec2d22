//! What engine csum leaves to ports: checksums, tunnels, segmentation.

use super::offload_settings::capable;
use super::{App, PortSlot};
use crate::text::{ConfigRefusal, Refusal, Reply, Side};

/// A checksum: its bit among the transmit offloads, and its name in refusals.
struct Layer {
    word: &'static str,
    bit: u64,
    refused: &'static str,
}

const fn layer(word: &'static str, bit: u32, refused: &'static str) -> Layer {
    Layer {
        word,
        bit: 1 << bit,
        refused,
    }
}

/// In the order of `csum show`.
const LAYERS: [Layer; 6] = [
    layer("ip", 1, "IP"),
    layer("udp", 2, "UDP"),
    layer("tcp", 3, "TCP"),
    layer("sctp", 4, "SCTP"),
    layer("outer-ip", 7, "Outer IP"),
    layer("outer-udp", 20, "Outer UDP"),
];

/// The transmit offload bit of TCP segmentation.
const TCP_TSO: u64 = 1 << 5;

fn can(slot: &PortSlot) -> u64 {
    let (of_port, of_queues) = capable(slot, Side::Tx);
    of_port | of_queues
}

impl App {
    /// `csum set`: who sums a layer, the port or the engine. Shows all layers afterwards.
    ///
    /// # Errors
    /// No such port, or it runs.
    pub fn set_checksum(
        &mut self,
        id: u16,
        word: &str,
        hardware: bool,
    ) -> Result<(), ConfigRefusal> {
        let slot = self.stopped_for_csum(id)?;
        let Some(layer) = LAYERS.iter().find(|layer| layer.word == word) else {
            return Err(ConfigRefusal::Own(format!(
                "csum set: there is no layer {word}"
            )));
        };
        let able = can(slot) & layer.bit != 0;
        if hardware && able {
            slot.tx_offloads |= layer.bit;
        } else if !hardware {
            slot.tx_offloads &= !layer.bit;
        }
        slot.reconfigure |= able || !hardware;
        if hardware && !able {
            self.out.complain(Refusal::Checksum(layer.refused, id));
        }
        self.show_checksums(id);
        Ok(())
    }

    fn stopped_for_csum(&mut self, id: u16) -> Result<&mut PortSlot, ConfigRefusal> {
        if self.port(id).is_none() {
            return Err(ConfigRefusal::NoPortTwice(id));
        }
        Ok(self.need_stopped(id)?)
    }

    /// `csum parse-tunnel`.
    ///
    /// # Errors
    /// No such port.
    pub fn set_parse_tunnel(&mut self, id: u16, on: bool) -> Result<(), ConfigRefusal> {
        self.need_port(id)?.checksum.parse_tunnel = on;
        self.at_next_start("whether csum parses tunnels");
        self.show_checksums(id);
        Ok(())
    }

    /// `csum mac-swap`.
    ///
    /// # Errors
    /// No such port.
    pub fn set_mac_swap(&mut self, id: u16, on: bool) -> Result<(), ConfigRefusal> {
        self.need_port(id)?.checksum.mac_swap = on;
        self.at_next_start("whether csum writes addresses");
        Ok(())
    }

    /// `tso set`: bytes of a TCP segment, 0 for none.
    ///
    /// # Errors
    /// No such port, it runs, or it can't cut TCP into segments.
    pub fn set_tso(&mut self, id: u16, bytes: u16) -> Result<(), ConfigRefusal> {
        let slot = self.need_stopped(id)?;
        if bytes != 0 && can(slot) & TCP_TSO == 0 {
            return Err(ConfigRefusal::Tso(id));
        }
        slot.checksum.tso = bytes;
        slot.tx_offloads = if bytes == 0 {
            slot.tx_offloads & !TCP_TSO
        } else {
            slot.tx_offloads | TCP_TSO
        };
        slot.reconfigure = true;
        self.out.line(Reply::Tso(u32::from(bytes)));
        Ok(())
    }

    /// `tunnel_tso set`: no port here cuts TCP inside tunnels into segments.
    ///
    /// # Errors
    /// No such port, it runs, or bytes other than 0.
    pub fn set_tunnel_tso(&mut self, id: u16, bytes: u16) -> Result<(), ConfigRefusal> {
        self.need_stopped(id)?;
        if bytes != 0 {
            return Err(ConfigRefusal::TunnelTso(id));
        }
        self.out.line(Reply::TunnelTso(0));
        Ok(())
    }
}
