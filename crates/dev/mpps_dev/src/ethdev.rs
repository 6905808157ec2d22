//! Drivers and the control side of a port.

use std::sync::Arc;

use mpps_kernels::{Copier, CopyKind};
use mpps_shm::PageSource;
use mpps_wire::MacAddr;

use crate::devargs::{ArgSpec, DevArgError, DevArgs};
use crate::events::Events;
use crate::info::{DevConfig, DevInfo, Link, QueueInfo};
use crate::port::Port;
use crate::queue::Queues;
use crate::rss::Rss;
use crate::stats::{PortStats, XStat};
use crate::{OutOfRange, PortId};

/// A kind of port. One constant a driver crate, listed in `mpps_drivers::DRIVERS`.
pub trait Driver: Sync {
    /// Its name, a prefix of the names of its devices (`net_null`).
    fn name(&self) -> &'static str;

    /// Other prefixes (`eth_null`).
    fn aliases(&self) -> &'static [&'static str] {
        &[]
    }

    /// Its arguments.
    fn args(&self) -> &'static [ArgSpec];

    /// Makes a port of the device.
    fn probe(&self, args: &DevArgs, context: &ProbeContext) -> Result<Box<dyn EthDev>, ProbeError>;
}

/// What the program tells a driver that makes a port.
#[derive(Clone, Debug)]
pub struct ProbeContext {
    /// The number the port will have.
    pub port: PortId,
    /// How packet bytes are copied.
    pub copier: Copier,
    /// Where shareable memory comes from; none where the program has no wishes, and the driver makes a source of its own.
    pub pages: Option<Arc<PageSource>>,
    /// Whom the port tells of changes that a peer brings about.
    pub events: Events,
}

impl ProbeContext {
    /// A context for this port, with the usual copy, memory without wishes and nobody who listens to events.
    pub fn new(port: PortId) -> Self {
        let copier =
            Copier::choose(CopyKind::Auto).unwrap_or_else(|_| unreachable!("auto runs everywhere"));
        Self {
            port,
            copier,
            pages: None,
            events: Events::default(),
        }
    }
}

/// Why a device can't become a port.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// Its arguments are wrong.
    #[error(transparent)]
    Args(#[from] DevArgError),
    /// A file that it needs.
    #[error("device {device}: {path}: {source}")]
    File {
        /// The device.
        device: String,
        /// The file.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// Anything else, in one line.
    #[error("device {device}: {reason}")]
    Device {
        /// The device.
        device: String,
        /// What is wrong and what would be right.
        reason: String,
    },
}

/// Why a configuration is refused; the port is as it was.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A number out of range.
    #[error("{device}: {source}")]
    Range {
        /// The device.
        device: String,
        /// Which number.
        source: OutOfRange,
    },
    /// An offload the port doesn't have.
    #[error("{device}: {direction} offload {name} is not available here; the port has {have}")]
    Offload {
        /// The device.
        device: String,
        /// `Rx` or `Tx`.
        direction: &'static str,
        /// The offloads, by name.
        name: String,
        /// What there is.
        have: String,
    },
    /// Anything else, in one line.
    #[error("{device}: {reason}")]
    Other {
        /// The device.
        device: String,
        /// What is wrong and what would be right.
        reason: String,
    },
}

/// Why a port can't be started; it stays stopped.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A file that it needs.
    #[error("{device}: {path}: {source}")]
    File {
        /// The device.
        device: String,
        /// The file.
        path: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// Anything else, in one line.
    #[error("{device}: {reason}")]
    Other {
        /// The device.
        device: String,
        /// What is wrong and what would be right.
        reason: String,
    },
}

/// The port can't do that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} is not supported by a {driver} port")]
pub struct Unsupported {
    /// What was asked for.
    pub what: &'static str,
    /// The kind of port.
    pub driver: &'static str,
}

/// The control side of a port. Made by a driver, owned by the program, used by its control thread alone.
///
/// What all ports have in common is in a [`Port`], which an implementation holds; the provided methods work on it.
pub trait EthDev: Send {
    /// The part that all ports share.
    fn port(&self) -> &Port;

    /// The same, for writing.
    fn port_mut(&mut self) -> &mut Port;

    /// Makes the queues of the configuration last accepted and hands them out.
    fn start(&mut self) -> Result<Queues, StartError>;

    /// Takes back the queues that [`EthDev::start`] handed out.
    fn stop(&mut self, queues: Queues);

    /// What the port is and can do.
    fn info(&self) -> &DevInfo {
        self.port().info()
    }

    /// Checks and keeps a configuration for the next start.
    fn configure(&mut self, config: &DevConfig) -> Result<(), ConfigError> {
        self.port_mut().configure(config)
    }

    /// State of the link.
    fn link(&self) -> Link {
        self.port().link()
    }

    /// Sets the link up or down.
    fn set_link(&mut self, up: bool) -> Result<(), Unsupported> {
        self.port_mut().set_link_up(up);
        Ok(())
    }

    /// Counters since they were last cleared.
    fn stats(&self) -> PortStats {
        self.port().stats()
    }

    /// Clears the counters, basic and extended.
    fn clear_stats(&mut self) {
        self.port_mut().clear_stats();
    }

    /// Extended statistics: the basic ones by name, those of the queues, the driver's own.
    fn xstats(&self) -> Vec<XStat> {
        self.port().xstats()
    }

    /// Whether the extended statistics can be told. Not before a first peer came, for a port whose peer brings the queues.
    fn xstats_ready(&self) -> bool {
        true
    }

    /// What the driver tells of itself in words, as names and values, in the order in which they are shown.
    fn private_info(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The receive and the transmit path taken now, where the port has several to choose from.
    fn paths(&self) -> (Option<String>, Option<String>) {
        let info = self.info();
        (info.rx_path.clone(), info.tx_path.clone())
    }

    /// What a receive queue really is, where the port tells; none too for a queue that it doesn't have.
    fn rx_queue_info(&self, _queue: u16) -> Option<QueueInfo> {
        None
    }

    /// The same of a transmit queue.
    fn tx_queue_info(&self, _queue: u16) -> Option<QueueInfo> {
        None
    }

    /// How many packets, or descriptors of packets, wait in a receive queue, where the port can tell.
    fn rx_queue_used(&self, _queue: u16) -> Option<u32> {
        None
    }

    /// How many descriptors of a transmit queue are in use, where the port can tell.
    fn tx_queue_used(&self, _queue: u16) -> Option<u32> {
        None
    }

    /// Sets the address the port sends from and answers to.
    fn set_mac(&mut self, mac: MacAddr) -> Result<(), Unsupported> {
        self.port_mut().set_mac(mac);
        Ok(())
    }

    /// Changes the MTU, also while the port runs.
    fn set_mtu(&mut self, mtu: u16) -> Result<(), OutOfRange> {
        self.port_mut().set_mtu(mtu)
    }

    /// Receives frames for any address, or not.
    fn set_promiscuous(&mut self, on: bool) -> Result<(), Unsupported> {
        self.port_mut().set_promiscuous(on);
        Ok(())
    }

    /// Receives all multicast frames, or not.
    fn set_allmulticast(&mut self, on: bool) -> Result<(), Unsupported> {
        self.port_mut().set_allmulticast(on);
        Ok(())
    }

    /// Receive-side scaling, where the port has it.
    fn rss(&mut self) -> Option<&mut dyn Rss> {
        None
    }

    /// Whether the port can stamp packets with hardware time (IEEE 1588).
    fn has_timestamps(&self) -> bool {
        false
    }
}
