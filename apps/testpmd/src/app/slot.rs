//! One port of the program: the device, its state and what the program keeps about it.

use std::sync::Arc;
use std::time::Duration;

use mpps_dev::{EthDev, Events, PortId, ProbeContext, Queues};
use mpps_engines::ChecksumSettings;
use mpps_kernels::Copier;
use mpps_shm::PageSource;

use super::{Fatal, PortWishes};
use crate::app_args::AppArgs;
use crate::plan::PlannedDevice;
use crate::text::{DeviceStats, RateState, XstatRates};

/// What every port is told when it is made.
pub(super) struct Surroundings {
    /// How packet bytes are copied.
    pub(super) copier: Copier,
    /// Where memory comes from.
    pub(super) pages: Arc<PageSource>,
    /// Who hears of what peers bring about.
    pub(super) events: Events,
}

/// Whether a port runs.
pub enum PortState {
    /// It doesn't.
    Stopped,
    /// It does; queues that a stream uses are lent out.
    Started(Queues),
}

/// A port.
pub struct PortSlot {
    /// Its number.
    pub id: u16,
    /// The device.
    pub dev: Box<dyn EthDev>,
    /// Whether it runs.
    pub state: PortState,
    /// Whether its configuration changed since it was last applied.
    pub reconfigure: bool,
    /// Receive offloads that are asked for.
    pub rx_offloads: u64,
    /// Transmit offloads that are asked for.
    pub tx_offloads: u64,
    /// RSS types that are asked for.
    pub rss_types: u64,
    /// For the rates of `show port stats`.
    pub rates: RateState,
    /// For the rates of `--display-xstats`.
    pub xstat_rates: XstatRates,
    /// Counters when forwarding started or was last cleared.
    pub baseline: DeviceStats,
    /// Checksums of engine csum.
    pub checksum: ChecksumSettings,
    /// VLAN tags that are inserted, inner and outer.
    pub tx_vlan: (u16, u16),
    /// What commands asked of this port and its queues alone.
    pub wishes: PortWishes,
    /// When the program started, for the rates.
    pub started: std::time::Instant,
}

impl PortSlot {
    /// Makes a port of a device.
    pub(super) fn probe(
        device: &PlannedDevice,
        number: usize,
        args: &AppArgs,
        surroundings: &Surroundings,
    ) -> Result<Self, Fatal> {
        let id = PortId::new(u16::try_from(number).unwrap_or(u16::MAX))
            .map_err(|error| Fatal::Other(format!("--vdev {}: {error}", device.args.name())))?;
        let context = ProbeContext {
            port: id,
            copier: surroundings.copier,
            pages: Some(surroundings.pages.clone()),
            events: surroundings.events.clone(),
        };
        let dev = device.driver.probe(&device.args, &context)?;
        Ok(Self::new(id.get(), dev, args))
    }

    fn new(id: u16, dev: Box<dyn EthDev>, args: &AppArgs) -> Self {
        let info = dev.info();
        let capable = (info.tx_offloads | info.tx_queue_offloads).bits();
        // MBUF_FAST_FREE is on by default and silently left out where the device lacks it, as in DPDK.
        let fast_free = crate::app_args::tx::MBUF_FAST_FREE;
        let tx_offloads = if capable & fast_free == 0 {
            args.offloads.tx & !fast_free
        } else {
            args.offloads.tx
        };
        Self {
            id,
            state: PortState::Stopped,
            reconfigure: true,
            rx_offloads: args.offloads.rx,
            tx_offloads,
            rss_types: args.offloads.rss,
            rates: RateState::default(),
            xstat_rates: XstatRates::default(),
            baseline: DeviceStats::default(),
            checksum: ChecksumSettings::default(),
            tx_vlan: (0, 0),
            wishes: PortWishes::default(),
            started: std::time::Instant::now(),
            dev,
        }
    }

    /// Whether the port runs.
    pub fn is_started(&self) -> bool {
        matches!(self.state, PortState::Started(_))
    }

    /// The device's counters in the words of the text blocks.
    pub fn stats(&self) -> DeviceStats {
        let s = self.dev.stats();
        DeviceStats {
            ipackets: s.ipackets,
            opackets: s.opackets,
            ibytes: s.ibytes,
            obytes: s.obytes,
            imissed: s.imissed,
            ierrors: s.ierrors,
            oerrors: s.oerrors,
            rx_nombuf: s.rx_nombuf,
        }
    }

    /// Time since the program started, for rates.
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// The link in the words of the text blocks; down while the port is stopped, whatever its device says.
    pub fn link(&self) -> crate::text::Link {
        let link = self.dev.link();
        crate::text::Link {
            up: link.up && self.is_started(),
            speed_mbps: link.speed,
            full_duplex: link.full_duplex,
            autoneg: link.autoneg,
        }
    }
}
