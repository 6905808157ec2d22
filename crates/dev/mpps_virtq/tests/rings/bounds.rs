//! What one burst does for a ring is bounded, however long the chains are that its peer makes; and what is left is done by
//! the next bursts, so that nothing is lost of what keeps to the rules.

use mpps_mbuf::Burst;
use mpps_virtq::{DriverRx, DriverTx, Features, RingFault};

use crate::rig::{Odd, Rig, Spec, make};
use crate::stranger::{DATA, END, GUEST, INDIRECT, NEXT, REGION, Stranger, WRITE, layouts};

/// Descriptors that a burst looks at, at most; and the loads of a burst: two a descriptor of a table, few for what it looks
/// at twice, and the copies of one packet in pieces.
const WALK: u32 = 2048;
const LOADS: u64 = 2 * WALK as u64 + 500 + ENTRIES as u64;

const HEADER: u32 = 12;
const AT: u64 = GUEST + DATA;
/// Where indirect tables are: all of the second region.
const TABLE: u64 = GUEST + REGION;
const ENTRIES: u32 = 8192;

/// Runs a burst; where there is a hook in front of loads from the peer's memory, counts them.
fn bounded<R>(burst: impl FnOnce() -> R) -> R {
    #[cfg(mpps_double_fetch)]
    {
        use std::cell::Cell;
        use std::rc::Rc;
        let loads = Rc::new(Cell::new(0_u64));
        let count = Rc::clone(&loads);
        let hook = move |_: *mut u8, _: usize| count.set(count.get() + 1);
        mpps_shm::peer::set_double_fetch_hook(Some(Box::new(hook)));
        let result = burst();
        mpps_shm::peer::set_double_fetch_hook(None);
        assert!(loads.get() <= LOADS, "{} loads in a burst", loads.get());
        result
    }
    #[cfg(not(mpps_double_fetch))]
    {
        let _ = LOADS;
        burst()
    }
}

/// Fills a table with entries of one byte each, all of the same place.
fn table(stranger: &Stranger, at: u64, entries: u32, flags: u16) {
    for k in 0..entries {
        let more = if k + 1 < entries { NEXT } else { 0 };
        // Packed tables need no successors.
        let (more, next) = if stranger.packed {
            (0, 0)
        } else {
            (more, k as u16 + 1)
        };
        let place = at + 16 * u64::from(k);
        stranger.descriptor(place, AT, 1, flags | more, next);
    }
}

#[test]
fn a_long_table_is_read_by_several_bursts() {
    for features in layouts(Features::RING_INDIRECT_DESC) {
        let mut stranger = Stranger::new(8, features);
        let mut rx = stranger.rx();
        stranger.put(AT, 0_u8);
        table(&stranger, TABLE, ENTRIES, 0);
        stranger.offer(&[(TABLE, 16 * ENTRIES, INDIRECT)]);
        let mut bursts = 0;
        let packets = loop {
            let packets = bounded(|| stranger.receive(&mut rx));
            bursts += 1;
            if !packets.is_empty() {
                break packets;
            }
            assert!(stranger.used().is_empty() && bursts < 100);
            assert_eq!(rx.fault(), None);
        };
        assert!(bursts > ENTRIES / WALK, "{bursts} bursts");
        assert_eq!(packets, [vec![0; (ENTRIES - HEADER) as usize]]);
        assert_eq!(stranger.used(), [(0, 0)]);
        stranger.end();
    }
}

/// All entries of the available ring name the same chain, which is as long as the ring: a thousand times a thousand
/// descriptors; good ones, and ones that are dropped.
#[test]
fn one_chain_that_is_offered_again_and_again() {
    const SIZE: u32 = 1024;
    for bad in [false, true] {
        let mut stranger = Stranger::new(SIZE, Features::VERSION_1);
        let mut rx = stranger.rx();
        stranger.put(AT, 0_u8);
        for slot in 0..SIZE {
            let more = if slot + 1 < SIZE { NEXT } else { 0 };
            let address = if bad { END } else { AT };
            let place = Stranger::slot_address(slot);
            stranger.descriptor(place, address, 1, more, slot as u16 + 1);
        }
        stranger.set_avail(SIZE as u16);
        let (mut packets, mut done, mut bursts) = (0, 0, 0);
        while done < SIZE as usize {
            packets += bounded(|| stranger.receive(&mut rx)).len();
            let now = stranger.used().len();
            assert!((now - done) as u32 <= WALK / SIZE, "{} chains", now - done);
            (done, bursts) = (now, bursts + 1);
            assert!(bursts <= SIZE, "stuck at {done}");
        }
        let lost = stranger.tally().bad.get();
        let expected = if bad { (0, 1024) } else { (1024, 0) };
        assert_eq!((packets, lost, rx.fault()), (expected.0, expected.1, None));
        stranger.end();
    }
}

#[test]
fn a_chain_all_round_the_ring_without_end_is_found_in_the_end() {
    let features = Features::VERSION_1 | Features::RING_INDIRECT_DESC;
    let mut stranger = Stranger::new(8, features);
    let mut rx = stranger.rx();
    table(&stranger, TABLE, ENTRIES, 0);
    // The last one leads back to the first.
    let last = TABLE + 16 * u64::from(ENTRIES - 1);
    stranger.descriptor(last, AT, 0, NEXT, 0);
    stranger.offer(&[(TABLE, 16 * ENTRIES, INDIRECT)]);
    for _ in 0..=ENTRIES / WALK {
        assert!(bounded(|| stranger.receive(&mut rx)).is_empty());
    }
    assert!(matches!(rx.fault(), Some(RingFault::Indirect { .. })));
    stranger.end();
}

#[test]
fn a_long_receive_buffer_is_looked_at_by_several_bursts() {
    for features in layouts(Features::RING_INDIRECT_DESC | Features::MRG_RXBUF) {
        let mut stranger = Stranger::new(8, features);
        let mut tx = stranger.tx();
        table(&stranger, TABLE, ENTRIES, WRITE);
        stranger.offer(&[(TABLE, 16 * ENTRIES, INDIRECT)]);
        let bursts = (1..100).find(|_| bounded(|| stranger.send(&mut tx, &[200])) == 1);
        assert!(bursts.is_some_and(|n| n > ENTRIES / WALK), "{bursts:?}");
        // The number of buffers would have to go where all bytes go: the last one wins, the packet is as good as lost.
        assert_eq!(tx.fault(), None);
        assert_eq!(stranger.used().len(), 1);
        stranger.end();
    }
}

/// A packet into more descriptors than any burst looks at: it is lost, the ring isn't.
#[test]
fn a_packet_into_too_many_pieces_is_lost() {
    for features in layouts(Features::RING_INDIRECT_DESC | Features::MRG_RXBUF) {
        let mut stranger = Stranger::new(64, features);
        let mut tx = stranger.tx();
        for k in 0..8 {
            let at = TABLE + 16 * 1000 * k;
            table(&stranger, at, 1000, WRITE);
            stranger.descriptor(at, AT + 0x1000 * k, 12, WRITE | NEXT, 1);
            stranger.offer(&[(at, 16_000, INDIRECT)]);
        }
        let spec = Spec {
            len: 5000,
            segments: 20,
            odd: Odd::Plain,
        };
        let (back, caches) = (&stranger.rig.back, &mut stranger.caches);
        let packet = make(caches, back, back, spec, 1);
        let mut burst = Burst::new(1);
        assert!(burst.push(packet).is_ok());
        let moved = bounded(|| tx.burst(caches, &mut burst));
        assert_eq!((moved.packets, burst.len()), (0, 0));
        assert_eq!(stranger.tally().too_long.get(), 1);
        assert_eq!((stranger.used().len(), tx.fault()), (0, None));
        assert_eq!(stranger.send(&mut tx, &[60]), 1);
        assert_eq!((stranger.used().len(), tx.fault()), (1, None));
        stranger.end();
    }
}

/// A mergeable packet longer than all buffers that the ring can hold: it is lost at once, not kept for ever.
#[test]
fn a_packet_longer_than_all_buffers_together() {
    for features in layouts(Features::MRG_RXBUF) {
        for (size, parts, chains) in [(4, 1, 4), (8, 3, 2), (8, 4, 2), (1, 1, 1)] {
            let mut stranger = Stranger::new(size, features);
            let mut tx = stranger.tx();
            let part = |k| (AT + 0x100 * k, 20, WRITE);
            let buffer: Vec<_> = (0..parts).map(part).collect();
            for _ in 0..chains {
                stranger.offer(&buffer);
            }
            let room = 20 * parts * chains - u64::from(HEADER);
            assert_eq!(stranger.send(&mut tx, &[room as u16 + 1]), 1);
            assert_eq!(stranger.tally().too_long.get(), 1);
            assert!(stranger.used().is_empty());
            assert_eq!(stranger.send(&mut tx, &[room as u16]), 1, "one that fits");
            assert_eq!(stranger.used().len() as u64, chains);
            assert_eq!(stranger.tally().too_long.get(), 1);
            stranger.end();
        }
    }
}

/// But where more buffers can come, it waits.
#[test]
fn a_packet_waits_for_buffers_that_can_come() {
    for features in layouts(Features::MRG_RXBUF) {
        let mut stranger = Stranger::new(8, features);
        let mut tx = stranger.tx();
        for k in 0..7 {
            assert_eq!(stranger.send(&mut tx, &[120]), 0);
            stranger.offer(&[(AT + 0x100 * k, 20, WRITE)]);
        }
        assert_eq!(stranger.send(&mut tx, &[120]), 1);
        assert_eq!(stranger.tally().too_long.get(), 0);
        stranger.end();
    }
}

#[test]
fn a_pool_that_is_not_lent_is_refused() {
    for features in layouts(Features::empty()) {
        let rig = Rig::new(64, features);
        let mut setup = rig.driver(None);
        setup.pool = rig.unlent.id();
        let refused = [DriverTx::open(&setup).err(), DriverRx::open(&setup).err()];
        for fault in refused {
            assert!(matches!(fault, Some(RingFault::Unmapped { .. })));
        }
    }
}

#[test]
fn room_is_what_the_next_burst_takes() {
    for features in layouts(Features::empty()) {
        let mut stranger = Stranger::new(8, features);
        let mut tx = stranger.tx();
        for posted in 0..=8 {
            for n in 1..20 {
                assert_eq!(tx.has_room(n), n.min(8) <= posted, "{n} in {posted}");
            }
            if posted < 8 {
                stranger.offer(&[(AT, 72, WRITE)]);
            }
        }
        assert_eq!(stranger.send(&mut tx, &[60; 5]), 5);
        assert!(tx.has_room(3) && !tx.has_room(4));
        tx.lose(7);
        assert_eq!(stranger.tally().too_long.get(), 7);
        stranger.end();

        let rig = Rig::new(8, features);
        let mut caches = rig.caches();
        let mut driver = DriverTx::open(&rig.driver(None)).expect("a ring");
        assert!(driver.has_room(8) && driver.has_room(1000));
        let mut burst = Burst::new(32);
        caches.alloc(rig.front.id(), 5, 60, &mut burst);
        assert_eq!(driver.burst(&mut caches, &mut burst).packets, 5);
        assert!(driver.has_room(3) && !driver.has_room(4));
        drop((driver, caches));
        rig.all_home();
    }
}
