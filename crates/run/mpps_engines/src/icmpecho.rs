//! Engine icmpecho: ARP requests and pings are answered, whatever address they ask for; all else is freed.
//!
//! Answers leave through the port and queue that the request came in on; the program sets the stream up so
//! ([`EngineSpec::answers`]). One VLAN tag is understood and kept. A ping to a multicast address is answered from an
//! address made of the requester's. Requests that aren't answered are no drops.

mod dump;

use mpps_dev::Lcore;
use mpps_kernels::Marks;
use mpps_mbuf::{Burst, Mbuf};
use mpps_soft::complete_checksum;
use mpps_wire::{Arp, Ethernet, Header, Icmp, Ipv4, MacAddr, Vlan, ethertype, protocol};

use self::dump::Dump;
use crate::mac::{marks, tag_all};
use crate::private::copy_of;
use crate::{Engine, EngineSpec, Needs, StreamIo, StreamSetup};

pub(crate) const SPEC: EngineSpec = EngineSpec {
    name: "icmpecho",
    needs: Needs::Both,
    min_frame: 42,
    answers: true,
    help: "answer ARP requests and pings on the port they came from, free all else",
    notice: None,
    make: |setup| Ok(Box::new(IcmpEcho::new(setup))),
};

struct IcmpEcho {
    mac: MacAddr,
    marks: Marks,
    vlan: (u16, u16),
    /// Answers on their way out, and what is freed; both empty between two visits.
    answers: Box<Burst>,
    rest: Box<Burst>,
}

/// What a frame asks for, and where its header lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Arp(usize),
    Ping { ip: usize, icmp: usize },
}

/// The request in a frame of any bytes.
fn request(frame: &[u8]) -> Option<Request> {
    let mut at = Ethernet::LEN;
    let mut kind = Ethernet::at(frame, 0)?.ethertype.get();
    if kind == ethertype::VLAN {
        kind = Vlan::at(frame, at)?.ethertype.get();
        at += Vlan::LEN;
    }
    match kind {
        ethertype::ARP => {
            let arp = Arp::at(frame, at)?;
            (arp.is_ethernet_ipv4() && arp.operation.get() == Arp::REQUEST)
                .then_some(Request::Arp(at))
        }
        ethertype::IPV4 => {
            let ip = Ipv4::checked_at(frame, at)?;
            let icmp = at + ip.header_len();
            // Only the first fragment has an ICMP header.
            let is_ping = ip.protocol == protocol::ICMP
                && ip.fragment_offset() == 0
                && Icmp::at(frame, icmp)?.is_echo_request();
            is_ping.then_some(Request::Ping { ip: at, icmp })
        }
        _ => None,
    }
}

/// Turns a request into its answer.
fn answer(frame: &mut [u8], request: Request, mac: MacAddr) {
    match request {
        Request::Arp(at) => {
            if let Some(arp) = Arp::at_mut(frame, at) {
                arp.answer(mac);
            }
            if let Some(ethernet) = Ethernet::at_mut(frame, 0) {
                ethernet.set_dst(ethernet.src());
                ethernet.set_src(mac);
            }
        }
        Request::Ping { ip, icmp } => {
            if let Some(ethernet) = Ethernet::at_mut(frame, 0) {
                ethernet.swap_addresses();
            }
            answer_ip(frame, ip);
            if let Some(icmp) = Icmp::at_mut(frame, icmp) {
                icmp.answer(Icmp::ECHO_REPLY);
            }
        }
    }
}

/// Swaps the addresses, or makes up a source where the destination is no host.
fn answer_ip(frame: &mut [u8], at: usize) {
    let Some(ip) = Ipv4::at_mut(frame, at) else {
        return;
    };
    if !ip.destination().is_multicast() {
        ip.swap_addresses();
        return;
    }
    ip.dst = ip.src;
    let last = ip.src[3];
    ip.src[3] = last & !3 | if last & 3 == 1 { 2 } else { 1 };
    Ipv4::fill_checksum(frame, at);
}

impl IcmpEcho {
    fn new(setup: &StreamSetup) -> Self {
        Self {
            mac: setup.tx.mac,
            marks: marks(&setup.tx),
            vlan: setup.tx.tx_vlan,
            answers: Burst::new(setup.burst),
            rest: Burst::new(setup.burst),
        }
    }

    /// Answers in place a packet whose data is its own.
    fn one(&self, packet: &mut Mbuf, request: Request) {
        packet.set_offload(self.marks.flags, self.marks.lengths);
        if let Some(frame) = packet.data_mut() {
            answer(frame, request, self.mac);
        }
    }

    /// Puts a packet with its answer among the answers, and what isn't answered among the rest.
    fn handle(&mut self, lcore: &mut Lcore, io: &StreamIo, mut packet: Mbuf) {
        let Some(request) = request(packet.data()) else {
            put(&mut self.rest, lcore, packet);
            return;
        };
        if packet.data_mut().is_none() {
            let copy = copy_of(lcore, &packet);
            put(&mut self.rest, lcore, packet);
            let Some(copy) = copy else {
                io.stats.dropped.add(1);
                return;
            };
            packet = copy;
        }
        // The answer's checksum is made from the request's. One that is yet to be cut, or whose checksum isn't within reach,
        // is no ping that anybody sends.
        if packet.has_debt() && !complete_checksum(&mut packet) {
            io.stats.dropped.add(1);
            put(&mut self.rest, lcore, packet);
            return;
        }
        self.one(&mut packet, request);
        put(&mut self.answers, lcore, packet);
    }
}

/// Appends to a burst whose limit is that of the burst the packets come from.
fn put(burst: &mut Burst, lcore: &mut Lcore, packet: Mbuf) {
    if let Err(packet) = burst.push(packet) {
        lcore.free_one(packet);
    }
}

impl Engine for IcmpEcho {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        if io.receive(lcore) == 0 {
            return false;
        }
        self.answers.set_limit(io.burst.limit());
        self.answers.set_source(io.burst.source());
        self.rest.set_limit(io.burst.limit());
        let is_shown = io.watch.level() > 0;
        while let Some(packet) = io.burst.pop_front() {
            if is_shown {
                let port = io.rx_at.0;
                let packet = &packet;
                io.watch.say(&Dump { port, packet });
            }
            self.handle(lcore, io, packet);
        }
        if !self.rest.is_empty() {
            lcore.free(&mut self.rest);
        }
        if !self.answers.is_empty() {
            std::mem::swap(&mut io.burst, &mut self.answers);
            tag_all(io.burst.as_mut_slice(), self.marks, self.vlan);
            io.send(lcore);
        }
        true
    }
}

#[cfg(test)]
mod tests;
