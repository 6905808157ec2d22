//! Starts and stops, peers that come and go, in any order and many times.

use std::sync::atomic::Ordering;
use std::time::Duration;

use mpps_vhost_proto::{ProtocolFeatures, RequestKind};
use mpps_virtq::Features;

use crate::back_end::{BackEnd, Manner, Trouble};
use crate::rig::Rig;

#[test]
fn a_start_without_a_peer_works_with_the_link_down() {
    for args in ["", ",server=1"] {
        let mut rig = Rig::started(args, 1);
        assert!(!rig.dev.link().up);
        rig.stop();
        rig.start();
        rig.finish();
    }
}

#[test]
fn a_peer_is_told_everything_once() {
    let mut rig = Rig::started(",server=1", 1);
    let peer = rig.meet(Manner::default());
    rig.wait_link(true);
    let learned = &peer.learned;
    assert_eq!(
        learned.regions.load(Ordering::Relaxed),
        2,
        "rings and one pool"
    );
    for (kind, times) in [
        (RequestKind::SetOwner, 1),
        (RequestKind::SetMemTable, 1),
        (RequestKind::SetVringNum, 2),
        (RequestKind::SetVringAddr, 2),
        (RequestKind::SetVringKick, 2),
        (RequestKind::SetVringEnable, 2),
        (RequestKind::SendRarp, 0),
        (RequestKind::NetSetMtu, 0),
    ] {
        assert_eq!(learned.count(kind), times, "{kind}");
    }
    let features = Features::from_bits_truncate(learned.features.load(Ordering::Relaxed));
    assert!(features.contains(Features::VERSION_1 | Features::MRG_RXBUF | Features::IN_ORDER));
    assert!(
        !features.intersects(Features::MQ | Features::CSUM | Features::CTRL_VQ | Features::MAC)
    );
    assert_eq!(rig.heard.times("Rx path: split in-order mergeable"), 1);
    assert_eq!(
        rig.dev.paths().0.as_deref(),
        Some("split in-order mergeable")
    );
    rig.echo(0, 1000);
    drop(peer);
    rig.wait_link(false);
    assert_eq!(rig.heard.link_changes.load(Ordering::Relaxed), 2);
    assert_eq!(rig.dev.paths(), (None, None));
    rig.finish();
}

#[test]
fn a_port_is_stopped_and_started_under_one_connection() {
    for args in ["", ",server=1"] {
        let mut rig = Rig::new(args, 1);
        let peer = rig.meet(Manner::default());
        let mut told = 0;
        for round in 1..=20 {
            rig.start();
            rig.wait_link(true);
            if round == 1 {
                // The connection may have been later than the start.
                told = rig.heard.link_changes.load(Ordering::Relaxed);
            }
            rig.echo(0, 100);
            rig.stop();
            assert!(!rig.dev.link().up);
            assert_eq!(peer.learned.enabled.load(Ordering::Relaxed), 0);
            assert_eq!(peer.learned.count(RequestKind::GetVringBase), 2 * round);
        }
        let now = rig.heard.link_changes.load(Ordering::Relaxed);
        assert_eq!(now, told, "what is asked for is no event");
        assert!(!peer.ended(), "the connection is kept");
        assert_eq!(peer.learned.count(RequestKind::SetOwner), 1);
        drop(peer);
        rig.finish();
    }
}

#[test]
fn peers_come_and_go_a_hundred_times() {
    for args in ["", ",server=1"] {
        let mut rig = Rig::started(args, 1);
        for _ in 0..100 {
            let peer = rig.meet(Manner::default());
            rig.wait_link(true);
            rig.echo(0, 40);
            drop(peer);
            rig.wait_link(false);
        }
        assert_eq!(rig.heard.link_changes.load(Ordering::Relaxed), 200);
        let stats = rig.dev.stats();
        assert_eq!((stats.ipackets, stats.opackets), (4000, 4000));
        rig.finish();
    }
}

#[test]
fn a_port_that_ends_tells_of_no_link() {
    let mut rig = Rig::started(",server=1", 1);
    let peer = rig.meet(Manner::default());
    rig.wait_link(true);
    let heard = rig.heard.clone();
    rig.finish();
    assert_eq!(heard.link_changes.load(Ordering::Relaxed), 1);
    drop(peer);
}

#[test]
fn a_port_comes_and_goes_under_its_peers() {
    for _ in 0..20 {
        let mut rig = Rig::started("", 1);
        let peer = rig.meet(Manner::default());
        rig.wait_link(true);
        rig.finish();
        assert!(crate::rig::eventually(|| peer.ended()));
    }
}

#[test]
fn a_second_peer_waits_for_the_first_to_go() {
    let mut rig = Rig::started(",server=1", 1);
    let first = rig.meet(Manner::default());
    rig.wait_link(true);
    let second = rig.meet(Manner::default());
    rig.echo(0, 100);
    assert_eq!(second.learned.count(RequestKind::SetOwner), 0);
    drop(first);
    assert!(crate::rig::eventually(|| {
        second.learned.enabled.load(Ordering::Relaxed) == 2
    }));
    rig.wait_link(true);
    rig.echo(0, 100);
    drop(second);
    rig.finish();
}

#[test]
fn a_peer_may_go_while_the_port_is_stopped() {
    let mut rig = Rig::started(",server=1", 1);
    for _ in 0..5 {
        let peer: BackEnd = rig.meet(Manner::default());
        rig.wait_link(true);
        rig.stop();
        drop(peer);
        rig.start();
        assert!(!rig.dev.link().up);
    }
    rig.finish();
}

/// Where nothing is acknowledged, what was told may not be done yet.
#[test]
fn the_link_comes_up_when_all_rings_are_on() {
    for acknowledges in [true, false] {
        let mut rig = Rig::started(",server=1,queues=4", 4);
        let late = Trouble::Late(Duration::from_millis(60));
        let mut manner = Manner::troubled(RequestKind::SetVringEnable, late);
        let mut protocol = ProtocolFeatures::MQ;
        protocol.set(ProtocolFeatures::REPLY_ACK, acknowledges);
        manner.protocol = Some(protocol);
        let peer = rig.meet(manner);
        rig.wait_link(true);
        assert_eq!(peer.learned.enabled.load(Ordering::Relaxed), 8);
        for queue in 0..4 {
            rig.echo(queue, 20);
        }
        drop(peer);
        rig.finish();
    }
}

#[test]
fn a_peer_without_protocol_features_serves_too() {
    let mut rig = Rig::started("", 1);
    let peer = rig.meet(Manner {
        protocol: None,
        ..Manner::default()
    });
    rig.wait_link(true);
    assert_eq!(peer.learned.count(RequestKind::SetVringEnable), 0);
    drop(peer);
    rig.wait_link(false);
    rig.finish();
}
