//! Memory that is cut off under the port: it costs that link, and nothing else.

use std::os::fd::AsFd;

use mpps_mbuf::Burst;
use mpps_vhost_proto::{MemoryRegion, Request, VringAddr, VringFd, VringState};

use crate::front::{Front, SPLIT, Talk};
use crate::rig::{Rig, eventually};

const LEN: u64 = 1 << 20;

/// A front end whose rings are in a file that it never maps, with `posted` packets to be received.
fn shares_a_file(rig: &Rig, posted: u16) -> (Talk, std::os::fd::OwnedFd) {
    let fd = rustix::fs::memfd_create("peer", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&fd, LEN).unwrap();
    // Descriptor 0 of the ring at 0x10000 is a packet of 64 bytes behind its header, far from the rings; posted over and over.
    let mut descriptor = 0x80000_u64.to_ne_bytes().to_vec();
    descriptor.extend(76_u32.to_ne_bytes());
    descriptor.extend([0; 4]);
    rustix::io::pwrite(&fd, &descriptor, 0x10000).unwrap();
    rustix::io::pwrite(&fd, &posted.to_ne_bytes(), 0x12002).unwrap();
    let talk = Talk::connect(&rig.path);
    talk.negotiate(SPLIT);
    let region = MemoryRegion {
        guest: 0,
        size: LEN,
        user: 0,
        offset: 0,
    };
    talk.done(&Request::SetMemTable(vec![(region, fd.as_fd())]));
    for index in 0..2_u32 {
        let at = u64::from(index) * 0x10000;
        talk.done(&Request::SetVringNum(VringState { index, num: 256 }));
        talk.done(&Request::SetVringAddr(VringAddr {
            index,
            descriptor: at,
            available: at + 0x2000,
            used: at + 0x3000,
            ..VringAddr::default()
        }));
        talk.done(&Request::SetVringKick(VringFd {
            index: index as u8,
            fd: None,
        }));
        talk.done(&Request::SetVringEnable(VringState { index, num: 1 }));
    }
    let status = mpps_vhost_proto::DeviceStatus::from_bits_retain(0xf);
    talk.done(&Request::SetStatus(status));
    rig.wait_link(true);
    (talk, fd)
}

fn cut(to: u64, polled: bool) {
    let mut rig = Rig::new("", 1);
    let mut other = Rig::new("", 1);
    let mut neighbour = Front::up(&other, SPLIT, 1);
    let (talk, fd) = shares_a_file(&rig, 32);
    let mut out = Burst::new(16);
    assert_eq!(rig.receive(0, &mut out), 16);
    rig.lcore.free(&mut out);
    rustix::fs::ftruncate(&fd, to).unwrap();
    if !polled {
        // Opening the rings again touches them.
        talk.tell(&Request::SetVringEnable(VringState { index: 1, num: 1 }));
    }
    assert!(eventually(|| {
        neighbour.exchange(&mut other, 10);
        if polled {
            rig.receive(0, &mut out);
            rig.lcore.free(&mut out);
        }
        !rig.dev.link().up
    }));
    rig.wait_trouble("truncated the memory that it shares");
    talk.wait_end();
    drop(talk);
    let mut next = Front::up(&rig, SPLIT, 1);
    next.exchange(&mut rig, 50);
    neighbour.exchange(&mut other, 50);
    assert_eq!(other.heard.troubles(), [""; 0]);
    next.finish();
    neighbour.finish();
    rig.finish();
    other.finish();
}

#[test]
fn rings_and_buffers_cut_off_under_a_poller() {
    cut(0, true);
}

#[test]
fn buffers_cut_off_under_a_poller() {
    cut(0x40000, true);
}

#[test]
fn rings_cut_off_while_nobody_polls() {
    cut(0, false);
}
