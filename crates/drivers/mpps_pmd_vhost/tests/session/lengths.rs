//! Packets longer than a buffer: chains of several mbufs, jumbo frames, both ways.

use mpps_mbuf::{Burst, Mbuf, OffloadFlags};
use mpps_virtq::Features;

use crate::front::{Front, PACKED, SPLIT};
use crate::rig::{Rig, eventually};

/// What a packet holds.
fn content(len: usize) -> Vec<u8> {
    (0..len).map(|n| (n * 7 + n / 251) as u8).collect()
}

fn bytes(packet: &Mbuf) -> Vec<u8> {
    packet.segments_data().flatten().copied().collect()
}

impl Front {
    /// A packet of the front end in segments of at most `segment` bytes.
    fn chain(&mut self, content: &[u8], segment: usize) -> Mbuf {
        let mut whole: Option<Mbuf> = None;
        for part in content.chunks(segment) {
            let mut mbuf = self.caches.alloc_one(self.pool.id()).unwrap();
            assert!(mbuf.append(part));
            match &mut whole {
                None => whole = Some(mbuf),
                Some(head) => head.chain(mbuf).unwrap(),
            }
        }
        whole.unwrap()
    }

    /// Sends one packet on queue 0; it is `out` of the port then.
    fn deliver(&mut self, packet: Mbuf, rig: &mut Rig, out: &mut Burst) -> bool {
        let mut sent = Burst::new(32);
        sent.push(packet).unwrap();
        self.pairs[0].tx.burst(&mut self.caches, &mut sent);
        assert!(sent.is_empty());
        let seen = |rig: &Rig| rig.dev.stats().ipackets + rig.dev.stats().ierrors;
        let before = seen(rig);
        assert!(eventually(|| {
            rig.receive(0, out);
            seen(rig) > before
        }));
        !out.is_empty()
    }
}

/// Lengths, and of how many bytes each segment is: 8000 bytes as `set txpkts 2000,2000,2000,2000` makes them, a jumbo frame,
/// and what is just longer than one buffer.
const LONG: [(usize, usize); 5] = [
    (8000, 2000),
    (9018, 2048),
    (2049, 2048),
    (1519, 100),
    (8000, 333),
];

fn mergeable(features: Features) {
    let mut rig = Rig::new("", 1);
    let mut front = Front::up(&rig, features, 1);
    let mut total = 0;
    for (len, segment) in LONG.repeat(60) {
        let want = content(len);
        let packet = front.chain(&want, segment);
        let mut burst = Burst::new(32);
        assert!(front.deliver(packet, &mut rig, &mut burst));
        let ours = &burst.as_slice()[0];
        assert_eq!(ours.pkt_len() as usize, len);
        assert_eq!(usize::from(ours.segments()), len.div_ceil(2048), "{len}");
        assert!(bytes(ours) == want, "{len} in {segment}");
        assert_eq!(rig.send(0, &mut burst), 1);
        let (rx, caches) = (&mut front.pairs[0].rx, &mut front.caches);
        assert_eq!(rx.burst(caches, &mut burst).packets, 1);
        let back = &burst.as_slice()[0];
        assert!(bytes(back) == want, "{len} in {segment}, back");
        caches.free(&mut burst);
        rx.fill(caches);
        total += len as u64;
    }
    let stats = rig.dev.stats();
    assert_eq!((stats.ibytes, stats.obytes), (total, total));
    assert_eq!((stats.ierrors, stats.oerrors), (0, 0));
    front.finish();
    rig.finish();
}

#[test]
fn long_packets_both_ways() {
    for features in [SPLIT, PACKED] {
        mergeable(features);
        mergeable(features | Features::IN_ORDER);
        mergeable(features | Features::RING_INDIRECT_DESC);
    }
}

#[test]
fn a_long_packet_that_fits_no_buffer_is_dropped_and_counted() {
    for features in [SPLIT, PACKED] {
        let mut rig = Rig::new("", 1);
        let mut front = Front::up(&rig, features - Features::MRG_RXBUF, 1);
        let packet = front.chain(&content(8000), 2000);
        let mut burst = Burst::new(32);
        assert!(front.deliver(packet, &mut rig, &mut burst));
        // Taken, since the caller could do nothing better with it.
        assert_eq!(rig.send(0, &mut burst), 1);
        rig.lcore.free(&mut burst);
        let stats = rig.dev.stats();
        assert_eq!((stats.ipackets, stats.opackets, stats.oerrors), (1, 0, 1));
        front.exchange(&mut rig, 20);
        front.finish();
        rig.finish();
    }
}

#[test]
fn linear_buffers_take_no_chains() {
    let mut rig = Rig::new(",linear-buffer=1", 1);
    let mut front = Front::up(&rig, SPLIT, 1);
    let mut burst = Burst::new(32);
    let long = front.chain(&content(8000), 2000);
    assert!(!front.deliver(long, &mut rig, &mut burst));
    assert_eq!(rig.dev.stats().ierrors, 1);
    // Several segments that fit one mbuf come as one.
    let short = front.chain(&content(1900), 700);
    assert!(front.deliver(short, &mut rig, &mut burst));
    assert_eq!(burst.as_slice()[0].segments(), 1);
    assert!(bytes(&burst.as_slice()[0]) == content(1900));
    rig.lcore.free(&mut burst);
    front.exchange(&mut rig, 20);
    front.finish();
    rig.finish();
}

#[test]
fn a_tag_goes_into_a_long_packet_too() {
    let mut rig = Rig::new("", 1);
    let mut front = Front::up(&rig, SPLIT, 1);
    let mut want = content(8000);
    let packet = front.chain(&want, 2000);
    let mut burst = Burst::new(32);
    assert!(front.deliver(packet, &mut rig, &mut burst));
    let ours = &mut burst.as_mut_slice()[0];
    ours.set_vlan(0x2005, 0);
    ours.set_flags(ours.flags() | OffloadFlags::TX_VLAN);
    assert_eq!(rig.send(0, &mut burst), 1);
    let (rx, caches) = (&mut front.pairs[0].rx, &mut front.caches);
    assert_eq!(rx.burst(caches, &mut burst).packets, 1);
    want.splice(12..12, [0x81, 0, 0x20, 5]);
    assert!(bytes(&burst.as_slice()[0]) == want);
    caches.free(&mut burst);
    front.finish();
    rig.finish();
}
