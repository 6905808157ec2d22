//! Engine mac: every packet is addressed to the transmit port's peer, from the transmit port.

use mpps_dev::Lcore;
use mpps_kernels::Marks;
use mpps_mbuf::{Mbuf, TxOffload};
use mpps_wire::MacAddr;

use crate::private::make_private;
use crate::{Engine, EngineSpec, Needs, PortEnd, StreamIo, StreamSetup};

/// An Ethernet header.
pub(crate) const MIN_FRAME: usize = 14;

pub(crate) const SPEC: EngineSpec = EngineSpec {
    name: "mac",
    needs: Needs::Both,
    min_frame: MIN_FRAME,
    answers: false,
    help: "send every packet to the transmit port's peer, from the transmit port's own address",
    notice: None,
    make: |setup| Ok(Box::new(Mac::new(setup))),
};

pub(crate) struct Mac {
    addresses: [u8; 12],
    marks: Marks,
    vlan: (u16, u16),
}

/// What a packet that leaves through this port is marked with.
pub(crate) fn marks(end: &PortEnd) -> Marks {
    Marks {
        flags: end.tx_flags,
        lengths: TxOffload::new(14, 20, 0),
    }
}

/// Destination and source as they stand in a frame.
pub(crate) fn addresses(to: MacAddr, from: MacAddr) -> [u8; 12] {
    let mut bytes = [0; 12];
    bytes[..6].copy_from_slice(&to.bytes());
    bytes[6..].copy_from_slice(&from.bytes());
    bytes
}

/// Sets the tags that the port inserts. Off the common path: few ports insert any.
#[inline(always)]
pub(crate) fn tag_all(packets: &mut [Mbuf], marks: Marks, vlan: (u16, u16)) {
    if !marks.flags.is_empty() {
        for packet in packets {
            packet.set_vlan(vlan.0, vlan.1);
        }
    }
}

impl Mac {
    pub(crate) fn new(setup: &StreamSetup) -> Self {
        Self {
            addresses: addresses(setup.peer, setup.tx.mac),
            marks: marks(&setup.tx),
            vlan: setup.tx.tx_vlan,
        }
    }

    #[inline(always)]
    fn address(&self, packet: &mut Mbuf) -> bool {
        packet.set_offload(self.marks.flags, self.marks.lengths);
        let Some(data) = packet.data_mut() else {
            return true;
        };
        if let Some(front) = data.first_chunk_mut::<MIN_FRAME>() {
            front[..12].copy_from_slice(&self.addresses);
        }
        false
    }

    /// Addresses all packets of the burst in hand.
    #[inline(always)]
    pub(crate) fn work(&mut self, lcore: &mut Lcore, io: &mut StreamIo) {
        let mut shared = false;
        for packet in io.burst.as_mut_slice() {
            shared |= self.address(packet);
        }
        if shared {
            let dropped = make_private(lcore, &mut io.burst, |packet| {
                self.address(packet);
            });
            io.stats.dropped.add(dropped);
        }
        tag_all(io.burst.as_mut_slice(), self.marks, self.vlan);
    }
}

impl Engine for Mac {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        if io.receive(lcore) == 0 {
            return false;
        }
        self.work(lcore, io);
        io.send(lcore);
        true
    }
}
