//! Memory, features and rings that change while packets move, with a core that polls and without.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use mpps_mbuf::Burst;
use mpps_vhost_proto::{F_PROTOCOL_FEATURES, Request};
use mpps_virtq::Features;

use crate::front::{Front, PACKED, SPLIT};
use crate::rig::Rig;

/// What is changed, time after time.
#[derive(Clone, Copy, Debug)]
enum Change {
    Memory,
    Features,
    Rings,
}

const ALL: [Change; 3] = [Change::Memory, Change::Features, Change::Rings];

impl Change {
    fn apply(self, front: &Front, n: u32) {
        match self {
            Self::Memory => front.share(),
            Self::Features => {
                let bits = if n.is_multiple_of(2) {
                    front.features - Features::MRG_RXBUF
                } else {
                    front.features
                };
                let bits = bits.bits() | F_PROTOCOL_FEATURES;
                front.talk.done(&Request::SetFeatures(bits));
            }
            Self::Rings => {
                for ring in 0..2 {
                    front.enable(ring, !n.is_multiple_of(2));
                }
            }
        }
    }
}

/// Another thread polls the port and sends everything back; each packet comes back once, in order.
fn polled(features: Features, change: Change, times: u32) {
    let mut rig = Rig::new("", 1);
    let mut front = Front::up(&rig, features, 1);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (rig, stop) = (&mut rig, &stop);
        scope.spawn(move || {
            let mut left = Burst::new(32);
            // Relaxed: a lone flag.
            while !stop.load(Ordering::Relaxed) {
                rig.echo(0, &mut left);
                std::thread::yield_now();
            }
            rig.lcore.free(&mut left);
        });
        for n in 0..times {
            front.post(64);
            change.apply(&front, n);
            front.take();
        }
        let end = Instant::now() + Duration::from_secs(20);
        while front.back < front.sent && Instant::now() < end {
            front.post(0);
            front.take();
            std::thread::yield_now();
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(front.sent > 0);
    assert_eq!(front.back, front.sent, "{change:?}");
    assert_eq!(rig.heard.troubles(), [""; 0]);
    front.finish();
    rig.finish();
}

/// Nobody polls meanwhile.
fn unpolled(features: Features, change: Change, times: u32) {
    let mut rig = Rig::new("", 1);
    let mut front = Front::up(&rig, features, 1);
    front.post(32);
    for n in 0..times {
        change.apply(&front, n);
    }
    front.exchange(&mut rig, 32);
    assert_eq!(rig.heard.troubles(), [""; 0]);
    front.finish();
    rig.finish();
}

fn all(times: u32) {
    for features in [SPLIT, PACKED] {
        for change in ALL {
            polled(features, change, times);
            unpolled(features, change, times);
        }
    }
}

#[test]
fn v_30_changes_under_traffic() {
    all(200);
}

#[test]
#[ignore = "minutes; a soak"]
fn v_30_changes_under_traffic_10000_times() {
    all(10_000);
}
