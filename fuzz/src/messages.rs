//! Messages of vhost-user, in all directions, with file descriptors.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::OnceLock;

use mpps_vhost_proto::{
    BackendRequest, DecodeError, HEADER_LEN, Header, MAX_FDS, MAX_PAYLOAD, MAX_TABLE_REGIONS,
    Reply, Request, RequestKind,
};
use rustix::event::{EventfdFlags, eventfd};
use rustix::fs::{MemfdFlags, memfd_create};

use crate::input::Input;

/// Any bytes and descriptors as a message: it decodes to something that encodes to the same again, or is refused in one
/// line; no descriptor is made up.
pub fn vhost_messages(data: &[u8]) {
    let mut input = Input::new(data);
    let (choice, kinds, count) = (input.u8(), input.u8(), usize::from(input.below(11)));
    let asked = input.pick(RequestKind::ALL);
    let direction = choice % 3;
    if choice & 0x80 != 0 {
        let (header, payload, count) = fitting(&mut input, direction, asked, count);
        return take(direction, asked, header, &payload, (kinds, count));
    }
    let head = input.array::<HEADER_LEN>();
    let header = match Header::parse(head) {
        Ok(header) => header,
        Err(error) => return one_line(&error),
    };
    assert!(header.size <= MAX_PAYLOAD, "{header:?}");
    assert_eq!(header.to_bytes(), head, "{header:?} is written otherwise");
    // A reader takes what the header announces; here also less or more.
    take(direction, asked, header, input.rest(), (kinds, count));
}

fn take(direction: u8, asked: RequestKind, header: Header, payload: &[u8], fds: (u8, usize)) {
    match direction {
        0 => request(header, payload, descriptors(fds)),
        1 => reply(asked, header, payload),
        _ => backend_request(header, payload, descriptors(fds)),
    }
}

/// A message whose number, length, payload and descriptors fit each other, but for what the input spoils: bytes at random
/// hardly ever do.
fn fitting(
    input: &mut Input<'_>,
    direction: u8,
    asked: RequestKind,
    count: usize,
) -> (Header, Vec<u8>, usize) {
    let (right, flags) = (!input.once_in(8), input.u8());
    let request = match direction {
        2 => 1 + u32::from(input.below(5)),
        _ => asked.number(),
    };
    let (mut len, mut fds) = if right && direction == 0 {
        shape(asked, count)
    } else {
        (usize::from(input.pick(&LENGTHS)), count)
    };
    if input.once_in(16) {
        (len, fds) = (usize::from(input.u16()) % MAX_PAYLOAD as usize, count);
    }
    let spoilt = if input.once_in(8) { input.u32() } else { 0 };
    let mut payload = Vec::new();
    match asked {
        RequestKind::SetMemTable => payload.extend((count as u32 ^ spoilt).to_ne_bytes()),
        RequestKind::GetConfig | RequestKind::SetConfig => {
            payload.extend(input.array::<4>());
            let bytes = (len as u32).wrapping_sub(12).wrapping_add(spoilt);
            payload.extend(bytes.to_ne_bytes());
        }
        _ => {}
    }
    payload.extend(input.bytes(len.saturating_sub(payload.len())));
    payload.resize(len, 0);
    let header = Header {
        request,
        reply: (direction == 1) ^ (flags & 0x3e == 0x3e),
        need_reply: flags & 1 != 0,
        size: len as u32,
    };
    (header, payload, fds)
}

/// Lengths of payloads that there are, and some more.
const LENGTHS: [u8; 10] = [0, 8, 12, 16, 20, 24, 26, 32, 40, 72];

/// Bytes of payload and descriptors of a request, as the specification has it; `count` regions or bytes where they vary.
fn shape(kind: RequestKind, count: usize) -> (usize, usize) {
    use RequestKind as K;
    match kind {
        K::SetMemTable => (8 + 32 * count, count),
        K::GetConfig | K::SetConfig => (12 + count, 0),
        K::SetLogBase => (16, 1),
        K::SetVringAddr => (40, 0),
        K::SetVringKick | K::SetVringCall | K::SetVringErr => (8, count & 1),
        K::AddMemReg => (40, 1),
        K::RemMemReg => (40, count & 1),
        K::IotlbMsg => (if count & 1 == 0 { 32 } else { 26 }, 0),
        K::GetInflightFd => (20 + 4 * (count & 1), 0),
        K::SetInflightFd => (20 + 4 * (count & 1), 1),
        K::SetLogFd | K::SetBackendReqFd => (0, 1),
        K::SetFeatures
        | K::SetProtocolFeatures
        | K::SetVringNum
        | K::SetVringBase
        | K::GetVringBase
        | K::SetVringEnable
        | K::SetVringEndian
        | K::VringKick
        | K::SendRarp
        | K::NetSetMtu
        | K::SetStatus => (8, 0),
        _ => (0, 0),
    }
}

fn one_line(error: &DecodeError) {
    let line = error.to_string();
    assert!(!line.is_empty() && !line.contains(['\n', '\r']), "{line:?}");
}

/// `count` descriptors of the kinds that the bits name: memory, events, and something else.
fn descriptors((kinds, count): (u8, usize)) -> Vec<OwnedFd> {
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
    if let Request::SetMemTable(regions) = &request {
        assert!(regions.len() <= MAX_TABLE_REGIONS && regions.len() == given);
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
