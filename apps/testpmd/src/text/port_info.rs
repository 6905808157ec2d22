//! `show port info`.
//!
//! The labels and their order are read by scripts (DTS among them); the only lines of ours are the two last, the paths taken.

use std::fmt;

use mpps_wire::MacAddr;

use super::fwd_config::SocketId;
use super::hash::RssNames;
use super::link::{Link, SpeedText};
use super::offloads::{DEVICE_CAPABILITIES, Names};
use super::{Run, on_off};

/// Which VLAN offloads are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VlanOffload {
    /// Tags are taken off.
    pub strip: bool,
    /// Frames are filtered by tag.
    pub filter: bool,
    /// Two tags are understood.
    pub extend: bool,
    /// Both tags are taken off.
    pub qinq_strip: bool,
}

/// Limits of a queue's descriptor count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DescriptorLimits {
    /// Most.
    pub max: u16,
    /// Least.
    pub min: u16,
    /// Any count is a multiple of this.
    pub align: u16,
}

/// Limits of a packet's segments when sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentLimits {
    /// In a whole packet (TSO included).
    pub packet: u16,
    /// In what one MTU carries.
    pub mtu: u16,
}

/// What a port can do to split received packets; only the first line is printed when `max_segments` is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RxSplit {
    /// Most segments.
    pub max_segments: u16,
    /// Segments from several pools.
    pub multi_pool: bool,
    /// Segments at an offset in their buffer.
    pub offset: bool,
    /// The offset's alignment, in bytes.
    pub offset_align: u32,
    /// Segments may be dropped.
    pub selective: bool,
}

/// Who restores the port after an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ErrorHandling {
    /// Nobody.
    #[default]
    None,
    /// The application, when told.
    Passive,
    /// The driver.
    Proactive,
}

/// A port's place in an embedded switch.
#[derive(Debug, Clone, Copy)]
pub struct SwitchInfo<'a> {
    /// The switch's name.
    pub name: Option<&'a str>,
    /// Its domain.
    pub domain: u16,
    /// The port's number in it.
    pub port: u16,
    /// Printed when the port can share rx queues.
    pub rx_domain: Option<u16>,
}

/// What the driver says about itself.
#[derive(Debug, Clone, Copy, Default)]
pub enum PrivateInfo<'a> {
    /// Nothing: `  none`.
    #[default]
    None,
    /// Lines as the driver wrote them, `name: value`.
    Lines(&'a [String]),
}

/// The block of `show port info`, beginning with an empty line.
#[derive(Debug, Clone, Copy)]
pub struct PortInfo<'a> {
    /// The port's number.
    pub port: u16,
    /// Its MAC address now.
    pub mac: MacAddr,
    /// `net_vhost0`.
    pub device: &'a str,
    /// `net_vhost`.
    pub driver: &'a str,
    /// The firmware's version, where there is firmware.
    pub firmware: Option<&'a str>,
    /// Device arguments as given, without the name; an empty string prints an empty value.
    pub devargs: Option<&'a str>,
    /// The node the port is on.
    pub socket: SocketId,
    /// The node of its pool.
    pub memory_socket: SocketId,
    /// Its link.
    pub link: Link,
    /// Lanes in use, where the port tells.
    pub lanes: Option<u32>,
    /// MTU in bytes: now, least, most.
    pub mtu: [u16; 3],
    /// Frames for others are received.
    pub promiscuous: bool,
    /// All multicast frames are received.
    pub allmulticast: bool,
    /// Most addresses the port can own.
    pub max_macs: u32,
    /// Most addresses it can filter by hash.
    pub max_hash_macs: u32,
    /// VLAN offloads; `None` leaves the lines out.
    pub vlan: Option<VlanOffload>,
    /// RSS key size in bytes, 0 for no line.
    pub hash_key_size: u8,
    /// RSS table size, 0 for no line.
    pub reta_size: u16,
    /// Supported RSS types.
    pub rss_types: u64,
    /// Smallest buffer that can receive, in bytes.
    pub min_rx_buffer: u32,
    /// Largest, where there is a limit.
    pub max_rx_buffer: Option<u32>,
    /// Longest frame, in bytes; `u32::MAX` where there is no limit.
    pub max_rx_length: u32,
    /// Largest LRO aggregate, in bytes.
    pub max_lro: u32,
    /// Packet splitting.
    pub rx_split: RxSplit,
    /// Virtual functions, 0 for no line.
    pub max_vfs: u16,
    /// VMDq pools, 0 for no line.
    pub max_vmdq_pools: u16,
    /// Rx queues: now, most.
    pub rx_queues: [u16; 2],
    /// Limits of their descriptors.
    pub rx_desc: DescriptorLimits,
    /// Tx queues: now, most.
    pub tx_queues: [u16; 2],
    /// Limits of their descriptors.
    pub tx_desc: DescriptorLimits,
    /// Limits of a sent packet's segments.
    pub segments: SegmentLimits,
    /// `RTE_ETH_DEV_CAPA_*` bits.
    pub capabilities: u64,
    /// Where the port is one of an embedded switch.
    pub switch: Option<SwitchInfo<'a>>,
    /// Who restores the port.
    pub error_handling: ErrorHandling,
    /// The driver's own dump.
    pub private: PrivateInfo<'a>,
    /// Ours: the variant of the receive path taken, when the port has several.
    pub rx_path: Option<&'a str>,
    /// Ours: likewise for sending.
    pub tx_path: Option<&'a str>,
}

impl fmt::Display for PortInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.identity(f)?;
        self.link_lines(f)?;
        self.addresses(f)?;
        self.rss(f)?;
        self.buffers(f)?;
        self.queues(f)?;
        self.capabilities(f)?;
        self.private(f)?;
        self.rx_path
            .iter()
            .try_for_each(|path| writeln!(f, "Rx path: {path}"))?;
        self.tx_path
            .iter()
            .try_for_each(|path| writeln!(f, "Tx path: {path}"))
    }
}

impl PortInfo<'_> {
    fn identity(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let border = Run('*', 21);
        writeln!(f, "\n{border} Infos for port {:<2} {border}", self.port)?;
        writeln!(f, "MAC address: {}", self.mac)?;
        writeln!(f, "Device name: {}", self.device)?;
        writeln!(f, "Driver name: {}", self.driver)?;
        writeln!(
            f,
            "Firmware-version: {}",
            self.firmware.unwrap_or("not available")
        )?;
        self.devargs
            .iter()
            .try_for_each(|text| writeln!(f, "Devargs: {text}"))?;
        writeln!(f, "Connect to socket: {}", self.socket)?;
        writeln!(f, "memory allocation on the socket: {}", self.memory_socket)
    }

    fn link_lines(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Link status: {}", self.link.state())?;
        writeln!(f, "Link speed: {}", SpeedText(self.link.speed_mbps))?;
        self.lanes
            .iter()
            .try_for_each(|lanes| writeln!(f, "Active Lanes: {lanes}"))?;
        let duplex = if self.link.full_duplex {
            "full-duplex"
        } else {
            "half-duplex"
        };
        writeln!(f, "Link duplex: {duplex}")?;
        writeln!(
            f,
            "Autoneg status: {}",
            if self.link.autoneg { "On" } else { "Off" }
        )
    }

    fn addresses(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [mtu, least, most] = self.mtu;
        writeln!(f, "MTU: {mtu}\nMinimum MTU: {least}\nMaximum MTU: {most}")?;
        let switched = |on| if on { "enabled" } else { "disabled" };
        writeln!(f, "Promiscuous mode: {}", switched(self.promiscuous))?;
        writeln!(f, "Allmulticast mode: {}", switched(self.allmulticast))?;
        writeln!(f, "Maximum number of MAC addresses: {}", self.max_macs)?;
        writeln!(
            f,
            "Maximum number of MAC addresses of hash filtering: {}",
            self.max_hash_macs
        )?;
        let Some(vlan) = self.vlan else { return Ok(()) };
        // The blank behind the colon is DPDK's.
        writeln!(f, "VLAN offload: ")?;
        write!(
            f,
            "  strip {}, filter {}",
            on_off(vlan.strip),
            on_off(vlan.filter)
        )?;
        writeln!(
            f,
            ", extend {}, qinq strip {}",
            on_off(vlan.extend),
            on_off(vlan.qinq_strip)
        )
    }

    fn rss(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.hash_key_size > 0 {
            writeln!(f, "Hash key size in bytes: {}", self.hash_key_size)?;
        }
        if self.reta_size > 0 {
            writeln!(f, "Redirection table size: {}", self.reta_size)?;
        }
        match self.rss_types {
            0 => writeln!(f, "No RSS offload flow type is supported."),
            types => write!(
                f,
                "Supported RSS offload flow types:\n{}",
                RssNames::Supported(types)
            ),
        }
    }

    fn buffers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Minimum size of RX buffer: {}", self.min_rx_buffer)?;
        self.max_rx_buffer
            .iter()
            .try_for_each(|bytes| writeln!(f, "Maximum size of RX buffer: {bytes}"))?;
        writeln!(
            f,
            "Maximum configurable length of RX packet: {}",
            self.max_rx_length
        )?;
        writeln!(
            f,
            "Maximum configurable size of LRO aggregated packet: {}",
            self.max_lro
        )?;
        let split = &self.rx_split;
        writeln!(f, "Rx split:\n\tMax segments: {}", split.max_segments)?;
        if split.max_segments > 0 {
            let can = |can| if can { "supported" } else { "not supported" };
            writeln!(
                f,
                "\tMulti-pool: {}\n\tBuffer offset: {}",
                can(split.multi_pool),
                can(split.offset)
            )?;
            writeln!(
                f,
                "\tOffset alignment: {}\n\tSelective Rx: {}",
                split.offset_align,
                can(split.selective)
            )?;
        }
        if self.max_vfs > 0 {
            writeln!(f, "Maximum number of VFs: {}", self.max_vfs)?;
        }
        if self.max_vmdq_pools > 0 {
            writeln!(f, "Maximum number of VMDq pools: {}", self.max_vmdq_pools)?;
        }
        Ok(())
    }

    fn queues(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (side, [now, most], desc) in [
            ("RX", self.rx_queues, &self.rx_desc),
            ("TX", self.tx_queues, &self.tx_desc),
        ] {
            writeln!(
                f,
                "Current number of {side} queues: {now}\nMax possible {side} queues: {most}"
            )?;
            writeln!(f, "Max possible number of {side}Ds per queue: {}", desc.max)?;
            writeln!(f, "Min possible number of {side}Ds per queue: {}", desc.min)?;
            writeln!(f, "{side}Ds number alignment: {}", desc.align)?;
        }
        writeln!(f, "Max segment number per packet: {}", self.segments.packet)?;
        writeln!(f, "Max segment number per MTU/TSO: {}", self.segments.mtu)
    }

    fn capabilities(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Names {
            table: DEVICE_CAPABILITIES,
            bits: self.capabilities,
        };
        writeln!(
            f,
            "Device capabilities: 0x{:x}({names} )",
            self.capabilities
        )?;
        if let Some(switch) = &self.switch {
            switch
                .name
                .iter()
                .try_for_each(|name| writeln!(f, "Switch name: {name}"))?;
            writeln!(
                f,
                "Switch domain Id: {}\nSwitch Port Id: {}",
                switch.domain, switch.port
            )?;
            switch
                .rx_domain
                .iter()
                .try_for_each(|domain| writeln!(f, "Switch Rx domain: {domain}"))?;
        }
        let mode = match self.error_handling {
            ErrorHandling::None => "none",
            ErrorHandling::Passive => "passive",
            ErrorHandling::Proactive => "proactive",
        };
        writeln!(f, "Device error handling mode: {mode}")
    }

    fn private(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Device private info:")?;
        match self.private {
            PrivateInfo::None => writeln!(f, "  none"),
            PrivateInfo::Lines(lines) => lines.iter().try_for_each(|line| writeln!(f, "{line}")),
        }
    }
}

#[cfg(test)]
#[path = "port_info_tests.rs"]
mod tests;
