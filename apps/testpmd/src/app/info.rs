//! What ports say of themselves, as blocks of text: information, queues, offloads, addresses, RSS.
//!
//! Each method fills a block of [`crate::text`] from the devices and prints it. That the port exists was found out by the
//! command; a port that is gone prints nothing.

use crate::app_args::{rx, rx_bit};
use crate::text::{
    DescriptorLimits, DeviceInfo, DevicePort, ErrorHandling, MacList, McastList, OffloadCapabilities,
    OffloadConfiguration, PortInfo, PortSummary, PrivateInfo, PtypeRow, QueueInfoFailure, RetaRows, RssHash, RxSplit,
    SegmentLimits, ShowRefusal, Side, SocketId, VlanOffload,
};

use super::{App, PortSlot, Which};
