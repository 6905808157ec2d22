//! What ports say of themselves, as blocks of text: information, queues, offloads, addresses, RSS.
//!
//! Each method fills a block of [`crate::text`] from the devices and prints it. That the port exists was found out by the
//! command; a port that is gone prints nothing.

use mpps_console::Width;
use mpps_dev::{DevInfo, RxOffloads, TxOffloads};

use crate::text::{
    CsumShow, DescriptorLimits, DeviceInfo, DevicePort, ErrorHandling, MacList, McastList, Notice,
    OffloadCapabilities, OffloadConfiguration, PortInfo, PortSummary, PrivateInfo, PtypeRow,
    Refusal, RetaRows, RssHash, RxSplit, SegmentLimits, ShowRefusal, Side, SocketId, VlanOffload,
};

use super::{App, PortSlot};

/// The layers of `show port {p} ptypes`.
const LAYERS: [&str; 7] = [
    "L2", "L3", "L4", "Tunnel", "Inner L2", "Inner L3", "Inner L4",
];

/// What of a hash is to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashPart {
    /// The types.
    Functions,
    /// The types and the key.
    Key,
    /// How it is computed.
    Algorithm,
}

impl App {
    /// `show port info`.
    pub fn show_port_info(&mut self, id: u16) {
        let Some(slot) = self.port(id) else { return };
        let private: Vec<String> = slot
            .dev
            .private_info()
            .iter()
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let (rx_path, tx_path) = slot.dev.paths();
        let block = PortInfo {
            private: match private.as_slice() {
                [] => PrivateInfo::None,
                lines => PrivateInfo::Lines(lines),
            },
            rx_path: rx_path.as_deref(),
            tx_path: tx_path.as_deref(),
            ..port_info(slot)
        }
        .to_string();
        self.out.block(block);
    }

    /// `show port summary` of these ports.
    pub fn show_port_summary(&mut self, ids: &[u16]) {
        let slots = ids.iter().filter_map(|id| self.port(*id));
        let rows: Vec<_> = slots
            .map(|slot| {
                let info = slot.dev.info();
                (
                    slot.id,
                    slot.dev.port().mac(),
                    info.name.as_str(),
                    info.driver,
                    slot.link(),
                )
            })
            .collect();
        let block = PortSummary {
            count: self.port_ids().len(),
            rows: &rows,
        }
        .to_string();
        self.out.block(block);
    }

    /// `show device info` of the device of this name, or of all; false when there is none of the name.
    pub fn show_device_info(&mut self, name: Option<&str>) -> bool {
        let named = |slot: &&PortSlot| name.is_none_or(|name| slot.dev.info().name == name);
        let blocks: Vec<String> = self
            .ports
            .iter()
            .flatten()
            .filter(named)
            .map(device_info)
            .collect();
        blocks.iter().for_each(|block| self.out.block(block));
        name.is_none() || !blocks.is_empty()
    }

    /// `show port {p} macs`.
    pub fn show_macs(&mut self, id: u16) {
        let Some(slot) = self.port(id) else { return };
        let block = MacList(slot.dev.port().macs()).to_string();
        self.out.block(block);
    }

    /// `show port {p} mcast_macs`: no port here filters multicast addresses.
    pub fn show_multicast_macs(&mut self, id: u16) {
        if self.port(id).is_some() {
            self.out.block(McastList(&[]));
        }
    }

    /// `show port {p} ptypes`: no port here tells packet types.
    pub fn show_packet_types(&mut self, id: u16) {
        if self.port(id).is_some() {
            LAYERS
                .iter()
                .for_each(|layer| self.out.block(PtypeRow { layer, types: &[] }));
        }
    }

    /// `show port {p} rx_offload|tx_offload capabilities`.
    pub fn show_offload_capabilities(&mut self, id: u16, side: Side) {
        let Some(info) = self.port(id).map(|slot| slot.dev.info()) else {
            return;
        };
        let (port, queue) = match side {
            Side::Rx => (info.rx_offloads.bits(), info.rx_queue_offloads.bits()),
            Side::Tx => (info.tx_offloads.bits(), info.tx_queue_offloads.bits()),
        };
        self.out.block(OffloadCapabilities {
            side,
            port: id,
            queue,
            all: port | queue,
        });
    }

    /// `show port {p} rx_offload|tx_offload configuration`: of the port as last applied, of its queues as asked for.
    pub fn show_offload_configuration(&mut self, id: u16, side: Side) {
        let Some(slot) = self.port(id) else { return };
        let config = slot.dev.port().config();
        let (all, asked) = match side {
            Side::Rx => (config.rx_offloads.bits(), slot.rx_offloads),
            Side::Tx => (config.tx_offloads.bits(), slot.tx_offloads),
        };
        let count = self.queues_of(id, side).unwrap_or(0);
        let queues: Vec<u64> = (0..count)
            .map(|queue| asked | slot.wishes.queue(side, queue).offloads)
            .collect();
        self.out.block(OffloadConfiguration {
            side,
            port: id,
            all,
            queues: &queues,
        });
    }

    /// How many queues a port is configured with.
    pub(super) fn queues_of(&self, id: u16, side: Side) -> Option<u16> {
        let config = self.port(id)?.dev.port().config();
        let n = if side == Side::Rx {
            config.rx.len()
        } else {
            config.tx.len()
        };
        u16::try_from(n).ok()
    }

    /// `show port {p} rss-hash [key|algorithm]`.
    pub fn show_rss_hash(&mut self, id: u16, part: HashPart) {
        let Some(slot) = self.port_mut(id) else {
            return;
        };
        if slot.dev.info().hash_key_size == 0 {
            self.out.complain(ShowRefusal::NoHashKey);
            return;
        }
        let Some(rss) = slot.dev.rss() else {
            self.out.complain(ShowRefusal::NotByDevice);
            return;
        };
        let block = match (rss.types(), part) {
            (0, _) => RssHash::Disabled,
            // The software hash knows no other.
            (_, HashPart::Algorithm) => RssHash::Algorithm("toeplitz"),
            (types, HashPart::Functions) => RssHash::Functions { types, key: None },
            (types, HashPart::Key) => RssHash::Functions {
                types,
                key: Some(rss.key()),
            },
        }
        .to_string();
        self.out.block(block);
    }

    /// `show port {p} rss reta {size} (mask,...)`.
    pub fn show_reta(&mut self, id: u16, size: u16, masks: &str) {
        let Some(slot) = self.port_mut(id) else {
            self.out.complain(ShowRefusal::DeviceInfo(id));
            return;
        };
        let most = slot.dev.info().reta_size.min(RETA_MAX);
        if size == 0 || size > most {
            self.out.complain(ShowRefusal::RetaSize(size, most));
            return;
        }
        let wanted = usize::from(size).div_ceil(crate::text::RETA_GROUP);
        let masks = match reta_masks(masks, wanted) {
            Ok(masks) => masks,
            Err(refusals) => {
                return refusals
                    .iter()
                    .for_each(|refusal| self.out.complain(refusal));
            }
        };
        let table = slot
            .dev
            .rss()
            .map_or_else(Vec::new, |rss| rss.reta().to_vec());
        if table.len() != usize::from(size) || masks.iter().all(|mask| *mask == 0) {
            self.out.complain(Refusal::Reta(-22));
            return;
        }
        self.out.block(RetaRows {
            table: &table,
            masks: &masks,
        });
    }

    /// `csum show`, with a warning for each checksum that is left to a port that can't do it.
    pub fn show_checksums(&mut self, id: u16) {
        let Some(slot) = self.port(id) else { return };
        let wanted = TxOffloads::from_bits_retain(slot.tx_offloads);
        let have = slot.dev.info().tx_offloads | slot.dev.info().tx_queue_offloads;
        let block = CsumShow {
            parse_tunnel: slot.checksum.parse_tunnel,
            hw: CHECKSUMS.map(|(offload, _)| wanted.contains(offload)),
        };
        self.out.block(block);
        for (offload, name) in CHECKSUMS {
            if wanted.contains(offload) && !have.contains(offload) {
                self.out.complain(Notice::HwChecksum(name, id));
            }
        }
    }
}

/// The most entries of a redirection table that a command can name.
const RETA_MAX: u16 = 512;

/// Checksums in the order in which they are shown, with the names that warnings use.
const CHECKSUMS: [(TxOffloads, &str); 6] = [
    (TxOffloads::IPV4_CKSUM, "IP"),
    (TxOffloads::UDP_CKSUM, "UDP"),
    (TxOffloads::TCP_CKSUM, "TCP"),
    (TxOffloads::SCTP_CKSUM, "SCTP"),
    (TxOffloads::OUTER_IPV4_CKSUM, "outer IP"),
    (TxOffloads::OUTER_UDP_CKSUM, "outer UDP"),
];

/// `(0x3,1)`: as many masks as there are groups of entries.
fn reta_masks(text: &str, wanted: usize) -> Result<Vec<u64>, Vec<ShowRefusal>> {
    let wrong = || ShowRefusal::RetaMasks(text.to_owned());
    let inner = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
        .ok_or_else(|| vec![wrong()])?;
    let masks: Option<Vec<u64>> = inner.split(',').map(as_mask).collect();
    match masks {
        None => Err(vec![wrong()]),
        Some(masks) if masks.len() != wanted => {
            Err(vec![ShowRefusal::RetaMaskCount(wanted), wrong()])
        }
        Some(masks) => Ok(masks),
    }
}

fn as_mask(text: &str) -> Option<u64> {
    mpps_console::parse_number(text, Width::U64).and_then(|number| u64::try_from(number).ok())
}

/// All but what the port tells of itself at this moment.
fn port_info(slot: &PortSlot) -> PortInfo<'_> {
    let (info, port) = (slot.dev.info(), slot.dev.port());
    let limits = |(min, max, align)| DescriptorLimits { max, min, align };
    let queues = |n: usize, max| [u16::try_from(n).unwrap_or(u16::MAX), max];
    PortInfo {
        port: slot.id,
        mac: port.mac(),
        device: &info.name,
        driver: info.driver,
        firmware: None,
        devargs: Some(&info.devargs),
        socket: SocketId(info.node),
        memory_socket: SocketId(info.node),
        link: slot.link(),
        lanes: None,
        mtu: [port.mtu(), info.min_mtu, info.max_mtu],
        promiscuous: port.promiscuous(),
        allmulticast: port.allmulticast(),
        max_macs: info.max_mac_addrs,
        max_hash_macs: 0,
        vlan: Some(vlan(slot.rx_offloads)),
        hash_key_size: info.hash_key_size,
        reta_size: info.reta_size,
        rss_types: info.rss_types,
        min_rx_buffer: info.min_rx_buffer,
        max_rx_buffer: None,
        max_rx_length: info.max_rx_pktlen,
        max_lro: 0,
        rx_split: RxSplit::default(),
        max_vfs: 0,
        max_vmdq_pools: 0,
        rx_queues: queues(port.config().rx.len(), info.max_rx_queues),
        rx_desc: limits(info.rx_descriptors),
        tx_queues: queues(port.config().tx.len(), info.max_tx_queues),
        tx_desc: limits(info.tx_descriptors),
        segments: segments(info),
        capabilities: info.capabilities,
        switch: None,
        error_handling: ErrorHandling::None,
        private: PrivateInfo::None,
        rx_path: None,
        tx_path: None,
    }
}

fn segments(info: &DevInfo) -> SegmentLimits {
    SegmentLimits {
        packet: info.max_tx_segments,
        mtu: info.max_tx_segments,
    }
}

fn vlan(rx_offloads: u64) -> VlanOffload {
    let offloads = RxOffloads::from_bits_retain(rx_offloads);
    VlanOffload {
        strip: offloads.contains(RxOffloads::VLAN_STRIP),
        filter: offloads.contains(RxOffloads::VLAN_FILTER),
        extend: offloads.contains(RxOffloads::VLAN_EXTEND),
        qinq_strip: offloads.contains(RxOffloads::QINQ_STRIP),
    }
}

fn device_info(slot: &PortSlot) -> String {
    let info = slot.dev.info();
    let port = DevicePort {
        port: slot.id,
        mac: slot.dev.port().mac(),
        name: &info.name,
        speeds: 0,
    };
    DeviceInfo {
        name: &info.name,
        bus: "vdev",
        bus_info: "",
        driver: info.driver,
        devargs: &info.devargs,
        socket: info
            .node
            .and_then(|node| i32::try_from(node).ok())
            .unwrap_or(-1),
        ports: &[port],
    }
    .to_string()
}
