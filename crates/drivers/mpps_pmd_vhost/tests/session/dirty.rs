//! The dirty log: its bits are compared with the pages that the port wrote.

use std::collections::BTreeSet;
use std::os::fd::AsFd;

use mpps_mbuf::Burst;
use mpps_shm::Mapping;
use mpps_vhost_proto::{F_LOG_ALL, F_PROTOCOL_FEATURES, LogArea, LogBase, Request, VringAddr};
use mpps_virtq::Features;

use crate::front::{Front, PACKED, SPLIT};
use crate::rig::Rig;

const PAGE: usize = 4096;
/// Where the log begins in its file: not at the start (V-36).
const OFFSET: u64 = 4096;
/// A bit for each page that an address of a process can have: the front end's guest addresses are its own.
const LOG: u64 = 1 << 32;

/// What is on every page.
fn pages(front: &Front) -> Vec<(u64, Vec<u8>)> {
    front
        .shared()
        .iter()
        .flat_map(|mapping| read(mapping))
        .collect()
}

fn read(mapping: &Mapping) -> Vec<(u64, Vec<u8>)> {
    let (fd, start) = (mapping.fd().unwrap(), mapping.as_ptr().addr().get());
    let read = |n: usize| {
        let mut page = vec![0; PAGE];
        let at = mapping.fd_offset() + (n * PAGE) as u64;
        assert_eq!(rustix::io::pread(fd, &mut page, at).unwrap(), PAGE);
        ((start + n * PAGE) as u64, page)
    };
    (0..mapping.len() / PAGE).map(read).collect()
}

/// The pages marked, among those that there are.
fn marked(log: &impl AsFd, all: &[(u64, Vec<u8>)]) -> BTreeSet<u64> {
    let is_marked = |address: &u64| {
        let (page, mut byte) = (address / PAGE as u64, [0]);
        rustix::io::pread(log, &mut byte, OFFSET + page / 8).unwrap();
        byte[0] >> (page % 8) & 1 == 1
    };
    all.iter().map(|(at, _)| *at).filter(is_marked).collect()
}

fn every_page_written_is_marked(features: Features) {
    let mut rig = Rig::new("", 1);
    let mut front = Front::up(&rig, features, 1);
    let log = rustix::fs::memfd_create("log", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&log, OFFSET + LOG).unwrap();
    let area = LogArea {
        size: LOG,
        offset: OFFSET,
    };
    let base = Request::SetLogBase(LogBase::Shared(area, log.as_fd()));
    front.talk.done(&base);
    let bits = features.bits() | F_PROTOCOL_FEATURES | F_LOG_ALL;
    front.talk.done(&Request::SetFeatures(bits));
    for index in 0..2 {
        let at = front.addresses(index);
        front.talk.done(&Request::SetVringAddr(VringAddr {
            index,
            flags: VringAddr::LOG,
            descriptor: at.desc,
            used: at.used,
            available: at.avail,
            log: if features.contains(Features::RING_PACKED) {
                at.desc
            } else {
                at.used
            },
        }));
    }
    front.exchange(&mut rig, 30);
    // The front end does nothing between the two looks: whatever differs was written by the port.
    front.post(32);
    let before = pages(&front);
    let marked_before = marked(&log, &before);
    let mut left = Burst::new(32);
    rig.echo(0, &mut left);
    assert!(left.is_empty());
    let after = pages(&front);
    let changed: BTreeSet<u64> = before
        .iter()
        .zip(&after)
        .filter(|(before, after)| before != after)
        .map(|((at, _), _)| *at)
        .collect();
    let marked = marked(&log, &after);
    assert!(changed.len() > 8, "{changed:x?}");
    let missing: Vec<_> = changed.difference(&marked).collect();
    assert!(
        missing.is_empty(),
        "{features:?}: {missing:x?} of {changed:x?}"
    );
    // No page is marked for nothing.
    let new: BTreeSet<u64> = marked.difference(&marked_before).copied().collect();
    assert!(new.is_subset(&changed), "{new:x?}, {changed:x?}");
    // Nor is anything before the log.
    let mut head = [0; OFFSET as usize];
    rustix::io::pread(&log, &mut head, 0).unwrap();
    assert_eq!(head, [0; OFFSET as usize]);
    front.post(0);
    front.take();
    front.finish();
    rig.finish();
}

#[test]
fn split() {
    every_page_written_is_marked(SPLIT);
}

#[test]
fn packed() {
    every_page_written_is_marked(PACKED);
}

#[test]
fn v_01_pages_beyond_a_log_are_marked_nowhere() {
    for features in [SPLIT, PACKED] {
        let mut rig = Rig::new("", 1);
        let mut front = Front::up(&rig, features, 1);
        let log = rustix::fs::memfd_create("log", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        rustix::fs::ftruncate(&log, 3 * OFFSET).unwrap();
        // One page of log is for the first 128 MiB; where the front end is, and where it says that its rings are logged,
        // lies far behind.
        let area = LogArea {
            size: OFFSET,
            offset: OFFSET,
        };
        let base = Request::SetLogBase(LogBase::Shared(area, log.as_fd()));
        front.talk.done(&base);
        let bits = features.bits() | F_PROTOCOL_FEATURES | F_LOG_ALL;
        front.talk.done(&Request::SetFeatures(bits));
        for (index, log) in [(0, u64::MAX - 3), (1, 1 << 40)] {
            let at = front.addresses(index);
            front.talk.done(&Request::SetVringAddr(VringAddr {
                index,
                flags: VringAddr::LOG,
                descriptor: at.desc,
                used: at.used,
                available: at.avail,
                log,
            }));
        }
        front.exchange(&mut rig, 300);
        let mut all = [1; 3 * OFFSET as usize];
        rustix::io::pread(&log, &mut all, 0).unwrap();
        // The addresses of a ring that wrap round may be marked in the log; what is beside the log is nobody's.
        let (before, rest) = all.split_at(OFFSET as usize);
        let beside = before.iter().chain(&rest[OFFSET as usize..]);
        assert!(beside.into_iter().all(|byte| *byte == 0));
        assert_eq!(rig.heard.troubles(), [""; 0]);
        front.finish();
        rig.finish();
    }
}
