//! Ports, pools and a polling context for one scenario, and the checks that hold in every call.
//!
//! Made by a scenario, ended by [`Rig::finish`], which returns everything and counts.

use std::time::{Duration, Instant};

use mpps_cpu::Clock;
use mpps_mbuf::{BURST_MAX, Burst, Mbuf, Pool, PoolConfig};
use mpps_shm::{MemoryConfig, PageSource};

use super::{Facts, Source, Subject, Violation};
use crate::{DevConfig, EthDev, Lcore, LcoreId, PortId, ProbeContext, ProbeError, Queues};

/// Bytes of the buffers of the kit's pools, headroom included.
const DATA_ROOM: u16 = 2176;

/// Shortest frame that carries its number.
pub(super) const NUMBERED: usize = 18;

pub(super) type Played<T = ()> = Result<T, Violation>;

/// Ends the scenario with a line where a condition doesn't hold.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err($crate::conformance::Violation::new(format!($($text)+)));
        }
    };
}
pub(super) use ensure;

/// A port with what its start handed out.
pub(super) struct Running {
    pub(super) dev: Box<dyn EthDev>,
    pub(super) queues: Queues,
}

/// Everything a scenario needs.
pub(super) struct Rig {
    pub(super) facts: Facts,
    /// The port, and its peer where there is one.
    pub(super) ports: Vec<Running>,
    /// What the receive queues draw from.
    pub(super) pool: Pool,
    /// What the kit sends comes from here.
    pub(super) feed: Pool,
    /// What the receive queues of a port draw from that isn't received from.
    spare: Pool,
    pub(super) lcore: Lcore,
    next: u32,
}

/// Makes the subject's ports.
pub(super) fn probe(subject: &Subject<'_>) -> Result<Vec<Box<dyn EthDev>>, ProbeError> {
    let mut ports = Vec::new();
    for (n, device) in (subject.devices)().iter().enumerate() {
        let context =
            ProbeContext::new(PortId::new(n as u16).expect("a subject has one port or two"));
        ports.push(subject.driver_of(n).probe(&device.parse()?, &context)?);
    }
    Ok(ports)
}

/// A pool of `size` mbufs.
pub(super) fn pool(name: &str, size: u32) -> Played<Pool> {
    let config = PoolConfig {
        name: name.to_owned(),
        size,
        data_room: DATA_ROOM,
        cache_size: 32,
        node: None,
    };
    PageSource::new(MemoryConfig::default())
        .map_err(|error| error.to_string())
        .and_then(|pages| Pool::create(config, &pages).map_err(|error| error.to_string()))
        .map_err(Violation::new)
}

/// A configuration of so many queues of each kind.
pub(super) fn config(queues: u16, pool: &Pool) -> DevConfig {
    let queues = usize::from(queues);
    DevConfig::plain(pool, queues)
}

impl Rig {
    /// Started ports of all the subject's queues, with a receive pool that is large enough.
    pub(super) fn new(subject: &Subject<'_>) -> Played<Self> {
        Self::with_pool(subject, 4096)
    }

    /// The same with a receive pool of `size` mbufs.
    pub(super) fn with_pool(subject: &Subject<'_>, size: u32) -> Played<Self> {
        let mut rig = Self::stopped(subject, size)?;
        let config = config(subject.facts.queues, &rig.pool);
        for n in 0..rig.ports.len() {
            rig.configure(n, &config)?;
        }
        rig.start()?;
        Ok(rig)
    }

    /// Ports that are neither configured nor started.
    pub(super) fn stopped(subject: &Subject<'_>, size: u32) -> Played<Self> {
        let ports = probe(subject).map_err(|error| Violation::new(format!("probe: {error}")))?;
        let (pool, feed) = (pool("conformance_rx", size)?, pool("conformance_tx", 4096)?);
        let spare = self::pool("conformance_spare", 4096)?;
        let pools = [pool.clone(), feed.clone(), spare.clone()];
        Ok(Self {
            facts: subject.facts,
            ports: ports
                .into_iter()
                .map(|dev| Running {
                    dev,
                    queues: Queues::default(),
                })
                .collect(),
            lcore: Lcore::new(LcoreId(0), &pools, Clock::kernel()),
            pool,
            feed,
            spare,
            next: 0,
        })
    }

    /// Configures a port; all pools may be lent, as those of a program.
    pub(super) fn configure(&mut self, port: usize, config: &DevConfig) -> Played {
        let mut config = config.clone();
        config.lendable = vec![self.pool.clone(), self.feed.clone()];
        if port != self.sink() {
            config.lendable.push(self.spare.clone());
            for queue in &mut config.rx {
                queue.pool = self.spare.clone();
            }
        }
        self.ports[port]
            .dev
            .configure(&config)
            .map_err(|error| Violation::new(format!("configure: {error}")))
    }

    /// Starts all ports and waits for their links.
    pub(super) fn start(&mut self) -> Played {
        for port in &mut self.ports {
            port.queues = port
                .dev
                .start()
                .map_err(|error| Violation::new(format!("start: {error}")))?;
            let config = port.dev.port().config();
            let want = (config.rx.len(), config.tx.len());
            let have = (port.queues.rx.len(), port.queues.tx.len());
            ensure!(
                have == want && port.queues.complete(),
                "start handed out {have:?} queues of {want:?}, or not all of them"
            );
        }
        let until = Instant::now() + self.facts.patience;
        while !self.ports.iter().all(|port| port.dev.link().up) {
            ensure!(Instant::now() < until, "the link doesn't come up");
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// Stops all ports; every queue goes back.
    pub(super) fn stop(&mut self) {
        for port in &mut self.ports {
            port.dev.stop(std::mem::take(&mut port.queues));
        }
    }

    /// The port whose receive queues get what port 0 sends.
    pub(super) fn sink(&self) -> usize {
        self.ports.len() - 1
    }

    /// Ends the scenario: stops and closes the ports, and counts the mbufs.
    pub(super) fn finish(mut self) -> Played {
        self.stop();
        let Self {
            ports,
            pool,
            feed,
            spare,
            lcore,
            ..
        } = self;
        drop(ports);
        drop(lcore);
        for (what, pool) in [("received", pool), ("sent", feed), ("spare", spare)] {
            let missing = pool.config().size as usize - pool.free_count();
            ensure!(
                missing == 0,
                "{missing} mbufs of the pool of {what} packets are missing after the port's end"
            );
        }
        Ok(())
    }

    /// A numbered frame of `len` bytes, at least [`NUMBERED`] for the number to be in it.
    pub(super) fn frame(&mut self, len: usize) -> Vec<u8> {
        self.next += 1;
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x88, 0xb5];
        frame.extend_from_slice(&self.next.to_be_bytes());
        let number = self.next;
        frame.extend((frame.len()..len).map(|at| (at as u32 ^ number) as u8));
        frame.truncate(len);
        frame
    }

    /// A packet with this content, in segments of at most `part` bytes.
    pub(super) fn packet(&self, frame: &[u8], part: usize) -> Played<Mbuf> {
        let dry = || Violation::new("the kit's own pool ran dry: packets don't come back");
        // From the last segment to the first: joining walks the chain in front.
        let mut packet: Option<Mbuf> = None;
        for data in frame.chunks(part).rev() {
            let mut head = self.feed.alloc().ok_or_else(dry)?;
            ensure!(head.append(data), "a fresh mbuf doesn't take {part} bytes");
            if let Some(tail) = packet.take() {
                ensure!(head.chain(tail).is_ok(), "chains are too short here");
            }
            packet = Some(head);
        }
        packet.or_else(|| self.feed.alloc()).ok_or_else(dry)
    }

    /// A burst of `n` numbered packets of `len` bytes, and their frames.
    pub(super) fn burst(&mut self, n: usize, len: usize) -> Played<(Box<Burst>, Vec<Vec<u8>>)> {
        let mut burst = Burst::new(BURST_MAX);
        let mut frames = Vec::new();
        for _ in 0..n {
            let frame = self.frame(len);
            let packet = self.packet(&frame, 2048)?;
            ensure!(burst.push(packet).is_ok(), "a burst takes 512 packets");
            frames.push(frame);
        }
        Ok((burst, frames))
    }

    /// Sends on queue `queue` of port 0; what the trait promises of the call is checked.
    pub(super) fn send(&mut self, queue: usize, burst: &mut Burst) -> Played<usize> {
        let before = places(burst);
        let Some(tx) = self.ports[0].queues.tx[queue].as_mut() else {
            return Err(Violation::new("a transmit queue is missing"));
        };
        let n = tx.tx_burst(&mut self.lcore, burst);
        ensure!(
            n <= before.len() && places(burst) == before[n..],
            "tx_burst of {} packets says it took {n}, and what is left is not the rest in order ({} packets)",
            before.len(),
            burst.len()
        );
        Ok(n)
    }

    /// Sends until all is taken; what comes in meanwhile at queue `queue` is added to `got`.
    pub(super) fn send_all(
        &mut self,
        queue: usize,
        burst: &mut Burst,
        got: &mut Vec<Vec<u8>>,
    ) -> Played {
        let mut last = Instant::now();
        while !burst.is_empty() {
            // What comes in makes room only where it is what was sent.
            if self.send(queue, burst)? > 0 || self.poll(queue, 32, got)? > 0 && self.loops() {
                last = Instant::now();
            }
            ensure!(
                last.elapsed() < self.facts.patience,
                "{} packets are never taken",
                burst.len()
            );
        }
        Ok(())
    }

    /// One receive call on queue `queue` into `burst`; what the trait promises of it is checked.
    pub(super) fn receive(&mut self, queue: usize, burst: &mut Burst) -> Played<usize> {
        let (before, room, limit) = (places(burst), burst.room(), burst.limit());
        let sink = self.sink();
        let Some(rx) = self.ports[sink].queues.rx[queue].as_mut() else {
            return Err(Violation::new("a receive queue is missing"));
        };
        let n = rx.rx_burst(&mut self.lcore, burst);
        ensure!(
            n <= room && burst.len() == before.len() + n,
            "rx_burst with room for {room} says {n}, and the burst has {} packets after {}",
            burst.len(),
            before.len()
        );
        ensure!(
            places(burst)[..before.len()] == before[..] && burst.limit() == limit,
            "rx_burst changed what was in the burst"
        );
        Ok(n)
    }

    /// Receives at most `limit` packets from queue `queue`, appends their bytes to `got` and frees them.
    pub(super) fn poll(
        &mut self,
        queue: usize,
        limit: usize,
        got: &mut Vec<Vec<u8>>,
    ) -> Played<usize> {
        let mut burst = Burst::new(limit);
        let n = self.receive(queue, &mut burst)?;
        for packet in burst.as_slice() {
            let frame: Vec<u8> = packet.segments_data().flatten().copied().collect();
            ensure!(
                frame.len() == packet.pkt_len() as usize,
                "a received packet says {} bytes and its segments have {}",
                packet.pkt_len(),
                frame.len()
            );
            got.push(frame);
        }
        self.lcore.free(&mut burst);
        Ok(n)
    }

    /// Receives until `got` has `n` frames; a violation when they don't come in time.
    pub(super) fn wait_for(
        &mut self,
        queue: usize,
        n: usize,
        limit: usize,
        got: &mut Vec<Vec<u8>>,
    ) -> Played {
        let mut last = Instant::now();
        while got.len() < n {
            if self.poll(queue, limit.min(n - got.len()), got)? > 0 {
                last = Instant::now();
                continue;
            }
            ensure!(
                last.elapsed() < self.facts.patience,
                "{} of {n} packets come in",
                got.len()
            );
            std::thread::yield_now();
        }
        Ok(())
    }

    /// Whether what port 0 sends comes in.
    pub(super) fn loops(&self) -> bool {
        self.facts.source == Source::Sent
    }

    /// Sends `n` packets of `len` bytes through queue `queue`; where they come in again they must be the same ones.
    pub(super) fn pass(&mut self, queue: usize, n: usize, len: usize) -> Played {
        let (mut burst, frames) = self.burst(n, len)?;
        let mut got = Vec::new();
        self.send_all(queue, &mut burst, &mut got)?;
        if self.loops() {
            self.wait_for(queue, n, 32, &mut got)?;
            same(&got, &frames)?;
        }
        Ok(())
    }
}

/// Whether the received frames are the sent ones.
pub(super) fn same(got: &[Vec<u8>], sent: &[Vec<u8>]) -> Played {
    if let Some(at) = got.iter().zip(sent).position(|(got, sent)| got != sent) {
        return Err(Violation::new(format!(
            "packet {at} comes in with {} bytes and other content or order than it was sent with ({} bytes)",
            got[at].len(),
            sent[at].len()
        )));
    }
    ensure!(
        got.len() == sent.len(),
        "{} packets come in of {}",
        got.len(),
        sent.len()
    );
    Ok(())
}

/// Which packets these are: where their data begins, and how much it is.
fn places(burst: &Burst) -> Vec<(usize, u32)> {
    burst
        .as_slice()
        .iter()
        .map(|packet| (packet.data().as_ptr().addr(), packet.pkt_len()))
        .collect()
}
