//! The queue, its flush, the lookups, and what is refused.

use std::time::Duration;

use super::{Memory, Noisy};
use crate::testing::{Bench, packets, pool, setup};
use crate::{Engine, NoisyMode, NoisySettings, StreamSetup};

fn noisy(setup: &StreamSetup) -> Noisy {
    Noisy::new(setup).unwrap()
}

fn refusal(settings: NoisySettings) -> String {
    let mut setup = setup(&pool());
    setup.settings.noisy = settings;
    (crate::find("noisy").unwrap().make)(&setup).err().unwrap()
}

/// Frames of 60 bytes that begin with their number.
fn numbered(n: usize) -> Vec<Vec<u8>> {
    (0..n)
        .map(|n| {
            let mut frame = vec![0; 60];
            frame[0] = n as u8;
            frame
        })
        .collect()
}

fn numbers(sent: &[Vec<u8>]) -> Vec<usize> {
    sent.iter().map(|frame| usize::from(frame[0])).collect()
}

#[test]
fn without_a_queue_it_is_its_mode() {
    let frame: Vec<u8> = [&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12][..], &[0; 48]].concat();
    for (mode, first, seventh) in [
        (NoisyMode::Io, 1, 7),
        (NoisyMode::Mac, 2, 2),
        (NoisyMode::MacSwap, 7, 1),
        (NoisyMode::FiveTupleSwap, 7, 1),
    ] {
        let pool = pool();
        let mut setup = setup(&pool);
        setup.settings.noisy.mode = mode;
        let mut bench = Bench::new(
            &pool,
            packets(&pool, std::slice::from_ref(&frame)),
            usize::MAX,
        );
        let sent = bench.run(&mut noisy(&setup), 2);
        assert_eq!((sent[0][0], sent[0][6]), (first, seventh), "{mode:?}");
        bench.finish();
    }
}

#[test]
fn the_queue_fills_then_passes_in_order() {
    let pool = pool();
    let mut setup = setup(&pool);
    setup.settings.noisy.buffer = 64;
    let mut bench = Bench::new(&pool, packets(&pool, &numbered(128)), usize::MAX);
    let mut engine = noisy(&setup);
    assert!(bench.run(&mut engine, 1).is_empty());
    // 32 wait, 32 more would make 64, one too many: as many leave as came.
    assert_eq!(
        numbers(&bench.run(&mut engine, 1)),
        (0..32).collect::<Vec<_>>()
    );
    assert_eq!(
        numbers(&bench.run(&mut engine, 2)),
        (0..96).collect::<Vec<_>>()
    );
    assert_eq!(engine.queue.as_ref().unwrap().packets.len(), 32);
    assert_eq!(bench.io.stats.dropped.get(), 0);
    assert!(
        !engine.step(&mut bench.lcore, &mut bench.io),
        "nothing to do"
    );
    drop(engine);
    bench.finish();
}

#[test]
fn a_queue_shorter_than_a_burst_drops_nothing() {
    let pool = pool();
    let mut setup = setup(&pool);
    setup.settings.noisy.buffer = 4;
    let mut bench = Bench::new(&pool, packets(&pool, &numbered(80)), usize::MAX);
    let mut engine = noisy(&setup);
    let sent = bench.run(&mut engine, 4);
    assert_eq!(numbers(&sent), (0..77).collect::<Vec<_>>());
    assert_eq!(bench.io.stats.dropped.get(), 0);
    drop(engine);
    bench.finish();
}

#[test]
fn an_idle_queue_is_flushed() {
    let pool = pool();
    let mut setup = setup(&pool);
    setup.settings.noisy.buffer = 1024;
    setup.settings.noisy.flush_ms = 20;
    let mut bench = Bench::new(&pool, packets(&pool, &numbered(200)), usize::MAX);
    let mut engine = noisy(&setup);
    assert!(bench.run(&mut engine, 7).is_empty());
    std::thread::sleep(Duration::from_millis(25));
    assert!(engine.step(&mut bench.lcore, &mut bench.io));
    assert_eq!(
        numbers(&bench.run(&mut engine, 1)),
        (0..200).collect::<Vec<_>>()
    );
    assert_eq!(bench.io.burst.limit(), 32);
    drop(engine);
    bench.finish();
}

#[test]
fn without_a_flush_time_packets_wait_and_come_home_with_the_engine() {
    let pool = pool();
    let mut setup = setup(&pool);
    setup.settings.noisy.buffer = 1024;
    let mut bench = Bench::new(&pool, packets(&pool, &numbered(40)), usize::MAX);
    let mut engine = noisy(&setup);
    assert!(bench.run(&mut engine, 5).is_empty());
    assert!(pool.free_count() < 4096);
    drop(engine);
    bench.finish();
}

#[test]
fn lookups_change_the_lines_they_write() {
    let pool = pool();
    let settings = |writes, reads, reads_writes| NoisySettings {
        memory_mib: 1,
        writes,
        reads,
        reads_writes,
        ..NoisySettings::default()
    };
    let changed = |settings| {
        let mut memory = Memory::new(&settings, &setup(&pool)).unwrap().unwrap();
        memory.walk(100);
        memory.lines.iter().filter(|line| line.0[0] != 1).count()
    };
    assert_eq!(changed(settings(0, 5, 0)), 0);
    // 16,384 lines: few of so few lookups meet.
    assert!((450..=500).contains(&changed(settings(5, 0, 0))));
    assert!((450..=500).contains(&changed(settings(0, 0, 5))));
}

#[test]
fn settings_that_make_no_sense_are_refused_in_one_line() {
    for buffer in [1, 3, 1000, u32::MAX] {
        let error = refusal(NoisySettings {
            buffer,
            ..NoisySettings::default()
        });
        assert!(
            error.contains("--noisy-tx-sw-buffer-size") && error.contains(&buffer.to_string()),
            "{error}"
        );
        assert!(!error.contains('\n'));
    }
    let error = refusal(NoisySettings {
        reads: 1,
        ..NoisySettings::default()
    });
    assert!(error.contains("--noisy-lkup-memory must be > 0"), "{error}");
}
