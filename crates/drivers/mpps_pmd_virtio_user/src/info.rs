//! What the port says of itself, filled in once when it is made.

use mpps_dev::{DevArgs, DevInfo, QueueSize, RxOffloads, TxOffloads};

use crate::NAME;
use crate::args::{QUEUE_SIZES, Settings};

/// Longest frame that is received, and what of it the MTU leaves to headers (DPDK's figures, which scripts see).
const MAX_FRAME: u32 = 9728;
pub(crate) const MAX_MTU: u16 = 9698;
const MIN_MTU: u16 = 46;

const MAX_MACS: u32 = 64;

/// Limits and abilities of a device with these arguments.
pub(crate) fn info(args: &DevArgs, settings: &Settings) -> DevInfo {
    let mut info = DevInfo::software(args.name(), NAME, args.text());
    info.min_rx_buffer = 64;
    info.max_rx_pktlen = MAX_FRAME;
    info.min_mtu = MIN_MTU;
    info.max_mtu = MAX_MTU;
    info.max_rx_queues = settings.pairs;
    info.max_tx_queues = settings.pairs;
    info.rx_descriptors = (QUEUE_SIZES.0, QUEUE_SIZES.1, 1);
    info.tx_descriptors = info.rx_descriptors;
    let size = QueueSize::new(u64::from(settings.queue_size)).unwrap_or(QueueSize::DEFAULT);
    info.default_descriptors = Some((size, size));
    info.max_mac_addrs = MAX_MACS;
    info.rx_offloads = RxOffloads::VLAN_STRIP
        | RxOffloads::UDP_CKSUM
        | RxOffloads::TCP_CKSUM
        | RxOffloads::TCP_LRO
        | RxOffloads::SCATTER;
    info.tx_offloads = TxOffloads::MULTI_SEGS
        | TxOffloads::VLAN_INSERT
        | TxOffloads::UDP_CKSUM
        | TxOffloads::TCP_CKSUM
        | TxOffloads::TCP_TSO;
    info.queue_xstats = false;
    info.lends_buffers = true;
    info
}
