//! Whatever goes wrong by pattern: order is kept, packets are accounted for, every mbuf comes home.

use proptest::prelude::*;

use super::super::{Delay, Faults, Faulty, Traced};
use super::{Feed, bench, burst, home, keep, number, numbers, packets};
use crate::{RxQueue, TxQueue};
use mpps_mbuf::Burst;

fn faults() -> impl Strategy<Value = Faults> {
    (any::<u64>(), 0..500u16, 0..700u16, 0..1000u16).prop_map(|(seed, drop, refuse, cut)| Faults {
        seed,
        drop,
        refuse,
        cut,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn receiving(faults in faults(), calls in 0..5u32, limits in prop::collection::vec(1..100usize, 1..60)) {
        let (pool, mut lcore) = bench();
        let faulty = Faulty::new(Feed(packets(&pool, 0..400).into()), faults);
        let counts = faulty.counts();
        let traced = Traced::new(faulty, 0);
        let trace = traced.trace();
        let mut queue = Delay::new(traced, calls);
        let mut got = Vec::new();
        for limit in limits {
            let mut out = Burst::new(limit);
            let n = queue.rx_burst(&mut lcore, &mut out);
            prop_assert_eq!(n, out.len());
            got.extend(numbers(&out));
            lcore.free(&mut out);
        }
        prop_assert!(got.is_sorted());
        prop_assert_eq!(got.len() + queue.held(), trace.totals().1 as usize);
        prop_assert!(trace.totals().1 + counts.dropped.get() <= 400);
        drop(queue);
        home(&pool, lcore);
    }

    #[test]
    fn sending(faults in faults(), calls in 0..5u32, room in 0..60usize, sizes in prop::collection::vec(0..100u32, 1..30)) {
        let (pool, mut lcore) = bench();
        let (keep, got) = keep(room);
        let faulty = Faulty::new(keep, faults);
        let counts = faulty.counts();
        let mut queue = Delay::new(faulty, calls);
        let (mut next, mut taken) = (0, 0);
        for size in sizes {
            let mut pkts = burst(packets(&pool, next..next + size));
            taken += queue.tx_burst(&mut lcore, &mut pkts);
            // What is left over is tried no more: the numbers go on behind it.
            if let Some(first) = pkts.as_slice().first().map(number) {
                prop_assert_eq!(numbers(&pkts), (first..next + size).collect::<Vec<_>>());
            }
            lcore.free(&mut pkts);
            next += size;
        }
        let got = got.lock().unwrap().clone();
        prop_assert!(got.is_sorted());
        prop_assert!(got.len() as u64 + counts.dropped.get() + queue.held() as u64 <= taken as u64);
        drop(queue);
        home(&pool, lcore);
    }
}
