//! The port against a front end that others wrote: rust-vmm's `vhost` crate, which checks every answer.
#![forbid(unsafe_code)]

use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

use mpps_dev::{DevConfig, Driver, PortId, ProbeContext};
use mpps_mbuf::{Pool, PoolConfig};
use mpps_pmd_vhost::Vhost;
use mpps_shm::{MemoryConfig, PageSource};
use vhost::vhost_user::message::{VhostUserProtocolFeatures, VhostUserVirtioFeatures};
use vhost::vhost_user::{Frontend, VhostUserFrontend};
use vhost::{VhostBackend, VhostUserMemoryRegionInfo, VringConfigData};
use vmm_sys_util::eventfd::EventFd;

const LEN: u64 = 1 << 20;
/// VERSION_1, mergeable buffers.
const FEATURES: u64 = 1 << 32 | 1 << 15;

fn eventually(mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < end, "it never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn set_up(front: &mut Frontend, memory: &impl AsRawFd) {
    front.set_owner().unwrap();
    let protocol_bit = VhostUserVirtioFeatures::PROTOCOL_FEATURES.bits();
    let wanted = FEATURES | protocol_bit;
    assert_eq!(front.get_features().unwrap() & wanted, wanted);
    let protocol = front.get_protocol_features().unwrap();
    let mine = VhostUserProtocolFeatures::MQ
        | VhostUserProtocolFeatures::REPLY_ACK
        | VhostUserProtocolFeatures::CONFIGURE_MEM_SLOTS
        | VhostUserProtocolFeatures::RESET_DEVICE;
    assert!(protocol.contains(mine));
    front.set_protocol_features(mine).unwrap();
    front.set_features(wanted).unwrap();
    let region = VhostUserMemoryRegionInfo {
        guest_phys_addr: 0,
        memory_size: LEN,
        userspace_addr: 0x10_0000,
        mmap_offset: 0,
        mmap_handle: memory.as_raw_fd(),
    };
    front.set_mem_table(&[region]).unwrap();
    for index in 0..2_usize {
        let at = 0x10_0000 + index as u64 * 0x10000;
        front.set_vring_num(index, 256).unwrap();
        front.set_vring_base(index, 0).unwrap();
        let config = VringConfigData {
            queue_max_size: 256,
            queue_size: 256,
            flags: 0,
            desc_table_addr: at,
            used_ring_addr: at + 0x3000,
            avail_ring_addr: at + 0x2000,
            log_addr: None,
        };
        front.set_vring_addr(index, &config).unwrap();
        let event = EventFd::new(0).unwrap();
        front.set_vring_call(index, &event).unwrap();
        front.set_vring_kick(index, &event).unwrap();
        front.set_vring_err(index, &event).unwrap();
        front.set_vring_enable(index, true).unwrap();
    }
}

#[test]
fn a_third_party_understands_every_answer() {
    let path = std::env::temp_dir().join(format!("mpps-vhost-third-{}", std::process::id()));
    let pool = PoolConfig {
        name: "third".to_owned(),
        size: 512,
        data_room: 2176,
        cache_size: 32,
        node: None,
    };
    let pool = Pool::create(pool, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap();
    let device = format!("net_vhost0,iface={}", path.display());
    let context = ProbeContext::new(PortId::new(0).unwrap());
    let mut dev = Vhost.probe(&device.parse().unwrap(), &context).unwrap();
    dev.configure(&DevConfig::plain(&pool, 1)).unwrap();
    let queues = dev.start().unwrap();
    let memory = rustix::fs::memfd_create("peer", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
    rustix::fs::ftruncate(&memory, LEN).unwrap();
    for _ in 0..2 {
        let mut front = Frontend::connect(&path, 2).unwrap();
        set_up(&mut front, &memory);
        eventually(|| dev.link().up);
        assert!(front.get_max_mem_slots().unwrap() >= 8);
        assert_eq!(front.get_queue_num().unwrap(), 1);
        assert_eq!(front.get_vring_base(0).unwrap(), 0);
        eventually(|| !dev.link().up);
        front.reset_device().unwrap();
    }
    dev.stop(queues);
    drop(dev);
    assert!(!path.exists());
}
