//! The control side of the port, as the program sees it.

use std::sync::Arc;

use mpps_dev::{
    ConfigError, DevArgs, DevConfig, EthDev, Link, Port, PortStats, ProbeContext, ProbeError,
    QueueInfo, QueueSize, Queues, RxOffloads, RxQueue, StartError, TxQueue, Unsupported, XStat,
};
use mpps_kernels::CopyKind;
use mpps_mbuf::Pool;
use mpps_os::unix_socket::{Endpoint, SocketError};
use mpps_shm::{MemoryConfig, PageSource};

use crate::NAME;
use crate::args::Settings;
use crate::control::Handle;
use crate::info::{MAX_MTU, info};
use crate::memory::{MAX_LENT, Memory, distinct};
use crate::negotiate::{self, Wish};
use crate::plan::{Gate, Plan, Ring};
use crate::queue::{UserRx, UserTx};
use crate::xstats::{self, Kept};

/// Ethernet header and one VLAN tag; the virtio-net header.
const FRAME_OVERHEAD: u32 = 18;
const NET_HEADER: u32 = 12;

/// A virtio-user port.
pub(crate) struct VirtioUserDev {
    port: Port,
    settings: Settings,
    copy: CopyKind,
    pages: Arc<PageSource>,
    control: Handle,
    context: ProbeContext,
    rx: Vec<Kept>,
    tx: Vec<Kept>,
    /// Of the last start, to be used again.
    memory: Option<Arc<Memory>>,
    /// The line on pools that aren't lent was said.
    told_of_pools: bool,
}

impl VirtioUserDev {
    pub(crate) fn new(
        args: &DevArgs,
        settings: Settings,
        context: &ProbeContext,
    ) -> Result<Self, ProbeError> {
        let device = |reason: String| ProbeError::Device {
            device: args.name().to_owned(),
            reason,
        };
        let pages = match &context.pages {
            Some(pages) => pages.clone(),
            None => {
                let own = PageSource::new(MemoryConfig::default());
                Arc::new(own.map_err(|error| device(error.to_string()))?)
            }
        };
        let endpoint = endpoint(&settings).map_err(|error| device(error.to_string()))?;
        for line in settings.remarks() {
            context.events.note(context.port, line);
        }
        let control = Handle::spawn(context.port, endpoint, context.events.clone())
            .map_err(|error| device(format!("no control thread: {error}")))?;
        let link = Link {
            // As far as the port's owner is concerned; whether a back end is there is another matter.
            up: true,
            speed: settings.speed,
            full_duplex: true,
            autoneg: true,
        };
        Ok(Self {
            port: Port::new(info(args, &settings), settings.mac, link),
            copy: CopyKind::from_name(context.copier.name()).unwrap_or(CopyKind::Auto),
            settings,
            pages,
            control,
            context: context.clone(),
            rx: Vec::new(),
            tx: Vec::new(),
            memory: None,
            told_of_pools: false,
        })
    }

    fn refuse(&self, reason: String) -> StartError {
        StartError::Other {
            device: self.port.info().name.clone(),
            reason,
        }
    }

    /// Sizes of all rings: `queue_size`, whatever a queue is asked to have, which bounds what is posted. A direction with
    /// fewer queues has rings that nobody polls.
    fn ring_sizes(&self) -> Vec<u32> {
        let config = self.port.config();
        let pairs = config.rx.len().max(config.tx.len());
        vec![u32::from(self.settings.queue_size); 2 * pairs]
    }

    /// The pools that the back end will map: those of the receive queues, then others that may be lent.
    fn pools(&mut self) -> Result<Vec<Pool>, StartError> {
        let config = self.port.config();
        let wanted = config.rx.iter().map(|queue| &queue.pool);
        let needed = distinct(wanted);
        let mut all = distinct(needed.iter().chain(&config.lendable));
        if needed.len() > MAX_LENT {
            return Err(self.refuse(format!(
                "the receive queues use {} pools, and a back end maps {MAX_LENT} at most; let queues share pools",
                needed.len()
            )));
        }
        if all.is_empty() {
            return Err(self.refuse("no pool whose buffers may be lent".to_owned()));
        }
        let kept_back = all.split_off(all.len().min(MAX_LENT));
        if !kept_back.is_empty() && !self.told_of_pools {
            self.told_of_pools = true;
            let names = kept_back.iter().map(|pool| pool.config().name.as_str());
            let names = names.collect::<Vec<_>>().join(", ");
            let line = format!(
                "a back end maps {MAX_LENT} mbuf pools at most: packets from {names} are copied"
            );
            self.context.events.note(self.context.port, line);
        }
        Ok(all)
    }

    fn memory(&mut self) -> Result<Arc<Memory>, StartError> {
        let (sizes, pools) = (self.ring_sizes(), self.pools()?);
        if let Some(memory) = &self.memory
            && memory.serves(&sizes, &pools)
        {
            return Ok(memory.clone());
        }
        self.memory = None;
        let made = Memory::new(&self.port.info().name, sizes, pools, &self.pages);
        let memory = Arc::new(made.map_err(|error| self.refuse(error.to_string()))?);
        self.memory = Some(memory.clone());
        Ok(memory)
    }

    /// A frame of the MTU must fit one buffer unless packets may be scattered.
    fn check_scatter(&self) -> Result<(), StartError> {
        let config = self.port.config();
        let frame = u32::from(self.port.mtu()) + FRAME_OVERHEAD;
        for (number, queue) in config.rx.iter().enumerate() {
            let scatter = config.rx_offloads.union(queue.offloads);
            let room = u32::from(queue.pool.data_capacity());
            if frame > room && !scatter.contains(RxOffloads::SCATTER) {
                return Err(self.refuse(format!(
                    "receive queue {number}: frames of {frame} bytes (MTU {}) don't fit the {room} bytes of an mbuf of {}; lower the MTU, raise --mbuf-size to {}, or give --enable-scatter",
                    self.port.mtu(),
                    queue.pool.config().name,
                    frame + u32::from(mpps_mbuf::HEADROOM),
                )));
            }
        }
        Ok(())
    }

    /// The rings with their gates, and the queues that poll them.
    fn make_queues(&mut self, memory: &Memory) -> (Vec<Ring>, Queues) {
        let pools = memory.lent().pools();
        let (mut rings, mut rx, mut tx) = (Vec::new(), Vec::new(), Vec::new());
        let offloads = self.port.config().rx_offloads;
        let strip = offloads.contains(RxOffloads::VLAN_STRIP);
        let first = pools.first().map(Pool::id);
        for pair in 0..memory.pairs() {
            let config = self.port.config();
            let rx_asked = config.rx.get(pair).map(|rx| (rx.pool.id(), rx.queue.size));
            let tx_asked = config.tx.get(pair).map(|tx| tx.queue.size);
            let mut keeper = mpps_ring::gate();
            if rx_asked.is_some()
                && let Some(poller) = keeper.poller()
            {
                let (stats, mailbox) = self.port.rx_queue(pair);
                rx.push(Box::new(UserRx {
                    poller,
                    strip,
                    stats,
                    mailbox,
                }) as Box<dyn RxQueue>);
            }
            // There is a pool, or the start was refused.
            let pool = rx_asked.map(|(pool, _)| pool).or(first);
            let tally = |kept: &[Kept]| kept.get(pair).map(|k| k.tally.clone()).unwrap_or_default();
            rings.extend(pool.map(|pool| Ring {
                gate: Gate::Rx(keeper),
                pool,
                most: rx_asked.map(|(_, size)| size.get()),
                tally: tally(&self.rx),
            }));
            let mut keeper = mpps_ring::gate();
            if tx_asked.is_some()
                && let Some(poller) = keeper.poller()
            {
                let (stats, mailbox) = self.port.tx_queue(pair);
                tx.push(Box::new(UserTx {
                    poller,
                    stats,
                    mailbox,
                }) as Box<dyn TxQueue>);
            }
            rings.extend(first.map(|pool| Ring {
                gate: Gate::Tx(keeper),
                pool,
                most: tx_asked.map(QueueSize::get),
                tally: tally(&self.tx),
            }));
        }
        (rings, Queues::new(rx, tx))
    }

    /// What the rings of a direction are, for one queue of the configuration.
    fn queue_info(&self, size: QueueSize, buffer_size: u16) -> QueueInfo {
        QueueInfo {
            descriptors: size.get().min(self.settings.queue_size),
            buffer_size,
            scattered: false,
            burst_mode: None,
        }
    }

    /// Commands of the control queue are answered here; without it there are none.
    fn control(&self, what: &'static str) -> Result<(), Unsupported> {
        if self.settings.control_queue {
            Ok(())
        } else {
            Err(Unsupported { what, driver: NAME })
        }
    }
}

fn endpoint(settings: &Settings) -> Result<Endpoint, SocketError> {
    if settings.server {
        Endpoint::listen(&settings.path)
    } else {
        Endpoint::connect(&settings.path)
    }
}

impl EthDev for VirtioUserDev {
    fn port(&self) -> &Port {
        &self.port
    }

    fn port_mut(&mut self) -> &mut Port {
        &mut self.port
    }

    fn configure(&mut self, config: &DevConfig) -> Result<(), ConfigError> {
        if config.rss.types != 0 {
            return Err(ConfigError::Other {
                device: self.port.info().name.clone(),
                reason: "no back end of vhost-user spreads packets by hash (RSS); leave RSS off"
                    .to_owned(),
            });
        }
        self.port.configure(config)?;
        self.rx.resize_with(config.rx.len(), Kept::default);
        self.tx.resize_with(config.tx.len(), Kept::default);
        Ok(())
    }

    fn start(&mut self) -> Result<Queues, StartError> {
        self.check_scatter()?;
        let memory = self.memory()?;
        let wish = Wish::of(&self.settings, self.port.config());
        let (rings, queues) = self.make_queues(&memory);
        self.control.start(Plan {
            wish,
            memory,
            rings,
            copy: self.copy,
            vector: self.settings.vector,
            groups: self.settings.groups,
        });
        Ok(queues)
    }

    fn stop(&mut self, queues: Queues) {
        // The pollers first: nobody may be inside a ring that is closed for good.
        drop(queues);
        self.control.stop();
        self.port.close_queues();
    }

    fn link(&self) -> Link {
        Link {
            up: self.control.published().link_up() && self.port.link().up,
            ..self.port.link()
        }
    }

    fn stats(&self) -> PortStats {
        let mut stats = self.port.stats();
        xstats::add_losses(&mut stats, &self.rx, &self.tx);
        stats
    }

    fn clear_stats(&mut self) {
        self.port.clear_stats();
        self.rx.iter_mut().chain(&mut self.tx).for_each(Kept::clear);
    }

    fn xstats(&self) -> Vec<XStat> {
        let mut all = self.port.xstats();
        for (queue, kept) in self.rx.iter().enumerate() {
            let counts = self.port.rx_counts(queue).unwrap_or_default();
            xstats::append(&mut all, "rx", queue, counts, kept);
        }
        for (queue, kept) in self.tx.iter().enumerate() {
            let counts = self.port.tx_counts(queue).unwrap_or_default();
            xstats::append(&mut all, "tx", queue, counts, kept);
        }
        all
    }

    fn private_info(&self) -> Vec<(&'static str, String)> {
        let running = self.control.published().running();
        let agreed = running.map(|running| running.features).unwrap_or_default();
        let in_order = u8::from(agreed.contains(mpps_virtq::Features::IN_ORDER));
        let vector = |path: Option<mpps_virtq::PathName>| {
            u8::from(path.is_some_and(|path| path.vector.is_some()))
        };
        let (rx, tx) = running.map_or((None, None), |running| (running.rx, running.tx));
        let frame = u32::from(self.port.mtu()) + FRAME_OVERHEAD + NET_HEADER;
        vec![
            (
                "guest_features",
                format!("0x{:x}", negotiate::shown(agreed, &self.settings)),
            ),
            ("vtnet_hdr_size", agreed.header_len().to_string()),
            ("use_vec", format!("rx-{} tx-{}", vector(rx), vector(tx))),
            ("use_inorder", format!("rx-{in_order} tx-{in_order}")),
            ("intr_lsc", "1".to_owned()),
            ("max_mtu", MAX_MTU.to_string()),
            ("max_rx_pkt_len", frame.to_string()),
            ("max_queue_pairs", self.settings.pairs.to_string()),
            (
                "req_guest_features",
                format!("0x{:x}", negotiate::known(self.port.config())),
            ),
        ]
    }

    fn paths(&self) -> (Option<String>, Option<String>) {
        let running = self.control.published().running();
        let (rx, tx) = running.map_or((None, None), |running| (running.rx, running.tx));
        [rx, tx]
            .map(|path| path.map(|path| path.to_string()))
            .into()
    }

    fn rx_queue_info(&self, queue: u16) -> Option<QueueInfo> {
        let rx = self.port.config().rx.get(usize::from(queue))?;
        Some(self.queue_info(rx.queue.size, rx.pool.data_capacity()))
    }

    fn tx_queue_info(&self, queue: u16) -> Option<QueueInfo> {
        let tx = self.port.config().tx.get(usize::from(queue))?;
        Some(self.queue_info(tx.queue.size, 0))
    }

    fn set_link(&mut self, _: bool) -> Result<(), Unsupported> {
        let what = "setting the link";
        Err(Unsupported { what, driver: NAME })
    }

    fn set_promiscuous(&mut self, on: bool) -> Result<(), Unsupported> {
        self.control("promiscuous mode")?;
        self.port.set_promiscuous(on);
        Ok(())
    }

    fn set_allmulticast(&mut self, on: bool) -> Result<(), Unsupported> {
        self.control("allmulticast mode")?;
        self.port.set_allmulticast(on);
        Ok(())
    }
}
