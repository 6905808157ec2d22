//! Engine txonly: packets are made and sent; nothing is received.
//!
//! A packet is Ethernet, IPv4 and UDP headers from a template, then whatever its buffers held before. The lengths of its
//! segments come from `--txpkts`. With several flows the UDP source port changes from packet to packet; the count is kept
//! a lcore-wide sequence by its stream and goes back by what was not sent, so that the sequence on the wire has no holes.

use mpps_dev::Lcore;
use mpps_mbuf::{Mbuf, OffloadFlags, PoolId, TxOffload};

use crate::random::XorShift;
use crate::template::{Addresses, HEADERS, Template};
use crate::{Engine, EngineSpec, Needs, StreamIo, StreamSetup, TxSplit};

pub(crate) const SPEC: EngineSpec = EngineSpec {
    name: "txonly",
    needs: Needs::Tx,
    min_frame: HEADERS,
    answers: false,
    help: "make UDP packets and send them; receive nothing",
    notice: None,
    make: |setup| Ok(Box::new(TxOnly::new(setup)?)),
};

/// The first UDP source port of several flows is this times 256.
const FIRST_FLOW: u32 = 0xC0;

struct TxOnly {
    template: Template,
    lengths: Vec<u16>,
    split: TxSplit,
    /// Number of flows, where there are several.
    flows: Option<u32>,
    /// Packets made so far, less those that were not sent.
    sequence: u32,
    lcore: u32,
    pool: PoolId,
    flags: OffloadFlags,
    vlan: (u16, u16),
    random: XorShift,
}

impl TxOnly {
    fn new(setup: &StreamSetup) -> Result<Self, String> {
        let txonly = &setup.settings.txonly;
        let total: u32 = txonly.lengths.iter().map(|len| u32::from(*len)).sum();
        let first = txonly.lengths.first().copied().unwrap_or(0);
        let changing = txonly.multi_flow || txonly.split == TxSplit::Random;
        if total < HEADERS as u32 || total > u32::from(u16::MAX) {
            return Err(format!(
                "txonly: the lengths of --txpkts add up to {total}, must be 42 to 65535"
            ));
        }
        if changing && usize::from(first) < HEADERS {
            return Err(format!(
                "txonly: the first length of --txpkts is {first}; random split and several flows need 42 or more there"
            ));
        }
        if let Some(len) = txonly
            .lengths
            .iter()
            .find(|len| **len > setup.pool_capacity)
        {
            return Err(format!(
                "txonly: a segment of {len} bytes doesn't fit an mbuf, which holds {}",
                setup.pool_capacity
            ));
        }
        let addresses = Addresses {
            mac: (setup.tx.mac, setup.peer),
            ip: txonly.ip,
            udp: txonly.udp,
        };
        Ok(Self {
            template: Template::new(&addresses, total as u16),
            lengths: txonly.lengths.clone(),
            split: txonly.split,
            flows: txonly
                .multi_flow
                .then_some(u32::from(txonly.flows.clamp(1, 64))),
            sequence: 0,
            lcore: setup.lcore,
            pool: setup.pool,
            flags: setup.tx.tx_flags,
            vlan: setup.tx.tx_vlan,
            random: XorShift::of_queue(setup.tx.port, setup.tx.queue),
        })
    }

    /// Whole packets of one segment, the usual case.
    #[inline(always)]
    fn fill_plain(&mut self, lcore: &mut Lcore, io: &mut StreamIo) {
        lcore.alloc(self.pool, io.burst.room(), self.lengths[0], &mut io.burst);
        for packet in io.burst.as_mut_slice() {
            if let Some(front) = packet.front_mut::<HEADERS>() {
                *front = self.template.bytes;
                if let Some(flows) = self.flows {
                    set_flow(front, &mut self.sequence, flows, self.lcore);
                }
            }
            packet.set_offload(self.flags, TxOffload::new(14, 20, 0));
        }
    }

    /// Chains, one packet after the other.
    #[inline(never)]
    fn fill_chains(&mut self, lcore: &mut Lcore, io: &mut StreamIo) {
        while io.burst.room() > 0 {
            let Some(mut packet) = self.chain(lcore) else {
                break;
            };
            packet.set_offload(self.flags, TxOffload::new(14, 20, 0));
            if io.burst.push(packet).is_err() {
                break;
            }
        }
    }

    fn chain(&mut self, lcore: &mut Lcore) -> Option<Mbuf> {
        let n = match self.split {
            TxSplit::Random => 1 + self.random.below(self.lengths.len()),
            TxSplit::Off | TxSplit::On => self.lengths.len(),
        };
        let total: u16 = self.lengths[..n].iter().sum();
        let mut headers = self.template.clone();
        headers.set_length(total);
        if let Some(flows) = self.flows {
            set_flow(&mut headers.bytes, &mut self.sequence, flows, self.lcore);
        }
        let mut head: Option<Mbuf> = None;
        let mut rest = headers.bytes.as_slice();
        for len in &self.lengths[..n] {
            let mut segment = lcore.alloc_one(self.pool)?;
            segment.resize(*len);
            let (now, later) = rest.split_at(rest.len().min(usize::from(*len)));
            segment.data_mut()?[..now.len()].copy_from_slice(now);
            rest = later;
            match &mut head {
                None => head = Some(segment),
                Some(head) => head.chain(segment).ok()?,
            }
        }
        head
    }
}

/// Gives a packet the source port of its flow. The IPv4 checksum doesn't cover it, and UDP's is zero.
fn set_flow(headers: &mut [u8; HEADERS], sequence: &mut u32, flows: u32, lcore: u32) {
    let port = ((*sequence % flows + FIRST_FLOW) << 8 | (lcore & 0xff)) as u16;
    headers[34..36].copy_from_slice(&port.to_be_bytes());
    *sequence = sequence.wrapping_add(1);
}

impl Engine for TxOnly {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        if self.lengths.len() == 1 {
            self.fill_plain(lcore, io);
        } else {
            self.fill_chains(lcore, io);
        }
        let made = io.burst.len();
        if made == 0 {
            return false;
        }
        if !self.flags.is_empty() {
            for packet in io.burst.as_mut_slice() {
                packet.set_vlan(self.vlan.0, self.vlan.1);
            }
        }
        let sent = io.send(lcore);
        self.sequence = self.sequence.wrapping_sub((made - sent) as u32);
        true
    }
}
