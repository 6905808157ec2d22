//! Messages of vhost-user, in all directions, with file descriptors.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;

use mpps_vhost_proto::{
    BackendRequest, DecodeError, HEADER_LEN, Header, MAX_FDS, MAX_PAYLOAD, Reply, Request,
    RequestKind,
};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{MemfdFlags, memfd_create};

use crate::input::Input;

/// Any bytes and descriptors as a message: it decodes to something that encodes to the same again, or is refused in one
/// line; no descriptor is made up.
pub fn vhost_messages(data: &[u8]) {
    let mut input = Input::new(data);
    let (direction, kinds, count) = (input.u8() % 3, input.u8(), usize::from(input.below(11)));
    let asked = input.pick(RequestKind::ALL);
    let head = input.array::<HEADER_LEN>();
    let header = match Header::parse(head) {
        Ok(header) => header,
        Err(error) => return one_line(&error),
    };
    assert!(header.size <= MAX_PAYLOAD, "{header:?}");
    assert_eq!(header.to_bytes(), head, "{header:?} is written otherwise");
    // A reader takes what the header announces; here also less or more.
    let payload = input.rest();
    match direction {
        0 => request(header, payload, descriptors(kinds, count)),
        1 => reply(asked, header, payload),
        _ => backend_request(header, payload, descriptors(kinds, count)),
    }
}

fn one_line(error: &DecodeError) {
    let line = error.to_string();
    assert!(!line.is_empty() && !line.contains(['\n', '\r']), "{line:?}");
}

/// `count` descriptors of the kinds that the bits name: memory, events, and something else.
fn descriptors(kinds: u8, count: usize) -> Vec<OwnedFd> {
    static FDS: OnceLock<[OwnedFd; 3]> = OnceLock::new();
    let all = FDS.get_or_init(|| {
        [
            memfd_create("fuzz", MemfdFlags::CLOEXEC).expect("a memfd"),
            eventfd(0, EventfdFlags::CLOEXEC).expect("an eventfd"),
            File::open("/dev/null").expect("the null device").into(),
        ]
    });
    (0..count)
        .map(|k| {
            let kind = usize::from(kinds >> (k % 4 * 2) & 3) % all.len();
            all[kind].try_clone().expect("a descriptor")
        })
        .collect()
}

/// Header and payload of an encoded message.
fn parts(bytes: &[u8]) -> (Header, &[u8]) {
    let (head, payload) = bytes
        .split_first_chunk::<HEADER_LEN>()
        .expect("a whole header");
    let header = Header::parse(*head).expect("our own header");
    assert_eq!(header.size as usize, payload.len(), "{header:?}");
    (header, payload)
}

fn request(header: Header, payload: &[u8], fds: Vec<OwnedFd>) {
    let given = fds.len();
    let request = match Request::decode(header, payload, fds) {
        Ok(request) => request,
        Err(error) => return one_line(&error),
    };
    assert_eq!(request.kind().number(), header.request);
    if let Request::Foreign(_) = request {
        return;
    }
    let first = request.encode(header.need_reply);
    assert!(first.fds.len() <= MAX_FDS.min(given), "{request:?}");
    let (again, rest) = parts(&first.bytes);
    assert_eq!(again.request, header.request);
    assert_eq!(again.need_reply, header.need_reply);
    let fds = first
        .fds
        .iter()
        .map(|fd| fd.as_fd().try_clone_to_owned().expect("a descriptor"))
        .collect();
    let second = Request::decode(again, rest, fds)
        .unwrap_or_else(|error| panic!("{request:?} is sent and not taken: {error}"));
    let twice = second.encode(header.need_reply);
    assert_eq!(first.bytes, twice.bytes, "{request:?} against {second:?}");
    assert_eq!(first.fds.len(), twice.fds.len(), "{request:?}");
}

fn reply(asked: RequestKind, header: Header, payload: &[u8]) {
    let reply = match Reply::decode(asked, header, payload) {
        Ok(reply) => reply,
        Err(error) => return one_line(&error),
    };
    let bytes = reply.encode(asked.number());
    let (header, payload) = parts(&bytes);
    assert_eq!(Reply::decode(asked, header, payload), Ok(reply));
}

fn backend_request(header: Header, payload: &[u8], fds: Vec<OwnedFd>) {
    let request = match BackendRequest::decode(header, payload, fds) {
        Ok(request) => request,
        Err(error) => return one_line(&error),
    };
    let bytes = request.encode(header.need_reply);
    let (again, payload) = parts(&bytes);
    assert_eq!(again.request, header.request);
    let second = BackendRequest::decode(again, payload, Vec::new())
        .unwrap_or_else(|error| panic!("{request:?} is sent and not taken: {error}"));
    assert_eq!(bytes, second.encode(header.need_reply), "{request:?}");
}
