//! `set verbose`: packets printed as they pass, by the worker that has them.

use std::fmt::Write as _;
use std::io::Write as _;

use mpps_engines::{Direction, Seen};
use mpps_mbuf::{Mbuf, OffloadFlags};
use mpps_wire::MacAddr;

use crate::text::{BurstHead, PacketDump, VlanTags, dump_destination, sw_ptype};

/// Bytes of a packet that are looked at: all headers there may be.
const FRONT: usize = 256;

/// Prints a burst in one write, so that the lines of two workers don't mix.
pub(super) fn show(seen: &Seen<'_>) {
    let received = seen.direction == Direction::Received;
    let mut text = BurstHead {
        port: seen.port,
        queue: seen.queue,
        received,
        packets: seen.packets.len(),
    }
    .to_string();
    for packet in seen.packets {
        // A String takes everything.
        let _ = write!(
            text,
            "{}",
            Shown {
                packet,
                received,
                queue: seen.queue
            }
        );
    }
    let mut out = std::io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

struct Shown<'a> {
    packet: &'a Mbuf,
    received: bool,
    queue: u16,
}

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut front = [0; FRONT];
        let n = self.packet.copy_out(0, &mut front);
        let front = &front[..n];
        let flags = self.packet.flags();
        let names: Vec<&str> = match self.received {
            true => flags.received_names().collect(),
            false => flags.sent_names().collect(),
        };
        let mac = |at: usize| {
            front
                .get(at..)
                .and_then(|rest| rest.first_chunk())
                .map_or(MacAddr::ZERO, |m| MacAddr(*m))
        };
        let ether_type = front
            .get(12..14)
            .map_or(0, |two| u16::from_be_bytes([two[0], two[1]]));
        PacketDump {
            received: self.received,
            queue: self.queue,
            src: mac(6),
            dst: mac(0),
            pool: &pool_name(self.packet),
            ether_type,
            length: self.packet.pkt_len(),
            segments: self.packet.segments(),
            rss_hash: flags
                .contains(OffloadFlags::RX_RSS_HASH)
                .then(|| self.packet.rss_hash()),
            mark: None,
            timestamp: self.packet.timestamp(),
            vlan: vlan(self.packet),
            hw_ptype: None,
            sw_ptype: sw_ptype(front),
            destination: dump_destination(front, false),
            flags: &names,
        }
        .fmt(f)
    }
}

fn vlan(packet: &Mbuf) -> Option<VlanTags> {
    let flags = packet.flags();
    if flags.contains(OffloadFlags::RX_QINQ_STRIPPED) {
        Some(VlanTags::Two(packet.vlan(), packet.vlan_outer()))
    } else if flags.contains(OffloadFlags::RX_VLAN_STRIPPED) {
        Some(VlanTags::One(packet.vlan()))
    } else {
        None
    }
}

fn pool_name(packet: &Mbuf) -> String {
    let mut name = String::new();
    mpps_mbuf::for_each_pool(|info| {
        if info.id == packet.pool() {
            name.clone_from(&info.config.name);
        }
    });
    name
}

#[cfg(test)]
mod tests {
    //! Names of flags, against the texts that stand for no flag at all.

    use mpps_mbuf::OffloadFlags;

    use crate::text::{RX_NO_OFFLOAD, TX_NO_OFFLOAD};

    #[test]
    fn a_packet_that_no_port_has_looked_into() {
        let none = OffloadFlags::empty();
        assert_eq!(none.received_names().collect::<Vec<_>>(), RX_NO_OFFLOAD);
        assert_eq!(none.sent_names().collect::<Vec<_>>(), TX_NO_OFFLOAD);
    }
}
