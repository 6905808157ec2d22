//! The device's half against indirect tables that break the rules.

use mpps_virtq::{Features, RingFault};

use crate::stranger::{DATA, END, GUEST, INDIRECT, NEXT, REGION, Stranger, layouts};

const HEADER: u32 = 12;
const AT: u64 = GUEST + DATA;

#[test]
fn v18_tables_that_are_none() {
    for features in layouts(Features::RING_INDIRECT_DESC) {
        for (address, len, flags) in [
            (AT, 0, INDIRECT),
            (AT, 15, INDIRECT),
            (AT, 17, INDIRECT),
            (AT, 16 * 40_000, INDIRECT),
            (END - 16, 32, INDIRECT),
            (GUEST + REGION - 16, 32, INDIRECT),
            (u64::MAX - 8, 16, INDIRECT),
            (AT, 16, INDIRECT | NEXT),
        ] {
            let mut stranger = Stranger::new(8, features);
            let mut rx = stranger.rx();
            stranger.offer(&[(address, len, flags)]);
            assert!(stranger.receive(&mut rx).is_empty());
            let fault = rx.fault().expect("a fault");
            assert!(matches!(fault, RingFault::Indirect { .. }), "{fault}");
            // Once retired, it stays so.
            assert!(stranger.receive(&mut rx).is_empty());
            stranger.end();
        }
    }
}

#[test]
fn v18_a_table_in_a_table_and_one_that_was_not_negotiated() {
    for (more, inner) in [
        (Features::RING_INDIRECT_DESC, INDIRECT),
        (Features::empty(), 0),
    ] {
        for features in layouts(more) {
            let mut stranger = Stranger::new(8, features);
            let mut rx = stranger.rx();
            stranger.descriptor(AT, AT + 64, 80, inner, 0);
            stranger.offer(&[(AT, 16, INDIRECT)]);
            assert!(stranger.receive(&mut rx).is_empty());
            assert!(matches!(rx.fault(), Some(RingFault::Indirect { .. })));
            stranger.end();
        }
    }
}

#[test]
fn v18_a_split_table_whose_chain_leaves_it_or_goes_in_circles() {
    for next in [0, 2] {
        let features = Features::VERSION_1 | Features::RING_INDIRECT_DESC;
        let mut stranger = Stranger::new(8, features);
        let mut rx = stranger.rx();
        stranger.descriptor(AT, AT + 64, 0, NEXT, 1);
        stranger.descriptor(AT + 16, AT + 64, 0, NEXT, next);
        stranger.offer(&[(AT, 32, INDIRECT)]);
        assert!(stranger.receive(&mut rx).is_empty());
        assert!(matches!(rx.fault(), Some(RingFault::Indirect { .. })));
        stranger.end();
    }
}

/// the flag says nothing in a packed table: all entries belong to the buffer.
#[test]
fn x02_a_successor_in_a_packed_table() {
    let features = Features::VERSION_1 | Features::RING_INDIRECT_DESC | Features::RING_PACKED;
    let mut stranger = Stranger::new(5, features);
    let mut rx = stranger.rx();
    stranger.frame(AT + 64, HEADER, 60);
    stranger.descriptor(AT, AT + 64, HEADER, NEXT, 7);
    stranger.descriptor(AT + 16, AT + 64 + u64::from(HEADER), 30, NEXT, 7);
    stranger.descriptor(AT + 32, AT + 94 + u64::from(HEADER), 30, NEXT, 7);
    stranger.offer(&[(AT, 48, INDIRECT)]);
    let packets = stranger.receive(&mut rx);
    assert_eq!(packets, [(0..60).map(|k| k | 2).collect::<Vec<u8>>()]);
    assert_eq!(rx.fault(), None);
    stranger.end();
}
