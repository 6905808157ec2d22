//! Answers as bytes, both ways, and answers to something else.

use super::Reply;
use crate::{ConfigSpace, HEADER_LEN, Header, Inflight, RequestKind, VringState};
use proptest::prelude::*;

fn both_ways(asked: RequestKind, reply: &Reply, payload: &[u8]) {
    let bytes = reply.encode(asked.number());
    let (head, rest) = bytes.split_first_chunk::<HEADER_LEN>().unwrap();
    assert_eq!(rest, payload);
    let header = Header::parse(*head).unwrap();
    assert!(header.reply && !header.need_reply);
    assert_eq!(Reply::decode(asked, header, rest).as_ref(), Ok(reply));
    if !payload.is_empty() {
        let short = &rest[..rest.len() - 1];
        let header = Header {
            size: short.len() as u32,
            ..header
        };
        assert!(Reply::decode(asked, header, short).is_err());
    }
}

#[test]
fn answers_are_what_was_asked_for() {
    use RequestKind as K;
    both_ways(
        K::GetFeatures,
        &Reply::Number(0x8001),
        &0x8001_u64.to_ne_bytes(),
    );
    both_ways(K::SetMemTable, &Reply::ack(true), &[0; 8]);
    both_ways(K::SetMemTable, &Reply::ack(false), &1_u64.to_ne_bytes());
    let state = VringState { index: 1, num: 2 };
    let bytes = [1_u32.to_ne_bytes(), 2_u32.to_ne_bytes()].concat();
    both_ways(K::GetVringBase, &Reply::Vring(state), &bytes);
    both_ways(K::GetConfig, &Reply::Empty, &[]);
    let config = ConfigSpace {
        offset: 0,
        flags: 0,
        bytes: vec![7],
    };
    let bytes = [&[0; 4][..], &1_u32.to_ne_bytes(), &[0; 4], &[7]].concat();
    both_ways(K::GetConfig, &Reply::Config(config), &bytes);
    both_ways(
        K::GetInflightFd,
        &Reply::Inflight(Inflight::default()),
        &[0; 20],
    );
}

#[test]
fn answers_to_something_else_are_told() {
    let header = Header {
        request: 1,
        reply: true,
        need_reply: false,
        size: 8,
    };
    let error = Reply::decode(RequestKind::GetQueueNum, header, &[0; 8]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "an answer to GET_FEATURES; GET_QUEUE_NUM was asked"
    );
    let header = Header {
        reply: false,
        ..header
    };
    let error = Reply::decode(RequestKind::GetFeatures, header, &[0; 8]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "GET_FEATURES: a request where a reply belongs"
    );
}

proptest! {
    #[test]
    fn arbitrary_answers(
        number in 0..50_u32,
        request in 0..50_u32,
        reply: bool,
        payload in proptest::collection::vec(any::<u8>(), 0..64),
    ) {
        let header = Header { request, reply, need_reply: false, size: payload.len() as u32 };
        if let Some(asked) = RequestKind::of(number)
            && let Ok(got) = Reply::decode(asked, header, &payload)
        {
            prop_assert!(reply && request == number);
            let bytes = got.encode(request);
            let (head, rest) = bytes.split_first_chunk::<HEADER_LEN>().unwrap();
            let again = Reply::decode(asked, Header::parse(*head).unwrap(), rest);
            prop_assert_eq!(again, Ok(got));
        }
    }
}
