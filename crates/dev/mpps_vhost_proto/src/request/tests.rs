//! Every message as bytes of the specification, both ways; counts and sizes that are wrong; arbitrary bytes.

use super::{LogBase, Request};
use crate::{
    ConfigSpace, DecodeError, DeviceStatus, HEADER_LEN, Header, Inflight, Iotlb, LogArea,
    MemoryRegion, ProtocolFeatures, RequestKind, VringAddr, VringFd, VringState,
};
use proptest::prelude::*;
use std::os::fd::{AsFd, OwnedFd};

fn fds(n: usize) -> Vec<OwnedFd> {
    let (fd, _) = rustix::pipe::pipe().unwrap();
    (0..n).map(|_| fd.try_clone().unwrap()).collect()
}

fn header(request: u32, size: usize) -> Header {
    Header {
        request,
        reply: false,
        need_reply: false,
        size: size as u32,
    }
}

/// Fields one after another in the machine's byte order: `(bytes, value)`.
fn bytes(fields: &[(usize, u64)]) -> Vec<u8> {
    let mut all = Vec::new();
    for (len, value) in fields {
        match len {
            1 => all.extend((*value as u8).to_ne_bytes()),
            2 => all.extend((*value as u16).to_ne_bytes()),
            4 => all.extend((*value as u32).to_ne_bytes()),
            _ => all.extend(value.to_ne_bytes()),
        }
    }
    all
}

const REGION: MemoryRegion = MemoryRegion {
    guest: 0x1000,
    size: 0x2000,
    user: 0x7f00_0000_1000,
    offset: 0x3000,
};

const REGION_FIELDS: [(usize, u64); 4] =
    [(8, 0x1000), (8, 0x2000), (8, 0x7f00_0000_1000), (8, 0x3000)];

/// A request as text, since descriptors can't be compared.
#[derive(Debug)]
struct Text(String);

fn text(request: &Request) -> Text {
    Text(format!("{request:?}"))
}

impl PartialEq<Request> for Text {
    fn eq(&self, other: &Request) -> bool {
        self.0 == format!("{other:?}")
    }
}

/// The request reads as the bytes say, and writes the same bytes.
fn both_ways(number: u32, payload: &[u8], descriptors: usize, check: impl Fn(&Request) -> bool) {
    let got = Request::decode(header(number, payload.len()), payload, fds(descriptors)).unwrap();
    assert!(check(&got), "{got:?}");
    assert_eq!(got.kind().number(), number);
    let sent = got.encode(true);
    let (head, rest) = sent.bytes.split_at(HEADER_LEN);
    assert_eq!(
        head,
        bytes(&[
            (4, u64::from(number)),
            (4, 1 | 8),
            (4, payload.len() as u64)
        ])
    );
    assert_eq!(rest, payload, "{got:?}");
    assert_eq!(sent.fds.len(), descriptors);
    // One descriptor too many, unless the message takes an odd one along.
    if number != RequestKind::RemMemReg.number() {
        let error = Request::decode(header(number, payload.len()), payload, fds(descriptors + 1));
        assert!(
            matches!(
                error,
                Err(DecodeError::Fds { .. }) | Ok(Request::Foreign(_))
            ),
            "{error:?}"
        );
    }
    // One byte too many, one too few.
    for len in [payload.len() + 1, payload.len().wrapping_sub(1)] {
        let mut wrong = payload.to_vec();
        if len < 4096 {
            wrong.resize(len, 0);
            let error = Request::decode(header(number, len), &wrong, fds(descriptors));
            assert!(
                matches!(
                    error,
                    Err(DecodeError::Size { .. } | DecodeError::Value { .. })
                ),
                "{error:?}"
            );
        }
    }
}

#[test]
fn messages_without_payload() {
    for number in [1, 3, 4, 15, 17, 28, 29, 30, 34, 36, 40] {
        both_ways(number, &[], 0, |got| !matches!(got, Request::Foreign(_)));
    }
}

#[test]
fn messages_with_a_number() {
    let n = bytes(&[(8, 0x1_5000_8000)]);
    both_ways(2, &n, 0, |got| {
        text(got) == Request::SetFeatures(0x1_5000_8000)
    });
    let n = bytes(&[(8, 0x1_0009)]);
    both_ways(16, &n, 0, |got| {
        text(got)
            == Request::SetProtocolFeatures(
                ProtocolFeatures::STATUS | ProtocolFeatures::MQ | ProtocolFeatures::REPLY_ACK,
            )
    });
    both_ways(20, &bytes(&[(8, 1500)]), 0, |got| {
        text(got) == Request::NetSetMtu(1500)
    });
    both_ways(39, &bytes(&[(8, 15)]), 0, |got| {
        text(got) == Request::SetStatus(DeviceStatus::from_bits_retain(15))
    });
    both_ways(19, &[2, 0, 0, 0, 0, 9, 0, 0], 0, |got| {
        text(got) == Request::SendRarp([2, 0, 0, 0, 0, 9])
    });
    let error = Request::decode(header(39, 8), &bytes(&[(8, 256)]), vec![]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "SET_STATUS: the status is 0x100; eight bits would be right"
    );
}

#[test]
fn messages_about_rings() {
    let state = VringState { index: 3, num: 1 };
    for number in [8, 10, 11, 18, 23, 35] {
        both_ways(number, &bytes(&[(4, 3), (4, 1)]), 0, |got| match got {
            Request::SetVringNum(s)
            | Request::SetVringBase(s)
            | Request::GetVringBase(s)
            | Request::SetVringEnable(s)
            | Request::SetVringEndian(s)
            | Request::VringKick(s) => *s == state,
            _ => false,
        });
    }
    let addr = bytes(&[(4, 2), (4, 1), (8, 0x10), (8, 0x30), (8, 0x20), (8, 0x40)]);
    both_ways(9, &addr, 0, |got| {
        text(got)
            == Request::SetVringAddr(VringAddr {
                index: 2,
                flags: 1,
                descriptor: 0x10,
                used: 0x30,
                available: 0x20,
                log: 0x40,
            })
    });
    for number in [12, 13, 14] {
        for (value, count) in [(5, 1), (0x105, 0)] {
            both_ways(number, &bytes(&[(8, value)]), count, |got| match got {
                Request::SetVringKick(VringFd { index, fd })
                | Request::SetVringCall(VringFd { index, fd })
                | Request::SetVringErr(VringFd { index, fd }) => {
                    *index == 5 && fd.is_some() == (count == 1)
                }
                _ => false,
            });
        }
        let error = Request::decode(header(number, 8), &bytes(&[(8, 5)]), vec![]).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("0 file descriptors; 1 would be right"),
            "{error}"
        );
        let error = Request::decode(header(number, 8), &bytes(&[(8, 0x205)]), fds(1)).unwrap_err();
        assert!(matches!(error, DecodeError::Value { .. }), "{error}");
    }
}

#[test]
fn messages_about_memory() {
    let table = bytes(&[&[(4, 2), (4, 0)][..], &REGION_FIELDS, &REGION_FIELDS].concat());
    both_ways(
        5,
        &table,
        2,
        |got| matches!(got, Request::SetMemTable(all) if all.len() == 2 && all[1].0 == REGION),
    );
    let nine = bytes(&[&[(4, 9), (4, 0)][..], &REGION_FIELDS.repeat(9)].concat());
    let error = Request::decode(header(5, nine.len()), &nine, fds(9)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "SET_MEM_TABLE: 9 memory regions; at most 8 would be right"
    );
    let single = bytes(&[&[(8, 0)][..], &REGION_FIELDS].concat());
    both_ways(37, &single, 1, |got| {
        matches!(got, Request::AddMemReg(REGION, _))
    });
    both_ways(38, &single, 0, |got| {
        text(got) == Request::RemMemReg(REGION)
    });
    let with_fd = Request::decode(header(38, 40), &single, fds(1)).unwrap();
    assert_eq!(text(&with_fd), Request::RemMemReg(REGION));
    assert!(Request::decode(header(38, 40), &single, fds(2)).is_err());
    let log = bytes(&[(8, 0x1000), (8, 0x2000)]);
    both_ways(6, &log, 1, |got| {
        let area = LogArea {
            size: 0x1000,
            offset: 0x2000,
        };
        matches!(got, Request::SetLogBase(LogBase::Shared(have, _)) if *have == area)
    });
    both_ways(6, &bytes(&[(8, 7)]), 0, |got| {
        text(got) == Request::SetLogBase(LogBase::Address(7))
    });
    both_ways(7, &[], 1, |got| matches!(got, Request::SetLogFd(_)));
    both_ways(21, &[], 1, |got| matches!(got, Request::SetBackendReqFd(_)));
}

#[test]
fn messages_that_are_refused_by_name() {
    let iotlb = bytes(&[(8, 1), (8, 2), (8, 3), (1, 3), (1, 2), (2, 0), (4, 0)]);
    both_ways(22, &iotlb, 0, |got| {
        text(got)
            == Request::IotlbMsg(Iotlb {
                iova: 1,
                size: 2,
                user: 3,
                permissions: 3,
                kind: 2,
            })
    });
    let config = bytes(&[(4, 8), (4, 2), (4, 1), (2, 0x1234)]);
    for number in [24, 25] {
        both_ways(number, &config, 0, |got| {
            let (Request::GetConfig(have) | Request::SetConfig(have)) = got else {
                return false;
            };
            *have
                == ConfigSpace {
                    offset: 8,
                    flags: 1,
                    bytes: 0x1234_u16.to_ne_bytes().to_vec(),
                }
        });
    }
    let inflight = bytes(&[(8, 0x1000), (8, 0), (2, 4), (2, 256)]);
    let want = Inflight {
        size: 0x1000,
        offset: 0,
        queues: 4,
        queue_size: 256,
    };
    both_ways(31, &inflight, 0, |got| {
        text(got) == Request::GetInflightFd(want)
    });
    both_ways(
        32,
        &inflight,
        1,
        |got| matches!(got, Request::SetInflightFd(have, _) if *have == want),
    );
    // Messages of other devices: nothing but the name, whatever comes along.
    let foreign = Request::decode(header(33, 3), &[1, 2, 3], fds(1)).unwrap();
    assert_eq!(text(&foreign), Request::Foreign(RequestKind::GpuSetSocket));
}

#[test]
fn descriptors_of_a_refused_message_are_closed() {
    let (reader, writer) = rustix::pipe::pipe().unwrap();
    let error = Request::decode(header(1, 0), &[], vec![writer]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "GET_FEATURES: 1 file descriptors; 0 would be right"
    );
    assert_eq!(
        rustix::io::read(&reader, &mut [0; 1]).unwrap(),
        0,
        "the end of the pipe"
    );
}

#[test]
fn unknown_messages_are_told_from_wrong_ones() {
    let unknown = Request::decode(header(99, 0), &[], vec![]).unwrap_err();
    assert!(unknown.is_unknown());
    assert_eq!(unknown.to_string(), "request 99 is not known here");
    let reply = Header {
        reply: true,
        ..header(1, 0)
    };
    let error = Request::decode(reply, &[], vec![]).unwrap_err();
    assert!(!error.is_unknown());
    assert_eq!(
        error.to_string(),
        "GET_FEATURES: a reply where a request belongs"
    );
}

#[test]
fn headers_are_checked() {
    let parse =
        |fields: [u64; 3]| Header::parse(*bytes(&fields.map(|v| (4, v))).first_chunk().unwrap());
    assert_eq!(parse([1, 1, 0]).unwrap(), header(1, 0));
    assert!(parse([1, 9, 0]).unwrap().need_reply && parse([1, 5, 0]).unwrap().reply);
    for flags in [0, 2, 3, 0x11, 0x8000_0001] {
        assert!(matches!(
            parse([1, flags, 0]),
            Err(DecodeError::Flags { .. })
        ));
    }
    let error = parse([5, 1, 4097]).unwrap_err().to_string();
    assert_eq!(
        error,
        "SET_MEM_TABLE: a payload of 4097 bytes; at most 4096 would be right"
    );
    assert!(parse([u64::from(u32::MAX), 1, 4096]).is_ok());
}

proptest! {
    /// Whatever comes: no panic, and what is taken is written again as it was read.
    #[test]
    fn arbitrary_bytes(
        number in prop_oneof![0..50_u32, any::<u32>()],
        payload in proptest::collection::vec(any::<u8>(), 0..300),
        count in 0..10_usize,
        lie in prop_oneof![9 => Just(0_u32), 1 => any::<u32>()],
    ) {
        let head = header(number, payload.len().wrapping_add(lie as usize));
        if let Ok(request) = Request::decode(head, &payload, fds(count)) {
            prop_assert_eq!(request.kind().number(), number);
            let sent = request.encode(false);
            let (head, rest) = sent.bytes.split_first_chunk::<HEADER_LEN>().unwrap();
            let again = Header::parse(*head).unwrap();
            let copies = sent.fds.iter().map(|fd| fd.try_clone_to_owned().unwrap()).collect();
            let again = Request::decode(again, rest, copies).unwrap();
            prop_assert_eq!(again.kind(), request.kind());
        }
        let mut head = [0; HEADER_LEN];
        for (to, from) in head.iter_mut().zip(&payload) {
            *to = *from;
        }
        let _ = Header::parse(head);
    }

    #[test]
    fn tables_survive(regions in proptest::collection::vec(any::<[u64; 4]>(), 0..9)) {
        let files = fds(regions.len());
        let all = regions.iter().zip(&files).map(|([guest, size, user, offset], fd)| {
            let region = MemoryRegion { guest: *guest, size: *size, user: *user, offset: *offset };
            (region, fd.as_fd())
        });
        let request = Request::SetMemTable(all.collect::<Vec<_>>());
        let sent = request.encode(true);
        let (head, rest) = sent.bytes.split_first_chunk::<HEADER_LEN>().unwrap();
        let header = Header::parse(*head).unwrap();
        let got = Request::decode(header, rest, fds(regions.len())).unwrap();
        let (Request::SetMemTable(want), Request::SetMemTable(got)) = (&request, &got) else {
            panic!("{got:?}");
        };
        prop_assert!(want.iter().map(|(r, _)| r).eq(got.iter().map(|(r, _)| r)));
    }
}
