//! What one front end has told since it connected; forgotten when it leaves.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use mpps_os::EventFd;
use mpps_shm::peer::DirtyLog;
use mpps_vhost_proto::{DeviceStatus, F_PROTOCOL_FEATURES, ProtocolFeatures, RequestKind};
use mpps_virtq::RingAddresses;

use crate::memory::Memory;

/// One ring as described so far.
#[derive(Default)]
pub(crate) struct Vring {
    /// Descriptors; zero before SET_VRING_NUM.
    pub(crate) size: u32,
    pub(crate) addresses: Option<RingAddresses>,
    /// Where to go on, or where it was stopped.
    pub(crate) base: u32,
    /// SET_VRING_KICK came, with a descriptor or without. The descriptor itself is of no use to who polls.
    pub(crate) kicked: bool,
    pub(crate) call: Option<Arc<EventFd>>,
    pub(crate) err: Option<EventFd>,
    pub(crate) enabled: bool,
    /// As last told by a queue state event.
    pub(crate) was_ready: bool,
    /// Retired or refused; opened again only after something about it has changed.
    pub(crate) dead: bool,
}

/// A connected front end.
#[derive(Default)]
pub(crate) struct Peer {
    pub(crate) features: u64,
    pub(crate) protocol: ProtocolFeatures,
    pub(crate) status: DeviceStatus,
    pub(crate) memory: Memory,
    pub(crate) rings: Vec<Vring>,
    pub(crate) log: Option<Arc<DirtyLog>>,
    /// Where this back end could send requests; it has none to send.
    pub(crate) channel: Option<OwnedFd>,
    /// The device runs: the link is up. Stays so until a ring is stopped or the device reset.
    pub(crate) running: bool,
    /// A RARP packet to be received next, with this source.
    pub(crate) announce: Option<[u8; 6]>,
    /// Refusals that were told, by number of the request.
    told: Vec<u32>,
}

impl Peer {
    pub(crate) fn new(rings: usize) -> Self {
        Self {
            rings: std::iter::repeat_with(Vring::default).take(rings).collect(),
            ..Self::default()
        }
    }

    /// Whether a ring has all that it needs and is switched on.
    pub(crate) fn ready(&self, index: usize) -> bool {
        let by_itself = self.features & F_PROTOCOL_FEATURES == 0;
        self.memory.table().is_some()
            && self.rings.get(index).is_some_and(|ring| {
                ring.size > 0
                    && ring.addresses.is_some()
                    && ring.kicked
                    && (ring.enabled || by_itself)
            })
    }

    /// Whether the driver says that it is ready, where it can say so.
    pub(crate) fn driver_ok(&self) -> bool {
        !self.protocol.contains(ProtocolFeatures::STATUS)
            || self.status.contains(DeviceStatus::DRIVER_OK)
    }

    /// Whether the front end cut off some of what it shares.
    pub(crate) fn is_lost(&self) -> bool {
        self.memory.is_lost() || self.log.as_ref().is_some_and(|log| log.is_lost())
    }

    /// Whether this is the first refusal of such a request.
    pub(crate) fn first_refusal(&mut self, request: u32) -> bool {
        // Unknown ones count as one, so that the list stays short.
        let request = RequestKind::of(request).map_or(0, RequestKind::number);
        let first = !self.told.contains(&request);
        if first {
            self.told.push(request);
        }
        first
    }

    /// Forgets what was said of rings, features and status; memory and protocol stay.
    pub(crate) fn reset(&mut self) {
        let rings = self.rings.len();
        self.rings = Self::new(rings).rings;
        self.features = 0;
        self.status = DeviceStatus::empty();
        self.announce = None;
    }
}
