//! Bursts through the stage.

use mpps_mbuf::{Burst, OffloadFlags, PartialChecksum};

use super::cutting::owe;
use super::frames::{Field, payload, tcp4};
use super::{Rig, bytes};
use crate::{Finisher, Sent};

/// A burst of a plain packet, a large one, a broken one and another plain one.
fn burst(rig: &mut Rig) -> Box<Burst> {
    let mut burst = Burst::new(32);
    let plain = rig.packet(b"first", 100);
    burst.push(plain).unwrap();
    let mut large = rig.packet(&tcp4().frame(&payload(60_000), Field::Pseudo), 2000);
    owe(&mut large, &tcp4(), 100);
    burst.push(large).unwrap();
    let mut broken = rig.packet(b"broken", 100);
    broken.set_partial_checksum(PartialChecksum {
        start: 34,
        offset: 16,
    });
    burst.push(broken).unwrap();
    let plain = rig.packet(b"last", 100);
    burst.push(plain).unwrap();
    burst
}

fn expected() -> Vec<Vec<u8>> {
    let mut all = vec![b"first".to_vec()];
    all.extend(tcp4().pieces(&payload(60_000), 100));
    all.push(b"last".to_vec());
    all
}

#[test]
fn order_is_kept_and_what_is_broken_is_counted() {
    let mut rig = Rig::new(2048, 2176);
    let mut burst = burst(&mut rig);
    assert!(burst.flags_union().intersects(OffloadFlags::UNFINISHED));
    let mut finisher = Finisher::new(OffloadFlags::empty());
    let mut seen = Vec::new();
    let sent = finisher.send(&mut rig.caches, &mut burst, |caches, staged| {
        assert!(!staged.flags_union().intersects(OffloadFlags::UNFINISHED));
        seen.extend(staged.as_slice().iter().map(bytes));
        caches.free(staged);
    });
    assert_eq!(
        sent,
        Sent {
            taken: 4,
            dropped: 1
        }
    );
    assert_eq!(
        (finisher.drops().total(), finisher.drops().checksum),
        (1, 1)
    );
    assert!(burst.is_empty() && !finisher.is_holding());
    assert_eq!(seen, expected());
    assert!(rig.is_whole());
}

// A ring with room for seven packets at a time: nothing is lost, and what is left stays the caller's.
#[test]
fn what_cannot_be_sent_yet_is_sent_first_the_next_time() {
    let mut rig = Rig::new(2048, 2176);
    let mut burst = burst(&mut rig);
    let mut finisher = Finisher::new(OffloadFlags::empty());
    let mut seen = Vec::new();
    let (mut taken, mut turns) = (0, 0);
    while !burst.is_empty() || finisher.is_holding() {
        let mut room = 7;
        let sent = finisher.send(&mut rig.caches, &mut burst, |caches, staged| {
            while room > 0
                && let Some(packet) = staged.pop_front()
            {
                seen.push(bytes(&packet));
                caches.free_one(packet);
                room -= 1;
            }
        });
        taken += sent.taken;
        turns += 1;
        assert!(turns < 1000);
    }
    assert_eq!((taken, seen), (4, expected()));
    assert!(rig.is_whole());
}

#[test]
fn a_queue_that_takes_nothing_takes_nothing_from_the_caller_either() {
    let mut rig = Rig::new(2048, 2176);
    let mut finisher = Finisher::new(OffloadFlags::empty());
    let mut first = burst(&mut rig);
    finisher.send(&mut rig.caches, &mut first, |_, _| {});
    assert!(finisher.is_holding());
    let mut second = burst(&mut rig);
    let sent = finisher.send(&mut rig.caches, &mut second, |_, _| {});
    assert_eq!((sent.taken, second.len()), (0, 4));
    drop((first, second, finisher));
    assert!(rig.is_whole(), "a finisher frees what it holds");
}

#[test]
fn debts_that_the_port_takes_over_pass() {
    let mut rig = Rig::new(2048, 2176);
    let mut burst = burst(&mut rig);
    let mut finisher = Finisher::new(OffloadFlags::DEBT | OffloadFlags::TX_REQUESTS);
    let mut count = 0;
    let sent = finisher.send(&mut rig.caches, &mut burst, |caches, staged| {
        count += staged.len();
        caches.free(staged);
    });
    // The broken one is the other side's to judge: its queue checks no headers either.
    assert_eq!((sent.taken, sent.dropped, count), (4, 0, 4));
}

// A ring that has no room for all pieces of a packet leaves it to the caller, and gets it when it has.
#[test]
fn a_large_packet_waits_with_the_caller_until_there_is_room_for_its_pieces() {
    let mut rig = Rig::new(2048, 2176);
    let mut burst = burst(&mut rig);
    let mut finisher = Finisher::new(OffloadFlags::empty());
    let mut seen = Vec::new();
    // The first turn sends nothing, the second one the plain packet in front.
    for (room, taken) in [(0, 0), (599, 1), (599, 0), (700, 3)] {
        let mut left = room;
        let sent = finisher.send_fitting(&mut rig.caches, &mut burst, |caches, staged, more| {
            assert!(staged.len() <= left, "{} into {left}", staged.len());
            left -= staged.len();
            seen.extend(staged.as_slice().iter().map(bytes));
            caches.free(staged);
            more <= left
        });
        assert_eq!((sent.taken, finisher.held()), (taken, 0), "room for {room}");
    }
    assert_eq!((burst.len(), seen), (0, expected()));
    drop((burst, finisher));
    assert!(rig.is_whole());
}

// A ring that never has that much room gets the packet in the end; what it doesn't take is held, and known.
#[test]
fn a_large_packet_does_not_wait_for_ever() {
    let mut rig = Rig::new(2048, 2176);
    let mut burst = burst(&mut rig);
    let mut finisher = Finisher::new(OffloadFlags::empty());
    let (mut taken, mut seen, mut turns) = (0, 0, 0);
    while taken < 2 {
        let mut left = 50;
        let sent = finisher.send_fitting(&mut rig.caches, &mut burst, |caches, staged, more| {
            while left > 0
                && let Some(packet) = staged.pop_front()
            {
                caches.free_one(packet);
                (left, seen) = (left - 1, seen + 1);
            }
            more <= left
        });
        taken += sent.taken;
        turns += 1;
        assert!(turns < 100, "it waits");
    }
    assert!(turns > 10, "it waits for room first");
    assert_eq!((finisher.held() + seen, burst.len()), (602 - 1, 2));
    drop((burst, finisher));
    assert!(rig.is_whole());
}
