//! Both halves of a queue pair on two CPUs of one process: `pair [BYTES] [SECONDS] [FEATURES: mrg,inorder,...]`.
//!
//! The device side sends what it receives back, as testpmd's io engine does on both sides of a loop; prints the rate each
//! second. For work on the rings; the figures that count come from whole programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mpps_cpu::{CpuSet, pin_current_thread};
use mpps_kernels::CopyKind;
use mpps_mbuf::{Burst, Caches, Pool, PoolConfig};
use mpps_shm::peer::{GuestMemory, GuestRegion, PeerMapping};
use mpps_shm::{Mapping, MemoryConfig, PageSource};
use mpps_virtq::{
    DeviceRx, DeviceSetup, DeviceTx, DriverRx, DriverSetup, DriverTx, Features, Lent,
    driver_memory, first_base,
};

const RING: u32 = 256;
const BURST: usize = 32;
const IN_FLIGHT: usize = 1024;

fn main() {
    let mut args = std::env::args().skip(1);
    let bytes: u16 = args
        .next()
        .map_or(64, |arg| arg.parse().expect("BYTES is a number"));
    let seconds: u64 = args
        .next()
        .map_or(3, |arg| arg.parse().expect("SECONDS is a number"));
    let names = args.next().unwrap_or_else(|| "mrg,inorder".to_owned());
    let mut features = Features::VERSION_1;
    for name in names.split(',') {
        features |= match name {
            "mrg" => Features::MRG_RXBUF,
            "inorder" => Features::IN_ORDER,
            "packed" => Features::RING_PACKED,
            "csum" => Features::CSUM | Features::GUEST_CSUM,
            "none" => Features::empty(),
            _ => panic!("no feature {name:?}"),
        };
    }
    let copy = args.next().map_or(CopyKind::Avx2, |name| {
        CopyKind::from_name(&name).expect("a copy kind")
    });
    let pages = PageSource::new(MemoryConfig::default()).expect("memory");
    let pool = |name: &str| {
        let config = PoolConfig {
            name: name.to_owned(),
            size: 8192,
            data_room: 2176,
            cache_size: 250,
            node: None,
        };
        let pool = Pool::create(config, &pages).expect("a pool");
        pool.prime(4096);
        pool
    };
    let (front, back) = (pool("front"), pool("back"));
    let rings = pages
        .reserve("rings", 2 * driver_memory(RING), None)
        .expect("ring memory");
    rings.commit(0, rings.len()).expect("ring memory");
    let memory =
        Arc::new(GuestMemory::new(vec![region(&rings), region(front.buffers())]).expect("a table"));
    let driver = |at: usize| DriverSetup {
        size: RING,
        features,
        memory: rings
            .region()
            .part(at * driver_memory(RING), driver_memory(RING))
            .expect("inside"),
        pool: front.id(),
        lent: Lent::new(vec![front.clone()]),
        kick: None,
        copy: CopyKind::Avx2,
        vector: false,
        groups: false,
        tally: Arc::default(),
    };
    let mut driver_rx = DriverRx::open(&driver(0)).expect("a ring");
    let mut driver_tx = DriverTx::open(&driver(1)).expect("a ring");
    let device = |rings| DeviceSetup {
        size: RING,
        rings,
        base: first_base(features),
        features,
        memory: memory.clone(),
        call: None,
        log: None,
        copy,
        tally: Arc::default(),
        linear: false,
    };
    let mut device_tx = DeviceTx::open(&device(driver_rx.addresses())).expect("a ring");
    let mut device_rx = DeviceRx::open(&device(driver_tx.addresses()), &back).expect("a ring");
    println!(
        "{bytes} bytes, device rx {}, tx {}",
        device_rx.path(),
        device_tx.path()
    );
    let (stop, count) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        let (stop, count) = (&stop, &count);
        scope.spawn(move || {
            pin(0);
            let mut caches = Caches::new(std::slice::from_ref(&front));
            driver_rx.fill(&mut caches);
            let mut burst = Burst::new(BURST);
            let (mut turns, mut empty, mut idle, mut received, mut lost) = (0_u64, 0_u64, 0, 0, 0);
            let begin = now();
            while !stop.load(Ordering::Relaxed) {
                let start = now();
                driver_rx.burst(&mut caches, &mut burst);
                turns += 1;
                if burst.is_empty() {
                    empty += 1;
                    idle += now() - start;
                } else {
                    received += now() - start;
                }
                if !burst.is_empty() {
                    driver_tx.burst(&mut caches, &mut burst);
                    lost += burst.len();
                    caches.free(&mut burst);
                }
            }
            println!(
                "driver: rx {:?} tx {:?}, {turns} turns, {empty} empty, idle {:.2}, rx {:.2}, lost {lost}",
                driver_rx.fault(),
                driver_tx.fault(),
                idle as f64 / (now() - begin) as f64,
                received as f64 / (now() - begin) as f64,
            );
        });
        scope.spawn(move || {
            pin(1);
            let mut caches = Caches::new(std::slice::from_ref(&back));
            let mut burst = Burst::new(BURST);
            let (mut injected, mut total) = (0, 0);
            let (mut turns, mut empty, mut idle, mut received, mut lost) = (0_u64, 0_u64, 0, 0, 0);
            let begin = now();
            while !stop.load(Ordering::Relaxed) {
                let start = now();
                device_rx.burst(&mut caches, &mut burst);
                turns += 1;
                if burst.is_empty() {
                    empty += 1;
                    idle += now() - start;
                } else {
                    received += now() - start;
                }
                if injected < IN_FLIGHT {
                    let n = (IN_FLIGHT - injected).min(burst.room());
                    injected += caches.alloc(back.id(), n, bytes, &mut burst);
                    for packet in burst.as_mut_slice() {
                        packet.data_mut().expect("plain").fill(2);
                    }
                }
                if !burst.is_empty() {
                    total += device_tx.burst(&mut caches, &mut burst).packets as u64;
                    lost += burst.len();
                    caches.free(&mut burst);
                    count.store(total, Ordering::Relaxed);
                }
            }
            println!(
                "device: rx {:?} tx {:?}, {turns} turns, {empty} empty, idle {:.2}, rx {:.2}, lost {lost}",
                device_rx.fault(),
                device_tx.fault(),
                idle as f64 / (now() - begin) as f64,
                received as f64 / (now() - begin) as f64,
            );
        });
        for _ in 0..seconds {
            let (before, clock) = (count.load(Ordering::Relaxed), Instant::now());
            std::thread::sleep(Duration::from_secs(1));
            let packets = count.load(Ordering::Relaxed) - before;
            println!(
                "{:.2} Mpps",
                packets as f64 / clock.elapsed().as_secs_f64() / 1e6
            );
        }
        stop.store(true, Ordering::Relaxed);
    });
}

fn region(mapping: &Mapping) -> GuestRegion {
    let fd = mapping.fd().expect("shareable");
    let address = mapping.as_ptr().addr().get() as u64;
    let len = mapping.len() as u64;
    let peer = PeerMapping::map(fd, mapping.fd_offset(), len).expect("mapped twice");
    GuestRegion {
        guest: address,
        user: address,
        len,
        mapping: peer,
        offset: 0,
    }
}

thread_local! {
    static CLOCK: mpps_cpu::Clock = mpps_cpu::Clock::calibrated();
}

fn now() -> u64 {
    CLOCK.with(mpps_cpu::Clock::ticks)
}

fn pin(cpu: usize) {
    let mut cpus = CpuSet::default();
    cpus.insert(cpu);
    pin_current_thread(&cpus).expect("the CPU may be used");
}
