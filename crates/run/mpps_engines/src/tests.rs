//! What the plain engines do to packets, count and drop.

use std::collections::HashSet;

use mpps_mbuf::OffloadFlags;

use crate::testing::{Bench, packets, pool, setup};
use crate::{ENGINES, Engine, Retry, TxSplit, find};

fn engine(name: &str, setup: &crate::StreamSetup) -> Box<dyn Engine> {
    (find(name).unwrap().make)(setup).unwrap()
}

fn frames(n: usize) -> Vec<Vec<u8>> {
    (0..n)
        .map(|f| (0..60).map(|i| (f * 13 + i) as u8).collect())
        .collect()
}

fn swapped(frame: &[u8]) -> Vec<u8> {
    [&frame[6..12], &frame[..6], &frame[12..]].concat()
}

#[test]
fn io_passes_packets_as_they_are() {
    let pool = pool();
    let mut bench = Bench::new(&pool, packets(&pool, &frames(70)), usize::MAX);
    let mut io = engine("io", &setup(&pool));
    assert_eq!(bench.run(&mut *io, 4), frames(70));
    assert_eq!(
        (
            bench.io.stats.rx_packets.get(),
            bench.io.stats.tx_packets.get()
        ),
        (70, 70)
    );
    bench.finish();
}

#[test]
fn mac_addresses_packets_to_the_peer() {
    let pool = pool();
    let mut bench = Bench::new(
        &pool,
        packets(&pool, &[frames(1).remove(0), vec![1; 13]]),
        usize::MAX,
    );
    let sent = bench.run(&mut *engine("mac", &setup(&pool)), 1);
    assert_eq!(sent[0][..12], [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0xa1]);
    assert_eq!(sent[0][12..], frames(1)[0][12..]);
    assert_eq!(sent[1], [1; 13], "too short to have addresses");
    bench.finish();
}

#[test]
fn macswap_swaps_also_what_clones_share() {
    let pool = pool();
    let mut received = packets(&pool, &frames(5));
    let clone = pool.share(&mut received[2]).unwrap();
    let mut bench = Bench::new(&pool, received, usize::MAX);
    let sent = bench.run(&mut *engine("macswap", &setup(&pool)), 1);
    assert_eq!(
        sent,
        frames(5)
            .iter()
            .map(|frame| swapped(frame))
            .collect::<Vec<_>>()
    );
    assert_eq!(clone.data(), frames(5)[2], "the other owner sees no change");
    drop(clone);
    bench.finish();
}

#[test]
fn rxonly_frees_and_drops_nothing() {
    let pool = pool();
    let mut bench = Bench::new(&pool, packets(&pool, &frames(40)), usize::MAX);
    assert!(
        bench
            .run(&mut *engine("rxonly", &setup(&pool)), 2)
            .is_empty()
    );
    assert_eq!(
        (
            bench.io.stats.rx_packets.get(),
            bench.io.stats.dropped.get()
        ),
        (40, 0)
    );
    bench.finish();
}

#[test]
fn what_is_not_sent_is_retried_then_dropped() {
    let pool = pool();
    let mut bench = Bench::new(&pool, packets(&pool, &frames(32)), 5);
    bench.io.retry = Retry {
        times: 2,
        delay_us: 1,
    };
    assert_eq!(bench.run(&mut *engine("io", &setup(&pool)), 1), frames(15));
    assert_eq!(
        (
            bench.io.stats.tx_packets.get(),
            bench.io.stats.dropped.get()
        ),
        (15, 17)
    );
    bench.finish();
}

#[test]
fn txonly_packets_are_whole() {
    let pool = pool();
    let mut bench = Bench::new(&pool, vec![], usize::MAX);
    let sent = bench.run(&mut *engine("txonly", &setup(&pool)), 1);
    assert_eq!(sent.len(), 32);
    let frame = &sent[0];
    assert_eq!(frame.len(), 64);
    assert_eq!(frame[..14], [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0xa1, 8, 0]);
    assert_eq!(
        frame[14..34],
        [
            0x45, 0, 0, 50, 0, 0, 0, 0, 64, 17, 0xee, 0x93, 198, 18, 0, 1, 198, 18, 0, 2
        ]
    );
    assert_eq!(mpps_wire::checksum::checksum(&frame[14..34]), 0);
    assert_eq!(frame[34..42], [0, 9, 0, 9, 0, 30, 0, 0]);
    assert_eq!(bench.io.stats.rx_packets.get(), 0);
    bench.finish();
}

#[test]
fn txonly_flows_go_on_where_the_last_packet_sent_left_off() {
    let pool = pool();
    let mut setup = setup(&pool);
    setup.settings.txonly.multi_flow = true;
    setup.settings.txonly.flows = 7;
    let mut bench = Bench::new(&pool, vec![], 5);
    let sent = bench.run(&mut *engine("txonly", &setup), 4);
    let ports: Vec<_> = sent.iter().map(|frame| (frame[34], frame[35])).collect();
    assert_eq!(ports.len(), 20);
    for (n, port) in ports.iter().enumerate() {
        assert_eq!(*port, (0xc0 + (n % 7) as u8, 1), "packet {n}");
    }
    bench.finish();
}

#[test]
fn txonly_chains_carry_headers_over_short_segments() {
    let pool = pool();
    let mut setup = setup(&pool);
    setup.settings.txonly.lengths = vec![20, 20, 60];
    let mut bench = Bench::new(&pool, vec![], usize::MAX);
    let sent = bench.run(&mut *engine("txonly", &setup), 1);
    assert!(
        sent.iter().all(|frame| frame.len() == 100
            && frame[16..18] == [0, 86]
            && frame[38..40] == [0, 66])
    );
    bench.finish();
}

#[test]
fn txonly_random_split_fits_the_headers_to_each_length() {
    let pool = pool();
    let mut setup = setup(&pool);
    setup.settings.txonly.lengths = vec![50, 10, 10, 10];
    setup.settings.txonly.split = TxSplit::Random;
    let mut bench = Bench::new(&pool, vec![], usize::MAX);
    let sent = bench.run(&mut *engine("txonly", &setup), 4);
    let lengths: HashSet<usize> = sent.iter().map(Vec::len).collect();
    assert_eq!(lengths, HashSet::from([50, 60, 70, 80]));
    for frame in &sent {
        assert_eq!(
            u16::from_be_bytes([frame[16], frame[17]]) as usize,
            frame.len() - 14
        );
        assert_eq!(mpps_wire::checksum::checksum(&frame[14..34]), 0);
    }
    bench.finish();
}

#[test]
fn txonly_refuses_lengths_that_make_no_packet() {
    let pool = pool();
    let mut setup = setup(&pool);
    for (lengths, split) in [
        (vec![41], TxSplit::Off),
        (vec![20, 40], TxSplit::Random),
        (vec![2049], TxSplit::Off),
        (vec![], TxSplit::Off),
    ] {
        setup.settings.txonly.lengths = lengths;
        setup.settings.txonly.split = split;
        assert!((find("txonly").unwrap().make)(&setup).is_err());
    }
}

#[test]
fn flowgen_goes_through_its_flows_without_holes() {
    let pool = pool();
    let mut setup = setup(&pool);
    setup.settings.flowgen.flows = 300;
    let mut bench = Bench::new(&pool, packets(&pool, &frames(3)), 30);
    let sent = bench.run(&mut *engine("flowgen", &setup), 20);
    assert_eq!(sent.len(), 600);
    for (n, frame) in sent.iter().enumerate() {
        let flow = (n % 300) as u32;
        assert_eq!(frame.len(), 60);
        assert_eq!(frame[..12], [0, 1, 2, 3, 4, 1, 0, 1, 2, 3, 4, 0]);
        assert_eq!(
            frame[30..34],
            (0x0afd_0000 + flow).to_be_bytes(),
            "packet {n}"
        );
        assert_eq!(
            mpps_wire::checksum::checksum(&frame[14..34]),
            0,
            "packet {n}"
        );
    }
    assert_eq!(bench.io.stats.rx_packets.get(), 3);
    bench.finish();
}

#[test]
fn flowgen_clones_repeat_each_flow() {
    let pool = pool();
    let mut setup = setup(&pool);
    setup.settings.flowgen.clones = 2;
    let mut bench = Bench::new(&pool, vec![], usize::MAX);
    let sent = bench.run(&mut *engine("flowgen", &setup), 2);
    for (n, frame) in sent.iter().enumerate() {
        assert_eq!(u32::from(frame[33]), n as u32 / 3, "packet {n}");
    }
    bench.finish();
}

#[test]
fn a_vlan_port_gets_its_tag() {
    let pool = pool();
    let mut setup = setup(&pool);
    setup.tx.tx_flags = OffloadFlags::TX_VLAN;
    setup.tx.tx_vlan = (7, 0);
    let mut received = packets(&pool, &frames(1));
    let mut bench = Bench::new(&pool, vec![], usize::MAX);
    bench.io.burst.push(received.remove(0)).unwrap();
    crate::macswap::MacSwap::new(&setup).work(&mut bench.lcore, &mut bench.io);
    let packet = bench.io.burst.pop_front().unwrap();
    assert_eq!((packet.flags(), packet.vlan()), (OffloadFlags::TX_VLAN, 7));
    drop(packet);
    bench.finish();
}

#[test]
fn the_largest_burst_ends() {
    let pool = pool();
    for spec in ENGINES {
        let mut setup = setup(&pool);
        setup.burst = 512;
        let mut bench = Bench::new(&pool, packets(&pool, &frames(600)), usize::MAX);
        bench.io.burst.set_limit(512);
        if let Ok(mut engine) = (spec.make)(&setup) {
            bench.run(&mut *engine, 3);
        }
        bench.finish();
    }
}

#[test]
fn engines_are_named_in_testpmds_order() {
    let names: Vec<_> = ENGINES.iter().map(|engine| engine.name).collect();
    assert_eq!(
        names.join(" "),
        "io mac macswap flowgen rxonly txonly csum icmpecho noisy 5tswap recycle_mbufs ieee1588 shared_rxq"
    );
    for engine in ENGINES {
        assert_eq!(find(engine.name).map(|found| found.name), Some(engine.name));
        assert!(!engine.help.contains('\n') && !engine.help.is_empty());
    }
}

#[test]
fn recycle_mbufs_is_io_and_says_so() {
    let pool = pool();
    let mut bench = Bench::new(&pool, packets(&pool, &frames(9)), usize::MAX);
    let sent = bench.run(&mut *engine("recycle_mbufs", &setup(&pool)), 1);
    assert_eq!(sent, frames(9));
    assert!(find("recycle_mbufs").unwrap().notice.is_some());
    bench.finish();
}

#[test]
fn shared_rxq_frees_and_counts_once() {
    let pool = pool();
    let mut bench = Bench::new(&pool, packets(&pool, &frames(40)), usize::MAX);
    let sent = bench.run(&mut *engine("shared_rxq", &setup(&pool)), 2);
    let stats = &bench.io.stats;
    assert_eq!((stats.rx_packets.get(), stats.dropped.get()), (40, 0));
    assert!(sent.is_empty());
    bench.finish();
}

#[test]
fn ieee1588_is_refused_without_timestamps() {
    let mut setup = setup(&pool());
    setup.rx.port = 3;
    let refusal = |setup: &crate::StreamSetup| {
        let error = (find("ieee1588").unwrap().make)(setup).err().unwrap();
        assert!(error.contains("port 3") && !error.contains('\n'), "{error}");
        error
    };
    assert!(refusal(&setup).contains("receive timestamps"));
    setup.rx.timestamps = true;
    assert!(refusal(&setup).contains("transmit timestamps"));
}

#[test]
fn a_full_burst_with_shared_packets_stays_whole_and_in_order() {
    let pool = pool();
    let mut received = packets(&pool, &frames(512));
    let clones: Vec<_> = (0..512)
        .step_by(100)
        .map(|n| pool.share(&mut received[n]).unwrap())
        .collect();
    let mut bench = Bench::new(&pool, received, usize::MAX);
    bench.io.burst.set_limit(512);
    let sent = bench.run(&mut *engine("macswap", &setup(&pool)), 1);
    let expected: Vec<_> = frames(512).iter().map(|frame| swapped(frame)).collect();
    assert_eq!(sent, expected);
    assert_eq!(bench.io.stats.dropped.get(), 0);
    drop(clones);
    bench.finish();
}

#[test]
fn without_mbufs_to_copy_into_shared_packets_are_dropped_and_counted() {
    let pool = pool();
    let mut received = packets(&pool, &frames(6));
    let clones = [1, 4].map(|n| pool.share(&mut received[n]).unwrap());
    let rest: Vec<_> = std::iter::from_fn(|| pool.alloc()).collect();
    let mut bench = Bench::new(&pool, received, usize::MAX);
    let sent = bench.run(&mut *engine("mac", &setup(&pool)), 1);
    // The first of the two gives its own mbuf back only when its clone is gone: none can be copied.
    let numbers: Vec<_> = sent.iter().map(|frame| frame[12]).collect();
    assert_eq!(numbers, [0, 2, 3, 5].map(|n: u8| n * 13 + 12));
    assert_eq!(bench.io.stats.dropped.get(), 2);
    drop((clones, rest));
    bench.finish();
}
