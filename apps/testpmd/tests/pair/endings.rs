//! How a pair ends: whoever goes first, and however.

use std::time::Duration;

use super::rig::{BACK, Call, FRONT, LINK_EVENT, Pair, QUEUE_EVENT, ask};
use super::run::{Ended, Run};

const TOTALS: &str = "+++ Accumulated forward statistics for all ports+++";

#[derive(Clone, Copy, Debug)]
enum How {
    Quit,
    EndOfInput,
    Interrupt,
    Terminate,
}

fn end(mut run: Run, how: How) -> Ended {
    match how {
        How::Quit => run.send("quit\n"),
        How::EndOfInput => run.close(),
        How::Interrupt => run.signal("INT"),
        How::Terminate => run.signal("TERM"),
    }
    run.end()
}

fn in_good_order(ended: &Ended, how: How) {
    let text = ended.text.replace('\r', "");
    assert!(ended.status.success(), "{how:?}: {text}");
    assert_eq!(text.matches(TOTALS).count(), 1, "{how:?}: {text}");
    assert!(text.ends_with("\nBye...\n"), "{how:?}: {text}");
}

/// Both forward; one ends, the other learns of it and ends too.
fn one_after_the_other(name: &str, devices: [&str; 2], front_first: bool, how: How) {
    let mut pair = Pair::of(name, Call::of(&devices[..1]), Call::of(&devices[1..]));
    pair.circulate();
    let Pair {
        front,
        back,
        folder,
        ..
    } = pair;
    let (first, mut second) = if front_first {
        (front, back)
    } else {
        (back, front)
    };
    let told = second.text().replace('\r', "").matches(LINK_EVENT).count();
    in_good_order(&end(first, how), how);
    second.wait_for(LINK_EVENT, told + 1);
    assert!(ask(&mut second, "show port summary 0").contains(" down "));
    in_good_order(&end(second, how), how);
    assert!(!folder.has_socket(), "{how:?}");
}

#[test]
fn either_side_first_in_every_way() {
    for how in [How::Quit, How::EndOfInput, How::Interrupt, How::Terminate] {
        for front_first in [true, false] {
            one_after_the_other("ends", [FRONT, BACK], front_first, how);
        }
    }
}

/// The same where the back end listens.
#[test]
fn whoever_listens() {
    let devices = ["net_virtio_user0,path=./sock", "net_vhost0,iface=sock"];
    for front_first in [true, false] {
        one_after_the_other("listens", devices, front_first, How::Quit);
    }
}

/// No prompt: counters by the second, and a signal.
#[test]
fn counters_by_the_second() {
    let (front, back) = (
        Call::of(&[FRONT]).with(&["--stats-period=1", "--forward-mode=rxonly"]),
        Call::of(&[BACK]).with(&["--stats-period=1", "--forward-mode=txonly"]),
    );
    let Pair {
        mut front,
        mut back,
        folder,
        ..
    } = Pair::of("period", front, back);
    for run in [&mut front, &mut back] {
        run.wait_for("NIC statistics for port 0", 3);
    }
    for (run, counter, how) in [
        (front, "RX-packets: ", How::Interrupt),
        (back, "TX-packets: ", How::Terminate),
    ] {
        let ended = end(run, how);
        in_good_order(&ended, how);
        let last = ended.text.split(counter).nth(3).unwrap();
        assert!(!last.starts_with("0 "), "{}", ended.text);
    }
    assert!(!folder.has_socket());
}

/// Queues are told of, a line each, before the link; both where the link goes too, none where they are masked.
#[test]
fn events_of_two_queue_pairs() {
    let devices = (
        "net_virtio_user0,path=./sock,server=1,queues=2",
        "net_vhost0,iface=sock,client=1,queues=2",
    );
    let options = &["-i", "--rxq=2", "--txq=2"];
    let masked = &["-i", "--rxq=2", "--txq=2", "--mask-event=queue_state"];
    for (options, queues) in [(&options[..], 4), (masked, 0)] {
        let mut pair = Pair::of(
            "events",
            Call::of(&[devices.0]).with(options),
            Call::of(&[devices.1]).with(options),
        );
        pair.circulate();
        ask(&mut pair.front, "stop");
        ask(&mut pair.back, "stop");
        let before = pair.back.text().replace('\r', "");
        assert_eq!(before.matches(QUEUE_EVENT).count(), queues, "{before}");
        assert_eq!(before.matches(LINK_EVENT).count(), 1, "{before}");
        let link = before.find(LINK_EVENT).unwrap();
        assert!(before.rfind(QUEUE_EVENT).is_none_or(|queue| queue < link));
        let mut back = pair.back;
        in_no_order(pair.front);
        back.wait_for(LINK_EVENT, 2);
        std::thread::sleep(Duration::from_millis(20));
        let after = back.text().replace('\r', "");
        assert_eq!(after.matches(QUEUE_EVENT).count(), 2 * queues, "{after}");
        in_no_order(back);
    }
}

fn in_no_order(mut run: Run) {
    run.send("quit\n");
    assert!(run.end().status.success());
}
