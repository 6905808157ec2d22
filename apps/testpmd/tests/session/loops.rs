//! The loop of the founding post, ours against ours: no root, no huge pages.

use super::peers::{BACK, EVENTS, FRONT, Folder, compare, counters_of, half, linked, pass_time};
use super::rig::{Run, alone, two_cpus};

/// Both halves of the loop, connected.
struct Loop {
    front: Run,
    back: Run,
    _folder: Folder,
}

impl Loop {
    fn new(name: &str) -> Self {
        let folder = Folder::new(name);
        let mut front = half(&folder.0, 0, FRONT);
        front.wait_for("testpmd> ", 1);
        let mut back = half(&folder.0, 1, BACK);
        linked(&mut back);
        linked(&mut front);
        Self {
            front,
            back,
            _folder: folder,
        }
    }
}

#[test]
fn the_loop_of_the_founding_post() {
    if !two_cpus("session_vhost_loop") {
        return;
    }
    let _turn = alone();
    let mut pair = Loop::new("loop");
    let (front, back) = (&mut pair.front, &mut pair.back);
    for command in ["show port info 0", "show config fwd", "start"] {
        front.command(command);
    }
    for command in [
        "show port info 0",
        "show port xstats 0",
        "start tx_first 32",
    ] {
        back.command(command);
    }
    pass_time();
    for command in ["show port stats all", "show port xstats 0"] {
        front.command(command);
        back.command(command);
    }
    for command in ["show fwd stats all", "clear port stats all"] {
        back.command(command);
    }
    pass_time();
    for command in ["show port stats all", "stop", "port stop 0"] {
        back.command(command);
    }
    front.command("stop");
    front.send("quit\n");
    let Loop {
        front, mut back, ..
    } = pair;
    let front = front.end();
    assert!(front.status.success(), "{}", front.text);
    back.wait_for("link state change event", 2);
    back.command("port start 0");
    back.send("quit\n");
    let back = back.end();
    assert!(back.status.success(), "{}", back.text);
    compare(include_str!("../golden/virtio-user.txt"), &front.text);
    compare(include_str!("../golden/vhost.txt"), &back.text);
    events_of(&back.text);
    counters_of(&back.text);
}

/// The queues are told of before the link, and the link goes down once when the front end goes.
fn events_of(text: &str) {
    let text = text.replace('\r', "");
    let mut told: Vec<(usize, &str)> = EVENTS
        .iter()
        .flat_map(|event| text.match_indices(event))
        .collect();
    told.sort_unstable();
    let told: Vec<&str> = told.into_iter().map(|(_, event)| event).collect();
    let [queue, link] = EVENTS;
    assert_eq!(told[..3], [queue, queue, link], "{text}");
    assert_eq!(told.iter().filter(|event| **event == link).count(), 2);
}
