//! Stops, starts and ends of the two ports, in all orders.

use crate::rig::{Loop, PATHS, Shape};

#[test]
fn stops_and_starts_in_all_orders() {
    for args in [PATHS[2], PATHS[4]] {
        let mut both = Loop::new(args, Shape::PLAIN, true);
        both.back.start();
        both.front.start();
        for _ in 0..5 {
            both.connect();
            both.both_ways(100);
            both.front.stop();
            both.back.stop();
            both.front.start();
            both.back.start();
            both.connect();
            both.both_ways(100);
            both.back.stop();
            both.front.stop();
            both.front.start();
            both.back.start();
            both.connect();
            both.both_ways(100);
            both.front.stop();
            both.front.start();
            both.connect();
            both.both_ways(100);
            both.back.stop();
            both.back.start();
        }
        both.finish();
    }
}

/// Ends without a stop before, and with one, of either side or both, whoever listens.
#[test]
fn ends_in_all_orders() {
    for (n, args) in PATHS[..8].iter().enumerate() {
        let mut both = Loop::new(args, Shape::PLAIN, n % 2 == 0);
        both.front.start();
        both.back.start();
        for order in 0..6 {
            both.connect();
            both.both_ways(80);
            match order {
                0 => both.renew_front(),
                1 => both.renew_back(),
                2 => {
                    both.front.stop();
                    both.renew_front();
                }
                3 => {
                    both.back.stop();
                    both.renew_back();
                }
                4 => {
                    both.renew_front();
                    both.renew_back();
                }
                _ => {
                    both.back.stop();
                    both.renew_front();
                }
            }
            if both.back.queues.rx.is_empty() {
                both.back.start();
            }
            if both.front.queues.rx.is_empty() {
                both.front.start();
            }
        }
        both.connect();
        both.both_ways(80);
        both.finish();
    }
}

#[test]
fn eight_queues() {
    let eight = Shape {
        queues: 8,
        ..Shape::PLAIN
    };
    for args in [PATHS[2], PATHS[4]] {
        let mut both = Loop::new(args, eight, true);
        both.back.start();
        both.front.start();
        both.connect();
        both.both_ways(300);
        both.finish();
    }
}
