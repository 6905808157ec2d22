//! Messages that are wrong, odd or not available: each costs one line and at most the connection.

use std::os::fd::{AsFd, OwnedFd};

use mpps_os::EventFd;
use mpps_vhost_proto::{
    ConfigSpace, HEADER_LEN, Header, Inflight, Iotlb, LogArea, LogBase, MemoryRegion, Reply,
    Request, RequestKind, VringAddr, VringFd, VringState,
};

use crate::front::{Front, SPLIT, Talk};
use crate::rig::{Rig, eventually};

fn memory(len: u64) -> OwnedFd {
    let fd = rustix::fs::memfd_create("peer", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&fd, len).unwrap();
    fd
}

/// A port, and a front end that has negotiated.
fn met() -> (Rig, Talk) {
    let rig = Rig::new("", 1);
    let talk = Talk::connect(&rig.path);
    talk.negotiate(SPLIT);
    (rig, talk)
}

/// That the port takes another front end once this one has gone.
fn serves<T>(rig: Rig, talk: T) {
    drop(talk);
    Talk::connect(&rig.path).negotiate(SPLIT);
    rig.finish();
}

/// Resident pages of this process.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn v_03_ring_sizes_repeated_cost_no_memory() {
    let (rig, talk) = met();
    let repeat = |times: u32| {
        for n in 0..times {
            let num = 1 << (n % 15);
            talk.tell(&Request::SetVringNum(VringState { index: 1, num }));
        }
        talk.number(&Request::GetFeatures);
    };
    repeat(1000);
    let before = resident();
    repeat(20_000);
    // Other tests of this process take memory too; a leak of a ring each time would be gigabytes.
    let grown = resident().saturating_sub(before);
    assert!(grown < 64 << 10, "{grown} pages");
    serves(rig, talk);
}

#[test]
fn v_04_a_log_beyond_the_last_byte_is_refused() {
    let (rig, talk) = met();
    let fd = memory(4096);
    let area = LogArea {
        size: u64::MAX - 4095,
        offset: 8192,
    };
    let request = Request::SetLogBase(LogBase::Shared(area, fd.as_fd()));
    talk.refused(&request);
    rig.wait_trouble("SET_LOG_BASE");
    serves(rig, talk);
}

#[test]
fn v_08_buffers_in_flight_are_refused() {
    let (rig, talk) = met();
    let fd = memory(4096);
    let inflight = Inflight {
        size: 4096,
        offset: 0,
        queues: 1000,
        queue_size: 256,
    };
    talk.refused(&Request::SetInflightFd(inflight, fd.as_fd()));
    let none = Some(Reply::Inflight(Inflight::default()));
    assert_eq!(talk.ask(&Request::GetInflightFd(inflight)), none);
    assert_eq!(rig.heard.times("SET_INFLIGHT_FD: not available here"), 1);
    serves(rig, talk);
}

#[test]
fn v_20_a_message_shorter_than_its_header_ends_the_connection() {
    let (rig, talk) = met();
    let soon = std::time::Instant::now() + std::time::Duration::from_secs(10);
    talk.0.send(&[1, 0, 0, 0, 1], &[], soon).unwrap();
    drop(talk);
    rig.wait_trouble("closed the connection after 5 of 12 bytes");
    serves(rig, ());
}

#[test]
fn v_20_a_message_that_never_ends_is_not_waited_for() {
    let (rig, talk) = met();
    let soon = std::time::Instant::now() + std::time::Duration::from_secs(10);
    talk.0.send(&[1, 0, 0, 0, 1], &[], soon).unwrap();
    talk.wait_end();
    rig.wait_trouble("the peer took too long");
    serves(rig, talk);
}

#[test]
fn v_21_a_region_beyond_the_last_byte_is_refused() {
    let (rig, talk) = met();
    let fd = memory(4096);
    let region = MemoryRegion {
        guest: 0x7000,
        size: u64::MAX - 0xfff,
        user: 0,
        offset: 0x2000,
    };
    talk.refused(&Request::SetMemTable(vec![(region, fd.as_fd())]));
    rig.wait_trouble("0x7000");
    // Without an acknowledgement the front end couldn't know.
    talk.tell(&Request::SetMemTable(vec![(region, fd.as_fd())]));
    talk.wait_end();
    serves(rig, talk);
}

#[test]
fn v_24_rings_without_event_descriptors_work() {
    let mut rig = Rig::new("", 1);
    let mut front = Front::new(&rig.path, SPLIT, 1);
    front.talk.negotiate(SPLIT);
    front.share();
    for index in 0..2 {
        front.describe(u32::from(index), 0, 0);
        let none = VringFd { index, fd: None };
        front.talk.done(&Request::SetVringKick(none));
        front.talk.done(&Request::SetVringCall(none));
        front.talk.done(&Request::SetVringErr(none));
        front.enable(u32::from(index), true);
    }
    front.driver_ok();
    rig.wait_link(true);
    front.pairs[0].rx.fill(&mut front.caches);
    front.exchange(&mut rig, 100);
    front.finish();
    rig.finish();
}

#[test]
fn v_27_the_base_of_a_ring_that_never_was_is_zero() {
    let (rig, talk) = met();
    for index in [0, 1, 2, 40, u32::MAX] {
        let asked = Request::GetVringBase(VringState { index, num: 0 });
        let state = VringState { index, num: 0 };
        assert_eq!(talk.ask(&asked), Some(Reply::Vring(state)));
    }
    serves(rig, talk);
}

#[test]
fn v_29_what_fails_midway_leaves_all_as_it_was() {
    let mut rig = Rig::new("", 1);
    let mut front = Front::up(&rig, SPLIT, 1);
    front.exchange(&mut rig, 20);
    let fd = memory(4096);
    let good = MemoryRegion {
        guest: 0,
        size: 4096,
        user: 0,
        offset: 0,
    };
    let bad = MemoryRegion {
        guest: 8192,
        size: 8192,
        ..good
    };
    let table = vec![(good, fd.as_fd()), (bad, fd.as_fd())];
    front.talk.refused(&Request::SetMemTable(table));
    front
        .talk
        .refused(&Request::SetVringNum(VringState { index: 9, num: 256 }));
    front.exchange(&mut rig, 20);
    front.finish();
    rig.finish();
}

#[test]
fn requests_of_other_times_are_refused_by_name() {
    let (rig, talk) = met();
    talk.refused(&Request::IotlbMsg(Iotlb::default()));
    talk.refused(&Request::PostcopyListen);
    talk.refused(&Request::PostcopyEnd);
    let config = ConfigSpace::default();
    assert_eq!(talk.ask(&Request::GetConfig(config)), Some(Reply::Empty));
    talk.refused(&Request::Foreign(RequestKind::CreateCryptoSession));
    for name in ["IOTLB_MSG", "POSTCOPY_LISTEN", "POSTCOPY_END", "GET_CONFIG"] {
        assert_eq!(rig.heard.times(&format!("{name}: not available here")), 1);
    }
    // Its sender waits for a descriptor.
    talk.tell(&Request::PostcopyAdvise);
    talk.wait_end();
    serves(rig, talk);
}

#[test]
fn unknown_requests_cost_one_line() {
    let (rig, talk) = met();
    let soon = std::time::Instant::now() + std::time::Duration::from_secs(10);
    for request in [77, 78, 1000, u32::MAX] {
        let header = Header {
            request,
            reply: false,
            need_reply: true,
            size: 0,
        };
        talk.0.send(&header.to_bytes(), &[], soon).unwrap();
        let mut answer = [0; HEADER_LEN + 8];
        talk.0
            .recv(&mut answer, &mut Vec::new(), soon, None)
            .unwrap();
        assert_eq!(answer[HEADER_LEN..], 1_u64.to_ne_bytes());
    }
    rig.wait_trouble("request 77 is not known here");
    serves(rig, talk);
}

#[test]
fn features_that_were_not_offered_are_refused() {
    let (rig, talk) = met();
    let offered = talk.number(&Request::GetFeatures);
    talk.refused(&Request::SetFeatures(offered | 1 << 62));
    rig.wait_trouble("0x4000000000000000, which was not offered");
    serves(rig, talk);
}

#[test]
fn rings_outside_the_memory_rest() {
    let mut rig = Rig::new("", 1);
    let mut front = Front::up(&rig, SPLIT, 1);
    front.talk.done(&Request::SetVringAddr(VringAddr {
        index: 1,
        descriptor: 0x10,
        used: 0x1000,
        available: 0x2000,
        ..VringAddr::default()
    }));
    assert!(eventually(|| rig
        .heard
        .times("receive queue 0: the descriptor table")
        == 1));
    assert_eq!(rig.heard.troubles().len(), 1);
    // The front end mends it.
    let at = front.addresses(1);
    front.talk.done(&Request::SetVringAddr(VringAddr {
        index: 1,
        descriptor: at.desc,
        used: at.used,
        available: at.avail,
        ..VringAddr::default()
    }));
    front.exchange(&mut rig, 20);
    front.finish();
    rig.finish();
}

#[test]
fn a_base_that_the_ring_contradicts_is_told() {
    let mut rig = Rig::new("", 1);
    let mut front = Front::up(&rig, SPLIT, 1);
    front.exchange(&mut rig, 20);
    let state = |num| VringState { index: 1, num };
    let base = front.talk.ask(&Request::GetVringBase(state(0)));
    assert_eq!(base, Some(Reply::Vring(state(20))));
    front.describe(1, 0, 0);
    assert!(eventually(|| rig
        .heard
        .times("goes on at 0, its ring says 20")
        == 1));
    rig.wait_link(true);
    front.exchange(&mut rig, 20);
    front.finish();
    rig.finish();
}

#[test]
fn a_call_descriptor_that_is_none_is_refused() {
    let (rig, talk) = met();
    let fd = memory(4096);
    talk.refused(&Request::SetVringCall(VringFd {
        index: 0,
        fd: Some(fd.as_fd()),
    }));
    rig.wait_trouble("no eventfd");
    let event = EventFd::new().unwrap();
    talk.done(&Request::SetVringCall(VringFd {
        index: 0,
        fd: Some(event.as_fd()),
    }));
    serves(rig, talk);
}
