//! The port as the program sees it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use mpps_dev::{
    DevArgs, DevInfo, EthDev, Link, OutOfRange, Port, PortStats, ProbeContext, ProbeError, Queues,
    RxOffloads, StartError, TxOffloads, Unsupported, XStat,
};
use mpps_kernels::CopyKind;
use mpps_os::Waker;
use mpps_os::unix_socket::Endpoint;
use mpps_wire::MacAddr;

use crate::NAME;
use crate::control::{self, Shared};
use crate::core::{Core, Outcome, Published};
use crate::queue::{Alarm, Rx, Tx};
use crate::said::Said;
use crate::settings::Settings;
use crate::stats::{self, Reading};

/// A net_vhost port. Dropping it ends its control thread, and with it the connection.
pub(crate) struct VhostDev {
    port: Port,
    settings: Arc<Settings>,
    published: Arc<Published>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    started: bool,
    /// Tallies when statistics were last cleared, by queue.
    cleared: (Vec<Reading>, Vec<Reading>),
}

impl VhostDev {
    pub(crate) fn new(
        args: &DevArgs,
        settings: Settings,
        context: &ProbeContext,
    ) -> Result<Self, ProbeError> {
        let fail = |reason: String| ProbeError::Device {
            device: args.name().to_owned(),
            reason,
        };
        let endpoint = if settings.client {
            Endpoint::connect(&settings.iface)
        } else {
            Endpoint::listen(&settings.iface)
        };
        let endpoint = endpoint.map_err(|error| fail(error.to_string()))?;
        let waker = Waker::new().map_err(|error| fail(format!("no eventfd: {error}")))?;
        let settings = Arc::new(settings);
        let published = Arc::new(Published::default());
        let copy = CopyKind::from_name(context.copier.name()).unwrap_or(CopyKind::Auto);
        let core = Core::new(settings.clone(), published.clone(), copy);
        let shared = Arc::new(Shared {
            core: core.into(),
            waker,
            stop: AtomicBool::new(false),
            trouble: Arc::default(),
            warned: AtomicBool::new(false),
            port: context.port,
            events: context.events.clone(),
        });
        if settings.external {
            let line =
                "ext-buffer=1 has no effect: packets of any length are received as chains of mbufs";
            shared.events.note(shared.port, line);
        }
        let thread = std::thread::Builder::new()
            .name(format!("vhost-ctl-{}", context.port))
            .spawn({
                let shared = shared.clone();
                move || control::run(&shared, endpoint)
            })
            .map_err(|error| fail(format!("no thread: {error}")))?;
        Ok(Self {
            port: port(args, &settings, context),
            settings,
            published,
            shared,
            thread: Some(thread),
            started: false,
            cleared: Default::default(),
        })
    }

    fn make_queues(&mut self) -> Option<Queues> {
        let alarm = Alarm {
            raised: self.shared.trouble.clone(),
            waker: self.shared.waker.clone(),
        };
        let mut queues = Queues::default();
        let mut core = self.shared.core();
        for n in 0..self.port.config().rx.len() {
            let (stats, mailbox) = self.port.rx_queue(n);
            let queue = self.port.config().rx.get(n)?;
            let (pool, offloads) = (queue.pool.clone(), queue.offloads);
            let side = core.rx.get_mut(n)?;
            let poller = side.keeper.poller()?;
            side.pool = Some(pool);
            queues.rx.push(Some(Box::new(Rx {
                poller,
                strip: (self.port.config().rx_offloads | offloads).contains(RxOffloads::VLAN_STRIP),
                stats,
                mailbox,
                alarm: alarm.clone(),
            })));
        }
        for n in 0..self.port.config().tx.len() {
            let (stats, mailbox) = self.port.tx_queue(n);
            let side = core.tx.get_mut(n)?;
            let poller = side.keeper.poller()?;
            side.used = true;
            queues.tx.push(Some(Box::new(Tx {
                poller,
                stats,
                mailbox,
                alarm: alarm.clone(),
            })));
        }
        Some(queues)
    }

    /// Takes all rings back; the front end stays connected.
    fn rest(&mut self) {
        let mut core = self.shared.core();
        core.close_all();
        for side in &mut core.rx {
            side.pool = None;
        }
        for side in &mut core.tx {
            side.used = false;
        }
    }

    fn readings(&self) -> (Vec<Reading>, Vec<Reading>) {
        let core = self.shared.core();
        let rx = core.rx.iter().map(|side| Reading::of(&side.tally));
        let tx = core.tx.iter().map(|side| Reading::of(&side.tally));
        (rx.collect(), tx.collect())
    }

    fn strips(&self) -> bool {
        let offloads = self.port.config().rx_offloads;
        offloads.contains(RxOffloads::VLAN_STRIP)
    }

    fn since_cleared(&self) -> (Vec<Reading>, Vec<Reading>) {
        let (rx, tx) = self.readings();
        let since = |now: Vec<Reading>, then: &[Reading]| {
            let then = then
                .iter()
                .copied()
                .chain(std::iter::repeat(Reading::default()));
            now.into_iter()
                .zip(then)
                .map(|(now, then)| now.since(then))
                .collect()
        };
        (since(rx, &self.cleared.0), since(tx, &self.cleared.1))
    }
}

/// "VHOST" and the port's number.
fn mac(context: &ProbeContext) -> MacAddr {
    MacAddr([0x56, 0x48, 0x4f, 0x53, 0x54, context.port.get() as u8])
}

fn port(args: &DevArgs, settings: &Settings, context: &ProbeContext) -> Port {
    let mut info = DevInfo::software(args.name(), NAME, args.text());
    info.max_rx_queues = settings.pairs;
    info.max_tx_queues = settings.pairs;
    info.min_mtu = 46;
    // Chains are received unless `linear-buffer` forbids it; scattering isn't asked for.
    info.rx_offloads = RxOffloads::VLAN_STRIP;
    info.tx_offloads = TxOffloads::MULTI_SEGS | TxOffloads::VLAN_INSERT;
    if !settings.legacy {
        info.rx_offloads |= RxOffloads::UDP_CKSUM | RxOffloads::TCP_CKSUM;
        info.tx_offloads |= TxOffloads::UDP_CKSUM | TxOffloads::TCP_CKSUM;
    }
    let down = Link {
        up: false,
        ..Link::SOFTWARE
    };
    let mut port = Port::new(info, Some(mac(context)), down);
    port.set_promiscuous(true);
    port.set_allmulticast(true);
    port
}

const fn unsupported(what: &'static str) -> Unsupported {
    Unsupported { what, driver: NAME }
}

/// What is on for good can be switched on.
fn require(on: bool, what: &'static str) -> Result<(), Unsupported> {
    if on { Ok(()) } else { Err(unsupported(what)) }
}

impl EthDev for VhostDev {
    fn port(&self) -> &Port {
        &self.port
    }

    fn port_mut(&mut self) -> &mut Port {
        &mut self.port
    }

    fn start(&mut self) -> Result<Queues, StartError> {
        let Some(queues) = self.make_queues() else {
            self.rest();
            return Err(StartError::Other {
                device: self.port.info().name.clone(),
                reason: "a queue of the last start is still being polled; stop the port first"
                    .to_owned(),
            });
        };
        self.started = true;
        // Relaxed: a lone number.
        if let Ok(mtu @ 1..) = u16::try_from(self.published.mtu.load(Ordering::Relaxed)) {
            // In range, as NET_SET_MTU was checked.
            let _ = self.port.set_mtu(mtu);
        }
        let mut out = Outcome::default();
        self.shared.core().refresh(&mut out);
        self.shared.tell(&out, &mut Said::default());
        Ok(queues)
    }

    fn stop(&mut self, queues: Queues) {
        self.rest();
        drop(queues);
        self.started = false;
        self.port.close_queues();
    }

    fn link(&self) -> Link {
        Link {
            up: self.published.is_up(),
            ..self.port.link()
        }
    }

    fn set_link(&mut self, _: bool) -> Result<(), Unsupported> {
        Err(unsupported("setting the link"))
    }

    /// Every frame that the front end sends is received; a back end has no address of its own to filter by.
    fn set_promiscuous(&mut self, on: bool) -> Result<(), Unsupported> {
        require(on, "leaving promiscuous mode")
    }

    fn set_allmulticast(&mut self, on: bool) -> Result<(), Unsupported> {
        require(on, "leaving all-multicast mode")
    }

    fn set_mac(&mut self, _: MacAddr) -> Result<(), Unsupported> {
        Err(unsupported("setting the address"))
    }

    /// The front end decides.
    fn set_mtu(&mut self, mtu: u16) -> Result<(), OutOfRange> {
        if mtu == self.port.mtu() {
            return Ok(());
        }
        Err(OutOfRange {
            what: "MTU",
            value: u64::from(mtu),
            allowed: format!("{}, as the front end has it", self.port.mtu()).into(),
        })
    }

    fn stats(&self) -> PortStats {
        let mut sum = self.port.stats();
        let (rx, tx) = self.since_cleared();
        for queue in rx {
            sum.ierrors += queue.bad + queue.too_long;
            sum.rx_nombuf += queue.no_mbuf;
        }
        for queue in tx {
            sum.oerrors += queue.bad + queue.too_long;
        }
        sum
    }

    fn clear_stats(&mut self) {
        self.port.clear_stats();
        self.cleared = self.readings();
    }

    fn xstats(&self) -> Vec<XStat> {
        let (rx, tx) = self.since_cleared();
        let mut all = self.port.xstats();
        all.extend(stats::xstats(&self.port, &rx, &tx));
        all
    }

    fn xstats_ready(&self) -> bool {
        // Relaxed: a lone flag.
        self.published.was_connected.load(Ordering::Relaxed)
    }

    fn private_info(&self) -> Vec<(&'static str, String)> {
        let core = self.shared.core();
        let attached = core.peer.as_ref().is_some_and(|peer| peer.running);
        let features = core.peer.as_ref().map_or(0, |peer| peer.features);
        let one = |on: bool| u8::from(on).to_string();
        vec![
            ("iface_name", self.settings.iface.display().to_string()),
            ("flags", format!("{:#x}", self.settings.flags())),
            ("disable_flags", format!("{:#x}", self.settings.disabled())),
            ("features", format!("{features:#x}")),
            ("max_queues", self.settings.pairs.to_string()),
            ("vid", if attached { "0" } else { "-1" }.to_owned()),
            ("started", one(self.started)),
            ("dev_attached", one(attached)),
            ("vlan_strip", one(self.strips())),
            ("rx_sw_csum", one(false)),
            ("tx_sw_csum", one(false)),
        ]
    }

    fn paths(&self) -> (Option<String>, Option<String>) {
        let core = self.shared.core();
        let rx = core.rx.iter().find(|side| side.keeper.is_open());
        let tx = core.tx.iter().find(|side| side.keeper.is_open());
        (
            rx.and_then(|side| side.path).map(|path| path.to_string()),
            tx.and_then(|side| side.path).map(|path| path.to_string()),
        )
    }
}

impl Drop for VhostDev {
    fn drop(&mut self) {
        // Release: pairs with the acquire in the control thread.
        self.shared.stop.store(true, Ordering::Release);
        self.shared.waker.wake();
        if let Some(thread) = self.thread.take() {
            // It doesn't panic; if it did, there is nothing left to do here.
            let _ = thread.join();
        }
    }
}
