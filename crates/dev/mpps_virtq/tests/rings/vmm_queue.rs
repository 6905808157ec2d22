//! The driver's half against a device's half that others wrote: the split ring of rust-vmm's `virtio-queue`, which sees the
//! rig's memory through a mapping of its own.
//!
//! The device sleeps until it is told: a signal too few, and the test is stuck.

use std::fs::File;

use mpps_mbuf::{Burst, Caches};
use mpps_shm::Mapping;
use mpps_virtq::{DriverRx, DriverTx, Features, RingAddresses};
use virtio_queue::{Queue, QueueT};
use vm_memory::{Bytes, FileOffset, GuestAddress, GuestMemoryMmap};

use crate::notify::Bell;
use crate::rig::{CAPACITY, Odd, Rig, Spec, byte, check, make};

const HEADER: usize = 12;
const COUNT: u32 = 3000;
/// Turns without progress after which a flow counts as stuck.
const PATIENCE: usize = 100;

/// The rig's memory at the addresses that the driver names.
fn memory(rig: &Rig) -> GuestMemoryMmap {
    let range = |mapping: &Mapping| {
        let fd = mapping.fd().expect("shareable").try_clone_to_owned();
        let file = File::from(fd.expect("a descriptor"));
        let start = mapping.as_ptr().addr().get() as u64;
        let offset = FileOffset::new(file, mapping.fd_offset());
        (GuestAddress(start), mapping.len(), Some(offset))
    };
    let mut ranges = [range(&rig.rings), range(rig.front.buffers())];
    ranges.sort_by_key(|range| range.0);
    GuestMemoryMmap::from_ranges_with_files(ranges).expect("mapped again")
}

fn queue(rig: &Rig, at: RingAddresses, memory: &GuestMemoryMmap) -> Queue {
    let halves = |address: u64| (Some(address as u32), Some((address >> 32) as u32));
    let mut queue = Queue::new(32_768).expect("a queue");
    queue.set_size(rig.size as u16);
    let (low, high) = halves(at.desc);
    queue.set_desc_table_address(low, high);
    let (low, high) = halves(at.avail);
    queue.set_avail_ring_address(low, high);
    let (low, high) = halves(at.used);
    queue.set_used_ring_address(low, high);
    queue.set_event_idx(rig.features.contains(Features::RING_EVENT_IDX));
    queue.set_ready(true);
    assert!(queue.is_valid(memory));
    queue
}

fn spec(number: u32) -> Spec {
    let len = 1 + (number as u16).wrapping_mul(7919) % 1500;
    let odd = match number % 7 {
        3 => Odd::NoHeadroom,
        5 => Odd::Unlent,
        _ => Odd::Plain,
    };
    Spec {
        len,
        segments: 1 + number as u16 % 9,
        odd,
    }
}

fn kinds() -> impl Iterator<Item = Features> {
    let bits = [
        Features::RING_EVENT_IDX,
        Features::RING_INDIRECT_DESC,
        Features::MRG_RXBUF,
        Features::IN_ORDER,
    ];
    (0..16).map(move |choice: u32| {
        let chosen = bits.iter().enumerate();
        let chosen = chosen.filter(|(bit, _)| choice >> bit & 1 != 0);
        chosen.fold(Features::VERSION_1, |all, (_, bit)| all | *bit)
    })
}

/// Takes what is available, checks it and gives it back; the number of the packet that comes next.
fn take(queue: &mut Queue, memory: &GuestMemoryMmap, next: u32) -> u32 {
    let mut next = next;
    while let Some(chain) = queue.pop_descriptor_chain(memory) {
        let head = chain.head_index();
        let mut bytes = Vec::new();
        for descriptor in chain {
            assert!(!descriptor.is_write_only());
            let mut part = vec![0; descriptor.len() as usize];
            let read = memory.read_slice(&mut part, descriptor.addr());
            read.expect("a descriptor in memory");
            bytes.extend(part);
        }
        let (header, data) = bytes.split_at(HEADER);
        assert_eq!(header, [0; HEADER], "of {next}");
        assert_eq!(data.len(), usize::from(spec(next).len), "length of {next}");
        let wrong = (0..).zip(data).find(|(at, have)| **have != byte(next, *at));
        assert_eq!(wrong, None, "in {next}");
        queue.add_used(memory, head, 0).expect("a used entry");
        next += 1;
    }
    next
}

#[test]
fn numbered_packets_to_a_device_of_rust_vmm() {
    for features in kinds() {
        let rig = Rig::new(64, features);
        let (mut caches, mut bell) = (rig.caches(), Bell::new());
        let mut driver = DriverTx::open(&rig.driver(Some(bell.notifier()))).expect("a ring");
        let memory = memory(&rig);
        let mut queue = queue(&rig, driver.addresses(), &memory);
        let mut burst = Burst::new(32);
        let (mut sent, mut arrived, mut idle) = (0, 0, 0);
        while arrived < COUNT {
            while burst.room() > 0 && sent < COUNT {
                let packet = make(&mut caches, &rig.front, &rig.unlent, spec(sent), sent);
                assert!(burst.push(packet).is_ok());
                sent += 1;
            }
            driver.burst(&mut caches, &mut burst);
            assert_eq!(driver.fault(), None);
            idle += 1;
            assert!(idle < PATIENCE, "asleep after {arrived} packets");
            if bell.rang() == 0 {
                continue;
            }
            loop {
                queue.disable_notification(&memory).expect("a flag");
                arrived = take(&mut queue, &memory, arrived);
                idle = 0;
                if !queue.enable_notification(&memory).expect("a flag") {
                    break;
                }
            }
        }
        assert_eq!((arrived, burst.len()), (COUNT, 0));
        drop((driver, caches));
        rig.all_home();
    }
}

/// Writes a packet into as many buffers as it takes; false when there are too few.
fn put(queue: &mut Queue, memory: &GuestMemoryMmap, number: u32, len: u16) -> bool {
    let room = HEADER + usize::from(CAPACITY);
    let buffers = (HEADER + usize::from(len)).div_ceil(room);
    let mut chains = Vec::new();
    while chains.len() < buffers {
        let Some(mut chain) = queue.pop_descriptor_chain(memory) else {
            // What was taken is taken again later.
            let back = queue.next_avail().wrapping_sub(chains.len() as u16);
            queue.set_next_avail(back);
            return false;
        };
        let buffer = chain.next().expect("a descriptor");
        assert!(buffer.is_write_only() && !buffer.has_next());
        assert_eq!(buffer.len() as usize, room);
        chains.push((chain.head_index(), buffer.addr()));
    }
    let mut bytes = vec![0; HEADER];
    bytes[10] = buffers as u8;
    bytes.extend((0..usize::from(len)).map(|at| byte(number, at)));
    for ((head, address), part) in chains.iter().zip(bytes.chunks(room)) {
        memory.write_slice(part, *address).expect("a buffer");
        let used = queue.add_used(memory, *head, part.len() as u32);
        used.expect("a used entry");
    }
    true
}

#[test]
fn numbered_packets_from_a_device_of_rust_vmm() {
    for features in kinds() {
        let rig = Rig::new(64, features);
        let mut caches = rig.caches();
        let mut driver = DriverRx::open(&rig.driver(None)).expect("a ring");
        driver.fill(&mut caches);
        let memory = memory(&rig);
        let mut queue = queue(&rig, driver.addresses(), &memory);
        let most = if features.contains(Features::MRG_RXBUF) {
            1500
        } else {
            CAPACITY
        };
        let len = |number: u32| 1 + (spec(number).len - 1) % most;
        let mut burst = Burst::new(32);
        let (mut sent, mut arrived, mut idle) = (0, 0, 0);
        while arrived < COUNT {
            for _ in 0..sent % 50 + 1 {
                if sent < COUNT && put(&mut queue, &memory, sent, len(sent)) {
                    sent += 1;
                }
            }
            driver.burst(&mut caches, &mut burst);
            assert_eq!(driver.fault(), None);
            let before = arrived;
            arrived = arrive(&mut caches, &mut burst, arrived, len);
            idle = if arrived == before { idle + 1 } else { 0 };
            assert!(idle < PATIENCE, "stuck after {arrived} packets");
        }
        assert_eq!(sent, COUNT);
        drop((driver, caches));
        rig.all_home();
    }
}

/// Checks and frees what came; the number of the packet that comes next.
fn arrive(caches: &mut Caches, burst: &mut Burst, next: u32, len: impl Fn(u32) -> u16) -> u32 {
    let mut next = next;
    for packet in burst.as_slice() {
        let spec = Spec {
            len: len(next),
            segments: 1,
            odd: Odd::Plain,
        };
        check(packet, spec, next);
        next += 1;
    }
    caches.free(burst);
    next
}
