//! The main job: the vhost <-> virtio-user loop between two threads of this process; its rate, its cycles, the latency of a
//! lone packet, its share of what the machine can do, and a balance that closes or else there is no result.

use std::time::{Duration, Instant};

use mpps_kernels::{Copier, CopyKind};
use mpps_os::Signals;
use mpps_virtq::limit::{LimitError, Ruler};

use crate::balance::Balance;
use crate::bench::{Failure, Machine};
use crate::figures::Spread;
use crate::latency::{self, Latency};
use crate::live::Line;
use crate::ring_loop::{Loop, SIDES, Shape};

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

/// What is asked for.
#[derive(Clone, Copy)]
pub(crate) struct Wish {
    pub(crate) seconds: u64,
    pub(crate) size: usize,
    pub(crate) packed: bool,
    pub(crate) copy: CopyKind,
}

impl Wish {
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

/// Runs everything in about the time that is asked for and prints the summary to standard output.
pub(crate) fn run(wish: &Wish) -> Result<(), Failure> {
    let signals = Signals::install()?;
    let machine = Machine::read()?;
    let mut both = Loop::new(wish.shape(&machine)?)?;
    println!("{}", title(&both, wish));
    if machine.pair[0] == machine.pair[1] {
        println!(
            "  only one CPU may be used: both sides take turns on it, which is right but slow, and says little of a loop"
        );
    }
    let rates = rates(&mut both, wish, &signals)?;
    let cycles = cycles(&mut both, &signals)?;
    let balance = both.drain()?;
    let latency = latency::measure(&mut both, LONE)?;
    both.finish()?;
    print!(
        "{}",
        Summary {
            loops: Spread::of(&rates.loops).ok_or("no second was measured")?,
            limit: Spread::of(&rates.limits),
            cycles,
            latency,
            balance,
        }
        .text()
    );
    println!("{NEXT}");
    Ok(())
}

const NEXT: &str = "\
What to try next:
  target/release/mpps --packed --size 512          other rings, other packets; --help has the rest
  target/release/mpps check                        the engine alone, on null and pcap ports
  target/release/testpmd --help                    the program that takes DPDK's command lines (cargo build --release makes it)";

fn title(both: &Loop, wish: &Wish) -> String {
    let shape = &both.shape;
    format!(
        "mpps {}: vhost <-> virtio-user, io, {} bytes, {} ring, copy {}, path {}; {} on CPU {}, {} on CPU {}, clock {:.2} GHz",
        env!("CARGO_PKG_VERSION"),
        shape.size,
        if wish.packed { "packed" } else { "split" },
        shape.copiers[1].name(),
        both.paths(),
        SIDES[0],
        shape.cpus[0],
        SIDES[1],
        shape.cpus[1],
        shape.clock.hz() as f64 / 1e9
    )
}

struct Rates {
    loops: Vec<f64>,
    limits: Vec<f64>,
}

/// The loop for the seconds that are asked for, now and then stopped for the ruler.
fn rates(both: &mut Loop, wish: &Wish, signals: &Signals) -> Result<Rates, Failure> {
    // The rest of the time goes for the ruler, cycles and latency.
    let slices = wish.seconds.saturating_sub(2).max(1);
    let (mut loops, mut limits) = (Vec::new(), Vec::new());
    let (mut line, mut most) = (Line::new(), 0.0_f64);
    both.charge();
    both.run(true, false)?;
    nap(SETTLE, signals)?;
    for slice in 0..slices {
        // A third of the slices apart: at the beginning, in between and at the end, the machine being as it then is.
        if slice.is_multiple_of(slices.div_ceil(3)) {
            both.pause()?;
            limits.extend(limit(both)?);
            both.run(true, false)?;
            nap(SETTLE, signals)?;
        }
        let rate = rate(both, SLICE, signals)?;
        most = most.max(rate);
        loops.push(rate);
        let share = if most > 0.0 { rate / most } else { 0.0 };
        line.show(
            "vhost <-> virtio-user",
            rate,
            share,
            SLICE * (slices - slice - 1) as u32,
        );
    }
    line.end();
    both.pause()?;
    Ok(Rates { loops, limits })
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

/// Packets that the vhost side of a running loop receives, in millions a second.
pub(crate) fn rate(both: &Loop, time: Duration, signals: &Signals) -> Result<f64, Failure> {
    let (begin, before) = (Instant::now(), both.received());
    nap(time, signals)?;
    let (packets, time) = (both.received() - before, begin.elapsed());
    if packets == 0 {
        return Err("no packet moved; the measurement is void".into());
    }
    Ok(packets as f64 / time.as_secs_f64() / 1e6)
}

/// Sleeps, unless a signal comes.
pub(crate) fn nap(time: Duration, signals: &Signals) -> Result<(), Failure> {
    let end = Instant::now() + time;
    loop {
        if let Some(signal) = signals.pending() {
            return Err(format!("{signal}: the measurement was broken off").into());
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

struct Summary {
    loops: Spread,
    limit: Option<Spread>,
    /// At work and in all.
    cycles: [(f64, f64); 2],
    latency: Latency,
    balance: Balance,
}

impl Summary {
    fn text(&self) -> String {
        let Spread { low, median, high } = self.loops;
        let [p50, p99, p999] = self
            .latency
            .percentiles
            .map(|time| time.as_nanos() as f64 / 1e3);
        let share = match self.limit {
            Some(limit) => format!(
                "{:.0} % of the {:.2} Mpps that a bare ring pair without checks does here (lowest {:.2}, highest {:.2})",
                100.0 * median / limit.median,
                limit.median,
                limit.low,
                limit.high
            ),
            None => "not measured: that takes two CPUs, and time on both".to_owned(),
        };
        let Balance {
            made,
            found,
            dropped,
            sent,
            ..
        } = self.balance;
        format!(
            "  rate      {median:.2} Mpps (lowest {low:.2}, highest {high:.2}), every packet once round the loop, seen by {}\n  \
             cycles    {:.1} of {:.1} a packet at work in {}, {:.1} of {:.1} in {}, the rest looking in vain, while they are counted\n  \
             latency   p50 {p50:.2} us, p99 {p99:.2} us, p99.9 {p999:.2} us for a lone packet once round, {} rounds\n  \
             limit     {share}\n  \
             balance   {sent} sent = {sent} received; of {made} packets {found} found whole at the end, {dropped} dropped by full rings\n",
            SIDES[1],
            self.cycles[0].0,
            self.cycles[0].1,
            SIDES[0],
            self.cycles[1].0,
            self.cycles[1].1,
            SIDES[1],
            self.latency.rounds
        )
    }
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
