use super::gate;
use crate::barrier::Asymmetry;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Where the kernel has no membarrier(2), both sides pay a full fence.
#[test]
fn without_membarrier_nothing_is_lost_either() {
    let mut keeper = gate::<[u64; 2]>();
    keeper.asymmetry = Asymmetry::None;
    let mut poller = keeper.poller().unwrap();
    let stop = AtomicBool::new(false);
    let mut counted = 0;
    let found: u64 = thread::scope(|scope| {
        let polling = scope.spawn(|| {
            let mut found = 0;
            while !stop.load(Ordering::Relaxed) {
                if let Some(mut state) = poller.enter() {
                    state[0] += 1;
                    state[1] += 1;
                    found += 1;
                }
            }
            found
        });
        for round in 0..1000 {
            keeper.open(Box::new([0; 2]));
            if round % 4 != 0 {
                thread::sleep(Duration::from_micros(1));
            }
            let state = keeper.close().unwrap();
            assert_eq!(state[0], state[1]);
            counted += state[0];
        }
        stop.store(true, Ordering::Relaxed);
        polling.join().unwrap()
    });
    assert_eq!(found, counted);
}
