//! The main job: the vhost <-> virtio-user loop between two threads of this process; its rate, its cycles, the latency of a
//! lone packet, its share of what the machine can do, and a balance that closes or else there is no result.

use std::time::{Duration, Instant};

use mpps_kernels::{Copier, CopyKind};
use mpps_os::Signals;
use mpps_virtq::limit::{LimitError, Ruler};

use crate::bench::{Broken, Failure, Machine};
use crate::latency;
use crate::live::{self, Line};
use crate::ring_loop::{Loop, SIDES, Shape};
use crate::summary::Findings;
use crate::versus::{Duel, Program};

/// A slice of the rate, and of the live line.
const SLICE: Duration = Duration::from_secs(1);

/// How often a signal is looked for.
const LOOK: Duration = Duration::from_millis(50);

/// A measurement by the machine's ruler; its warm-up takes a quarter more.
const RULER: Duration = Duration::from_millis(300);

/// Packets come to their pace before a rate counts.
pub(crate) const SETTLE: Duration = Duration::from_millis(100);

/// How long cycles are recorded, and lone packets sent.
const CYCLES: Duration = Duration::from_millis(400);
const LONE: Duration = Duration::from_millis(500);

/// How long a loop may move nothing: a machine that is busy with others may not run one of its threads for a while.
const PATIENCE: Duration = Duration::from_secs(10);

/// What is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Wish {
    pub(crate) seconds: u64,
    pub(crate) size: usize,
    pub(crate) packed: bool,
    pub(crate) copy: CopyKind,
}

impl Wish {
    fn ring(&self) -> &'static str {
        if self.packed { "packed" } else { "split" }
    }

    /// The loop that is asked for, on this machine.
    pub(crate) fn shape(&self, machine: &Machine) -> Result<Shape, Failure> {
        let copier = Copier::choose(self.copy).map_err(|error| format!("--copy: {error}"))?;
        Ok(Shape {
            cpus: machine.pair,
            clock: machine.clock,
            size: self.size,
            packed: self.packed,
            copiers: [copier; 2],
        })
    }
}

/// What else is asked of the main job.
pub(crate) struct Extra {
    /// Another program to be measured in turn with ours: found, and as it was named.
    pub(crate) versus: Option<(Program, String)>,
    /// Rounds with it.
    pub(crate) rounds: u64,
    /// JSON instead of text.
    pub(crate) json: bool,
}

/// Runs everything and prints the summary to standard output; after a signal, that of what was measured until then.
pub(crate) fn run(wish: &Wish, extra: &Extra) -> Result<(), Failure> {
    let signals = Signals::install()?;
    let machine = Machine::read()?;
    let both = Loop::new(wish.shape(&machine)?)?;
    let mut job = Job {
        wish,
        signals,
        both,
        found: Findings::default(),
    };
    if !extra.json {
        println!("{}", job.title());
    }
    let done = job.measure(&machine, extra);
    let broken = match done {
        Ok(()) => None,
        Err(error) => Some(*error.downcast::<Broken>()?),
    };
    job.found.broken = broken.as_ref().map(|broken| broken.0);
    job.end()?;
    match (extra.json, &broken) {
        (true, _) => println!("{:#}", job.found.json(job.scenario())),
        (false, None) => print!("{}{NEXT}", job.found.text()),
        (false, Some(_)) => print!("{}", job.found.text()),
    }
    job.both.finish()?;
    broken.map_or(Ok(()), |broken| Err(broken.into()))
}

const NEXT: &str = "\
What to try next:
  target/release/mpps --versus dpdk-testpmd    DPDK's program in turn with ours
  target/release/mpps --packed --size 512      other rings, other packets
  target/release/mpps copies                   which kind of copy is fastest
  target/release/testpmd --help                cargo build --release makes it
";

/// The main job while it runs; what it has found stays when a later part fails.
struct Job<'a> {
    wish: &'a Wish,
    signals: Signals,
    both: Loop,
    found: Findings,
}

impl Job<'_> {
    fn title(&self) -> String {
        let shape = &self.both.shape;
        let alone =
            "\n  only one CPU may be used: both sides take turns on it, which is right but slow";
        format!(
            "mpps {}: vhost <-> virtio-user, io, {} bytes, {} ring, copy {}\n  \
             {} on CPU {}, {} on CPU {}, clock {:.2} GHz\n  path {}{}",
            env!("CARGO_PKG_VERSION"),
            shape.size,
            self.wish.ring(),
            shape.copiers[1].name(),
            SIDES[0],
            shape.cpus[0],
            SIDES[1],
            shape.cpus[1],
            shape.clock.hz() as f64 / 1e9,
            self.both.paths(),
            if shape.cpus[0] == shape.cpus[1] {
                alone
            } else {
                ""
            }
        )
    }

    fn scenario(&self) -> serde_json::Value {
        let shape = &self.both.shape;
        serde_json::json!({
            "bytes": shape.size,
            "ring": self.wish.ring(),
            "copy": shape.copiers[1].name(),
            "path": self.both.paths(),
            "cpus": { SIDES[0]: shape.cpus[0], SIDES[1]: shape.cpus[1] },
            "clock_hz": shape.clock.hz(),
        })
    }

    /// Everything in order, the other program first: one that can't be measured is told at once.
    fn measure(&mut self, machine: &Machine, extra: &Extra) -> Result<(), Failure> {
        if let Some((program, name)) = &extra.versus {
            let duel = Duel::new(
                program.clone(),
                self.wish,
                extra.rounds,
                machine,
                self.signals,
            );
            let found = self.found.versus.insert(duel.blank(name));
            duel.run(&mut self.both, found)?;
        }
        self.rates()?;
        self.found.cycles = Some(cycles(&mut self.both, &self.signals)?);
        self.found.balance = Some(self.both.drain()?);
        self.found.latency = Some(latency::measure(&mut self.both, LONE)?);
        Ok(())
    }

    /// Stops what runs and draws the balance where that wasn't done; packets were made if any rate was measured.
    fn end(&mut self) -> Result<(), Failure> {
        self.both.pause()?;
        if self.found.balance.is_none() {
            let balance = self.both.drain()?;
            self.found.balance = (balance.sent > 0).then_some(balance);
        }
        Ok(())
    }

    /// The loop for the seconds that are asked for, now and then stopped for the ruler.
    fn rates(&mut self) -> Result<(), Failure> {
        // The rest of the time goes for the ruler, cycles and latency.
        let slices = self.wish.seconds.saturating_sub(2).max(1);
        let (mut line, mut most) = (Line::new(), 0.0_f64);
        self.both.charge();
        self.both.run(true, false)?;
        nap(SETTLE, &self.signals)?;
        for slice in 0..slices {
            // A third of the slices apart: at the beginning, in between and at the end, the machine being as it then is.
            let mut bare = None;
            if slice.is_multiple_of(slices.div_ceil(3)) {
                self.both.pause()?;
                bare = limit(&self.both)?;
                self.found.limits.extend(bare);
                self.both.run(true, false)?;
                nap(SETTLE, &self.signals)?;
            }
            let rate = rate(&self.both, SLICE, &self.signals)?;
            most = most.max(rate);
            self.found.loops.push(rate);
            self.found.shares.extend(bare.map(|bare| rate / bare));
            let share = if most > 0.0 { rate / most } else { 0.0 };
            let left = live::left(SLICE * (slices - slice - 1) as u32);
            line.show("vhost <-> virtio-user", rate, share, &left);
        }
        line.end();
        self.both.pause()
    }
}

/// What the machine can do at all, where it can be measured.
fn limit(both: &Loop) -> Result<Option<f64>, Failure> {
    let cpus = both.shape.cpus;
    if cpus[0] == cpus[1] {
        return Ok(None);
    }
    match Ruler::new(both.shape.size, cpus, RULER)?.virtqueues() {
        Ok(rate) => Ok(Some(rate)),
        // Others have the CPUs just now: no reason to give up the rest.
        Err(LimitError::Starved(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Packets that arrive where they are counted in a running loop, in millions a second. Where others have the CPUs it counts
/// for longer, until one has come.
pub(crate) fn rate(both: &Loop, time: Duration, signals: &Signals) -> Result<f64, Failure> {
    let (begin, before) = (Instant::now(), both.received());
    loop {
        nap(time, signals)?;
        let (packets, elapsed) = (both.received() - before, begin.elapsed());
        if packets > 0 {
            return Ok(packets as f64 / elapsed.as_secs_f64() / 1e6);
        }
        if elapsed > PATIENCE {
            return Err(
                format!("no packet moved in {elapsed:.0?}; the measurement is void").into(),
            );
        }
    }
}

/// Sleeps, unless a signal comes.
pub(crate) fn nap(time: Duration, signals: &Signals) -> Result<(), Failure> {
    let end = Instant::now() + time;
    loop {
        if let Some(signal) = signals.pending() {
            return Err(Broken(signal).into());
        }
        match end.checked_duration_since(Instant::now()) {
            Some(left) if !left.is_zero() => std::thread::sleep(left.min(LOOK)),
            _ => return Ok(()),
        }
    }
}

/// Ticks a packet that each side was at work, and in all.
fn cycles(both: &mut Loop, signals: &Signals) -> Result<[(f64, f64); 2], Failure> {
    let before = both.spent();
    both.run(true, true)?;
    nap(CYCLES, signals)?;
    both.pause()?;
    let after = both.spent();
    Ok([0, 1].map(|side| {
        let [busy, total, packets] =
            [0, 1, 2].map(|what| (after[side][what] - before[side][what]) as f64);
        let packets = packets.max(1.0);
        (busy / packets, total / packets)
    }))
}

#[cfg(test)]
mod tests {
    //! A loop in small: it moves, it is emptied, the balance closes, lone packets come back.

    use mpps_kernels::CopyKind;
    use mpps_os::Signals;
    use std::time::{Duration, Instant};

    use super::{Loop, Machine, Wish, cycles, latency, nap};
    use crate::numbered::MADE;

    /// Generous: the machine may be busy with much else.
    const PATIENCE: Duration = Duration::from_secs(20);

    #[test]
    fn a_loop_moves_packets_and_balances() {
        let signals = Signals::install().unwrap();
        let machine = Machine::read().unwrap();
        for (packed, size) in [(false, 64), (true, 1518)] {
            let wish = Wish {
                seconds: 2,
                size,
                packed,
                copy: CopyKind::Auto,
            };
            let mut both = Loop::new(wish.shape(&machine).unwrap()).unwrap();
            for _ in 0..2 {
                both.charge();
                both.run(true, false).unwrap();
                let (before, end) = (both.received(), Instant::now() + PATIENCE);
                while both.received() == before && Instant::now() < end {
                    nap(Duration::from_millis(10), &signals).unwrap();
                }
                assert!(both.received() > before, "nothing moves");
                both.pause().unwrap();
                assert!(
                    cycles(&mut both, &signals)
                        .unwrap()
                        .iter()
                        .all(|(busy, total)| busy <= total)
                );
                let balance = both.drain().unwrap();
                assert_eq!(balance.made, MADE);
                assert!(balance.found > 0, "{balance:?}");
            }
            let times = latency::measure(&mut both, Duration::from_millis(200)).unwrap();
            assert!(times.rounds > 0 && times.percentiles[0] <= times.percentiles[2]);
            both.finish().unwrap();
        }
    }
}
