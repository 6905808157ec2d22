//! Back ends that go, lie or dawdle at any message: one line at most, and the next one is served.

use std::time::{Duration, Instant};

use mpps_vhost_proto::{ProtocolFeatures, Reply, RequestKind};
use mpps_virtq::Features;

use crate::back_end::{Manner, Trouble};
use crate::rig::{Rig, eventually};

/// Every message of a session that a back end answers or acknowledges.
const STEPS: [RequestKind; 15] = [
    RequestKind::SetOwner,
    RequestKind::GetFeatures,
    RequestKind::GetProtocolFeatures,
    RequestKind::SetProtocolFeatures,
    RequestKind::GetQueueNum,
    RequestKind::SetStatus,
    RequestKind::SetFeatures,
    RequestKind::GetStatus,
    RequestKind::SetMemTable,
    RequestKind::SetVringCall,
    RequestKind::SetVringNum,
    RequestKind::SetVringBase,
    RequestKind::SetVringAddr,
    RequestKind::SetVringKick,
    RequestKind::SetVringEnable,
];

/// A good back end is served after whatever came before.
fn then_a_good_one(mut rig: Rig) {
    let peer = rig.meet(Manner::default());
    rig.wait_link(true);
    rig.echo(0, 50);
    drop(peer);
    rig.finish();
}

#[test]
fn gone_at_every_message() {
    let mut rig = Rig::started(",server=1", 1);
    for step in STEPS {
        let peer = rig.meet(Manner::troubled(step, Trouble::HangUp));
        assert!(eventually(|| peer.ended()), "{step}");
    }
    assert_eq!(rig.heard.times("closed"), 0, "leaving is no fault");
    then_a_good_one(rig);
}

#[test]
fn gone_at_a_stop() {
    for step in [RequestKind::GetVringBase, RequestKind::SetVringEnable] {
        let mut rig = Rig::new(",server=1", 1);
        rig.start();
        let trouble = (step == RequestKind::GetVringBase).then_some((step, Trouble::HangUp));
        let peer = rig.meet(Manner {
            trouble,
            ..Manner::default()
        });
        rig.wait_link(true);
        rig.echo(0, 10);
        rig.stop();
        drop(peer);
        rig.start();
        then_a_good_one(rig);
    }
}

#[test]
fn no_at_every_message() {
    let mut rig = Rig::started(",server=1", 1);
    let acknowledged = STEPS.iter().filter(|step| {
        let first = [RequestKind::SetOwner, RequestKind::SetProtocolFeatures];
        !step.name().starts_with("GET") && !first.contains(step)
    });
    for step in acknowledged {
        let peer = rig.meet(Manner::troubled(*step, Trouble::Refuse));
        assert!(
            eventually(|| rig.heard.times(&format!("refuses {step} ")) == 1),
            "{step}"
        );
        drop(peer);
    }
    then_a_good_one(rig);
}

#[test]
fn lies_at_every_message() {
    let mut rig = Rig::started(",server=1", 1);
    let lies = [
        vec![0xff; 12],
        vec![0; 12],
        // A reply to something else.
        Reply::Number(0).encode(RequestKind::SendRarp.number()),
        // A reply with another length.
        Reply::Empty.encode(RequestKind::GetFeatures.number()),
        Reply::Vring(mpps_vhost_proto::VringState { index: 9, num: 9 })
            .encode(RequestKind::GetVringBase.number())[..18]
            .to_vec(),
    ];
    let asked = [
        RequestKind::GetFeatures,
        RequestKind::GetProtocolFeatures,
        RequestKind::GetQueueNum,
        RequestKind::GetStatus,
        RequestKind::SetMemTable,
        RequestKind::SetVringKick,
    ];
    for step in asked {
        for lie in &lies[..3] {
            let peer = rig.meet(Manner::troubled(step, Trouble::Bytes(lie.clone())));
            assert!(eventually(|| peer.ended()), "{step}");
        }
    }
    let before = rig.heard.lines.lock().unwrap().len();
    // The same fault again and again is told once.
    for _ in 0..5 {
        let trouble = Trouble::Bytes(lies[0].clone());
        let peer = rig.meet(Manner::troubled(RequestKind::GetFeatures, trouble));
        assert!(eventually(|| peer.ended()));
    }
    let after = rig.heard.lines.lock().unwrap().len();
    assert!(after - before <= 1, "{before} {after}");
    then_a_good_one(rig);
}

#[test]
fn the_answer_for_another_ring_is_a_lie() {
    let mut rig = Rig::started(",server=1", 1);
    let wrong = Reply::Vring(mpps_vhost_proto::VringState { index: 9, num: 9 });
    let bytes = wrong.encode(RequestKind::GetVringBase.number());
    let peer = rig.meet(Manner::troubled(
        RequestKind::GetVringBase,
        Trouble::Bytes(bytes),
    ));
    rig.wait_link(true);
    rig.stop();
    assert_eq!(rig.heard.times("ring 9 in place of 0"), 1);
    assert!(eventually(|| peer.ended()));
    rig.start();
    then_a_good_one(rig);
}

#[test]
fn unasked_messages_end_the_connection() {
    let mut rig = Rig::started(",server=1", 1);
    let peer = rig.meet(Manner::troubled(RequestKind::SetStatus, Trouble::Chatter));
    assert!(eventually(|| peer.ended()));
    then_a_good_one(rig);
}

#[test]
fn a_slow_peer_delays_nobody() {
    let slow = Trouble::Late(Duration::from_secs(3));
    let mut rig = Rig::new(",server=1", 1);
    let peer = rig.meet(Manner::troubled(RequestKind::GetQueueNum, slow));
    std::thread::sleep(Duration::from_millis(50));
    let begin = Instant::now();
    rig.start();
    assert!(begin.elapsed() < Duration::from_millis(1500));
    // The end of the port doesn't wait for the answer either.
    let begin = Instant::now();
    drop(std::mem::take(&mut rig.queues));
    let Rig { dev, .. } = rig;
    drop(dev);
    assert!(begin.elapsed() < Duration::from_millis(500));
    drop(peer);
}

#[test]
fn what_is_lacking_is_named() {
    let mut rig = Rig::started(",server=1,packed_vq=1", 1);
    let peer = rig.meet(Manner::default());
    assert!(eventually(|| rig
        .heard
        .times("lacks RING_PACKED, which packed_vq=1 needs")
        == 1));
    assert!(eventually(|| peer.ended()));
    drop(peer);
    rig.finish();

    let mut rig = Rig::started(",server=1,queues=4", 4);
    let few = Manner {
        pairs: 2,
        ..Manner::default()
    };
    let peer = rig.meet(few);
    assert!(eventually(|| rig
        .heard
        .times("has 2 queue pairs and the port uses 4")
        == 1));
    drop(peer);
    rig.finish();
}

#[test]
fn what_is_nice_to_have_is_done_without() {
    let mut rig = Rig::started(",server=1", 1);
    let peer = rig.meet(Manner {
        features: Features::VERSION_1,
        protocol: Some(ProtocolFeatures::empty()),
        ..Manner::default()
    });
    rig.wait_link(true);
    assert_eq!(rig.heard.times("mrg_rxbuf=1"), 1);
    assert_eq!(rig.heard.times("in_order=1"), 1);
    assert_eq!(rig.dev.paths().0.as_deref(), Some("split non-mergeable"));
    rig.echo(0, 500);
    drop(peer);
    rig.finish();
}
