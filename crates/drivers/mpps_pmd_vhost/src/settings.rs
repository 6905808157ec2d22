//! The arguments of a device, and what it offers to front ends because of them.

use std::path::PathBuf;

use mpps_dev::{ArgKind, ArgSpec, DevArgError, DevArgs};
use mpps_vhost_proto::{F_LOG_ALL, F_PROTOCOL_FEATURES, ProtocolFeatures};
use mpps_virtq::Features;

use crate::NAME;

/// Kick and call messages number rings with eight bits, and a pair is two rings.
const MAX_PAIRS: u64 = 128;

const fn spec(key: &'static str, kind: ArgKind, help: &'static str) -> ArgSpec {
    ArgSpec {
        key,
        kind,
        repeats: false,
        help,
    }
}

pub(crate) const ARGS: &[ArgSpec] = &[
    spec(
        "iface",
        ArgKind::Text,
        "the UNIX socket to listen at, or with client=1 to connect to",
    ),
    spec(
        "queues",
        ArgKind::Number(1, MAX_PAIRS),
        "queue pairs offered to the front end [1]",
    ),
    spec(
        "client",
        ArgKind::Flag,
        "connect to iface, again whenever the connection is lost [0]",
    ),
    spec(
        "iommu-support",
        ArgKind::Flag,
        "translate addresses through an IOMMU; not available [0]",
    ),
    spec(
        "postcopy-support",
        ArgKind::Flag,
        "take part in postcopy migration; not available [0]",
    ),
    spec(
        "tso",
        ArgKind::Flag,
        "let the front end send large TCP packets [0]",
    ),
    spec(
        "linear-buffer",
        ArgKind::Flag,
        "drop packets longer than an mbuf instead of receiving them as chains [0]",
    ),
    spec(
        "ext-buffer",
        ArgKind::Flag,
        "have longer packets in one external buffer; has no effect here, chains take packets of any length [0]",
    ),
    spec(
        "legacy-ol-flags",
        ArgKind::Flag,
        "don't offer checksum offloads to the program, as before DPDK 21.11 [0]",
    ),
];

/// What a device is asked to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    pub(crate) iface: PathBuf,
    pub(crate) pairs: u16,
    pub(crate) client: bool,
    pub(crate) tso: bool,
    pub(crate) linear: bool,
    pub(crate) external: bool,
    pub(crate) legacy: bool,
}

/// Features of the device that nothing switches off.
const FEATURES: Features = Features::MRG_RXBUF
    .union(Features::CTRL_VQ)
    .union(Features::CTRL_RX)
    .union(Features::GUEST_ANNOUNCE)
    .union(Features::MQ)
    .union(Features::MTU)
    .union(Features::CSUM)
    .union(Features::GUEST_CSUM)
    .union(Features::GUEST_TSO4)
    .union(Features::GUEST_TSO6)
    .union(Features::RING_INDIRECT_DESC)
    .union(Features::RING_EVENT_IDX)
    .union(Features::VERSION_1)
    .union(Features::IN_ORDER)
    .union(Features::RING_PACKED);

/// Those that `tso=1` adds.
const TSO: Features = Features::HOST_TSO4.union(Features::HOST_TSO6);

/// Protocol features that are kept to.
pub(crate) const PROTOCOL: ProtocolFeatures = ProtocolFeatures::MQ
    .union(ProtocolFeatures::LOG_SHMFD)
    .union(ProtocolFeatures::RARP)
    .union(ProtocolFeatures::REPLY_ACK)
    .union(ProtocolFeatures::NET_MTU)
    .union(ProtocolFeatures::BACKEND_REQ)
    .union(ProtocolFeatures::RESET_DEVICE)
    .union(ProtocolFeatures::CONFIGURE_MEM_SLOTS)
    .union(ProtocolFeatures::STATUS);

impl Settings {
    pub(crate) fn parse(args: &DevArgs) -> Result<Self, DevArgError> {
        let checked = args.check(NAME, ARGS)?;
        let iface = PathBuf::from(checked.required("iface")?);
        for (key, what) in [
            (
                "iommu-support",
                "0; translation by an IOMMU is not available",
            ),
            ("postcopy-support", "0; postcopy migration is not available"),
        ] {
            if checked.flag(key) {
                return Err(args.refuse(key, "1", what));
            }
        }
        Ok(Self {
            iface,
            pairs: checked.number("queues").unwrap_or(1) as u16,
            client: checked.flag("client"),
            tso: checked.flag("tso"),
            linear: checked.flag("linear-buffer"),
            external: checked.flag("ext-buffer"),
            legacy: checked.flag("legacy-ol-flags"),
        })
    }

    /// Feature bits as GET_FEATURES tells them.
    pub(crate) fn offered(&self) -> u64 {
        let tso = if self.tso { TSO } else { Features::empty() };
        (FEATURES | tso).bits() | F_PROTOCOL_FEATURES | F_LOG_ALL
    }

    /// Rings of the device.
    pub(crate) fn rings(&self) -> usize {
        usize::from(self.pairs) * 2
    }

    /// DPDK's number for what was asked for: client 1, external buffers 0x20, linear buffers 0x40, offload flags as since
    /// 21.11 0x100, statistics 0x200.
    pub(crate) fn flags(&self) -> u64 {
        let set = |on: bool, bit: u64| if on { bit } else { 0 };
        set(self.client, 1)
            | set(self.external, 0x20)
            | set(self.linear, 0x40)
            | set(!self.legacy, 0x100)
            | 0x200
    }

    /// Feature bits that arguments switched off.
    pub(crate) fn disabled(&self) -> u64 {
        if self.tso { 0 } else { TSO.bits() }
    }
}
