//! Engine flowgen: received packets are freed, and packets of many flows are sent.
//!
//! The flow is the IPv4 destination, 10.253.0.0 plus a number that goes up by one a packet and wraps at
//! `--flowgen-flows`. With `--flowgen-clones` each packet is followed by that many more of its flow. The frame is four
//! bytes shorter than `--txpkts` says: the engine leaves room for the FCS.

use std::net::Ipv4Addr;

use mpps_dev::Lcore;
use mpps_mbuf::{OffloadFlags, PoolId, TxOffload};
use mpps_wire::MacAddr;

use crate::template::{Addresses, HEADERS, Template};
use crate::{Engine, EngineSpec, Needs, StreamIo, StreamSetup};

pub(crate) const SPEC: EngineSpec = EngineSpec {
    name: "flowgen",
    needs: Needs::Both,
    min_frame: HEADERS,
    answers: false,
    help: "free what is received and send UDP packets of many flows",
    notice: None,
    make: |setup| Ok(Box::new(FlowGen::new(setup)?)),
};

/// 10.253.0.0, the destination of flow 0.
const FIRST_DESTINATION: u32 = 0x0afd_0000;

/// Bytes of the FCS, which `--txpkts` counts and the frame doesn't have.
const FCS: u32 = 4;

struct FlowGen {
    template: Template,
    /// Sum of the IPv4 header without its checksum and without the flow number.
    sum: u32,
    length: u16,
    flows: u32,
    flow: u32,
    /// Packets a flow in a row.
    run: u32,
    /// Packets of the current flow that are still to come.
    left: u32,
    pool: PoolId,
    flags: OffloadFlags,
    vlan: (u16, u16),
}

impl FlowGen {
    fn new(setup: &StreamSetup) -> Result<Self, String> {
        let total: u32 = setup
            .settings
            .txonly
            .lengths
            .iter()
            .map(|len| u32::from(*len))
            .sum();
        let length = total.saturating_sub(FCS);
        if length < HEADERS as u32 || length > u32::from(setup.pool_capacity) {
            return Err(format!(
                "flowgen: --txpkts asks for frames of {total} bytes with FCS, must be 46 to {}",
                u32::from(setup.pool_capacity) + FCS
            ));
        }
        let settings = setup.settings.flowgen;
        let addresses = Addresses {
            mac: (MacAddr([0, 1, 2, 3, 4, 0]), MacAddr([0, 1, 2, 3, 4, 1])),
            ip: (
                Ipv4Addr::new(10, 254, 0, 0),
                Ipv4Addr::from(FIRST_DESTINATION),
            ),
            udp: (1000, 1001),
        };
        let template = Template::new(&addresses, length as u16);
        let run = settings.clones.min(setup.burst as u32) + 1;
        Ok(Self {
            sum: u32::from(!template.checksum()),
            template,
            length: length as u16,
            flows: settings.flows.max(1),
            flow: 0,
            run,
            left: run,
            pool: setup.pool,
            flags: setup.tx.tx_flags,
            vlan: setup.tx.tx_vlan,
        })
    }

    /// Writes one packet's headers and moves on to the next flow.
    #[inline(always)]
    fn write(&mut self, front: &mut [u8; HEADERS]) {
        *front = self.template.bytes;
        // The flow number is below 2^32 - FIRST_DESTINATION in any sane run; a larger one wraps in the address.
        let destination = FIRST_DESTINATION.wrapping_add(self.flow);
        let sum =
            self.sum - (FIRST_DESTINATION >> 16) + (destination >> 16) + (destination & 0xffff);
        let sum = (sum & 0xffff) + (sum >> 16);
        let sum = (sum & 0xffff) + (sum >> 16);
        front[24..26].copy_from_slice(&(!(sum as u16)).to_be_bytes());
        front[30..34].copy_from_slice(&destination.to_be_bytes());
        self.left -= 1;
        if self.left == 0 {
            self.left = self.run;
            self.flow = if self.flow + 1 >= self.flows {
                0
            } else {
                self.flow + 1
            };
        }
    }

    /// Takes back what was made and not sent, so that no flow is left out on the wire.
    fn step_back(&mut self, packets: usize) {
        for _ in 0..packets {
            self.left += 1;
            if self.left > self.run {
                self.left = 1;
                self.flow = self.flow.checked_sub(1).unwrap_or(self.flows - 1);
            }
        }
    }
}

impl Engine for FlowGen {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        if io.receive(lcore) != 0 {
            lcore.free(&mut io.burst);
        }
        let made = lcore.alloc(self.pool, io.burst.room(), self.length, &mut io.burst);
        for packet in io.burst.as_mut_slice() {
            if let Some(front) = packet.front_mut::<HEADERS>() {
                self.write(front);
            }
            packet.set_offload(self.flags, TxOffload::new(14, 20, 0));
            if !self.flags.is_empty() {
                packet.set_vlan(self.vlan.0, self.vlan.1);
            }
        }
        if made != 0 {
            let sent = io.send(lcore);
            self.step_back(made - sent);
        }
        true
    }
}
