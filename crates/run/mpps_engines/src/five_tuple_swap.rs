//! Engine 5tswap: source and destination change places in Ethernet, IP, UDP and TCP.
//!
//! No checksum changes by that, as sums don't depend on the order of what they cover. VLAN tags are stepped over. Ports
//! are swapped where the whole L4 header lies in the packet's first segment and follows the IP header directly: not in
//! later fragments, and not behind IPv6 extension headers. What isn't there, or is malformed, stays as it is.

use mpps_dev::Lcore;
use mpps_kernels::Marks;
use mpps_mbuf::Mbuf;
use mpps_wire::{Ethernet, Header, Ipv4, Ipv6, Tcp, Udp, ethertype, protocol, walk_ethernet};

use crate::mac::{MIN_FRAME, marks, tag_all};
use crate::private::make_private;
use crate::{Engine, EngineSpec, Needs, StreamIo, StreamSetup};

pub(crate) const SPEC: EngineSpec = EngineSpec {
    name: "5tswap",
    needs: Needs::Both,
    min_frame: MIN_FRAME,
    answers: false,
    help: "swap source and destination of Ethernet, IPv4, IPv6, UDP and TCP",
    notice: None,
    make: |setup| Ok(Box::new(FiveTupleSwap::new(setup))),
};

pub(crate) struct FiveTupleSwap {
    marks: Marks,
    vlan: (u16, u16),
}

/// Swaps all that a frame has of the five; the frame may hold any bytes.
fn swap(frame: &mut [u8]) {
    let Some(ethernet) = Ethernet::at_mut(frame, 0) else {
        return;
    };
    ethernet.swap_addresses();
    let Some(link) = walk_ethernet(frame, 0) else {
        return;
    };
    let at = usize::from(link.len);
    let transport = match link.ethertype {
        ethertype::IPV4 => swap_ipv4(frame, at),
        ethertype::IPV6 => swap_ipv6(frame, at),
        _ => None,
    };
    match transport {
        Some((protocol::UDP, at)) => {
            if let Some(udp) = Udp::at_mut(frame, at) {
                udp.swap_ports();
            }
        }
        Some((protocol::TCP, at)) => {
            if let Some(tcp) = Tcp::at_mut(frame, at) {
                tcp.swap_ports();
            }
        }
        _ => {}
    }
}

/// Swaps the addresses; returns protocol and offset of the L4 header, where one follows.
fn swap_ipv4(frame: &mut [u8], at: usize) -> Option<(u8, usize)> {
    Ipv4::checked_at(frame, at)?;
    let ip = Ipv4::at_mut(frame, at)?;
    ip.swap_addresses();
    (ip.fragment_offset() == 0).then(|| (ip.protocol, at + ip.header_len()))
}

/// As [`swap_ipv4`].
fn swap_ipv6(frame: &mut [u8], at: usize) -> Option<(u8, usize)> {
    Ipv6::checked_at(frame, at)?;
    let ip = Ipv6::at_mut(frame, at)?;
    ip.swap_addresses();
    Some((ip.next_header, at + Ipv6::LEN))
}

impl FiveTupleSwap {
    pub(crate) fn new(setup: &StreamSetup) -> Self {
        Self {
            marks: marks(&setup.tx),
            vlan: setup.tx.tx_vlan,
        }
    }

    /// One packet; says whether its data was shared.
    fn one(&self, packet: &mut Mbuf) -> bool {
        packet.set_offload(self.marks.flags, self.marks.lengths);
        match packet.data_mut() {
            Some(frame) => {
                swap(frame);
                false
            }
            None => true,
        }
    }

    /// Swaps in all packets in hand.
    pub(crate) fn work(&mut self, lcore: &mut Lcore, io: &mut StreamIo) {
        let mut shared = false;
        for packet in io.burst.as_mut_slice() {
            shared |= self.one(packet);
        }
        if shared {
            let dropped = make_private(lcore, &mut io.burst, |packet| {
                self.one(packet);
            });
            io.stats.dropped.add(dropped);
        }
        tag_all(io.burst.as_mut_slice(), self.marks, self.vlan);
    }
}

impl Engine for FiveTupleSwap {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        if io.receive(lcore) == 0 {
            return false;
        }
        self.work(lcore, io);
        io.send(lcore);
        true
    }
}

#[cfg(test)]
mod tests;
