//! Back ends that are refused again and again, and ones that say nothing: the port looks for the next one soon, says what is
//! wrong once, and keeps neither its owner nor the next back end waiting.

use std::time::{Duration, Instant};

use mpps_vhost_proto::RequestKind;

use crate::back_end::{Manner, Trouble};
use crate::rig::{Rig, eventually};

/// What a stop may take: far less than a back end may take for one answer.
const STOP: Duration = Duration::from_secs(3);

#[test]
fn a_refused_back_end_is_met_again_soon_and_told_of_once() {
    let mut rig = Rig::started(",packed_vq=1,queues=2", 2);
    let begin = Instant::now();
    for _ in 0..30 {
        let peer = rig.meet(Manner::default());
        assert!(eventually(|| peer.ended()));
    }
    // 40 ms between two, and time for a machine that does something else.
    assert!(begin.elapsed() < 30 * Duration::from_millis(250));
    assert_eq!(rig.heard.times("lacks RING_PACKED"), 1);
    let changed = Manner {
        features: Manner::default().features - mpps_virtq::Features::MQ,
        ..Manner::default()
    };
    for _ in 0..3 {
        let peer = rig.meet(changed.clone());
        assert!(eventually(|| peer.ended()));
    }
    assert_eq!(rig.heard.times("lacks MQ and RING_PACKED"), 1);
    // A new start is a new question.
    rig.stop();
    rig.start();
    let peer = rig.meet(Manner::default());
    assert!(eventually(|| peer.ended()));
    assert!(eventually(|| rig.heard.times("lacks RING_PACKED") == 2));
    drop(peer);
    rig.finish();
}

#[test]
fn a_stop_does_not_wait_for_a_silent_back_end() {
    for step in [RequestKind::SetVringEnable, RequestKind::GetVringBase] {
        let mut rig = Rig::started(",server=1,queues=8", 8);
        let mut manner = Manner::default();
        if step == RequestKind::GetVringBase {
            manner.trouble = Some((step, Trouble::Late(Duration::from_secs(60))));
        }
        let peer = rig.meet(manner);
        rig.wait_link(true);
        rig.echo(7, 100);
        if step == RequestKind::SetVringEnable {
            peer.be_silent();
        }
        let begin = Instant::now();
        rig.stop();
        assert!(begin.elapsed() < STOP, "{:?}", begin.elapsed());
        assert!(!rig.dev.link().up);
        assert_eq!(rig.heard.times("to stop; the connection is closed"), 1);
        drop(peer);
        // The next one is served.
        rig.start();
        let peer = rig.meet(Manner::default());
        rig.wait_link(true);
        rig.echo(3, 100);
        drop(peer);
        rig.finish();
    }
}

#[test]
fn a_back_end_that_never_answers_holds_nobody_up() {
    for server in ["", ",server=1"] {
        let mut rig = Rig::new(&format!("{server},queues=8"), 8);
        let silent = rig.link();
        for _ in 0..2 {
            let begin = Instant::now();
            rig.start();
            assert!(begin.elapsed() < STOP, "{:?}", begin.elapsed());
            let begin = Instant::now();
            rig.stop();
            assert!(begin.elapsed() < STOP, "{:?}", begin.elapsed());
        }
        rig.start();
        let begin = Instant::now();
        rig.finish();
        assert!(begin.elapsed() < STOP, "{:?}", begin.elapsed());
        drop(silent);
    }
}
