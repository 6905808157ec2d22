//! Memory shared between a front end and a back end, the pools on both sides, and rings on it.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use mpps_cpu::{Avx2, Avx512};
use mpps_kernels::CopyKind;
use mpps_mbuf::{Caches, Mbuf, PartialChecksum, Pool, PoolConfig};
use mpps_shm::peer::{GuestMemory, GuestRegion, PeerMapping};
use mpps_shm::{Mapping, MemoryConfig, PageSource};
use mpps_virtq::{
    DeviceSetup, DriverSetup, Features, HeaderMark, Isa, Lent, Notifier, RingAddresses, Tally,
    driver_memory, first_base,
};

/// Bytes of data that an mbuf of the rig's pools holds.
pub(crate) const CAPACITY: u16 = 256;
/// Mbufs of each pool.
pub(crate) const MBUFS: u32 = 4096;

thread_local! {
    /// What rigs of this thread are made with.
    static KIND: Cell<Option<Isa>> = const { Cell::new(None) };
}

/// The scalar path of the driver half and each vector path that this CPU has.
pub(crate) fn kinds() -> Vec<Option<Isa>> {
    let mut kinds = vec![None];
    kinds.extend(Avx2::detect().map(|token| Some(Isa::Avx2(token))));
    kinds.extend(Avx512::detect().map(|token| Some(Isa::Avx512(token))));
    kinds
}

/// Each item once for every kind of driver: rigs made by this thread meanwhile have that kind.
pub(crate) fn on_every_kind<T: Clone>(
    items: impl IntoIterator<Item = T>,
) -> impl Iterator<Item = T> {
    let items: Vec<T> = items.into_iter().collect();
    kinds()
        .into_iter()
        .flat_map(move |kind| items.clone().into_iter().map(move |item| (kind, item)))
        .map(|(kind, item)| {
            KIND.set(kind);
            item
        })
}

/// Both sides.
pub(crate) struct Rig {
    pub(crate) front: Pool,
    /// A pool of the front end that the back end hasn't mapped.
    pub(crate) unlent: Pool,
    pub(crate) back: Pool,
    pub(crate) rings: Mapping,
    pub(crate) memory: Arc<GuestMemory>,
    pub(crate) size: u32,
    pub(crate) features: Features,
    /// The most descriptors that the driver posts at a time.
    pub(crate) bound: u16,
    /// The vector path that the driver takes, if any.
    pub(crate) vector: Option<Isa>,
    pub(crate) front_tally: Arc<Tally>,
    pub(crate) back_tally: Arc<Tally>,
}

impl Rig {
    /// For one ring of this size.
    pub(crate) fn new(size: u32, features: Features) -> Self {
        let pages = PageSource::new(MemoryConfig::default()).expect("memory");
        let (front, unlent, back) = (pool(&pages), pool(&pages), pool(&pages));
        // Room behind the ring for what strangers put there.
        let bytes = driver_memory(size) + (1 << 20);
        let rings = pages.reserve("rings", bytes, None).expect("ring memory");
        rings.commit(0, rings.len()).expect("ring memory");
        let table = vec![region(&rings), region(front.buffers())];
        let memory = Arc::new(GuestMemory::new(table).expect("a table"));
        Self {
            front,
            unlent,
            back,
            rings,
            memory,
            size,
            features,
            bound: u16::MAX,
            vector: KIND.get(),
            front_tally: Arc::default(),
            back_tally: Arc::default(),
        }
    }

    pub(crate) fn driver(&self, kick: Option<Notifier>) -> DriverSetup {
        let memory = self.rings.region().part(0, driver_memory(self.size));
        DriverSetup {
            size: self.size,
            features: self.features,
            memory: memory.expect("inside"),
            pool: self.front.id(),
            lent: Lent::new(vec![self.front.clone()]),
            kick,
            copy: CopyKind::Auto,
            mark: HeaderMark::fresh(),
            vector: self.vector,
            groups: true,
            tally: self.front_tally.clone(),
        }
    }

    pub(crate) fn device(&self, rings: RingAddresses, call: Option<Notifier>) -> DeviceSetup {
        DeviceSetup {
            size: self.size,
            rings,
            base: first_base(self.features),
            features: self.features,
            memory: self.memory.clone(),
            call,
            log: None,
            copy: CopyKind::Auto,
            tally: self.back_tally.clone(),
            linear: false,
        }
    }

    /// Caches of all pools.
    pub(crate) fn caches(&self) -> Caches {
        Caches::new(&[self.front.clone(), self.unlent.clone(), self.back.clone()])
    }

    /// That every mbuf is free, once rings and caches are gone.
    pub(crate) fn all_home(&self) {
        for pool in [&self.front, &self.unlent, &self.back] {
            assert_eq!(pool.free_count(), MBUFS as usize, "{}", pool.config().name);
        }
    }
}

fn pool(pages: &PageSource) -> Pool {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let config = PoolConfig {
        // Relaxed: a number that nobody else has.
        name: format!("pool{}", NUMBER.fetch_add(1, Ordering::Relaxed)),
        size: MBUFS,
        data_room: CAPACITY + 128,
        cache_size: 64,
        node: None,
    };
    Pool::create(config, pages).expect("a pool")
}

pub(crate) fn region(mapping: &Mapping) -> GuestRegion {
    let address = mapping.as_ptr().addr().get() as u64;
    let len = mapping.len() as u64;
    let fd = mapping.fd().expect("shareable");
    GuestRegion {
        guest: address,
        user: address,
        len,
        mapping: PeerMapping::map(fd, mapping.fd_offset(), len).expect("mapped twice"),
        offset: 0,
    }
}

/// What is odd about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Odd {
    /// Nothing.
    Plain,
    /// No room before the data.
    NoHeadroom,
    /// From a pool that the device hasn't mapped.
    Unlent,
    /// Its checksum isn't computed.
    Partial,
}

/// A packet to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    pub(crate) len: u16,
    pub(crate) segments: u16,
    pub(crate) odd: Odd,
}

/// The byte at `at` of packet `number`.
pub(crate) fn byte(number: u32, at: usize) -> u8 {
    (number as usize)
        .wrapping_mul(151)
        .wrapping_add(at.wrapping_mul(7)) as u8
        ^ (at >> 8) as u8
}

/// The packet `number` by its description.
pub(crate) fn make(
    caches: &mut Caches,
    lent: &Pool,
    unlent: &Pool,
    spec: Spec,
    number: u32,
) -> Mbuf {
    let pool = if spec.odd == Odd::Unlent {
        unlent
    } else {
        lent
    };
    let segments = spec.segments.max(spec.len.div_ceil(CAPACITY)).min(spec.len);
    let mut packet: Option<Mbuf> = None;
    let mut at = 0;
    for k in 0..segments {
        let left = spec.len - at;
        let len = left.div_ceil(segments - k);
        let mut part = caches.alloc_one(pool.id()).expect("enough mbufs");
        if spec.odd == Odd::NoHeadroom && k == 0 {
            part.prepend(128).expect("headroom");
        }
        assert!(part.resize(len));
        for (n, to) in part.data_mut().expect("own").iter_mut().enumerate() {
            *to = byte(number, usize::from(at) + n);
        }
        at += len;
        match &mut packet {
            None => packet = Some(part),
            Some(head) => head.chain(part).expect("few segments"),
        }
    }
    let mut packet = packet.expect("bytes");
    if spec.odd == Odd::Partial {
        packet.set_partial_checksum(PartialChecksum {
            start: 14,
            offset: 6,
        });
    }
    packet
}

/// That a packet is the one of this number and description.
pub(crate) fn check(packet: &Mbuf, spec: Spec, number: u32) {
    assert_eq!(packet.pkt_len(), u32::from(spec.len), "length of {number}");
    let mut bytes = vec![0; usize::from(spec.len)];
    assert_eq!(packet.copy_out(0, &mut bytes), bytes.len());
    for (at, have) in bytes.iter().enumerate() {
        assert_eq!(*have, byte(number, at), "byte {at} of {number}");
    }
    let partial = packet.partial_checksum().is_some();
    assert_eq!(partial, spec.odd == Odd::Partial, "debt of {number}");
}
