//! Every engine against any bytes, in any shape of packet: no panic, nothing in hand after a visit, every mbuf home.

use proptest::prelude::*;

use mpps_dev::TxOffloads;
use mpps_mbuf::{Mbuf, OffloadFlags, Pool};

use crate::testing::{Bench, pool, setup};
use crate::{ENGINES, NoisyMode, frames};

/// A packet to be: its bytes, where they are cut into segments, and whether a clone shares its first segment.
#[derive(Clone, Debug)]
struct Shape {
    bytes: Vec<u8>,
    cuts: Vec<usize>,
    is_shared: bool,
    flags: u64,
}

/// Frames of known protocols with some bytes changed and some cut off, or any bytes.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let known = (
        proptest::sample::select(frames::ALL),
        proptest::collection::vec((0usize..128, any::<u8>()), 0..4),
        0usize..160,
        proptest::collection::vec(any::<u8>(), 0..100),
    )
        .prop_map(|(frame, changes, len, tail)| {
            let mut bytes = frame.to_vec();
            for (at, value) in changes {
                let at = at % bytes.len();
                bytes[at] = value;
            }
            bytes.extend(tail);
            bytes.truncate(len.max(10));
            bytes
        });
    prop_oneof![
        4 => known,
        1 => proptest::collection::vec(any::<u8>(), 0..2000),
    ]
}

fn shape() -> impl Strategy<Value = Shape> {
    (
        bytes(),
        proptest::collection::vec(0usize..200, 0..3),
        any::<bool>(),
        any::<u64>(),
    )
        .prop_map(|(bytes, mut cuts, is_shared, flags)| {
            cuts.sort_unstable();
            Shape {
                bytes,
                cuts,
                is_shared,
                flags,
            }
        })
}

fn build(pool: &Pool, shape: &Shape) -> Mbuf {
    let mut rest = shape.bytes.as_slice();
    let mut done = 0;
    let mut head: Option<Mbuf> = None;
    for cut in shape.cuts.iter().copied().chain([usize::MAX]) {
        let (now, later) = rest.split_at(rest.len().min(cut - done));
        done += now.len();
        rest = later;
        let mut segment = pool.alloc().unwrap();
        assert!(segment.append(now));
        match &mut head {
            None => head = Some(segment),
            Some(head) => head.chain(segment).unwrap(),
        }
    }
    let mut packet = head.unwrap();
    packet.set_flags(OffloadFlags::from_bits_truncate(shape.flags));
    packet
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_bytes_break_an_engine(
        shapes in proptest::collection::vec(shape(), 1..40),
        hardware in any::<u64>(),
        tunnels in any::<bool>(),
        room in 0usize..40,
    ) {
        let pool = pool();
        for spec in ENGINES {
            let mut setup = setup(&pool);
            setup.tx.checksum.parse_tunnel = tunnels;
            setup.tx.checksum.hardware = TxOffloads::from_bits_truncate(hardware);
            setup.tx.checksum.tso = if hardware & TxOffloads::TCP_TSO.bits() == 0 { 0 } else { 20 };
            setup.settings.noisy.buffer = 8;
            setup.settings.noisy.mode = NoisyMode::FiveTupleSwap;
            let mut clones = Vec::new();
            let packets = shapes.iter().map(|shape| {
                let mut packet = build(&pool, shape);
                if shape.is_shared {
                    clones.push((pool.share(&mut packet).unwrap(), shape));
                }
                packet
            }).collect();
            let mut bench = Bench::new(&pool, packets, room);
            if let Ok(mut engine) = (spec.make)(&setup) {
                bench.run(&mut *engine, 3);
            }
            for (clone, shape) in clones {
                let first: Vec<u8> = clone.segments_data().flatten().copied().collect();
                prop_assert!(shape.bytes.starts_with(&first), "{} wrote into shared data", spec.name);
            }
            bench.finish();
        }
    }
}
