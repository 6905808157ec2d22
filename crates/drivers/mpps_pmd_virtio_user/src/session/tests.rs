//! The parts of a session that a whole port doesn't show: pieces of messages, and time.

use std::time::{Duration, Instant};

use mpps_os::Waker;
use mpps_os::unix_socket::Link;
use mpps_vhost_proto::{Reply, RequestKind};

use super::{Offer, Session, SessionError};

const SHORT: Duration = Duration::from_millis(60);

fn session() -> (Session, Link, Waker) {
    let (ours, theirs) = Link::pair().unwrap();
    let quit = Waker::new().unwrap();
    (Session::new(ours, quit.clone(), SHORT), theirs, quit)
}

fn answer(link: &Link, kind: RequestKind, reply: &Reply) {
    let deadline = Instant::now() + Duration::from_secs(1);
    link.send(&reply.encode(kind.number()), &[], deadline)
        .unwrap();
}

#[test]
fn a_back_end_without_protocol_features_has_one_pair() {
    let (mut session, link, _quit) = session();
    answer(&link, RequestKind::GetFeatures, &Reply::Number(1 << 32));
    let offer = session.greet().unwrap();
    let features = 1 << 32;
    assert_eq!(offer, Offer { features, pairs: 1 });
    assert!(!session.has(mpps_vhost_proto::ProtocolFeatures::STATUS));
}

#[test]
fn silence_ends_at_the_deadline() {
    let (mut session, _link, _quit) = session();
    let begin = Instant::now();
    let error = session.greet().unwrap_err();
    assert_eq!(error.to_string(), "GET_FEATURES: the peer took too long");
    assert!(!error.is_departure());
    assert!(begin.elapsed() >= SHORT && begin.elapsed() < 20 * SHORT);
}

#[test]
fn half_an_answer_is_no_answer() {
    let (mut session, link, _quit) = session();
    let whole = Reply::Number(1).encode(RequestKind::GetFeatures.number());
    let deadline = Instant::now() + Duration::from_secs(1);
    link.send(&whole[..7], &[], deadline).unwrap();
    drop(link);
    let line = session.greet().unwrap_err().to_string();
    // The request itself may already find the connection closed.
    assert!(line.contains("closed the connection"), "{line}");
}

#[test]
fn a_wait_ends_when_the_port_does() {
    let (mut session, _link, quit) = session();
    quit.wake();
    let error = session.greet().unwrap_err();
    assert!(error.is_departure(), "{error}");
    assert!(matches!(error, SessionError::Link { .. }));
}
