//! The port against a back end that others wrote: the handler of rust-vmm's `vhost` crate, which checks every message.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use mpps_dev::{DevConfig, Driver, PortId, ProbeContext};
use mpps_mbuf::{Pool, PoolConfig};
use mpps_pmd_virtio_user::VirtioUser;
use mpps_shm::{MemoryConfig, PageSource};
use vhost::vhost_user::message::*;
use vhost::vhost_user::{
    BackendReqHandler, Error, GpuBackend, Result, VhostUserBackendReqHandlerMut,
};

/// VERSION_1, mergeable buffers, in order, and the bit for protocol features.
const FEATURES: u64 = 1 << 32 | 1 << 15 | 1 << 35 | 1 << 30;

#[derive(Default)]
struct Ring {
    num: u32,
    base: u32,
    parts: Vec<u64>,
    kick: Option<File>,
    call: Option<File>,
    on: bool,
    stopped: bool,
}

#[derive(Default)]
struct Recorder {
    owned: bool,
    features: u64,
    protocol: u64,
    /// Guest address, length, user address.
    regions: Vec<(u64, u64, u64)>,
    rings: BTreeMap<u32, Ring>,
}

impl Recorder {
    fn ring(&mut self, index: u32) -> &mut Ring {
        self.rings.entry(index).or_default()
    }
}

const NOT_ASKED: Error = Error::InvalidOperation("not asked for");

impl VhostUserBackendReqHandlerMut for Recorder {
    fn set_owner(&mut self) -> Result<()> {
        assert!(!self.owned);
        self.owned = true;
        Ok(())
    }

    fn reset_owner(&mut self) -> Result<()> {
        Err(NOT_ASKED)
    }

    fn reset_device(&mut self) -> Result<()> {
        Err(NOT_ASKED)
    }

    fn get_features(&mut self) -> Result<u64> {
        Ok(FEATURES)
    }

    fn set_features(&mut self, features: u64) -> Result<()> {
        self.features = features;
        Ok(())
    }

    fn set_mem_table(
        &mut self,
        table: &[VhostUserMemoryRegion],
        files: Vec<File>,
        _: Option<bool>,
    ) -> Result<Option<Vec<u64>>> {
        assert_eq!(table.len(), files.len());
        for (region, file) in table.iter().zip(&files) {
            // Fields of a packed structure are copied out before use.
            let (guest, size) = (region.guest_phys_addr, region.memory_size);
            let (user, offset) = (region.user_addr, region.mmap_offset);
            let len = file.metadata().unwrap().size();
            assert!(offset + size <= len, "{offset} + {size} in a file of {len}");
            self.regions.push((guest, size, user));
        }
        Ok(None)
    }

    fn set_vring_num(&mut self, index: u32, num: u32) -> Result<()> {
        self.ring(index).num = num;
        Ok(())
    }

    fn set_vring_addr(
        &mut self,
        index: u32,
        _: VhostUserVringAddrFlags,
        descriptor: u64,
        used: u64,
        available: u64,
        _: u64,
    ) -> Result<()> {
        self.ring(index).parts = vec![descriptor, used, available];
        Ok(())
    }

    fn set_vring_base(&mut self, index: u32, base: u32) -> Result<()> {
        self.ring(index).base = base;
        Ok(())
    }

    fn get_vring_base(&mut self, index: u32) -> Result<VhostUserVringState> {
        self.ring(index).stopped = true;
        Ok(VhostUserVringState::new(index, 0))
    }

    fn set_vring_kick(&mut self, index: u8, fd: Option<File>) -> Result<()> {
        self.ring(u32::from(index)).kick = fd;
        Ok(())
    }

    fn set_vring_call(&mut self, index: u8, fd: Option<File>) -> Result<()> {
        self.ring(u32::from(index)).call = fd;
        Ok(())
    }

    fn set_vring_err(&mut self, _: u8, _: Option<File>) -> Result<()> {
        Ok(())
    }

    fn get_protocol_features(&mut self) -> Result<VhostUserProtocolFeatures> {
        Ok(VhostUserProtocolFeatures::MQ | VhostUserProtocolFeatures::REPLY_ACK)
    }

    fn set_protocol_features(&mut self, features: u64) -> Result<()> {
        self.protocol = features;
        Ok(())
    }

    fn get_queue_num(&mut self) -> Result<u64> {
        Ok(2)
    }

    fn set_vring_enable(&mut self, index: u32, on: bool) -> Result<()> {
        self.ring(index).on = on;
        Ok(())
    }

    fn get_config(&mut self, _: u32, _: u32, _: VhostUserConfigFlags) -> Result<Vec<u8>> {
        Err(NOT_ASKED)
    }

    fn set_config(&mut self, _: u32, _: &[u8], _: VhostUserConfigFlags) -> Result<()> {
        Err(NOT_ASKED)
    }

    fn set_gpu_socket(&mut self, _: GpuBackend) -> Result<()> {
        Err(NOT_ASKED)
    }

    fn get_shared_object(&mut self, _: VhostUserSharedMsg) -> Result<File> {
        Err(NOT_ASKED)
    }

    fn get_inflight_fd(&mut self, _: &VhostUserInflight) -> Result<(VhostUserInflight, File)> {
        Err(NOT_ASKED)
    }

    fn set_inflight_fd(&mut self, _: &VhostUserInflight, _: File) -> Result<()> {
        Err(NOT_ASKED)
    }

    fn get_max_mem_slots(&mut self) -> Result<u64> {
        Err(NOT_ASKED)
    }

    fn add_mem_region(
        &mut self,
        _: &VhostUserSingleMemoryRegion,
        _: File,
        _: Option<bool>,
    ) -> Result<Option<u64>> {
        Err(NOT_ASKED)
    }

    fn remove_mem_region(&mut self, _: &VhostUserSingleMemoryRegion) -> Result<()> {
        Err(NOT_ASKED)
    }

    fn set_device_state_fd(
        &mut self,
        _: VhostTransferStateDirection,
        _: VhostTransferStatePhase,
        _: File,
    ) -> Result<Option<File>> {
        Err(NOT_ASKED)
    }

    fn check_device_state(&mut self) -> Result<()> {
        Err(NOT_ASKED)
    }

    fn get_shmem_config(&mut self) -> Result<VhostUserShMemConfig> {
        Err(NOT_ASKED)
    }

    fn set_log_base(&mut self, _: &VhostUserLog, _: File) -> Result<()> {
        Err(NOT_ASKED)
    }
}

fn eventually(mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(10);
    while !done() {
        assert!(Instant::now() < end, "it never came");
        thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_third_party_understands_every_message() {
    let path = std::env::temp_dir().join(format!("mpps-third-{}", std::process::id()));
    let listener = UnixListener::bind(&path).unwrap();
    let recorder = Arc::new(Mutex::new(Recorder::default()));
    let handler = recorder.clone();
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let mut handler = BackendReqHandler::from_stream(stream, handler);
        loop {
            match handler.handle_request() {
                Ok(()) => {}
                Err(Error::Disconnected) => return,
                Err(error) => panic!("{error}"),
            }
        }
    });
    let pool = PoolConfig {
        name: "third".to_owned(),
        size: 1024,
        data_room: 2176,
        cache_size: 32,
        node: None,
    };
    let pool = Pool::create(pool, &PageSource::new(MemoryConfig::default()).unwrap()).unwrap();
    let device = format!("net_virtio_user0,queues=2,path={}", path.display());
    let context = ProbeContext::new(PortId::new(0).unwrap());
    let mut dev = VirtioUser
        .probe(&device.parse().unwrap(), &context)
        .unwrap();
    let one = DevConfig::plain(&pool, 1);
    dev.configure(&one).unwrap();
    let queues = dev.start().unwrap();
    eventually(|| dev.link().up);
    {
        let mut seen = recorder.lock().unwrap();
        assert!(seen.owned);
        assert_eq!(seen.features, FEATURES, "all that it offered is used");
        assert_eq!(seen.regions.len(), 2);
        let regions = std::mem::take(&mut seen.regions);
        assert_eq!(seen.rings.len(), 2);
        for ring in seen.rings.values() {
            assert_eq!((ring.num, ring.base), (256, 0));
            assert!(ring.on && ring.kick.is_some() && ring.call.is_some());
            for part in &ring.parts {
                let inside = |(_, len, user): &(u64, u64, u64)| (*user..user + len).contains(part);
                assert!(regions.iter().any(inside), "{part:#x}");
            }
        }
    }
    dev.stop(queues);
    assert!(
        recorder
            .lock()
            .unwrap()
            .rings
            .values()
            .all(|ring| ring.stopped && !ring.on)
    );
    let queues = dev.start().unwrap();
    eventually(|| dev.link().up);
    assert!(recorder.lock().unwrap().rings.values().all(|ring| ring.on));
    dev.stop(queues);
    drop(dev);
    server.join().unwrap();
    std::fs::remove_file(&path).unwrap();
}
