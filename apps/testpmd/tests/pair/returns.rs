//! A peer that is killed and started again: packets go round once more, and the other side did nothing for it.

use super::rig::{BACK, Call, FRONT, Pair, ask, linked};
use super::run::Run;

fn kill(run: Run) {
    run.signal("KILL");
    assert_eq!(run.end().status.code(), None);
}

/// Kills one side three times over.
fn comes_back(name: &str, devices: [&str; 2], is_front: bool) {
    let calls = [Call::of(&devices[..1]), Call::of(&devices[1..])];
    let mut pair = Pair::of(name, calls[0], calls[1]);
    pair.circulate();
    for _ in 0..3 {
        if is_front {
            kill(pair.front);
            pair.front = calls[0].start(&pair.folder, 0);
        } else {
            kill(pair.back);
            pair.back = calls[1].start(&pair.folder, 1);
        }
        let (new, old) = if is_front {
            (&mut pair.front, &mut pair.back)
        } else {
            (&mut pair.back, &mut pair.front)
        };
        new.wait_for("testpmd> ", 1);
        linked(new, 0);
        linked(old, 0);
        ask(new, "start tx_first 4");
        pair.circulates();
    }
    let (_, back) = pair.quit();
    let wrong = ["panicked", "Segmentation"];
    assert!(!wrong.iter().any(|word| back.contains(word)), "{back}");
}

#[test]
fn a_back_end_that_connects() {
    comes_back("back", [FRONT, BACK], false);
}

#[test]
fn a_front_end_that_listens() {
    comes_back("front", [FRONT, BACK], true);
}

#[test]
fn sides_that_changed_parts() {
    let devices = [
        "net_virtio_user0,path=./sock,packed_vq=1",
        "net_vhost0,iface=sock",
    ];
    for is_front in [false, true] {
        comes_back("parts", devices, is_front);
    }
}
