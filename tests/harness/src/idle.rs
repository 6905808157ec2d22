//! What a port costs that has nothing to do: the time of a turn of the poll loop with few and with many such ports.
//!
//! The loop is the worker's own. One more stream, which moves nothing and counts turns, stands behind the ports; being
//! there with few ports and with many, it drops out of the difference.

use std::sync::Arc;
use std::time::{Duration, Instant};

use mpps_dev::{Lcore, LcoreId};
use mpps_engines::{Engine, StreamIo};
use mpps_ring::Counter;
use mpps_worker::{Lot, Stream, Workers};

use crate::rig::{Failure, Folder, Port, Rig, one_cpu};

/// Ports of the two ends of the slope.
const FEW: usize = 1;
const MANY: usize = 64;

/// Measurements of each end; the median slope counts.
const ROUNDS: usize = 5;

/// Windows that a measurement is cut into.
const WINDOWS: u32 = 20;

/// The port that is polled and its peer, `{}` being the socket.
struct Kind {
    name: &'static str,
    polled: &'static str,
    peer: Option<&'static str>,
}

const KINDS: [Kind; 6] = [
    Kind {
        name: "vhost-no-peer",
        polled: "net_vhost{n},iface={}",
        peer: None,
    },
    Kind {
        name: "virtio-user-no-peer",
        polled: "net_virtio_user{n},path={},server=1,mrg_rxbuf=1,in_order=1",
        peer: None,
    },
    Kind {
        name: "vhost-split",
        polled: "net_vhost{n},iface={}",
        peer: Some("net_virtio_user{n},path={},mrg_rxbuf=1,in_order=1"),
    },
    Kind {
        name: "vhost-packed",
        polled: "net_vhost{n},iface={}",
        peer: Some("net_virtio_user{n},path={},packed_vq=1,mrg_rxbuf=1,in_order=1"),
    },
    Kind {
        name: "virtio-user-split",
        polled: "net_virtio_user{n},path={},server=1,mrg_rxbuf=1,in_order=1",
        peer: Some("net_vhost{n},iface={},client=1"),
    },
    Kind {
        name: "virtio-user-packed",
        polled: "net_virtio_user{n},path={},server=1,packed_vq=1,mrg_rxbuf=1,in_order=1",
        peer: Some("net_vhost{n},iface={},client=1"),
    },
];

/// Measures the kinds that have `only` in their names and prints a line for each: `KIND: slope NS ns a port (...)`. With `burden`, each visit costs so
/// many nanoseconds more.
pub(crate) fn run(cpu: usize, time: Duration, burden: u64, only: &str) -> Result<(), Failure> {
    let mut chosen = KINDS
        .iter()
        .filter(|kind| kind.name.contains(only))
        .peekable();
    if chosen.peek().is_none() {
        return Err(format!("no kind of port has '{only}' in its name").into());
    }
    for kind in chosen {
        let mut bench = Bench::new(kind, burden)?;
        let mut slopes = Vec::new();
        let mut ends = Vec::new();
        for round in 0..ROUNDS {
            let order = if round % 2 == 0 {
                [FEW, MANY]
            } else {
                [MANY, FEW]
            };
            let mut turns = [0.0; 2];
            for ports in order {
                turns[usize::from(ports == MANY)] = bench.turn(ports, cpu, time)?;
            }
            slopes.push((turns[1] - turns[0]) / (MANY - FEW) as f64);
            ends.push(format!("{:.0}/{:.0}", turns[0], turns[1]));
        }
        slopes.sort_by(f64::total_cmp);
        println!(
            "{}: slope {:.2} ns a port, {:.2} to {:.2}; ns a turn with {FEW} and with {MANY} ports: {}",
            kind.name,
            slopes[ROUNDS / 2],
            slopes[0],
            slopes[ROUNDS - 1],
            ends.join(" ")
        );
        bench.finish();
    }
    Ok(())
}

/// A stream that counts turns.
struct Turns(Arc<Counter>);

impl Engine for Turns {
    fn step(&mut self, _: &mut Lcore, _: &mut StreamIo) -> bool {
        self.0.add(1);
        false
    }
}

/// An engine that wastes time first: the fault that the check is tried with.
pub(crate) struct Burdened {
    pub(crate) inner: Box<dyn Engine>,
    pub(crate) ticks: u64,
}

impl Engine for Burdened {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        let clock = *lcore.clock();
        let start = clock.ticks();
        while clock.ticks().wrapping_sub(start) < self.ticks {}
        self.inner.step(lcore, io)
    }
}

/// All ports of a kind, polled or not.
struct Bench {
    ports: Vec<Port>,
    streams: Vec<Stream>,
    /// Those at the other ends, and what keeps them going; never polled.
    peers: Vec<(Port, StreamIo)>,
    polled: Rig,
    _other: Rig,
    _folder: Folder,
}

/// Mbufs that a port may post in its rings and more.
const MBUFS: usize = 600;

impl Bench {
    fn new(kind: &Kind, burden: u64) -> Result<Self, Failure> {
        let folder = Folder::new()?;
        let polled = Rig::new("polled", (MANY * MBUFS) as u32)?;
        let other = Rig::new("peers", (MANY * MBUFS) as u32)?;
        let (mut ports, mut streams, mut peers) = (Vec::new(), Vec::new(), Vec::new());
        for n in 0..MANY {
            let fill = |template: &str| {
                let socket = folder.file(&format!("{}-{n}", kind.name));
                let numbered = template.replace("{n}", &n.to_string());
                numbered.replace("{}", &socket)
            };
            let mut port = polled.port(&fill(kind.polled), n as u16)?;
            if let Some(peer) = kind.peer {
                let mut peer = other.port(&fill(peer), (MANY + n) as u16)?;
                port.wait_for_link()?;
                peer.wait_for_link()?;
                let io = peer.io();
                peers.push((peer, io));
            }
            let mut engine = port.engine("io", &polled.pool)?;
            if burden > 0 {
                let ticks = burden * polled.clock.hz() / 1_000_000_000;
                engine = Box::new(Burdened {
                    inner: engine,
                    ticks,
                });
            }
            streams.push(stream(engine, port.io()));
            ports.push(port);
        }
        Ok(Self {
            ports,
            streams,
            peers,
            polled,
            _other: other,
            _folder: folder,
        })
    }

    /// Nanoseconds of a turn that visits the first `count` ports.
    fn turn(&mut self, count: usize, cpu: usize, time: Duration) -> Result<f64, Failure> {
        let turns = Arc::<Counter>::default();
        let rest = self.streams.split_off(count);
        let mut streams = std::mem::take(&mut self.streams);
        let nothing = Turns(Arc::clone(&turns));
        streams.push(stream(Box::new(nothing), empty()));
        let lot = Lot {
            lcore: LcoreId(1),
            cpus: one_cpu(cpu),
            streams,
            usage: None,
        };
        let pools = [self.polled.pool.clone()];
        let workers = Workers::launch(vec![lot], &pools, self.polled.clock, Arc::default())?;
        std::thread::sleep(Duration::from_millis(20));
        let best = best_window(&turns, time);
        let mut streams = workers.stop().into_iter().next().unwrap_or_default();
        streams.pop();
        if streams.len() != count {
            return Err("the worker ended early".into());
        }
        let moved = streams
            .iter()
            .map(|stream| stream.io.stats.rx_packets.get());
        if moved.sum::<u64>() > 0 {
            return Err("a port that should be idle received something".into());
        }
        streams.extend(rest);
        self.streams = streams;
        best.ok_or_else(|| "the worker makes no turns".into())
    }

    fn finish(self) {
        for (port, stream) in self.ports.into_iter().zip(self.streams) {
            port.finish(stream.io);
        }
        for (port, io) in self.peers {
            port.finish(io);
        }
    }
}

/// The shortest turn, in nanoseconds, of some windows: what else runs on the CPU can only make one longer.
fn best_window(turns: &Counter, time: Duration) -> Option<f64> {
    let window = time / WINDOWS;
    let mut best = None;
    for _ in 0..WINDOWS {
        let (begin, before) = (Instant::now(), turns.get());
        std::thread::sleep(window);
        let (spent, made) = (begin.elapsed(), turns.get() - before);
        if made > 0 {
            let turn = spent.as_nanos() as f64 / made as f64;
            best = Some(best.map_or(turn, |best: f64| best.min(turn)));
        }
    }
    best
}

fn stream(engine: Box<dyn Engine>, io: StreamIo) -> Stream {
    Stream {
        engine,
        io,
        enabled: true,
        first: None,
    }
}

/// What a stream without ports works on.
fn empty() -> StreamIo {
    StreamIo {
        rx: None,
        tx: None,
        rx_at: (0, 0),
        tx_at: (0, 0),
        burst: mpps_mbuf::Burst::new(1),
        stats: Arc::default(),
        histogram: None,
        retry: mpps_engines::Retry {
            times: 0,
            delay_us: 0,
        },
        watch: mpps_engines::Watch::new(|_| {}),
        stop: Arc::default(),
    }
}
