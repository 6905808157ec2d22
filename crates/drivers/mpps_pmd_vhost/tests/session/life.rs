//! Connections that come and go.

use std::time::Duration;

use mpps_mbuf::Burst;
use mpps_os::unix_socket::Listener;
use mpps_vhost_proto::{Reply, Request, VringState};

use crate::front::{Front, PACKED, SPLIT, Talk};
use crate::rig::{Rig, eventually};

#[test]
fn packets_both_ways() {
    for features in [SPLIT, PACKED] {
        let mut rig = Rig::new("", 1);
        let mut front = Front::up(&rig, features, 1);
        front.exchange(&mut rig, 1000);
        assert_eq!(rig.dev.stats().ipackets, 1000);
        assert_eq!(rig.dev.stats().opackets, 1000);
        assert_eq!(rig.heard.troubles(), [""; 0]);
        front.finish();
        rig.wait_link(false);
        // The link is down before that is told.
        assert!(eventually(|| rig.heard.link_changes() == 2));
        rig.finish();
    }
}

#[test]
fn the_port_connects_and_connects_again() {
    let mut rig = Rig::new(",client=1", 1);
    for _ in 0..3 {
        let listener = Listener::bind(&rig.path).unwrap();
        let mut link = None;
        assert!(eventually(|| {
            link = listener.accept().unwrap();
            link.is_some()
        }));
        // Whoever connected, the protocol is the same.
        let talk = Talk(link.unwrap());
        talk.negotiate(SPLIT);
        assert!(!rig.dev.link().up);
    }
    rig.stop();
    rig.finish();
}

#[test]
fn v_23_a_front_end_that_leaves_is_no_error() {
    let mut rig = Rig::new("", 1);
    for _ in 0..5 {
        let mut front = Front::up(&rig, SPLIT, 1);
        front.exchange(&mut rig, 10);
        front.finish();
        rig.wait_link(false);
    }
    assert_eq!(rig.heard.troubles(), [""; 0]);
    rig.finish();
}

#[test]
fn v_26_a_queue_that_is_not_ready_moves_nothing() {
    let mut rig = Rig::new("", 1);
    let mut out = Burst::new(32);
    let packet = rig.pool.alloc().unwrap();
    let mut waiting = Burst::new(32);
    waiting.push(packet).unwrap();
    assert_eq!(rig.receive(0, &mut out), 0);
    assert_eq!(rig.send(0, &mut waiting), 0);
    // Half way through what it has to say.
    let front = Front::new(&rig.path, SPLIT, 1);
    front.talk.negotiate(SPLIT);
    front.share();
    front.describe(0, 0, 0);
    assert_eq!(rig.receive(0, &mut out), 0);
    assert_eq!(rig.send(0, &mut waiting), 0);
    assert!(out.is_empty());
    assert_eq!(waiting.len(), 1);
    rig.lcore.free(&mut waiting);
    front.finish();
    rig.finish();
}

#[test]
fn v_31_ports_go_while_front_ends_come() {
    for n in 0..100 {
        let rig = Rig::new("", 1);
        let path = rig.path.clone();
        let peer = std::thread::spawn(move || {
            if let Ok(link) = mpps_os::unix_socket::Link::connect(&path) {
                let message = Request::<std::os::fd::BorrowedFd<'_>>::GetFeatures.encode(false);
                let soon = std::time::Instant::now() + Duration::from_secs(1);
                // The port may be gone already.
                let _ = link.send(&message.bytes, &[], soon);
            }
        });
        if n % 2 == 0 {
            std::thread::sleep(Duration::from_micros(50 * n));
        }
        rig.finish();
        peer.join().unwrap();
    }
}

#[test]
fn v_32_a_second_front_end_waits_for_the_first_to_leave() {
    let mut rig = Rig::new("", 1);
    let mut first = Front::up(&rig, SPLIT, 1);
    let second = Talk::connect(&rig.path);
    first.exchange(&mut rig, 10);
    first.finish();
    second.negotiate(SPLIT);
    rig.finish();
}

#[test]
fn v_33_no_thread_outlives_its_port() {
    let rig = Rig::new("", 1);
    let front = Front::up(&rig, SPLIT, 1);
    let name = format!("vhost-ctl-{}\n", rig.number);
    let threads = || {
        let all = std::fs::read_dir("/proc/self/task").unwrap();
        // Threads of other tests may end meanwhile.
        all.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok())
            .filter(|comm| *comm == name)
            .count()
    };
    assert_eq!(threads(), 1);
    rig.finish();
    assert_eq!(threads(), 0);
    front.talk.wait_end();
    front.finish();
}

#[test]
fn v_50_cleared_statistics_are_zero() {
    let mut rig = Rig::new("", 1);
    assert!(!rig.dev.xstats_ready());
    let mut front = Front::up(&rig, SPLIT, 1);
    assert!(rig.dev.xstats_ready());
    front.exchange(&mut rig, 100);
    let value = |rig: &Rig, name: &str| {
        let all = rig.dev.xstats();
        all.iter().find(|stat| stat.name == name).unwrap().value
    };
    assert_eq!(value(&rig, "rx_q0_size_64_packets"), 100);
    assert_eq!(value(&rig, "tx_q0_good_packets"), 100);
    rig.dev.clear_stats();
    for stat in rig.dev.xstats() {
        assert_eq!(stat.value, 0, "{}", stat.name);
    }
    front.exchange(&mut rig, 7);
    assert_eq!(value(&rig, "rx_q0_size_64_packets"), 7);
    front.finish();
    rig.finish();
}

#[test]
fn v_55_front_ends_die_under_traffic() {
    let mut rig = Rig::new("", 1);
    for n in 0..20 {
        let features = if n % 2 == 0 { SPLIT } else { PACKED };
        let mut front = Front::up(&rig, features, 1);
        front.exchange(&mut rig, 50);
        // Packets lie in both rings when it goes.
        front.post(40);
        front.finish();
        let mut left = Burst::new(32);
        assert!(eventually(|| {
            rig.echo(0, &mut left);
            !rig.dev.link().up
        }));
        rig.lcore.free(&mut left);
    }
    assert_eq!(rig.heard.troubles(), [""; 0]);
    rig.finish();
}

#[test]
fn the_port_stops_and_starts_under_a_front_end() {
    let mut rig = Rig::new("", 1);
    let mut front = Front::up(&rig, SPLIT, 1);
    for _ in 0..20 {
        front.exchange(&mut rig, 40);
        front.post(16);
        rig.stop();
        rig.start();
    }
    front.exchange(&mut rig, 40);
    front.finish();
    rig.finish();
}

#[test]
fn eight_pairs_come_up_and_stop_one_by_one() {
    let rig = Rig::new("", 8);
    let front = Front::up(&rig, SPLIT, 8);
    let queues = front.talk.number(&Request::GetQueueNum);
    assert_eq!(queues, 8);
    for index in 0..16 {
        let asked = Request::GetVringBase(VringState { index, num: 0 });
        let state = VringState { index, num: 0 };
        assert_eq!(front.talk.ask(&asked), Some(Reply::Vring(state)));
    }
    rig.wait_link(false);
    front.finish();
    rig.finish();
}
