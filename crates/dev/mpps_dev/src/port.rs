//! What every port keeps: its information, configuration, addresses, link, counters and mailboxes.
//!
//! Held by each [`crate::EthDev`]; it makes the counters and mailboxes of a start ([`Port::rx_queue`], [`Port::tx_queue`])
//! and reads them afterwards.

mod xstats;

use std::sync::Arc;

use mpps_wire::MacAddr;

use crate::info::{DevConfig, DevInfo, Link, random_mac};
use crate::queue::Mailbox;
use crate::stats::{PortStats, QueueCounts, QueueStats};
use crate::{ConfigError, OutOfRange};

/// What both sides of a queue hold.
#[derive(Clone, Default)]
struct Side {
    stats: Arc<QueueStats>,
    mailbox: Option<Arc<Mailbox>>,
    baseline: QueueCounts,
}

impl Side {
    fn counts(&self) -> QueueCounts {
        self.stats.read().since(self.baseline)
    }
}

/// The part of a port that doesn't depend on its kind.
pub struct Port {
    info: DevInfo,
    config: DevConfig,
    macs: Vec<MacAddr>,
    mtu: u16,
    link: Link,
    promiscuous: bool,
    allmulticast: bool,
    rx: Vec<Side>,
    tx: Vec<Side>,
}

impl Port {
    /// A port that isn't configured yet, with this address or a random one.
    pub fn new(info: DevInfo, mac: Option<MacAddr>, link: Link) -> Self {
        Self {
            mtu: 1500.min(info.max_mtu),
            info,
            config: DevConfig::default(),
            macs: vec![mac.unwrap_or_else(random_mac)],
            link,
            promiscuous: false,
            allmulticast: false,
            rx: Vec::new(),
            tx: Vec::new(),
        }
    }

    /// What the port is and can do.
    pub fn info(&self) -> &DevInfo {
        &self.info
    }

    /// The same, for the driver: a path taken may change with a start.
    pub fn info_mut(&mut self) -> &mut DevInfo {
        &mut self.info
    }

    /// The configuration last accepted.
    pub fn config(&self) -> &DevConfig {
        &self.config
    }

    /// Checks a configuration and keeps it. Counters of queues that stay go on.
    pub fn configure(&mut self, config: &DevConfig) -> Result<(), ConfigError> {
        let device = || self.info.name.clone();
        config
            .check_queues(&self.info)
            .map_err(|source| ConfigError::Range {
                device: device(),
                source,
            })?;
        self.check_offloads(config)?;
        self.check_sizes(config)?;
        if let Some(mtu) = config.mtu {
            self.set_mtu(mtu).map_err(|source| ConfigError::Range {
                device: self.info.name.clone(),
                source,
            })?;
        }
        self.rx.resize_with(config.rx.len(), Side::default);
        self.tx.resize_with(config.tx.len(), Side::default);
        self.config = config.clone();
        Ok(())
    }

    fn check_offloads(&self, config: &DevConfig) -> Result<(), ConfigError> {
        let have_rx = self.info.rx_offloads | self.info.rx_queue_offloads;
        let have_tx = self.info.tx_offloads | self.info.tx_queue_offloads;
        let refuse = |direction, missing: String, have: String| {
            Err(ConfigError::Offload {
                device: self.info.name.clone(),
                direction,
                name: missing,
                have: if have.is_empty() {
                    "none".to_owned()
                } else {
                    have
                },
            })
        };
        let rx = config
            .rx
            .iter()
            .fold(config.rx_offloads, |all, queue| all | queue.offloads);
        let tx = config
            .tx
            .iter()
            .fold(config.tx_offloads, |all, queue| all | queue.offloads);
        if !have_rx.contains(rx) {
            return refuse(
                "Rx",
                names((rx - have_rx).iter_names()),
                names(have_rx.iter_names()),
            );
        }
        if !have_tx.contains(tx) {
            return refuse(
                "Tx",
                names((tx - have_tx).iter_names()),
                names(have_tx.iter_names()),
            );
        }
        Ok(())
    }

    fn check_sizes(&self, config: &DevConfig) -> Result<(), ConfigError> {
        let rx = config.rx.iter().map(|queue| {
            (
                "nb_rx_desc",
                queue.queue.size.get(),
                self.info.rx_descriptors,
            )
        });
        let tx = config.tx.iter().map(|queue| {
            (
                "nb_tx_desc",
                queue.queue.size.get(),
                self.info.tx_descriptors,
            )
        });
        for (what, size, (min, max, align)) in rx.chain(tx) {
            if size < min || size > max || size % align.max(1) != 0 {
                return Err(ConfigError::Other {
                    device: self.info.name.clone(),
                    reason: format!(
                        "Invalid value for {what}(={size}), should be: <= {max}, >= {min}, and a product of {align}"
                    ),
                });
            }
        }
        Ok(())
    }

    /// Counters and mailbox for receive queue `queue`, for a driver that makes the queue at start.
    ///
    /// # Panics
    /// When the configuration has no such queue.
    pub fn rx_queue(&mut self, queue: usize) -> (Arc<QueueStats>, Arc<Mailbox>) {
        let deferred = self.config.rx[queue].queue.deferred_start;
        open(&mut self.rx[queue], self.mtu, deferred)
    }

    /// Counters and mailbox for transmit queue `queue`.
    ///
    /// # Panics
    /// When the configuration has no such queue.
    pub fn tx_queue(&mut self, queue: usize) -> (Arc<QueueStats>, Arc<Mailbox>) {
        let deferred = self.config.tx[queue].queue.deferred_start;
        open(&mut self.tx[queue], self.mtu, deferred)
    }

    /// Whether a receive queue moves packets: it exists, was started and not stopped since.
    pub fn rx_started(&self, queue: usize) -> bool {
        self.rx
            .get(queue)
            .and_then(|side| side.mailbox.as_ref())
            .is_some_and(|mailbox| !mailbox.stopped())
    }

    /// The same for a transmit queue.
    pub fn tx_started(&self, queue: usize) -> bool {
        self.tx
            .get(queue)
            .and_then(|side| side.mailbox.as_ref())
            .is_some_and(|mailbox| !mailbox.stopped())
    }

    /// Starts or stops one receive queue of a started port; false where there is none.
    pub fn set_rx_started(&self, queue: usize, started: bool) -> bool {
        set_started(self.rx.get(queue), started)
    }

    /// The same for a transmit queue.
    pub fn set_tx_started(&self, queue: usize, started: bool) -> bool {
        set_started(self.tx.get(queue), started)
    }

    /// Forgets the mailboxes of the queues that came back.
    pub fn close_queues(&mut self) {
        for side in self.rx.iter_mut().chain(&mut self.tx) {
            side.mailbox = None;
        }
    }

    /// Counters since they were last cleared, summed over all queues.
    pub fn stats(&self) -> PortStats {
        let mut sum = PortStats::default();
        for side in &self.rx {
            let counts = side.counts();
            sum.ipackets += counts.packets;
            sum.ibytes += counts.bytes;
            sum.ierrors += counts.errors;
            sum.imissed += counts.missed;
            sum.rx_nombuf += counts.no_mbuf;
        }
        for side in &self.tx {
            let counts = side.counts();
            sum.opackets += counts.packets;
            sum.obytes += counts.bytes;
            sum.oerrors += counts.errors;
        }
        sum
    }

    /// Counters of one receive queue.
    pub fn rx_counts(&self, queue: usize) -> Option<QueueCounts> {
        self.rx.get(queue).map(Side::counts)
    }

    /// Counters of one transmit queue.
    pub fn tx_counts(&self, queue: usize) -> Option<QueueCounts> {
        self.tx.get(queue).map(Side::counts)
    }

    /// Clears the counters by taking what they say now for zero.
    pub fn clear_stats(&mut self) {
        for side in self.rx.iter_mut().chain(&mut self.tx) {
            side.baseline = side.stats.read();
        }
    }

    /// State of the link.
    pub fn link(&self) -> Link {
        self.link
    }

    /// Sets the link up or down.
    pub fn set_link_up(&mut self, up: bool) {
        self.link.up = up;
    }

    /// The address the port sends from.
    pub fn mac(&self) -> MacAddr {
        self.macs[0]
    }

    /// All addresses, the default one first.
    pub fn macs(&self) -> &[MacAddr] {
        &self.macs
    }

    /// Sets the default address; where it was one of the others it is no longer that.
    pub fn set_mac(&mut self, mac: MacAddr) {
        self.remove_mac(mac);
        self.macs[0] = mac;
    }

    /// Adds an address; false when the port can hold no more.
    pub fn add_mac(&mut self, mac: MacAddr) -> bool {
        if self.macs.contains(&mac) {
            return true;
        }
        let room = self.macs.len() < self.info.max_mac_addrs as usize;
        if room {
            self.macs.push(mac);
        }
        room
    }

    /// Removes an address; false when it isn't there or is the default one.
    pub fn remove_mac(&mut self, mac: MacAddr) -> bool {
        match self.macs.iter().position(|have| *have == mac) {
            None | Some(0) => false,
            Some(at) => {
                self.macs.remove(at);
                true
            }
        }
    }

    /// The MTU.
    pub fn mtu(&self) -> u16 {
        self.mtu
    }

    /// Changes the MTU; queues that run learn of it through their mailboxes.
    pub fn set_mtu(&mut self, mtu: u16) -> Result<(), OutOfRange> {
        let (min, max) = (self.info.min_mtu, self.info.max_mtu);
        if mtu < min || mtu > max {
            return Err(OutOfRange {
                what: "MTU",
                value: u64::from(mtu),
                allowed: format!("{min} to {max}").into(),
            });
        }
        self.mtu = mtu;
        for mailbox in self
            .rx
            .iter()
            .chain(&self.tx)
            .filter_map(|side| side.mailbox.as_ref())
        {
            mailbox.set_mtu(u32::from(mtu));
        }
        Ok(())
    }

    /// Whether frames for any address are received.
    pub fn promiscuous(&self) -> bool {
        self.promiscuous
    }

    /// Receives frames for any address, or not.
    pub fn set_promiscuous(&mut self, on: bool) {
        self.promiscuous = on;
    }

    /// Whether all multicast frames are received.
    pub fn allmulticast(&self) -> bool {
        self.allmulticast
    }

    /// Receives all multicast frames, or not.
    pub fn set_allmulticast(&mut self, on: bool) {
        self.allmulticast = on;
    }
}

fn open(side: &mut Side, mtu: u16, deferred: bool) -> (Arc<QueueStats>, Arc<Mailbox>) {
    let mailbox = Arc::new(Mailbox::new(u32::from(mtu)));
    mailbox.set_stopped(deferred);
    side.mailbox = Some(mailbox.clone());
    (side.stats.clone(), mailbox)
}

fn set_started(side: Option<&Side>, started: bool) -> bool {
    match side.and_then(|side| side.mailbox.as_ref()) {
        Some(mailbox) => {
            mailbox.set_stopped(!started);
            true
        }
        None => false,
    }
}

fn names<'a, T>(flags: impl Iterator<Item = (&'a str, T)>) -> String {
    flags.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
