//! Starting, stopping and closing ports.

use std::time::{Duration, Instant};

use mpps_dev::{
    DevConfig, DevInfo, LcoreId, QueueConfig, QueueSize, RssSettings, RxMode, RxOffloads,
    RxQueueConfig, Thresholds, TxOffloads, TxQueueConfig,
};

use super::{App, Fatal, PortSlot, PortState};
use crate::app_args::AppArgs;
use crate::text::{Lifecycle, LinkLine, Refusal, Side, SocketId};

/// Bytes of a frame beside its payload: Ethernet header and FCS.
const OVERHEAD: u32 = 18;

/// How long a start waits for links that are down.
const LINK_WAIT: Duration = Duration::from_millis(100);

/// Time between two looks at links.
const LINK_PAUSE: Duration = Duration::from_millis(2);

/// Which ports a command means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All of them.
    All,
    /// One.
    One(u16),
}

/// Numbers of queues against what the ports can have.
pub(super) fn check_queues(args: &AppArgs, ports: &[Option<PortSlot>]) -> Result<(), Fatal> {
    let infos = || ports.iter().flatten().map(|port| port.dev.info());
    let max_rx = infos()
        .map(|info| info.max_rx_queues)
        .min()
        .unwrap_or(u16::MAX);
    let max_tx = infos()
        .map(|info| info.max_tx_queues)
        .min()
        .unwrap_or(u16::MAX);
    let check = |option: &str, asked: Option<u16>, max: u16| match asked {
        Some(n) if n > max => Err(Fatal::Other(format!(
            "{option} {n} is out of range, must be 0 to {max}: what all ports can have"
        ))),
        _ => Ok(()),
    };
    check("--rxq", args.queues.rxq, max_rx)?;
    check("--txq", args.queues.txq, max_tx)
}

/// Ports that `--port-numa-config` and `--ring-numa-config` name.
pub(super) fn check_nodes(args: &AppArgs, ports: &[Option<PortSlot>]) -> Result<(), Fatal> {
    let (pools, rings) = (&args.pools.port_numa, &args.pools.ring_numa);
    let named = pools.iter().map(|(port, _)| ("--port-numa-config", *port));
    let named = named.chain(rings.iter().map(|ring| ("--ring-numa-config", ring.port)));
    match named
        .into_iter()
        .find(|(_, port)| usize::from(*port) >= ports.len())
    {
        Some((option, port)) => Err(Fatal::Other(format!(
            "{option} names port {port}, and there are {} ports, from 0 on",
            ports.len()
        ))),
        None => Ok(()),
    }
}

impl App {
    /// The port of this number.
    pub fn port(&self, id: u16) -> Option<&PortSlot> {
        self.ports.get(usize::from(id)).and_then(Option::as_ref)
    }

    /// The same, for writing.
    pub fn port_mut(&mut self, id: u16) -> Option<&mut PortSlot> {
        self.ports.get_mut(usize::from(id)).and_then(Option::as_mut)
    }

    /// Numbers of the ports there are.
    pub fn port_ids(&self) -> Vec<u16> {
        self.ports.iter().flatten().map(|port| port.id).collect()
    }

    /// The ports that `which` means, or the refusal that names those there are.
    pub fn ports_of(&self, which: Which) -> Result<Vec<u16>, Refusal> {
        match which {
            Which::All => Ok(self.port_ids()),
            Which::One(id) if self.port(id).is_some() => Ok(vec![id]),
            Which::One(id) => Err(Refusal::NoPort(id)),
        }
    }

    /// Whether a port takes part in forwarding that is going on.
    pub fn is_forwarding(&self, id: u16) -> bool {
        self.forwarding.running.is_some() && self.forwarding.active_ports().contains(&id)
    }

    /// Starts ports and prints what DPDK prints. False when any failed to start.
    pub fn start_ports(&mut self, which: Which) -> bool {
        let Ok(ids) = self.ports_of(which) else {
            return true;
        };
        let mut all_well = true;
        let mut started = 0;
        for id in &ids {
            match self.start_port(*id) {
                Ok(true) => started += 1,
                Ok(false) => self.out.complain(Refusal::NotStopped(*id)),
                Err(reason) => {
                    all_well = false;
                    self.out.complain(format_args!("mpps: port {id}: {reason}"));
                    self.out.complain(Refusal::Configure(*id));
                }
            }
        }
        if !all_well {
            return false;
        }
        if started > 0 {
            self.check_links(&ids, LINK_WAIT);
        } else if !ids.is_empty() {
            self.out.complain(Refusal::StopPorts);
        }
        self.out.line(Lifecycle::Done);
        true
    }

    /// Starts one port; false when it runs already.
    fn start_port(&mut self, id: u16) -> Result<bool, String> {
        let Some(slot) = self.port(id) else {
            return Ok(true);
        };
        if slot.is_started() {
            return Ok(false);
        }
        if slot.reconfigure {
            let socket = SocketId(slot.dev.info().node);
            self.out.line(Lifecycle::Configuring(id, socket));
            let config = self.device_config(id).map_err(|error| error.to_string())?;
            if let Some(slot) = self.port_mut(id) {
                slot.dev
                    .configure(&config)
                    .map_err(|error| error.to_string())?;
                slot.reconfigure = false;
            }
        }
        let Some(slot) = self.port_mut(id) else {
            return Ok(true);
        };
        let queues = slot.dev.start().map_err(|error| error.to_string())?;
        slot.state = PortState::Started(queues);
        let mac = slot.dev.port().mac();
        self.out.line(Lifecycle::Running(id, mac));
        Ok(true)
    }

    /// What the options and commands ask of a port.
    fn device_config(&self, id: u16) -> Result<DevConfig, Fatal> {
        let Some(slot) = self.port(id) else {
            return Ok(DevConfig::default());
        };
        let info = slot.dev.info();
        let spread = self.forwarding.rxq > 1 || self.args.offloads.rss_always;
        let types = if spread {
            slot.rss_types & info.rss_types
        } else {
            0
        };
        Ok(DevConfig {
            rx: (0..self.forwarding.rxq)
                .map(|queue| self.rx_config(slot, queue))
                .collect::<Result<_, _>>()?,
            tx: (0..self.forwarding.txq)
                .map(|queue| self.tx_config(slot, queue))
                .collect::<Result<_, _>>()?,
            rx_offloads: RxOffloads::from_bits_retain(slot.rx_offloads),
            tx_offloads: TxOffloads::from_bits_retain(slot.tx_offloads),
            rx_mode: if types == 0 {
                RxMode::empty()
            } else {
                RxMode::from_bits_truncate(u32::from(self.args.offloads.rx_mq_mode)) & RxMode::RSS
            },
            rss: RssSettings { types, key: None },
            mtu: match slot.wishes.mtu {
                Some(mtu) => Some(mtu),
                None => self.mtu_wish(info)?,
            },
            link_events: self.args.run.link_events,
            lendable: self.pools.lendable(slot.id),
        })
    }

    fn rx_config(&self, slot: &PortSlot, queue: u16) -> Result<RxQueueConfig, Fatal> {
        let (options, info) = (&self.args.queues, slot.dev.info());
        let wish = slot.wishes.queue(Side::Rx, queue);
        let default = info
            .default_descriptors
            .map_or(QueueSize::DEFAULT, |(rx, _)| rx);
        let registers = [options.rxpt, options.rxht, options.rxwt];
        Ok(RxQueueConfig {
            queue: QueueConfig {
                size: size(wish.size.or(self.forwarding.rxd), default)?,
                thresholds: thresholds(registers, options.rxfreet, None),
                deferred_start: wish.deferred,
            },
            pool: self.pools.of_port(slot.id, self.pool_node(slot)).clone(),
            offloads: RxOffloads::from_bits_retain(wish.offloads),
            drop_en: self.args.offloads.drop_en,
        })
    }

    fn tx_config(&self, slot: &PortSlot, queue: u16) -> Result<TxQueueConfig, Fatal> {
        let options = &self.args.queues;
        let wish = slot.wishes.queue(Side::Tx, queue);
        let default = slot
            .dev
            .info()
            .default_descriptors
            .map_or(QueueSize::DEFAULT, |(_, tx)| tx);
        let registers = [options.txpt, options.txht, options.txwt];
        Ok(TxQueueConfig {
            queue: QueueConfig {
                size: size(wish.size.or(self.forwarding.txd), default)?,
                thresholds: thresholds(registers, options.txfreet, options.txrst),
                deferred_start: wish.deferred,
            },
            offloads: TxOffloads::from_bits_retain(wish.offloads),
        })
    }

    /// The node that a port's receive mbufs come from: as `--port-numa-config` says, the last one holding, else its own.
    fn pool_node(&self, slot: &PortSlot) -> u32 {
        let wished = self
            .args
            .pools
            .port_numa
            .iter()
            .rev()
            .find(|(port, _)| *port == slot.id);
        wished.map_or(slot.dev.info().node.unwrap_or(0), |(_, node)| {
            u32::from(*node)
        })
    }

    /// `--max-pkt-len` as an MTU: without Ethernet header and FCS.
    fn mtu_wish(&self, info: &DevInfo) -> Result<Option<u16>, Fatal> {
        let Some(length) = self.args.pools.max_pkt_len else {
            return Ok(None);
        };
        match u16::try_from(length.saturating_sub(OVERHEAD)) {
            Ok(mtu) if mtu <= info.max_mtu => Ok(Some(mtu)),
            _ => Err(Fatal::Other(format!(
                "--max-pkt-len {length} is out of range, must be at most {} at {}: its largest MTU and the Ethernet header",
                u32::from(info.max_mtu) + OVERHEAD,
                info.name
            ))),
        }
    }

    /// Stops ports and prints what DPDK prints.
    pub fn stop_ports(&mut self, which: Which) {
        let Ok(ids) = self.ports_of(which) else {
            return;
        };
        self.out.line(Lifecycle::StoppingPorts);
        let mut stopped = Vec::new();
        for id in ids {
            if self.is_forwarding(id) {
                self.out.complain(Refusal::Forwarding(id));
            } else if self.stop_port(id) {
                stopped.push(id);
            }
        }
        if !stopped.is_empty() {
            self.check_links(&stopped, Duration::ZERO);
        }
        self.out.line(Lifecycle::Done);
    }

    /// Stops one port; false when it didn't run.
    pub(super) fn stop_port(&mut self, id: u16) -> bool {
        let Some(slot) = self.port_mut(id) else {
            return false;
        };
        match std::mem::replace(&mut slot.state, PortState::Stopped) {
            PortState::Stopped => false,
            PortState::Started(queues) => {
                slot.dev.stop(queues);
                true
            }
        }
    }

    /// Closes ports: their numbers become free.
    pub fn close_ports(&mut self, which: Which) {
        let Ok(ids) = self.ports_of(which) else {
            return;
        };
        self.out.line(Lifecycle::ClosingPorts);
        for id in ids {
            if self.is_forwarding(id) {
                self.out.complain(Refusal::Forwarding(id));
                continue;
            }
            if self.port(id).is_some_and(PortSlot::is_started) {
                self.out.complain(Refusal::CloseRunning(id));
                continue;
            }
            self.ports[usize::from(id)] = None;
            self.forwarding.ports.retain(|port| *port != id);
            self.forwarding.joining.retain(|port| *port != id);
            self.forwarding.nb_ports = self.forwarding.nb_ports.min(self.forwarding.ports.len());
            self.out.line(Lifecycle::Closed(id));
        }
        // The streams stay as they were laid out until the next start, and `show config fwd` shows them so.
        self.out.line(Lifecycle::Done);
    }

    /// Resets stopped ports: their configuration is applied anew at the next start.
    pub fn reset_ports(&mut self, which: Which) {
        let Ok(ids) = self.ports_of(which) else {
            return;
        };
        if ids
            .iter()
            .any(|id| self.port(*id).is_some_and(PortSlot::is_started))
        {
            self.out.complain(Refusal::ResetRunning);
            return;
        }
        self.out.line(Lifecycle::ResettingPorts);
        for id in ids {
            if let Some(slot) = self.port_mut(id) {
                slot.reconfigure = true;
            }
        }
        self.out.line(Lifecycle::Done);
    }

    /// The link lines of a start or stop: with link events on there are none, as DPDK's first look is its last.
    ///
    /// Waits no longer than `patience` for links to come up, so that peers who are there already are met before the prompt:
    /// a script that starts to send at once would send into nothing. DPDK waits for 0.1 s, and for 9 s without link events.
    fn check_links(&mut self, ids: &[u16], patience: Duration) {
        if !self.args.run.link_check || self.ending {
            return;
        }
        self.out.line(Lifecycle::CheckingLinks);
        let start = Instant::now();
        let up = |app: &Self, id: &u16| app.port(*id).is_none_or(|slot| slot.link().up);
        while start.elapsed() < patience && !ids.iter().all(|id| up(self, id)) {
            std::thread::sleep(LINK_PAUSE);
        }
        if self.args.run.link_events {
            return;
        }
        for id in ids {
            let line = self.port(*id).map(|slot| LinkLine {
                port: *id,
                link: slot.link(),
            });
            line.into_iter().for_each(|line| self.out.line(line));
        }
    }

    /// The lcore of the console, as the data path sees it.
    pub(super) fn main_lcore(&self) -> mpps_dev::Lcore {
        mpps_dev::Lcore::new(LcoreId(self.main.id), &self.pools.all(), self.clock)
    }
}

/// Descriptors that were asked for, or the default.
fn size(asked: Option<u16>, default: QueueSize) -> Result<QueueSize, Fatal> {
    asked
        .map_or(Ok(default), |n| QueueSize::new(u64::from(n)))
        .map_err(|error| Fatal::Other(error.to_string()))
}

fn thresholds(registers: [Option<u8>; 3], free: Option<u16>, rs: Option<u16>) -> Thresholds {
    let [prefetch, host, write_back] = registers.map(Option::unwrap_or_default);
    Thresholds {
        prefetch,
        host,
        write_back,
        free: free.unwrap_or_default(),
        rs: rs.unwrap_or_default(),
    }
}
