//! Packets of a burst: made by the input, and judged when they come out of a ring.

use std::collections::BTreeSet;

use mpps_mbuf::{Burst, Caches, Gso, GsoKind, Mbuf, PartialChecksum, PoolId};
use mpps_virtq::{Features, Moved, Tally};

use crate::input::Input;

/// Features that change what a ring does.
const CHOICES: [Features; 16] = [
    Features::VERSION_1,
    Features::MRG_RXBUF,
    Features::RING_EVENT_IDX,
    Features::RING_INDIRECT_DESC,
    Features::IN_ORDER,
    Features::CSUM,
    Features::GUEST_CSUM,
    Features::GUEST_TSO4,
    Features::GUEST_TSO6,
    Features::GUEST_ECN,
    Features::GUEST_USO4,
    Features::HOST_TSO4,
    Features::HOST_TSO6,
    Features::HOST_ECN,
    Features::HOST_USO,
    Features::ANY_LAYOUT,
];

/// Any of the features that matter, in this layout.
pub(super) fn features(input: &mut Input<'_>, packed: bool) -> Features {
    let bits = input.u16();
    let chosen = CHOICES.iter().enumerate();
    let chosen = chosen.filter(|(bit, _)| bits >> bit & 1 != 0);
    let features: Features = chosen.map(|(_, feature)| *feature).collect();
    if packed {
        features | Features::RING_PACKED
    } else {
        features
    }
}

/// What came of bursts, to be compared with the counters.
#[derive(Default)]
pub(super) struct Sums {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) told: u64,
}

impl Sums {
    /// Judges packets that came out of a ring: nothing is longer than its buffer, nothing there twice, and what they owe is
    /// owed on bytes that they have. `room` is the most bytes of a segment.
    pub(super) fn received(&mut self, packets: &[Mbuf], moved: Moved, room: u16, longest: u32) {
        assert_eq!(moved.packets, packets.len());
        let mut places = BTreeSet::new();
        let mut bytes = 0;
        for packet in packets {
            let len = packet.pkt_len();
            assert!(len > 0 && len <= longest, "a packet of {len} bytes");
            let mut sum = 0;
            for data in packet.segments_data() {
                assert!(data.len() <= usize::from(room), "{} bytes", data.len());
                assert!(places.insert(data.as_ptr().addr()), "two of one buffer");
                sum += data.len() as u64;
            }
            assert_eq!(sum, u64::from(len));
            bytes += sum;
            let checksum = packet.partial_checksum();
            assert!(checksum.is_none_or(|checksum| checksum.fits(len)));
            let gso = packet.gso();
            assert!(gso.is_none_or(|gso| gso.size > 0 && u32::from(gso.header_len) <= len));
        }
        assert_eq!(moved.bytes, bytes);
        self.packets += packets.len() as u64;
        self.bytes += bytes;
    }

    /// Judges the counters of a ring: each packet that was moved has a size, and only those that were lost have none.
    pub(super) fn compare(&self, tally: &Tally) {
        let sizes: u64 = tally.sizes.iter().map(|counter| counter.get()).sum();
        assert_eq!(sizes + tally.too_long.get(), self.packets);
        assert_eq!(tally.notified.get(), self.told);
        let groups = tally.multicast.get() + tally.broadcast.get();
        assert!(groups <= self.packets, "{groups} of {}", self.packets);
    }
}

/// Puts packets of the input's making into a burst.
pub(super) fn make(
    input: &mut Input<'_>,
    pools: &[PoolId],
    caches: &mut Caches,
    burst: &mut Burst,
) {
    for _ in 0..=input.below(40) {
        let kind = input.u8();
        let pool = pools[usize::from(kind >> 7) % pools.len()];
        let segments = if kind & 7 == 7 { input.below(12) } else { 1 };
        let Some(mut packet) = whole(input, segments, pool, caches) else {
            return;
        };
        if kind & 0x18 == 0x18 {
            owe(input, &mut packet);
        }
        if kind & 0x60 == 0x60 {
            // Data that begins where the buffer does: no room for a header.
            packet.prepend(packet.headroom());
        }
        if let Err(packet) = burst.push(packet) {
            caches.free_one(packet);
            return;
        }
    }
}

fn whole(input: &mut Input<'_>, segments: u16, pool: PoolId, caches: &mut Caches) -> Option<Mbuf> {
    let mut whole: Option<Mbuf> = None;
    for _ in 0..segments.max(1) {
        let Some(mut part) = caches.alloc_one(pool) else {
            whole.into_iter().for_each(|packet| caches.free_one(packet));
            return None;
        };
        let len = u16::from(input.u8()) * 2 + 1;
        part.resize(len.min(part.tailroom()));
        if let Some(first) = part.data_mut().and_then(|data| data.first_mut()) {
            *first = len as u8;
        }
        match &mut whole {
            None => whole = Some(part),
            Some(head) => head.chain(part).expect("few segments"),
        }
    }
    whole
}

fn owe(input: &mut Input<'_>, packet: &mut Mbuf) {
    let (start, offset) = (input.below(64), input.below(32));
    let checksum = PartialChecksum { start, offset };
    if !checksum.fits(packet.pkt_len()) {
        return;
    }
    let kind = input.u8();
    let kinds = [GsoKind::TcpV4, GsoKind::TcpV6, GsoKind::Udp];
    match kinds.get(usize::from(kind & 3)) {
        Some(gso) => packet.set_gso(
            checksum,
            Gso {
                kind: *gso,
                ecn: kind & 4 != 0 && *gso != GsoKind::Udp,
                size: 1 + input.below(200),
                header_len: start,
            },
        ),
        None => packet.set_partial_checksum(checksum),
    }
}
