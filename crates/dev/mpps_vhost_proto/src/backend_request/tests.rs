//! Requests of the back end as bytes, both ways, and what is no such request.

use super::{BackendKind, BackendRequest};
use crate::{HEADER_LEN, Header, Iotlb, VringArea, VringState};
use proptest::prelude::*;
use std::os::fd::OwnedFd;

fn fd() -> OwnedFd {
    rustix::pipe::pipe().unwrap().0
}

fn both_ways(request: &BackendRequest, number: u32, payload: &[u8], fds: Vec<OwnedFd>) {
    let bytes = request.encode(true);
    let (head, rest) = bytes.split_first_chunk::<HEADER_LEN>().unwrap();
    assert_eq!(rest, payload);
    let header = Header::parse(*head).unwrap();
    assert_eq!(header.request, number);
    assert!(header.need_reply && !header.reply);
    let again = BackendRequest::decode(header, rest, fds).unwrap();
    assert_eq!(again.encode(true), bytes);
    let short = Header {
        size: header.size + 1,
        ..header
    };
    assert!(BackendRequest::decode(short, rest, Vec::new()).is_err());
}

#[test]
fn every_request_survives() {
    both_ways(&BackendRequest::ConfigChange, 2, &[], Vec::new());
    let iotlb = Iotlb {
        iova: 1,
        size: 2,
        user: 3,
        permissions: 1,
        kind: 1,
    };
    let mut bytes = [1_u64, 2, 3].map(u64::to_ne_bytes).concat();
    bytes.extend([1, 1, 0, 0, 0, 0, 0, 0]);
    both_ways(&BackendRequest::Iotlb(iotlb), 1, &bytes, Vec::new());
    let area = VringArea {
        index_and_flags: 5,
        size: 4096,
        offset: 8192,
    };
    let bytes = [5_u64, 4096, 8192].map(u64::to_ne_bytes).concat();
    both_ways(
        &BackendRequest::HostNotifier(area, None),
        3,
        &bytes,
        Vec::new(),
    );
    both_ways(
        &BackendRequest::HostNotifier(area, None),
        3,
        &bytes,
        vec![fd()],
    );
    let state = VringState { index: 3, num: 0 };
    let bytes = [3_u32, 0].map(u32::to_ne_bytes).concat();
    both_ways(&BackendRequest::VringCall(state), 4, &bytes, Vec::new());
    both_ways(&BackendRequest::VringErr(state), 5, &bytes, Vec::new());
}

#[test]
fn what_is_no_such_request_is_told() {
    let header = |request, reply, size| Header {
        request,
        reply,
        need_reply: false,
        size,
    };
    let decode = |header, payload: &[u8], fds| {
        let error = BackendRequest::decode(header, payload, fds).unwrap_err();
        (error.is_unknown(), error.to_string())
    };
    let (unknown, text) = decode(header(77, false, 0), &[], Vec::new());
    assert!(unknown, "{text}");
    assert_eq!(text, "request 77 is not known here");
    let (unknown, text) = decode(header(2, true, 0), &[], Vec::new());
    assert!(!unknown);
    assert_eq!(
        text,
        "BACKEND_CONFIG_CHANGE_MSG: a reply where a request belongs"
    );
    let (_, text) = decode(header(4, false, 0), &[], Vec::new());
    assert_eq!(
        text,
        "BACKEND_VRING_CALL: a payload of 0 bytes; 8 would be right"
    );
    let (_, text) = decode(header(2, false, 0), &[], vec![fd()]);
    assert_eq!(
        text,
        "BACKEND_CONFIG_CHANGE_MSG: 1 file descriptors; 0 would be right"
    );
    let two = vec![fd(), fd()];
    let (_, text) = decode(header(3, false, 24), &[0; 24], two);
    assert_eq!(
        text,
        "BACKEND_VRING_HOST_NOTIFIER_MSG: 2 file descriptors; 1 would be right"
    );
}

proptest! {
    #[test]
    fn arbitrary_requests(
        request in 0..9_u32,
        reply: bool,
        payload in proptest::collection::vec(any::<u8>(), 0..48),
    ) {
        let header = Header { request, reply, need_reply: false, size: payload.len() as u32 };
        if let Ok(got) = BackendRequest::decode(header, &payload, Vec::new()) {
            prop_assert!(!reply && BackendKind::of(request).is_some());
            let bytes = got.encode(false);
            let (head, rest) = bytes.split_first_chunk::<HEADER_LEN>().unwrap();
            let again = BackendRequest::decode(Header::parse(*head).unwrap(), rest, Vec::new());
            prop_assert_eq!(again.unwrap().encode(false), bytes);
        }
    }
}
