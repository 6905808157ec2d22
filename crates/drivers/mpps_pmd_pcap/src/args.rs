//! The arguments of a net_pcap device, checked as a whole.

use std::path::PathBuf;

use mpps_dev::{ArgKind, ArgSpec, DevArgError, DevArgs};

use crate::NAME;
use crate::reader::MAX_FRAME;

/// The most files of a direction, and so the most queues.
const MAX_QUEUES: usize = 16;

const SNAPLEN: u32 = 65_535;

pub(crate) const ARGS: &[ArgSpec] = &[
    ArgSpec {
        key: "rx_pcap",
        kind: ArgKind::Text,
        repeats: true,
        help: "file to receive from, one for each receive queue [none: never receives]",
    },
    ArgSpec {
        key: "tx_pcap",
        kind: ArgKind::Text,
        repeats: true,
        help: "file to send into, one for each transmit queue [none: frees what is sent]",
    },
    ArgSpec {
        key: "infinite_rx",
        kind: ArgKind::Flag,
        repeats: false,
        help: "receive the frames of rx_pcap over and over, from memory [0]",
    },
    ArgSpec {
        key: "eof",
        kind: ArgKind::Flag,
        repeats: false,
        help: "link down once all rx_pcap files have ended; not with infinite_rx [0]",
    },
    ArgSpec {
        key: "snaplen",
        kind: ArgKind::Number(1, MAX_FRAME as u64),
        repeats: false,
        help: "the most bytes of a frame that are written [65535]",
    },
    ArgSpec {
        key: "phy_mac",
        kind: ArgKind::Flag,
        repeats: false,
        help: "take the MAC address of iface; refused, as iface is [0]",
    },
    interface("iface"),
    interface("rx_iface"),
    interface("rx_iface_in"),
    interface("tx_iface"),
];

const fn interface(key: &'static str) -> ArgSpec {
    ArgSpec {
        key,
        kind: ArgKind::Text,
        repeats: true,
        help: "kernel interface; refused, this port has files only: rx_pcap and tx_pcap",
    }
}

/// What the arguments ask for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Files to receive from, by queue.
    pub(crate) rx: Vec<PathBuf>,
    /// Files to send into, by queue.
    pub(crate) tx: Vec<PathBuf>,
    /// Whether to start over at the end.
    pub(crate) infinite: bool,
    /// Whether the link goes down at the end.
    pub(crate) eof: bool,
    /// The most bytes of a frame that are written.
    pub(crate) snaplen: u32,
}

impl Wish {
    pub(crate) fn of(args: &DevArgs) -> Result<Self, DevArgError> {
        let checked = args.check(NAME, ARGS)?;
        for key in ["iface", "rx_iface", "rx_iface_in", "tx_iface"] {
            if let Some(name) = checked.text(key) {
                return Err(args.conflict(format!(
                    "{key}={name}: net_pcap has no kernel interfaces, only files; give rx_pcap=FILE and tx_pcap=FILE instead"
                )));
            }
        }
        if checked.flag("phy_mac") {
            return Err(args.conflict(
                "phy_mac=1 takes the MAC address of a kernel interface, and net_pcap has only files; leave phy_mac out",
            ));
        }
        let files = |key| checked.texts(key).map(PathBuf::from).collect::<Vec<_>>();
        let wish = Self {
            rx: files("rx_pcap"),
            tx: files("tx_pcap"),
            infinite: checked.flag("infinite_rx"),
            eof: checked.flag("eof"),
            // Below MAX_FRAME by the table.
            snaplen: checked
                .number("snaplen")
                .map_or(SNAPLEN, |snaplen| snaplen as u32),
        };
        for (key, have) in [("rx_pcap", wish.rx.len()), ("tx_pcap", wish.tx.len())] {
            if have > MAX_QUEUES {
                return Err(args.conflict(format!(
                    "{key} is given {have} times, at most {MAX_QUEUES} are allowed, one for each queue"
                )));
            }
        }
        if wish.rx.is_empty() && wish.tx.is_empty() {
            return Err(args.conflict(
                "neither rx_pcap=FILE nor tx_pcap=FILE is given; a net_pcap port needs at least one of them",
            ));
        }
        for (key, set) in [("infinite_rx", wish.infinite), ("eof", wish.eof)] {
            if set && wish.rx.is_empty() {
                return Err(args.conflict(format!(
                    "{key}=1 needs a file to receive from; add rx_pcap=FILE"
                )));
            }
        }
        if wish.infinite && wish.eof {
            return Err(
                args.conflict("infinite_rx=1 and eof=1 exclude each other: a loop has no end")
            );
        }
        Ok(wish)
    }
}
