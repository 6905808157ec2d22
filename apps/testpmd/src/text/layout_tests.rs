//! The worked examples of the reference, and what must hold for any input.

use proptest::prelude::*;

use super::*;

const PAIR: &[u16] = &[0, 1];

fn input<'a>(ports: &'a [u16], queues: (u16, u16), lcores: &'a [u32]) -> LayoutInput<'a> {
    LayoutInput {
        ports,
        rxq: queues.0,
        txq: queues.1,
        lcores,
        topology: Topology::Paired,
        echo: false,
        num_procs: 1,
        proc_id: 0,
    }
}

/// A core's streams as `P0q0>P1q0` words.
fn words(layout: &Layout) -> Vec<String> {
    let word = |s: &StreamEnds| format!("P{}q{}>P{}q{}", s.rx.0, s.rx.1, s.tx.0, s.tx.1);
    layout
        .cores
        .iter()
        .map(|core| core.streams.iter().map(word).collect::<Vec<_>>().join(" "))
        .collect()
}

fn counts(layout: &Layout) -> Vec<(u32, usize)> {
    layout
        .cores
        .iter()
        .map(|core| (core.lcore, core.streams.len()))
        .collect()
}

#[test]
fn one_queue() {
    assert_eq!(
        words(&lay_out(&input(PAIR, (1, 1), &[4]))),
        ["P0q0>P1q0 P1q0>P0q0"]
    );
    assert_eq!(
        words(&lay_out(&input(PAIR, (1, 1), &[4, 5]))),
        ["P0q0>P1q0", "P1q0>P0q0"]
    );
    assert_eq!(
        counts(&lay_out(&input(PAIR, (1, 1), &[4, 5, 6]))),
        [(4, 1), (5, 1)],
        "the third core idles"
    );
}

#[test]
fn two_queues() {
    let all = "P0q0>P1q0 P1q0>P0q0 P0q1>P1q1 P1q1>P0q1";
    assert_eq!(words(&lay_out(&input(PAIR, (2, 2), &[1]))), [all]);
    assert_eq!(
        words(&lay_out(&input(PAIR, (2, 2), &[1, 2]))),
        ["P0q0>P1q0 P1q0>P0q0", "P0q1>P1q1 P1q1>P0q1"]
    );
    assert_eq!(
        counts(&lay_out(&input(PAIR, (2, 2), &[1, 2, 3]))),
        [(1, 1), (2, 1), (3, 2)]
    );
}

#[test]
fn many_queues() {
    let layout = lay_out(&input(PAIR, (8, 8), &[1, 2, 3, 4]));
    assert_eq!(words(&layout)[0], "P0q0>P1q0 P1q0>P0q0 P0q1>P1q1 P1q1>P0q1");
    assert_eq!(words(&layout)[3], "P0q6>P1q6 P1q6>P0q6 P0q7>P1q7 P1q7>P0q7");
    let cores: Vec<u32> = (8..16).collect();
    let layout = lay_out(&input(PAIR, (8, 8), &cores));
    assert!(
        words(&layout)
            .iter()
            .enumerate()
            .all(|(k, core)| *core == format!("P0q{k}>P1q{k} P1q{k}>P0q{k}"))
    );
    assert_eq!(
        counts(&lay_out(&input(PAIR, (4, 4), &[1, 2, 3, 4, 5]))),
        [(1, 1), (2, 1), (3, 2), (4, 2), (5, 2)]
    );
}

#[test]
fn the_founding_post_s_single_port() {
    let cores: Vec<u32> = (1..=16).take(8).collect();
    let chained = LayoutInput {
        topology: Topology::Chained,
        ..input(&[0], (16, 16), &cores)
    };
    let layout = lay_out(&chained);
    assert_eq!(words(&layout)[0], "P0q0>P0q0 P0q1>P0q1");
    assert_eq!(words(&layout)[7], "P0q14>P0q14 P0q15>P0q15");
    assert!(!layout.odd, "chained doesn't warn");
    assert!(lay_out(&input(&[0], (1, 1), &cores)).odd, "paired does");
}

#[test]
fn only_queue_0_unless_both_sides_have_several() {
    assert_eq!(
        words(&lay_out(&input(PAIR, (4, 1), &[1]))),
        ["P0q0>P1q0 P1q0>P0q0"]
    );
    assert_eq!(
        words(&lay_out(&input(PAIR, (1, 4), &[1]))),
        ["P0q0>P1q0 P1q0>P0q0"]
    );
    assert_eq!(
        lay_out(&input(PAIR, (4, 2), &[1])).streams().count(),
        4,
        "the smaller of the two"
    );
}

#[test]
fn topology_goes_by_the_index_in_the_list() {
    let ports = [7, 3, 5];
    let layout = |topology| {
        words(&lay_out(&LayoutInput {
            topology,
            ..input(&ports, (1, 1), &[1])
        }))
        .remove(0)
    };
    assert_eq!(layout(Topology::Paired), "P7q0>P3q0 P3q0>P7q0 P5q0>P5q0");
    assert_eq!(layout(Topology::Chained), "P7q0>P3q0 P3q0>P5q0 P5q0>P7q0");
    assert_eq!(layout(Topology::Loop), "P7q0>P7q0 P3q0>P3q0 P5q0>P5q0");
}

#[test]
fn echo_is_port_major_and_answers_where_it_received() {
    let layout = lay_out(&LayoutInput {
        echo: true,
        ..input(PAIR, (2, 1), &[1, 2, 3])
    });
    assert_eq!(
        words(&layout),
        ["P0q0>P0q0", "P0q1>P0q1", "P1q0>P1q0 P1q1>P1q1"]
    );
}

#[test]
fn processes_share_the_queues() {
    let second = LayoutInput {
        num_procs: 2,
        proc_id: 1,
        ..input(&[0], (4, 4), &[1])
    };
    assert_eq!(words(&lay_out(&second)), ["P0q2>P0q2 P0q3>P0q3"]);
    assert_eq!(
        words(&lay_out(&LayoutInput {
            proc_id: 0,
            ..second
        })),
        ["P0q0>P0q0 P0q1>P0q1"]
    );
}

#[test]
fn nothing_to_do() {
    assert_eq!(lay_out(&input(&[], (4, 4), &[1])), Layout::default());
    assert_eq!(lay_out(&input(PAIR, (1, 1), &[])).cores, []);
}

proptest! {
    #[test]
    fn every_queue_once_in_blocks_that_differ_by_one(
        ports in 1_u16..6, rxq in 1_u16..9, txq in 1_u16..9, cores in 1_u32..12,
        topology in prop::sample::select(vec![Topology::Paired, Topology::Chained, Topology::Loop]),
    ) {
        let (ports, lcores): (Vec<u16>, Vec<u32>) = ((0..ports).collect(), (1..=cores).collect());
        let layout = lay_out(&LayoutInput { topology, ..input(&ports, (rxq, txq), &lcores) });
        let queues = if rxq > 1 && txq > 1 { rxq.min(txq) } else { 1 };
        let mut polled: Vec<_> = layout.streams().map(|s| s.rx).collect();
        let mut sent: Vec<_> = layout.streams().map(|s| s.tx).collect();
        polled.sort_unstable();
        sent.sort_unstable();
        let all: Vec<_> = ports.iter().flat_map(|&p| (0..queues).map(move |q| (p, q))).collect();
        prop_assert_eq!(&polled, &all);
        // A tx queue has one sender: no lock is needed.
        prop_assert_eq!(&sent, &all);
        let sizes: Vec<usize> = layout.cores.iter().map(|core| core.streams.len()).collect();
        prop_assert!(sizes.windows(2).all(|two| two[0] <= two[1]), "the last cores get the remainder");
        prop_assert!(sizes[sizes.len() - 1] - sizes[0] <= 1 && sizes[0] >= 1);
        prop_assert_eq!(sizes.len(), lcores.len().min(all.len()));
    }
}

#[test]
fn topology_words() {
    for topology in [Topology::Paired, Topology::Chained, Topology::Loop] {
        assert_eq!(topology.to_string().parse(), Ok(topology));
    }
    let error = "nosuch".parse::<Topology>().expect_err("no such word");
    assert_eq!(
        error.to_string(),
        "port-topology nosuch invalid - must be: paired, chained or loop"
    );
}
