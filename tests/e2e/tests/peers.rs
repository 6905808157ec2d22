//! Our ports against DPDK's, each path through the rings: every frame size, every counter on both ends, restarts of ports
//! and processes, eight queues, chains of 8000 bytes.
//!
//! The short form takes one path a layout; `--ignored` has all of them. `MPPS_PEERS=dpdk` puts DPDK on both ends: what
//! fails then is the test's doing.

use std::thread;
use std::time::Duration;

use mpps_e2e::paths::{PATHS, Path};
use mpps_e2e::peer::{HugePages, Joint, Whose, Wiring};
use mpps_e2e::report::streamed;

/// Frame sizes with their CRC, as users name them; 64 is what testpmd sends anyway.
const SIZES: [u64; 6] = [64, 128, 256, 512, 1024, 1518];

/// Who talks to whom.
fn couples() -> Vec<(Whose, Whose)> {
    if std::env::var("MPPS_PEERS").is_ok_and(|value| value == "dpdk") {
        return vec![(Whose::Dpdk, Whose::Dpdk)];
    }
    vec![
        (Whose::Ours, Whose::Dpdk),
        (Whose::Dpdk, Whose::Ours),
        (Whose::Ours, Whose::Ours),
    ]
}

fn short() -> impl Iterator<Item = &'static Path> {
    let names = ["packed-mergeable", "split-in-order-mergeable"];
    PATHS.iter().filter(move |path| names.contains(&path.name))
}

/// Sizes, both ports stopped and started, chains.
fn whole(test: &str, paths: impl Iterator<Item = &'static Path>) {
    let Some(_pages) = HugePages::take(test) else {
        return;
    };
    for path in paths {
        for (front, back) in couples() {
            let wiring = Wiring::new(front, back, path);
            println!("{}", wiring.name());
            let mut joint = Joint::start(wiring);
            for size in SIZES {
                passes(
                    &mut joint,
                    &wiring,
                    &[if size == 1518 { 1514 } else { size }],
                );
            }
            if path.mergeable {
                passes(&mut joint, &wiring, &[2000; 4]);
            }
            restarts_ports(&mut joint, &wiring);
            joint.quit();
        }
    }
}

/// A loop of packets made of these segments: all arrive, in one piece, and both ends count the same.
fn passes(joint: &mut Joint, wiring: &Wiring, segments: &[u64]) {
    let (name, size) = (wiring.name(), segments.iter().sum::<u64>());
    let list: Vec<String> = segments.iter().map(u64::to_string).collect();
    joint.back.ask(&format!("set txpkts {}", list.join(",")));
    for end in [&mut joint.front, &mut joint.back] {
        end.ask("clear port stats all");
    }
    joint.flow(2000);
    joint.drain();
    let (front, back) = (joint.front.nic(0), joint.back.nic(0));
    for nic in [front, back] {
        assert!(nic.rx[0] > 2000, "{name}, {size} bytes: {nic:?}");
        assert_eq!(nic.rx[2], nic.rx[0] * size, "{name}, {size} bytes: {nic:?}");
        assert_eq!(nic.rx_errors, 0, "{name}, {size} bytes: {nic:?}");
    }
    let (there, again) = ([front.tx[0], front.tx[2]], [back.rx[0], back.rx[2]]);
    assert_eq!(there, again, "{name}, {size} bytes: front to back");
    let (there, again) = ([back.tx[0], back.tx[2]], [front.rx[0], front.rx[2]]);
    assert_eq!(there, again, "{name}, {size} bytes: back to front");
}

/// `port stop` on either side: nothing comes any more; `port start`: packets again.
fn restarts_ports(joint: &mut Joint, wiring: &Wiring) {
    joint.back.ask("set txpkts 64");
    for back_stops in [true, false] {
        joint.flow(1000);
        joint.drain();
        let (stopping, other) = if back_stops {
            (&mut joint.back, &mut joint.front)
        } else {
            (&mut joint.front, &mut joint.back)
        };
        stopping.ask("port stop 0");
        other.ask("start");
        let before = other.nic(0);
        thread::sleep(Duration::from_millis(100));
        let after = other.nic(0);
        assert_eq!(before.rx, after.rx, "{}", wiring.name());
        other.ask("stop");
        stopping.ask("port start 0");
        joint.wait_for_link();
        joint.flow(1000);
        joint.drain();
    }
}

#[test]
fn a_path_of_each_layout_with_dpdk() {
    whole("a_path_of_each_layout_with_dpdk", short());
}

#[test]
#[ignore = "minutes; the long form of a_path_of_each_layout_with_dpdk"]
fn all_ten_paths_with_dpdk() {
    whole("all_ten_paths_with_dpdk", PATHS.iter());
}

/// Eight queue pairs: each of them carries packets, both ways.
fn eight_queues(test: &str, paths: impl Iterator<Item = &'static Path>) {
    let Some(_pages) = HugePages::take(test) else {
        return;
    };
    for path in paths {
        for (front, back) in couples() {
            let wiring = Wiring {
                queues: 8,
                ..Wiring::new(front, back, path)
            };
            let mut joint = Joint::start(wiring);
            joint.flow(8000);
            for text in joint.drain() {
                let streams = streamed(&text);
                assert_eq!(streams.len(), 8, "{}: {text}", wiring.name());
                assert!(
                    streams.iter().all(|one| one.rx > 0),
                    "{}: {streams:?}",
                    wiring.name()
                );
            }
            joint.quit();
        }
    }
}

#[test]
fn eight_queues_with_dpdk() {
    eight_queues("eight_queues_with_dpdk", short().skip(1));
}

#[test]
#[ignore = "minutes; the long form of eight_queues_with_dpdk"]
fn eight_queues_of_all_ten_paths_with_dpdk() {
    eight_queues("eight_queues_of_all_ten_paths_with_dpdk", PATHS.iter());
}

/// A packed ring of a size that is no power of two.
#[test]
fn a_packed_ring_of_255_with_dpdk() {
    let Some(_pages) = HugePages::take("a_packed_ring_of_255_with_dpdk") else {
        return;
    };
    for (front, back) in couples() {
        let wiring = Wiring {
            front_extra: ",queue_size=255",
            ..Wiring::new(front, back, &PATHS[0])
        };
        let mut joint = Joint::start(wiring);
        passes(&mut joint, &wiring, &[64]);
        joint.quit();
    }
}

/// The side that connects is killed and comes back; the one that listens sees the link go and come, and packets flow.
fn restarts(test: &str, paths: impl Iterator<Item = &'static Path>) {
    let Some(_pages) = HugePages::take(test) else {
        return;
    };
    for path in paths {
        for ((front, back), front_serves) in couples()
            .into_iter()
            .flat_map(|couple| [(couple, true), (couple, false)])
        {
            let wiring = Wiring {
                front_serves,
                ..Wiring::new(front, back, path)
            };
            println!("{}, front serves: {front_serves}", wiring.name());
            let mut joint = Joint::start(wiring);
            joint.flow(1000);
            if front_serves {
                joint.renew_back();
                joint.front.ask("stop");
            } else {
                joint.renew_front();
                joint.back.ask("stop");
            }
            joint.wait_for_link();
            joint.flow(1000);
            joint.drain();
            joint.quit();
        }
    }
}

#[test]
fn who_connects_comes_back_with_dpdk() {
    restarts("who_connects_comes_back_with_dpdk", short());
}

#[test]
#[ignore = "minutes; the long form of who_connects_comes_back_with_dpdk"]
fn who_connects_comes_back_on_all_ten_paths_with_dpdk() {
    restarts(
        "who_connects_comes_back_on_all_ten_paths_with_dpdk",
        PATHS.iter(),
    );
}
