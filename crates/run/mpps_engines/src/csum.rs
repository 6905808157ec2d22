//! Engine csum: checksums of IPv4, UDP, TCP and SCTP are computed anew, or left to the transmit port.
//!
//! Packets are addressed as engine mac does, unless that is off. What the transmit port fills in by itself is prepared
//! for it: flags, header lengths, and the field as devices want it (the sum of the pseudo header for UDP and TCP, zero
//! elsewhere). All else is summed here, over all segments. With tunnels parsed, the inner packet comes first and the
//! outer headers follow; an outer UDP checksum that is summed here covers the inner sums, so then these are computed
//! here too.
//!
//! A UDP checksum of zero means "none" and stays. Fragments have their IPv4 header summed, no more, since an L4 checksum
//! covers the whole packet. What isn't IP, whose lengths contradict each other or the frame, or whose headers don't lie
//! whole in the first segment, is only addressed.
//!
//! A checksum that the sender left to others ([`mpps_mbuf::PartialChecksum`]) is computed first, so that the packet is one
//! like any other. A packet that is yet to be cut ([`mpps_mbuf::Gso`]), or whose checksum field isn't in the first
//! segment, is only addressed and keeps its debt: whoever sends it computes the checksums.
//!
//! With `set txsplit` packets leave as copies in segments ([`split`]).

mod dump;
mod headers;
mod quick;
mod split;
mod tunnel;

use mpps_dev::{Lcore, TxOffloads};
use mpps_kernels::{Checksum, Marks};
use mpps_mbuf::{Mbuf, OffloadFlags, TxOffload};
use mpps_soft::complete_checksum;
use mpps_wire::TunnelPorts;

use self::dump::Arrived;
use self::split::Splitter;
use crate::mac::{MIN_FRAME, addresses, marks, tag_all};
use crate::private::make_private;
use crate::{Engine, EngineSpec, Needs, StreamIo, StreamSetup, StreamStats};

pub(crate) const SPEC: EngineSpec = EngineSpec {
    name: "csum",
    needs: Needs::Both,
    min_frame: MIN_FRAME,
    answers: false,
    help: "compute IPv4, UDP, TCP and SCTP checksums, or have the port compute them, and send",
    notice: None,
    make: |setup| Ok(Box::new(Csum::new(setup)?)),
};

pub(crate) struct Csum {
    /// Destination and source, where packets are addressed.
    addresses: Option<[u8; 12]>,
    /// What the port fills in.
    hardware: TxOffloads,
    /// TCP segment size; zero for none.
    tso: u16,
    tunnels: Option<TunnelPorts>,
    checksum: Checksum,
    /// Nothing of a plain UDP or TCP packet is left to the port.
    is_quick: bool,
    splitter: Option<Splitter>,
    marks: Marks,
    vlan: (u16, u16),
}

/// Lengths of a packet that is nothing but an Ethernet frame.
const ETHERNET_ONLY: TxOffload = TxOffload::new(MIN_FRAME as u16, 0, 0);

/// EtherTypes below are no EtherTypes, or of protocols long dead: nothing to sum, no tag to look behind.
const FIRST_ETHERTYPE: u32 = 0x0800;

/// Above all EtherTypes: the packet's data is shared, and was left alone.
const SHARED: u32 = 0x1_0000;

/// What a port may do of a plain UDP or TCP packet.
const PLAIN: TxOffloads = TxOffloads::IPV4_CKSUM
    .union(TxOffloads::UDP_CKSUM)
    .union(TxOffloads::TCP_CKSUM);

/// What receive queues say about packets that arrived broken.
const BAD: OffloadFlags = OffloadFlags::RX_IP_CKSUM_BAD
    .union(OffloadFlags::RX_L4_CKSUM_BAD)
    .union(OffloadFlags::RX_OUTER_IP_CKSUM_BAD)
    .union(OffloadFlags::RX_OUTER_L4_CKSUM_BAD);

/// What makes a packet that arrives one that needs a second look.
const ARRIVED: OffloadFlags = BAD.union(OffloadFlags::DEBT);

/// Counts a packet that arrived broken, and computes the checksum that one owes.
#[cold]
fn cold_arrived(stats: &StreamStats, packet: &mut Mbuf) {
    cold_count_bad(stats, packet.flags());
    complete_checksum(packet);
}

/// Counts a packet by what is wrong with it. A layer marked good and bad at once means that the port doesn't know.
fn cold_count_bad(stats: &StreamStats, flags: OffloadFlags) {
    let counters = [
        (
            &stats.bad_ip_checksum,
            OffloadFlags::RX_IP_CKSUM_BAD,
            OffloadFlags::RX_IP_CKSUM_GOOD,
        ),
        (
            &stats.bad_l4_checksum,
            OffloadFlags::RX_L4_CKSUM_BAD,
            OffloadFlags::RX_L4_CKSUM_GOOD,
        ),
        (
            &stats.bad_outer_l4_checksum,
            OffloadFlags::RX_OUTER_L4_CKSUM_BAD,
            OffloadFlags::RX_OUTER_L4_CKSUM_GOOD,
        ),
        (
            &stats.bad_outer_ip_checksum,
            OffloadFlags::RX_OUTER_IP_CKSUM_BAD,
            OffloadFlags::empty(),
        ),
    ];
    for (counter, bad, good) in counters {
        counter.add(u64::from(flags & (bad | good) == bad));
    }
}

impl Csum {
    fn new(setup: &StreamSetup) -> Result<Self, String> {
        let settings = &setup.tx.checksum;
        if settings.tso != 0 && !settings.hardware.contains(TxOffloads::TCP_TSO) {
            let port = setup.tx.port;
            return Err(format!(
                "csum: TSO of {} bytes is set for port {port}, which doesn't segment TCP; \"tso set 0 {port}\" turns it off",
                settings.tso
            ));
        }
        let (vxlan_gpe, geneve) = setup.settings.tunnel_ports;
        let ports = TunnelPorts {
            vxlan_gpe,
            geneve,
            ..TunnelPorts::REGISTERED
        };
        Ok(Self {
            addresses: settings
                .mac_swap
                .then(|| addresses(setup.peer, setup.tx.mac)),
            hardware: settings.hardware,
            tso: settings.tso,
            tunnels: settings.parse_tunnel.then_some(ports),
            checksum: setup.settings.checksum,
            is_quick: settings.tso == 0 && !settings.hardware.intersects(PLAIN),
            splitter: Splitter::new(setup),
            marks: marks(&setup.tx),
            vlan: setup.tx.tx_vlan,
        })
    }

    /// Addresses a packet and marks it as nothing but a frame; returns its EtherType, or [`SHARED`].
    #[inline(always)]
    fn address(&self, packet: &mut Mbuf) -> u32 {
        packet.set_offload(self.marks.flags, ETHERNET_ONLY);
        let Some(data) = packet.data_mut() else {
            return SHARED;
        };
        let Some(front) = data.first_chunk_mut::<MIN_FRAME>() else {
            return 0;
        };
        if let Some(addresses) = &self.addresses {
            front[..12].copy_from_slice(addresses);
        }
        u32::from(u16::from_be_bytes([front[12], front[13]]))
    }

    /// All packets in hand: addresses first, headers only where there are any.
    #[inline(always)]
    fn work(&mut self, lcore: &mut Lcore, io: &mut StreamIo) {
        let mut highest = 0;
        for packet in io.burst.as_mut_slice() {
            if packet.flags().intersects(ARRIVED) {
                cold_arrived(&io.stats, packet);
            }
            highest = highest.max(self.address(packet));
        }
        if highest >= SHARED {
            let dropped = make_private(lcore, &mut io.burst, |packet| {
                complete_checksum(packet);
                self.address(packet);
            });
            io.stats.dropped.add(dropped);
        }
        if highest >= FIRST_ETHERTYPE {
            self.headers(io.burst.as_mut_slice());
        }
        tag_all(io.burst.as_mut_slice(), self.marks, self.vlan);
        if let Some(splitter) = &mut self.splitter {
            splitter.split(lcore, &mut io.burst);
        }
    }
}

impl Engine for Csum {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        if io.receive(lcore) == 0 {
            return false;
        }
        let arrived = Arrived::look(io);
        self.work(lcore, io);
        if let Some(arrived) = &arrived {
            self.cold_show(arrived, io);
        }
        io.send(lcore);
        true
    }
}

#[cfg(test)]
mod tests;
