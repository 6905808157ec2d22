//! Packets of every length by every way, from a lone segment to chains of 8000 bytes and jumbo frames.

use mpps_dev::RxOffloads;

use crate::rig::{Loop, PATHS, Shape};

/// Started and joined.
fn joined(args: &str, shape: Shape, front_listens: bool) -> Loop {
    let mut both = Loop::new(args, shape, front_listens);
    both.front.start();
    both.back.start();
    both.connect();
    both
}

fn merges(args: &str) -> bool {
    args.contains("mrg_rxbuf=1")
}

#[test]
fn ten_paths_both_ways() {
    for (n, args) in PATHS.iter().enumerate() {
        let mut both = joined(args, Shape::PLAIN, n % 2 == 0);
        for len in [64, 65, 128, 256, 512, 1024, 1518] {
            both.cross(true, 0, 700, len);
            both.cross(false, 0, 700, len);
        }
        both.finish();
    }
}

#[test]
fn chains_of_8000_bytes_by_all_ten_paths() {
    let scattered = Shape {
        front: |config| config.rx_offloads = RxOffloads::SCATTER,
        ..Shape::PLAIN
    };
    for (n, args) in PATHS.iter().enumerate() {
        let mut both = joined(args, scattered, n % 2 == 1);
        for (len, part) in [(8000, 2000), (400, 100), (1500, 30)] {
            both.cross_in_parts(true, 0, 300, len, part);
            if len < 2048 || merges(args) {
                both.cross_in_parts(false, 0, 300, len, part);
            }
        }
        if !merges(args) {
            dropped_and_counted(&mut both);
        }
        both.finish();
    }
}

/// What fits no buffer of a front end that can't merge is lost, and counted where it was sent; what comes behind it isn't.
fn dropped_and_counted(both: &mut Loop) {
    let before = both.back.dev.stats();
    let mut burst = mpps_mbuf::Burst::new(8);
    for _ in 0..5 {
        burst.push(both.back.packet(0, 8000, 2000)).unwrap();
    }
    let tx = both.back.queues.tx[0].as_mut().unwrap();
    let taken = tx.tx_burst(&mut both.back.lcore, &mut burst);
    both.back.lcore.free(&mut burst);
    let after = both.back.dev.stats();
    assert_eq!((taken, after.oerrors - before.oerrors), (5, 5));
    assert_eq!(after.opackets, before.opackets);
    both.cross(false, 0, 100, 64);
}

#[test]
fn jumbo_frames_in_one_buffer_or_in_several() {
    let large = Shape {
        data_room: 9728 + 128,
        front: |config| config.mtu = Some(9000),
        ..Shape::PLAIN
    };
    let small = Shape {
        front: |config| {
            config.mtu = Some(9000);
            config.rx_offloads = RxOffloads::SCATTER;
        },
        ..Shape::PLAIN
    };
    for (n, args) in PATHS.iter().enumerate() {
        let mut both = joined(args, large, n % 2 == 0);
        for len in [4096, 9018] {
            both.cross(true, 0, 100, len);
            both.cross(false, 0, 100, len);
        }
        both.finish();
        if merges(args) {
            let mut both = joined(args, small, n % 2 == 1);
            both.cross_in_parts(true, 0, 100, 9018, 2048);
            both.cross_in_parts(false, 0, 100, 9018, 2048);
            both.finish();
        }
    }
}
