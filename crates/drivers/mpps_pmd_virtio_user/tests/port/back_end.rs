//! A back end that sends every packet back, and that misbehaves at a message of choice.
//!
//! Runs in a thread of its own, connects to the port's socket or takes a connection from it, and ends with the connection
//! or when it is dropped.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mpps_dev::{Lcore, LcoreId};
use mpps_kernels::CopyKind;
use mpps_mbuf::{Burst, Pool};
use mpps_os::Waker;
use mpps_os::unix_socket::Link;
use mpps_shm::peer::{GuestMemory, GuestRegion, PeerMapping};
use mpps_vhost_proto::{
    DeviceStatus, F_PROTOCOL_FEATURES, HEADER_LEN, Header, MemoryRegion, ProtocolFeatures, Reply,
    Request, RequestKind, VringAddr, VringState,
};
use mpps_virtq::{DeviceRx, DeviceSetup, DeviceTx, Features, RingAddresses, Tally};

/// What it does at the message of choice.
#[derive(Clone, Debug)]
pub(crate) enum Trouble {
    /// Closes the connection in place of an answer.
    HangUp,
    /// Says no where it can.
    Refuse,
    /// Answers with these bytes.
    Bytes(Vec<u8>),
    /// Answers, but late.
    Late(Duration),
    /// Sends something that nobody asked for, after its answer.
    Chatter,
}

/// What it can do and how it behaves.
#[derive(Clone, Debug)]
pub(crate) struct Manner {
    pub(crate) features: Features,
    pub(crate) protocol: Option<ProtocolFeatures>,
    pub(crate) pairs: u64,
    pub(crate) trouble: Option<(RequestKind, Trouble)>,
}

impl Default for Manner {
    fn default() -> Self {
        Self {
            features: Features::VERSION_1
                | Features::MRG_RXBUF
                | Features::IN_ORDER
                | Features::MQ
                | Features::CSUM
                | Features::GUEST_CSUM
                | Features::MTU
                | Features::RING_INDIRECT_DESC,
            protocol: Some(
                ProtocolFeatures::MQ
                    | ProtocolFeatures::REPLY_ACK
                    | ProtocolFeatures::STATUS
                    | ProtocolFeatures::NET_MTU,
            ),
            pairs: 8,
            trouble: None,
        }
    }
}

impl Manner {
    pub(crate) fn troubled(at: RequestKind, trouble: Trouble) -> Self {
        Self {
            trouble: Some((at, trouble)),
            ..Self::default()
        }
    }
}

/// What it has learned.
#[derive(Default)]
pub(crate) struct Learned {
    pub(crate) requests: Mutex<Vec<RequestKind>>,
    pub(crate) features: AtomicU64,
    pub(crate) regions: AtomicU64,
    /// Packets that it got.
    pub(crate) received: AtomicU64,
    pub(crate) statuses: Mutex<Vec<DeviceStatus>>,
    /// Rings whose call descriptor it was given, with that descriptor's own number here.
    pub(crate) calls: Mutex<Vec<(u8, i32)>>,
    /// Descriptors and places of the rings, as told last.
    pub(crate) rings: Mutex<BTreeMap<u32, (u32, VringAddr)>>,
    pub(crate) enabled: AtomicU64,
    silent: AtomicBool,
    ended: AtomicBool,
}

impl Learned {
    pub(crate) fn count(&self, kind: RequestKind) -> usize {
        let requests = self.requests.lock().unwrap();
        requests.iter().filter(|have| **have == kind).count()
    }
}

/// A running back end.
pub(crate) struct BackEnd {
    pub(crate) learned: Arc<Learned>,
    stop: Waker,
    thread: Option<JoinHandle<()>>,
}

impl BackEnd {
    /// Serves one connection.
    pub(crate) fn serve(link: Link, manner: Manner, pool: &Pool) -> Self {
        let learned = Arc::new(Learned::default());
        let stop = Waker::new().unwrap();
        let served = Served {
            link,
            manner,
            pool: pool.clone(),
            lcore: Lcore::new(
                LcoreId(99),
                std::slice::from_ref(pool),
                mpps_cpu::Clock::kernel(),
            ),
            learned: learned.clone(),
            stop: stop.clone(),
            memory: None,
            rings: BTreeMap::new(),
            running: Vec::new(),
        };
        let thread = std::thread::spawn(move || served.run());
        Self {
            learned,
            stop,
            thread: Some(thread),
        }
    }

    /// It takes what comes and answers nothing from now on.
    pub(crate) fn be_silent(&self) {
        self.learned.silent.store(true, Ordering::Relaxed);
    }

    /// Whether its connection is over.
    pub(crate) fn ended(&self) -> bool {
        self.learned.ended.load(Ordering::Relaxed)
    }
}

impl Drop for BackEnd {
    fn drop(&mut self) {
        self.stop.wake();
        if let Some(thread) = self.thread.take() {
            let done = thread.join();
            if !std::thread::panicking() {
                done.unwrap();
            }
        }
    }
}

#[derive(Default)]
struct Vring {
    num: u32,
    base: u32,
    at: VringAddr,
    on: bool,
    fds: Vec<OwnedFd>,
}

struct Served {
    link: Link,
    manner: Manner,
    pool: Pool,
    lcore: Lcore,
    learned: Arc<Learned>,
    stop: Waker,
    memory: Option<Arc<GuestMemory>>,
    rings: BTreeMap<u32, Vring>,
    running: Vec<(DeviceRx, DeviceTx, Box<Burst>)>,
}

impl Served {
    fn run(mut self) {
        while !self.stop.reset() {
            let mut header = [0; HEADER_LEN];
            let mut fds = Vec::new();
            match self.link.try_recv(&mut header, &mut fds) {
                Ok(None) => {
                    if self.echo() == 0 {
                        let wait = Duration::from_micros(200);
                        let fds = [self.link.as_fd(), self.stop.as_fd()];
                        let [_, stop] = mpps_os::poll_readable(fds, Some(wait)).unwrap();
                        if stop {
                            break;
                        }
                    }
                }
                Ok(Some(HEADER_LEN)) => {
                    if !self.message(header, fds) {
                        break;
                    }
                }
                _ => break,
            }
        }
        self.running.clear();
        self.learned.ended.store(true, Ordering::Relaxed);
    }

    fn message(&mut self, header: [u8; HEADER_LEN], mut fds: Vec<OwnedFd>) -> bool {
        let header = Header::parse(header).unwrap();
        let mut payload = vec![0; header.size as usize];
        let deadline = Instant::now() + Duration::from_secs(1);
        if self
            .link
            .recv(&mut payload, &mut fds, deadline, None)
            .is_err()
        {
            return false;
        }
        let request = Request::decode(header, &payload, fds).unwrap();
        let kind = request.kind();
        self.learned.requests.lock().unwrap().push(kind);
        let own = self.handle(request);
        let answer = own.or(header.need_reply.then_some(Reply::ack(true)));
        let trouble = match &self.manner.trouble {
            Some((at, trouble)) if *at == kind => Some(trouble.clone()),
            _ => None,
        };
        let bytes = answer.as_ref().map(|answer| answer.encode(kind.number()));
        self.answer(kind, bytes, trouble)
    }

    fn answer(&self, kind: RequestKind, bytes: Option<Vec<u8>>, trouble: Option<Trouble>) -> bool {
        match trouble {
            None => self.send(bytes),
            Some(Trouble::HangUp) => false,
            Some(Trouble::Refuse) => {
                self.send(bytes.map(|_| Reply::ack(false).encode(kind.number())))
            }
            Some(Trouble::Bytes(bad)) => self.send(Some(bad)),
            Some(Trouble::Late(delay)) => {
                let _ = mpps_os::poll_readable([self.stop.as_fd()], Some(delay));
                self.send(bytes)
            }
            Some(Trouble::Chatter) => self.send(bytes) && self.send(Some(vec![7; 40])),
        }
    }

    fn send(&self, bytes: Option<Vec<u8>>) -> bool {
        let deadline = Instant::now() + Duration::from_secs(1);
        let bytes = bytes.filter(|_| !self.learned.silent.load(Ordering::Relaxed));
        bytes.is_none_or(|bytes| self.link.send(&bytes, &[], deadline).is_ok())
    }

    /// Does what a request asks; its own answer, where it has one.
    fn handle(&mut self, request: Request) -> Option<Reply> {
        let learned = &self.learned;
        match request {
            Request::GetFeatures => {
                let protocol = self.manner.protocol.map_or(0, |_| F_PROTOCOL_FEATURES);
                return Some(Reply::Number(self.manner.features.bits() | protocol));
            }
            Request::GetProtocolFeatures => {
                return self.manner.protocol.map(|have| Reply::Number(have.bits()));
            }
            Request::GetQueueNum => return Some(Reply::Number(self.manner.pairs)),
            Request::GetStatus => return Some(Reply::Number(0xb)),
            Request::SetStatus(status) => learned.statuses.lock().unwrap().push(status),
            Request::SetFeatures(bits) => learned.features.store(bits, Ordering::Relaxed),
            Request::SetMemTable(table) => self.map(table),
            Request::SetVringNum(v) => self.ring(v.index).num = v.num,
            Request::SetVringBase(v) => self.ring(v.index).base = v.num,
            Request::SetVringAddr(at) => {
                let num = self.ring(at.index).num;
                let mut rings = self.learned.rings.lock().unwrap();
                rings.insert(at.index, (num, at));
                drop(rings);
                self.ring(at.index).at = at;
            }
            Request::SetVringKick(fd) => self.ring(u32::from(fd.index)).fds.extend(fd.fd),
            Request::SetVringCall(fd) => {
                let number = fd.fd.as_ref().map_or(-1, AsRawFd::as_raw_fd);
                learned.calls.lock().unwrap().push((fd.index, number));
                self.ring(u32::from(fd.index)).fds.extend(fd.fd);
            }
            Request::SetVringEnable(v) => {
                self.ring(v.index).on = v.num == 1;
                self.switch();
            }
            Request::GetVringBase(v) => {
                self.rings.remove(&v.index);
                self.switch();
                return Some(Reply::Vring(VringState {
                    index: v.index,
                    num: 0,
                }));
            }
            _ => {}
        }
        None
    }

    fn ring(&mut self, index: u32) -> &mut Vring {
        self.rings.entry(index).or_default()
    }

    fn map(&mut self, table: Vec<(MemoryRegion, OwnedFd)>) {
        self.learned
            .regions
            .store(table.len() as u64, Ordering::Relaxed);
        let regions = table.iter().map(|(region, fd)| GuestRegion {
            guest: region.guest,
            user: region.user,
            len: region.size,
            mapping: PeerMapping::map(fd.as_fd(), region.offset, region.size).unwrap(),
            offset: 0,
        });
        self.memory = Some(Arc::new(GuestMemory::new(regions.collect()).unwrap()));
    }

    /// Opens the rings of all pairs of which both are on.
    fn switch(&mut self) {
        let on = self.rings.values().filter(|ring| ring.on).count() as u64;
        self.learned.enabled.store(on, Ordering::Relaxed);
        self.running.clear();
        let whole = self.rings.len() as u64 == on && on > 0;
        let Some(memory) = self.memory.clone().filter(|_| whole) else {
            return;
        };
        let setup = |ring: &Vring| DeviceSetup {
            size: ring.num,
            rings: RingAddresses {
                desc: ring.at.descriptor,
                avail: ring.at.available,
                used: ring.at.used,
                log: ring.at.log,
            },
            base: ring.base,
            features: Features::from_bits_truncate(self.learned.features.load(Ordering::Relaxed)),
            memory: memory.clone(),
            call: None,
            log: None,
            copy: CopyKind::Auto,
            tally: Arc::new(Tally::default()),
            linear: false,
        };
        for pair in 0..on as u32 / 2 {
            let to_front = DeviceTx::open(&setup(&self.rings[&(2 * pair)])).unwrap();
            let from_front =
                DeviceRx::open(&setup(&self.rings[&(2 * pair + 1)]), &self.pool).unwrap();
            self.running.push((from_front, to_front, Burst::new(32)));
        }
    }

    /// Sends back what came; how many packets that were.
    fn echo(&mut self) -> usize {
        let mut moved = 0;
        for (rx, tx, burst) in &mut self.running {
            // What finds no room stays for the next turn.
            if burst.is_empty() {
                moved += rx.burst(self.lcore.caches(), burst).packets;
                let received = &self.learned.received;
                received.fetch_add(burst.len() as u64, Ordering::Relaxed);
            }
            tx.burst(self.lcore.caches(), burst);
            assert_eq!((rx.fault(), tx.fault()), (None, None));
        }
        moved
    }
}
