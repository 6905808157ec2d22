//! The device's half against drivers that break the rules, one fault of the field each.

use mpps_mbuf::{Burst, PartialChecksum};
use mpps_virtq::{Features, RingFault};

use crate::stranger::{DATA, END, GUEST, NEXT, REGION, Stranger, WRITE, layouts};

const HEADER: u32 = 12;
const AT: u64 = GUEST + DATA;

/// A packet behind the broken one, which must still arrive, and everything must have come back.
fn goes_on(mut stranger: Stranger, rx: &mut mpps_virtq::DeviceRx, broken: usize) {
    stranger.frame(AT + 0x4000, HEADER, 60);
    stranger.offer(&[(AT + 0x4000, HEADER + 60, 0)]);
    let packets = stranger.receive(rx);
    assert_eq!(packets.len(), 1, "the packet behind");
    assert_eq!(packets[0].len(), 60);
    assert_eq!(rx.fault(), None);
    assert_eq!(stranger.tally().bad.get(), broken as u64);
    assert_eq!(stranger.used().len(), broken + 1);
    stranger.end();
}

#[test]
fn v01_a_buffer_over_the_border_of_two_regions_is_copied_piece_by_piece() {
    for features in layouts(Features::empty()) {
        let mut stranger = Stranger::new(8, features);
        let mut rx = stranger.rx();
        let at = GUEST + REGION - 40;
        stranger.frame(at, HEADER, 100);
        stranger.offer(&[(at, HEADER + 100, 0)]);
        let packets = stranger.receive(&mut rx);
        let expected: Vec<u8> = (0..100).map(|k| k | 2).collect();
        assert_eq!(packets, [expected]);
        stranger.end();
    }
}

#[test]
fn v01_a_buffer_beyond_the_memory_is_dropped() {
    for features in layouts(Features::empty()) {
        for (address, len) in [
            (END - 20, HEADER + 60),
            (END, HEADER + 60),
            (GUEST - 1, HEADER + 60),
            (u64::MAX - 20, HEADER + 60),
            (0, HEADER + 60),
            (AT, u32::MAX),
        ] {
            let mut stranger = Stranger::new(8, features);
            let mut rx = stranger.rx();
            stranger.offer(&[(address, len, 0)]);
            goes_on(stranger, &mut rx, 1);
        }
    }
}

#[test]
fn v01_rings_beyond_the_memory_are_refused() {
    for features in layouts(Features::empty()) {
        let mut stranger = Stranger::new(256, features);
        let good = stranger.setup.rings;
        stranger.setup.rings.desc = good.desc + REGION - 256 * 16 + 16;
        assert!(matches!(stranger.refused(), RingFault::Unmapped { .. }));
        stranger.setup.rings = good;
        stranger.setup.rings.used = good.desc + REGION;
        assert!(matches!(stranger.refused(), RingFault::Unmapped { .. }));
        stranger.setup.rings = good;
        stranger.setup.rings.desc += 8;
        assert!(matches!(stranger.refused(), RingFault::Unaligned { .. }));
    }
}

#[test]
fn v06_a_bad_address_with_no_length() {
    for features in layouts(Features::empty()) {
        let mut stranger = Stranger::new(8, features);
        let mut rx = stranger.rx();
        stranger.offer(&[(END + 0x1000, 0, 0)]);
        stranger.offer(&[(0, 0, 0)]);
        goes_on(stranger, &mut rx, 2);
        let mut stranger = Stranger::new(8, features);
        let mut tx = stranger.tx();
        stranger.offer(&[(END + 0x1000, 0, WRITE)]);
        assert_eq!(stranger.send(&mut tx, &[60]), 1);
        assert_eq!(stranger.tally().too_long.get(), 1);
        assert_eq!(stranger.used(), [(0, 0)]);
        stranger.end();
    }
}

#[test]
fn v10_a_chain_no_longer_than_the_header() {
    for features in layouts(Features::empty()) {
        for len in [0, 1, HEADER - 1, HEADER] {
            let mut stranger = Stranger::new(8, features);
            let mut rx = stranger.rx();
            stranger.offer(&[(AT, len, 0)]);
            stranger.offer(&[(AT, len / 2, 0), (AT, len - len / 2, 0)]);
            goes_on(stranger, &mut rx, 2);
        }
    }
}

#[test]
fn v15_a_successor_that_does_not_exist() {
    let mut stranger = Stranger::new(8, Features::VERSION_1);
    let mut rx = stranger.rx();
    stranger.offer(&[(AT, 20, 0)]);
    stranger.descriptor(Stranger::slot_address(0), AT, 20, NEXT, 8);
    assert!(stranger.receive(&mut rx).is_empty());
    assert_eq!(
        rx.fault(),
        Some(RingFault::Descriptor { number: 8, size: 8 })
    );
    stranger.end();
}

#[test]
fn v15_a_head_that_does_not_exist() {
    let mut stranger = Stranger::new(8, Features::VERSION_1);
    let mut rx = stranger.rx();
    // Entry 0 of the available ring.
    stranger.put(GUEST + 0x8000 + 4, 0xffff_u16);
    stranger.set_avail(1);
    assert!(stranger.receive(&mut rx).is_empty());
    assert!(matches!(rx.fault(), Some(RingFault::Descriptor { .. })));
    stranger.end();
}

#[test]
fn v16_indices_pass_the_size() {
    for features in layouts(Features::empty()) {
        let mut stranger = Stranger::new(4, features);
        let mut rx = stranger.rx();
        stranger.frame(AT, HEADER, 60);
        for _ in 0..70_000 {
            stranger.offer(&[(AT, HEADER + 60, 0)]);
            assert_eq!(stranger.receive(&mut rx).len(), 1);
        }
        stranger.end();
    }
}

#[test]
fn v17_a_circle_of_empty_descriptors() {
    let mut stranger = Stranger::new(8, Features::VERSION_1);
    let mut rx = stranger.rx();
    stranger.offer(&[(AT, 0, 0)]);
    stranger.descriptor(Stranger::slot_address(0), AT, 0, NEXT, 1);
    stranger.descriptor(Stranger::slot_address(1), AT, 0, NEXT, 0);
    assert!(stranger.receive(&mut rx).is_empty());
    assert_eq!(rx.fault(), Some(RingFault::Endless { head: 0 }));
    stranger.end();
}

#[test]
fn v17_a_packed_chain_all_round_the_ring() {
    for send in [false, true] {
        let mut stranger = Stranger::new(7, Features::VERSION_1 | Features::RING_PACKED);
        let (mut rx, mut tx) = (stranger.rx(), stranger.tx());
        for _ in 0..7 {
            stranger.offer(&[(AT, 0, NEXT)]);
        }
        let fault = if send {
            assert_eq!(stranger.send(&mut tx, &[60]), 0);
            tx.fault()
        } else {
            assert!(stranger.receive(&mut rx).is_empty());
            rx.fault()
        };
        assert_eq!(fault, Some(RingFault::Endless { head: 0 }));
        stranger.end();
    }
}

#[test]
fn v19_an_event_index_that_is_not_mapped() {
    for features in layouts(Features::RING_EVENT_IDX) {
        let mut stranger = Stranger::new(8, features);
        // The last of the region: all but the event index of the available ring, half of the event structure.
        let missing = if stranger.packed { 4 - 2 } else { 4 + 2 * 8 };
        let start = stranger.setup.rings.desc;
        stranger.setup.rings.avail = start + REGION - missing;
        let fault = stranger.refused();
        let what = matches!(
            fault,
            RingFault::Unmapped { .. } | RingFault::Unaligned { .. }
        );
        assert!(what, "{fault}");
    }
}

#[test]
fn v37_one_buffer_is_announced() {
    for features in layouts(Features::MRG_RXBUF) {
        let mut stranger = Stranger::new(8, features);
        let mut tx = stranger.tx();
        for k in 0..4 {
            stranger.frame(AT + k * 0x800, 0, 0x700);
            stranger.offer(&[(AT + k * 0x800, 0x700, WRITE)]);
        }
        assert_eq!(stranger.send(&mut tx, &[60, 61, 62, 63]), 4);
        for k in 0..4 {
            let header: [u8; 12] = stranger.get(AT + k * 0x800);
            assert_eq!(header, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]);
        }
        assert_eq!(stranger.used(), [(0, 72), (1, 73), (2, 74), (3, 75)]);
        stranger.end();
    }
}

#[test]
fn v38_no_batch_goes_over_the_end() {
    for size in [255, 1000, 33, 3] {
        let features = Features::VERSION_1 | Features::RING_PACKED;
        let mut stranger = Stranger::new(size, features);
        let mut rx = stranger.rx();
        stranger.frame(AT, HEADER, 60);
        for round in 0..5 * size / 2 {
            let n = (round % 3 + 1).min(size);
            for _ in 0..n {
                stranger.offer(&[(AT, HEADER + 60, 0)]);
            }
            assert_eq!(stranger.receive(&mut rx).len(), n as usize);
            assert_eq!(rx.fault(), None);
        }
        stranger.end();
    }
}

#[test]
fn v39_twelve_bytes_without_version_1() {
    let mut stranger = Stranger::new(8, Features::RING_PACKED);
    let mut rx = stranger.rx();
    stranger.frame(AT, 12, 60);
    stranger.offer(&[(AT, 12 + 60, 0)]);
    assert_eq!(stranger.receive(&mut rx)[0].len(), 60);
    let mut stranger = Stranger::new(8, Features::RING_PACKED);
    let mut tx = stranger.tx();
    stranger.offer(&[(AT, 0x700, WRITE)]);
    assert_eq!(stranger.send(&mut tx, &[60]), 1);
    assert_eq!(stranger.used(), [(0, 72)]);
    // And ten without it in a split ring.
    let mut stranger = Stranger::new(8, Features::empty());
    let mut tx = stranger.tx();
    stranger.offer(&[(AT, 0x700, WRITE)]);
    assert_eq!(stranger.send(&mut tx, &[60]), 1);
    assert_eq!(stranger.used(), [(0, 70)]);
}

/// V-40 and V-41: whatever mixture of simple buffers and chains, each burst gives back all it took, in order.
#[test]
fn v40_v41_everything_is_given_back_in_order_at_the_end_of_a_burst() {
    for features in layouts(Features::empty()) {
        let mut stranger = Stranger::new(64, features);
        let (mut rx, mut expected) = (stranger.rx(), Vec::new());
        stranger.frame(AT, HEADER, 60);
        let mut slot = 0;
        for chains in [1, 5, 2, 7, 3, 1] {
            for k in 0..chains {
                expected.push((slot, 0));
                if k == 2 {
                    stranger.offer(&[(AT, HEADER, 0), (AT + 12, 20, 0), (AT + 32, 40, 0)]);
                    slot += 3;
                } else {
                    stranger.offer(&[(AT, HEADER + 60, 0)]);
                    slot += 1;
                }
            }
            assert_eq!(stranger.receive(&mut rx).len(), chains);
            assert_eq!(stranger.used(), expected);
        }
        stranger.end();
    }
}

#[test]
fn x01_an_index_far_ahead() {
    for ahead in [9, 0x7fff, 0xffff] {
        let stranger = Stranger::new(8, Features::VERSION_1);
        let (mut rx, mut tx) = (stranger.rx(), stranger.tx());
        let mut stranger = stranger;
        stranger.set_avail(ahead);
        assert!(stranger.receive(&mut rx).is_empty());
        assert!(matches!(rx.fault(), Some(RingFault::Index { .. })));
        assert_eq!(stranger.send(&mut tx, &[60]), 0);
        assert!(matches!(tx.fault(), Some(RingFault::Index { .. })));
        stranger.end();
    }
}

#[test]
fn x02_sizes_that_no_ring_has() {
    for (features, sizes) in [
        (Features::RING_PACKED, vec![0, 32_769, 65_536, u32::MAX]),
        (Features::empty(), vec![0, 3, 255, 65_536, u32::MAX]),
    ] {
        let mut stranger = Stranger::new(8, features);
        for size in sizes {
            stranger.setup.size = size;
            assert!(matches!(stranger.refused(), RingFault::Size { .. }));
        }
    }
}

#[test]
fn a_base_outside_the_ring_is_refused() {
    let mut stranger = Stranger::new(255, Features::RING_PACKED);
    for base in [255, 0x7fff, 255 << 16] {
        stranger.setup.base = base;
        assert!(matches!(stranger.refused(), RingFault::Descriptor { .. }));
    }
}

/// no packet goes on with half a checksum to a driver that doesn't take that.
#[test]
fn x06_a_debt_is_not_passed_on_unasked() {
    for features in layouts(Features::empty()) {
        let mut stranger = Stranger::new(8, features);
        let mut tx = stranger.tx();
        stranger.offer(&[(AT, 0x700, WRITE)]);
        let mut burst = Burst::new(1);
        let back = stranger.rig.back.id();
        stranger.caches.alloc(back, 1, 80, &mut burst);
        burst.as_mut_slice()[0].set_partial_checksum(PartialChecksum {
            start: 14,
            offset: 6,
        });
        assert!(burst.flags_union().intersects(tx.unfinished()));
        assert_eq!(tx.burst(&mut stranger.caches, &mut burst).packets, 0);
        stranger.caches.free(&mut burst);
        stranger.end();
    }
}

/// Readable parts behind writable ones, readable buffers in a receive ring and writable ones in a transmit ring.
#[test]
fn buffers_the_wrong_way_round() {
    for features in layouts(Features::MRG_RXBUF) {
        let mut stranger = Stranger::new(8, features);
        let mut rx = stranger.rx();
        stranger.offer(&[(AT, 80, WRITE)]);
        stranger.offer(&[(AT, 80, WRITE), (AT, 80, 0)]);
        goes_on(stranger, &mut rx, 2);
        let mut stranger = Stranger::new(8, features);
        let mut tx = stranger.tx();
        stranger.offer(&[(AT, 80, 0)]);
        stranger.offer(&[(AT, 80, 0), (AT, 80, WRITE)]);
        assert_eq!(stranger.send(&mut tx, &[60, 60]), 2);
        assert_eq!(stranger.tally().too_long.get(), 2);
        assert_eq!(stranger.used().len(), 2);
        stranger.end();
    }
}
