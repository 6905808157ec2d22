//! A front end that sends what it is told to, and drives its rings with the driver's half.

use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mpps_kernels::CopyKind;
use mpps_mbuf::{Burst, Caches, Pool};
use mpps_os::EventFd;
use mpps_os::unix_socket::{Link, LinkError};
use mpps_shm::{Mapping, MemoryConfig, PageSource};
use mpps_vhost_proto::{
    DeviceStatus, F_PROTOCOL_FEATURES, HEADER_LEN, Header, MemoryRegion, ProtocolFeatures, Reply,
    Request, VringAddr, VringFd, VringState,
};
use mpps_virtq::{
    DriverRx, DriverSetup, DriverTx, Features, HeaderMark, Lent, RingAddresses, driver_memory,
    first_base,
};

use crate::rig::{MBUFS, Rig, eventually, pool};

pub(crate) const SIZE: u32 = 256;
pub(crate) const SPLIT: Features = Features::VERSION_1.union(Features::MRG_RXBUF);
pub(crate) const PACKED: Features = SPLIT.union(Features::RING_PACKED);
pub(crate) const PROTOCOL: ProtocolFeatures = ProtocolFeatures::MQ
    .union(ProtocolFeatures::REPLY_ACK)
    .union(ProtocolFeatures::STATUS)
    .union(ProtocolFeatures::LOG_SHMFD);

type Sent<'a> = Request<std::os::fd::BorrowedFd<'a>>;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(20)
}

/// A connection, without anything said yet.
pub(crate) struct Talk(pub(crate) Link);

impl Talk {
    pub(crate) fn connect(path: &Path) -> Self {
        let mut link = None;
        assert!(eventually(|| {
            link = Link::connect(path).ok();
            link.is_some()
        }));
        Self(link.unwrap())
    }

    /// Sends a request that has no answer.
    pub(crate) fn tell(&self, request: &Sent<'_>) {
        let message = request.encode(false);
        self.0.send(&message.bytes, &message.fds, soon()).unwrap();
    }

    /// Sends a request and reads its answer, or an acknowledgement; none when the connection ends.
    pub(crate) fn ask(&self, request: &Sent<'_>) -> Option<Reply> {
        let message = request.encode(true);
        self.0.send(&message.bytes, &message.fds, soon()).unwrap();
        self.answer(request)
    }

    pub(crate) fn answer(&self, request: &Sent<'_>) -> Option<Reply> {
        let (mut head, mut fds) = ([0; HEADER_LEN], Vec::new());
        match self.0.recv(&mut head, &mut fds, soon(), None) {
            Ok(()) => {}
            Err(LinkError::Closed) => return None,
            Err(error) => panic!("{error}"),
        }
        let header = Header::parse(head).unwrap();
        let mut payload = vec![0; header.size as usize];
        self.0.recv(&mut payload, &mut fds, soon(), None).unwrap();
        assert!(fds.is_empty());
        Some(Reply::decode(request.kind(), header, &payload).unwrap())
    }

    pub(crate) fn number(&self, request: &Sent<'_>) -> u64 {
        match self.ask(request) {
            Some(Reply::Number(number)) => number,
            other => panic!("{other:?}"),
        }
    }

    /// That the request is acknowledged as done.
    pub(crate) fn done(&self, request: &Sent<'_>) {
        assert_eq!(self.ask(request), Some(Reply::ack(true)), "{request:?}");
    }

    /// That the request is acknowledged as failed, and the connection goes on.
    pub(crate) fn refused(&self, request: &Sent<'_>) {
        assert_eq!(self.ask(request), Some(Reply::ack(false)), "{request:?}");
        assert_ne!(self.number(&Request::GetFeatures), 0);
    }

    /// Waits until the other side hangs up.
    pub(crate) fn wait_end(&self) {
        let end = self.0.recv(&mut [0], &mut Vec::new(), soon(), None);
        assert!(matches!(end, Err(LinkError::Closed)), "{end:?}");
    }

    /// Features and protocol features, with acknowledgements from here on.
    pub(crate) fn negotiate(&self, features: Features) {
        let offered = self.number(&Request::GetFeatures);
        let features = features.bits() | F_PROTOCOL_FEATURES;
        assert_eq!(features & !offered, 0);
        assert_ne!(self.number(&Request::GetProtocolFeatures), 0);
        self.tell(&Request::SetProtocolFeatures(PROTOCOL));
        self.done(&Request::SetOwner);
        self.done(&Request::SetFeatures(features));
    }
}

/// One pair of rings.
pub(crate) struct Pair {
    pub(crate) rx: DriverRx,
    pub(crate) tx: DriverTx,
}

/// A front end with memory of its own.
pub(crate) struct Front {
    pub(crate) talk: Talk,
    pub(crate) pool: Pool,
    pub(crate) rings: Mapping,
    pub(crate) caches: Caches,
    pub(crate) pairs: Vec<Pair>,
    pub(crate) features: Features,
    /// Numbers of the packets sent, and of the next one to come back.
    pub(crate) sent: u32,
    pub(crate) back: u32,
    waiting: Box<Burst>,
}

impl Front {
    /// Connected, but silent.
    pub(crate) fn new(path: &Path, features: Features, pairs: usize) -> Self {
        let pages = PageSource::new(MemoryConfig::default()).unwrap();
        let each = driver_memory(SIZE).next_multiple_of(1 << 16);
        let rings = pages.reserve("rings", each * 2 * pairs, None).unwrap();
        rings.commit(0, rings.len()).unwrap();
        let pool = pool("theirs");
        let setup = |n: usize| DriverSetup {
            size: SIZE,
            features,
            memory: rings.region().part(n * each, driver_memory(SIZE)).unwrap(),
            pool: pool.id(),
            lent: Lent::new(vec![pool.clone()]),
            kick: None,
            copy: CopyKind::Auto,
            mark: HeaderMark::fresh(),
            vector: None,
            groups: true,
            tally: Arc::default(),
        };
        let pairs = (0..pairs).map(|n| Pair {
            rx: DriverRx::open(&setup(2 * n)).unwrap(),
            tx: DriverTx::open(&setup(2 * n + 1)).unwrap(),
        });
        Self {
            talk: Talk::connect(path),
            pairs: pairs.collect(),
            caches: Caches::new(std::slice::from_ref(&pool)),
            rings,
            pool,
            features,
            sent: 0,
            back: 0,
            waiting: Burst::new(32),
        }
    }

    /// Connected, all said, rings on.
    pub(crate) fn up(rig: &Rig, features: Features, pairs: usize) -> Self {
        let mut front = Self::new(&rig.path, features, pairs);
        front.talk.negotiate(features);
        front.share();
        front.describe_all();
        front.driver_ok();
        rig.wait_link(true);
        for pair in &mut front.pairs {
            pair.rx.fill(&mut front.caches);
        }
        front
    }

    /// All memory that this front end has.
    pub(crate) fn shared(&self) -> [&Mapping; 2] {
        [&self.rings, self.pool.buffers()]
    }

    /// Sends the memory table.
    pub(crate) fn share(&self) {
        let table = self.shared().map(|mapping| {
            let address = mapping.as_ptr().addr().get() as u64;
            let region = MemoryRegion {
                guest: address,
                size: mapping.len() as u64,
                user: address,
                offset: mapping.fd_offset(),
            };
            (region, mapping.fd().unwrap())
        });
        self.talk.done(&Request::SetMemTable(table.into()));
    }

    pub(crate) fn driver_ok(&self) {
        let status = DeviceStatus::from_bits_retain(0xf);
        self.talk.done(&Request::SetStatus(status));
    }

    pub(crate) fn addresses(&self, ring: u32) -> RingAddresses {
        let pair = &self.pairs[ring as usize / 2];
        if ring.is_multiple_of(2) {
            pair.rx.addresses()
        } else {
            pair.tx.addresses()
        }
    }

    /// Describes a ring that goes on at `base`.
    pub(crate) fn describe(&self, ring: u32, base: u32, flags: u32) {
        let at = self.addresses(ring);
        let talk = &self.talk;
        let state = |num| VringState { index: ring, num };
        talk.done(&Request::SetVringNum(state(SIZE)));
        talk.done(&Request::SetVringBase(state(base)));
        talk.done(&Request::SetVringAddr(VringAddr {
            index: ring,
            flags,
            descriptor: at.desc,
            used: at.used,
            available: at.avail,
            log: at.used,
        }));
        let event = EventFd::new().unwrap();
        let fd = VringFd {
            index: ring as u8,
            fd: Some(event.as_fd()),
        };
        talk.done(&Request::SetVringCall(fd));
        talk.done(&Request::SetVringKick(fd));
    }

    pub(crate) fn enable(&self, ring: u32, on: bool) {
        self.talk.done(&Request::SetVringEnable(VringState {
            index: ring,
            num: u32::from(on),
        }));
    }

    pub(crate) fn describe_all(&self) {
        for ring in 0..self.pairs.len() as u32 * 2 {
            self.describe(ring, first_base(self.features), 0);
            self.enable(ring, true);
        }
    }

    /// Posts numbered packets until so many are under way on queue 0.
    pub(crate) fn post(&mut self, under_way: u32) {
        while self.waiting.room() > 0 && self.sent - self.back < under_way {
            let mut packet = self.caches.alloc_one(self.pool.id()).unwrap();
            let mut bytes = [0x5a; 64];
            bytes[12..16].copy_from_slice(&self.sent.to_le_bytes());
            assert!(packet.append(&bytes));
            self.waiting.push(packet).unwrap();
            self.sent += 1;
        }
        let tx = &mut self.pairs[0].tx;
        tx.burst(&mut self.caches, &mut self.waiting);
        assert_eq!(tx.fault(), None);
    }

    /// Takes what came back on queue 0: each packet once, in order.
    pub(crate) fn take(&mut self) {
        let mut out = Burst::new(32);
        let rx = &mut self.pairs[0].rx;
        rx.burst(&mut self.caches, &mut out);
        assert_eq!(rx.fault(), None);
        for packet in out.as_slice() {
            assert_eq!(packet.pkt_len(), 64);
            assert_eq!(packet.data()[12..16], self.back.to_le_bytes());
            self.back += 1;
        }
        self.caches.free(&mut out);
        rx.fill(&mut self.caches);
    }

    /// Sends `n` packets to a port that is polled by this thread, and has them back.
    pub(crate) fn exchange(&mut self, rig: &mut Rig, n: u32) {
        let (want, end) = (self.sent + n, soon());
        let mut left = Burst::new(32);
        while self.back < want {
            assert!(
                Instant::now() < end,
                "{} sent, {} back; {:?}",
                self.sent,
                self.back,
                rig.heard.lines.lock().unwrap()
            );
            let more = want - self.sent;
            self.post((self.sent - self.back + more).min(64));
            rig.echo(0, &mut left);
            self.take();
        }
        rig.lcore.free(&mut left);
    }

    /// Leaves; all its buffers must be home.
    pub(crate) fn finish(self) {
        let Self {
            talk,
            pool,
            caches,
            pairs,
            waiting,
            rings,
            ..
        } = self;
        drop((talk, waiting, pairs, caches, rings));
        assert_eq!(pool.free_count(), MBUFS as usize);
    }
}
