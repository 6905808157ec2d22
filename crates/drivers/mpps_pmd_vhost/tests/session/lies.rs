//! What goes wrong while packets move: rings that lie, pools that are empty, rings that are full, packets that owe something.

use std::os::fd::{AsFd, OwnedFd};

use mpps_mbuf::{Burst, Mbuf, OffloadFlags, PartialChecksum};
use mpps_vhost_proto::{Request, VringAddr, VringFd};
use mpps_virtq::Features;
use rustix::event::{EventfdFlags, eventfd};

use crate::front::{Front, PACKED, SIZE, SPLIT};
use crate::rig::{MBUFS, Rig, eventually};

impl Front {
    /// Writes to ring memory at one of our own addresses, as any process that has the file could.
    fn scribble(&self, address: u64, bytes: &[u8]) {
        let start = self.rings.as_ptr().addr().get() as u64;
        let at = self.rings.fd_offset() + (address - start);
        rustix::io::pwrite(self.rings.fd().unwrap(), bytes, at).unwrap();
    }

    /// Says something impossible of a ring through which nothing has gone, or takes it back.
    fn lie(&self, ring: u32, on: bool) {
        let at = self.addresses(ring);
        if self.features.contains(Features::RING_PACKED) {
            // Every descriptor is available and has a successor.
            let flags: u16 = if on { 1 << 7 | 1 } else { 0 };
            for n in 0..u64::from(SIZE) {
                self.scribble(at.desc + 16 * n + 14, &flags.to_ne_bytes());
            }
        } else {
            let index = if on { SIZE as u16 + 1 } else { 0 };
            self.scribble(at.avail + 2, &index.to_ne_bytes());
        }
    }

    /// Hands over a counter by which the port tells of a ring that it gave up.
    fn err(&self, ring: u32) -> OwnedFd {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).unwrap();
        let (index, fd) = (ring as u8, Some(event.as_fd()));
        self.talk.done(&Request::SetVringErr(VringFd { index, fd }));
        event
    }

    fn packet(&mut self, bytes: &[u8]) -> Mbuf {
        let mut packet = self.caches.alloc_one(self.pool.id()).unwrap();
        assert!(packet.append(bytes));
        packet
    }
}

/// A new lie with each message: after a while no more of them are told.
#[test]
fn a_front_end_with_ever_new_lies_does_not_fill_a_log() {
    let mut rig = Rig::new("", 1);
    let mut front = Front::up(&rig, SPLIT, 1);
    front.exchange(&mut rig, 50);
    let at = front.addresses(1);
    let place = |descriptor: u64| VringAddr {
        index: 1,
        flags: 0,
        descriptor,
        available: at.avail,
        used: at.used,
        log: at.used,
    };
    for n in 1..1000 {
        front.talk.done(&Request::SetVringAddr(place(16 * n)));
    }
    assert!(rig.heard.times("isn't in memory that the peer shares") > 100);
    assert!(rig.heard.troubles().len() < 400);
    assert_eq!(rig.heard.times("no more is until"), 1);
    front.talk.done(&Request::SetVringAddr(place(at.desc)));
    front.exchange(&mut rig, 50);
    front.finish();
    rig.finish();
}

#[test]
fn a_ring_that_lies_rests_and_the_others_go_on() {
    for features in [SPLIT, PACKED] {
        let mut rig = Rig::new("", 2);
        let mut front = Front::up(&rig, features, 2);
        let err = front.err(3);
        front.exchange(&mut rig, 50);
        front.lie(3, true);
        let mut out = Burst::new(32);
        assert!(eventually(|| {
            assert_eq!(rig.receive(1, &mut out), 0);
            front.exchange(&mut rig, 2);
            rig.heard.times("receive queue 1: ") == 2
        }));
        // Beside the path one line, however often it is polled.
        for _ in 0..1000 {
            assert_eq!(rig.receive(1, &mut out), 0);
        }
        front.exchange(&mut rig, 50);
        rig.wait_trouble("the queue rests until the front end sets it up again");
        assert_eq!(rustix::io::read(&err, &mut [0_u8; 8]), Ok(8));
        assert!(rig.dev.link().up);
        // The front end mends it.
        front.lie(3, false);
        front.enable(3, true);
        let mut sent = Burst::new(32);
        sent.push(front.packet(&[7; 60])).unwrap();
        front.pairs[1].tx.burst(&mut front.caches, &mut sent);
        assert!(eventually(|| rig.receive(1, &mut out) == 1));
        assert_eq!(out.as_slice()[0].data(), [7; 60]);
        rig.lcore.free(&mut out);
        front.exchange(&mut rig, 50);
        front.finish();
        rig.finish();
    }
}

#[test]
fn v_34_a_port_without_front_end_answers_every_question() {
    let mut rig = Rig::new("", 2);
    let ask = |rig: &Rig| {
        let dev = &rig.dev;
        assert!(!dev.link().up);
        let private = dev.private_info();
        assert!(private.contains(&("vid", "-1".to_owned())), "{private:?}");
        assert_eq!(dev.xstats().len(), rig.dev.xstats().len());
        for queue in [0, 1, 2, u16::MAX] {
            assert_eq!(dev.rx_queue_info(queue), None);
            assert_eq!(dev.tx_queue_info(queue), None);
            let used = (dev.rx_queue_used(queue), dev.tx_queue_used(queue));
            assert_eq!(used, (None, None));
        }
        let _ = (dev.paths(), dev.stats(), dev.info());
    };
    ask(&rig);
    let mut front = Front::up(&rig, SPLIT, 2);
    front.exchange(&mut rig, 10);
    front.finish();
    rig.wait_link(false);
    ask(&rig);
    let mut out = Burst::new(32);
    assert_eq!(rig.receive(1, &mut out), 0);
    rig.stop();
    ask(&rig);
    rig.finish();
}

#[test]
fn v_48_packets_for_which_there_is_no_mbuf_are_dropped_and_counted() {
    for features in [SPLIT, PACKED] {
        let mut rig = Rig::new("", 1);
        let mut front = Front::up(&rig, features, 1);
        front.exchange(&mut rig, 20);
        let id = rig.pool.id();
        let mut hoard: Vec<Mbuf> =
            std::iter::from_fn(|| rig.lcore.alloc_one(id).or_else(|| rig.pool.alloc())).collect();
        assert_eq!(hoard.len(), MBUFS as usize);
        let mut out = Burst::new(32);
        front.post(32);
        assert!(eventually(|| {
            assert_eq!(rig.receive(0, &mut out), 0);
            rig.dev.stats().rx_nombuf == 32
        }));
        // They are gone; the next ones arrive.
        front.back = front.sent;
        hoard
            .drain(..)
            .for_each(|packet| rig.lcore.free_one(packet));
        front.exchange(&mut rig, 50);
        assert_eq!(rig.dev.stats().ipackets, 70);
        assert_eq!(rig.heard.troubles(), [""; 0]);
        front.finish();
        rig.finish();
    }
}

#[test]
fn v_51_what_a_full_ring_does_not_take_is_no_error() {
    for features in [SPLIT, PACKED] {
        let mut rig = Rig::new("", 1);
        let front = Front::up(&rig, features, 1);
        let mut waiting = Burst::new(32);
        let mut sent = 0;
        // More than there are buffers; nobody takes any.
        for n in 0..2 * SIZE as u64 {
            if waiting.room() > 0 {
                let mut packet = rig.pool.alloc().unwrap();
                assert!(packet.append(&n.to_ne_bytes().repeat(8)));
                waiting.push(packet).unwrap();
            }
            sent += rig.send(0, &mut waiting) as u64;
        }
        assert_eq!(waiting.len(), 32);
        assert_eq!(sent, u64::from(SIZE));
        let stats = rig.dev.stats();
        assert_eq!((stats.opackets, stats.oerrors), (sent, 0));
        rig.lcore.free(&mut waiting);
        front.finish();
        rig.finish();
    }
}

/// A UDP datagram over IPv4 whose checksum field has the sum of its pseudo header only, and the same in the end.
fn datagram() -> ([u8; 60], [u8; 60]) {
    let mut frame = [0_u8; 60];
    frame[12..14].copy_from_slice(&[8, 0]);
    let ip = [
        0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2,
    ];
    frame[14..34].copy_from_slice(&ip);
    frame[34..40].copy_from_slice(&[0, 9, 0, 9, 0, 26]);
    for (n, byte) in frame[42..].iter_mut().enumerate() {
        *byte = n as u8;
    }
    let fold = |parts: &[&[u8]]| {
        let words = parts.iter().flat_map(|part| part.chunks(2));
        let sum: u32 = words
            .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
            .sum();
        let sum = (sum & 0xffff) + (sum >> 16);
        ((sum & 0xffff) + (sum >> 16)) as u16
    };
    let pseudo = fold(&[&ip[12..], &[0, 17, 0, 26]]);
    frame[40..42].copy_from_slice(&pseudo.to_be_bytes());
    let owed = frame;
    let sum = !fold(&[&frame[34..]]);
    frame[40..42].copy_from_slice(&sum.to_be_bytes());
    (owed, frame)
}

#[test]
fn v_44_a_checksum_left_to_the_port_is_right_in_the_end() {
    let (owed, done) = datagram();
    for layout in [SPLIT, PACKED] {
        for takes_over in [false, true] {
            let mut features = layout | Features::CSUM;
            features.set(Features::GUEST_CSUM, takes_over);
            let mut rig = Rig::new("", 1);
            let mut front = Front::up(&rig, features, 1);
            let mut packet = front.packet(&owed);
            packet.set_partial_checksum(PartialChecksum {
                start: 34,
                offset: 6,
            });
            let mut burst = Burst::new(32);
            burst.push(packet).unwrap();
            front.pairs[0].tx.burst(&mut front.caches, &mut burst);
            assert!(eventually(|| rig.receive(0, &mut burst) == 1));
            // It is what came, not what is to be done.
            let flags = burst.as_slice()[0].flags();
            assert!(flags.contains(OffloadFlags::RX_PARTIAL_CKSUM));
            assert_eq!(burst.as_slice()[0].data(), owed);
            assert_eq!(rig.send(0, &mut burst), 1);
            let (rx, caches) = (&mut front.pairs[0].rx, &mut front.caches);
            assert_eq!(rx.burst(caches, &mut burst).packets, 1);
            let back = &burst.as_slice()[0];
            assert_eq!(back.has_debt(), takes_over);
            assert_eq!(back.data(), if takes_over { owed } else { done });
            caches.free(&mut burst);
            front.finish();
            rig.finish();
        }
    }
}

#[test]
fn a_ring_that_lies_is_found_by_packets_that_owe_something_too() {
    let mut rig = Rig::new("", 2);
    let mut front = Front::up(&rig, SPLIT, 2);
    front.exchange(&mut rig, 20);
    front.lie(2, true);
    let mut waiting = Burst::new(32);
    assert!(eventually(|| {
        if waiting.is_empty() {
            let mut packet = rig.pool.alloc().unwrap();
            assert!(packet.append(&[0x11; 60]));
            packet.set_vlan(5, 0);
            packet.set_flags(OffloadFlags::TX_VLAN);
            waiting.push(packet).unwrap();
        }
        rig.send(1, &mut waiting);
        rig.heard.times("transmit queue 1: ") == 2
    }));
    rig.wait_trouble("the queue rests until the front end sets it up again");
    assert_eq!(rig.send(1, &mut waiting), 0);
    rig.lcore.free(&mut waiting);
    front.exchange(&mut rig, 20);
    front.finish();
    rig.finish();
}
