//! The time of a lone packet through the loop: vhost sends it, virtio-user sends it back, nothing else is on its way.
//!
//! The sender runs on vhost's CPU and stamps the time itself. Every packet has its number, and must come back whole before
//! the next one goes.

use std::time::{Duration, Instant};

use mpps_cpu::{Clock, pin_current_thread};
use mpps_dev::{Lcore, LcoreId};
use mpps_engines::StreamIo;
use mpps_mbuf::Pool;

use crate::bench::Failure;
use crate::figures::permille;
use crate::numbered;
use crate::ring_loop::{Loop, one_cpu};

/// How long a single packet may take before it counts as lost: a busy machine may not run a thread for a while.
const PATIENCE: Duration = Duration::from_secs(5);

/// Rounds that aren't counted: caches and branch predictors are still cold.
const WARM_UP: usize = 1000;

/// Turns of waiting between two looks at the clock of the wall.
const TURNS: u32 = 1 << 12;

/// Times of lone packets.
pub(crate) struct Latency {
    /// 50, 99 and 99.9 %.
    pub(crate) percentiles: [Duration; 3],
    /// Packets that were timed.
    pub(crate) rounds: usize,
}

impl Latency {
    /// The percentiles in microseconds.
    pub(crate) fn micros(&self) -> [f64; 3] {
        self.percentiles.map(|time| time.as_nanos() as f64 / 1e3)
    }
}

/// Sends packets one at a time for `time` through a loop that is empty and paused.
pub(crate) fn measure(both: &mut Loop, time: Duration) -> Result<Latency, Failure> {
    both.run(false, false)?;
    let (clock, size, cpus) = (both.shape.clock, both.shape.size, both.shape.cpus);
    let times = match both.back() {
        Some((io, pool)) => std::thread::scope(|scope| {
            let sender = Sender {
                io,
                pool,
                clock,
                size,
                shares: cpus[0] == cpus[1],
            };
            scope
                .spawn(move || {
                    pin_current_thread(&one_cpu(cpus[1])).map_err(|error| error.to_string())?;
                    sender.rounds(time)
                })
                .join()
                .unwrap_or_else(|_| Err("the sender of lone packets panicked".to_owned()))
        }),
        None => Err("the vhost side is still running".to_owned()),
    };
    both.pause()?;
    summary(times?, &clock)
}

fn summary(mut times: Vec<u64>, clock: &Clock) -> Result<Latency, Failure> {
    // On a machine where a round takes milliseconds there are too few to leave some out.
    let skip = if times.len() > 2 * WARM_UP {
        WARM_UP
    } else {
        0
    };
    let counted = times.get_mut(skip..).unwrap_or_default();
    counted.sort_unstable();
    if counted.is_empty() {
        return Err("no lone packet came back in time".into());
    }
    Ok(Latency {
        percentiles: [500, 990, 999].map(|share| clock.duration(permille(counted, share))),
        rounds: counted.len(),
    })
}

struct Sender<'a> {
    io: &'a mut StreamIo,
    pool: Pool,
    clock: Clock,
    size: usize,
    /// Whether the other side needs this CPU to answer.
    shares: bool,
}

impl Sender<'_> {
    fn rounds(mut self, time: Duration) -> Result<Vec<u64>, String> {
        let mut lcore = Lcore::new(LcoreId(2), std::slice::from_ref(&self.pool), self.clock);
        let (begin, mut times) = (Instant::now(), Vec::with_capacity(1 << 20));
        while begin.elapsed() < time && times.len() < times.capacity() {
            let number = times.len() as u64;
            times.push(self.round(&mut lcore, number)?);
        }
        Ok(times)
    }

    /// Ticks from before the packet is sent until it is back.
    fn round(&mut self, lcore: &mut Lcore, number: u64) -> Result<u64, String> {
        let packet = numbered::make(lcore, self.pool.id(), self.size, number);
        let packet = packet.ok_or("no mbuf for a lone packet")?;
        if let Err(packet) = self.io.burst.push(packet) {
            lcore.free_one(packet);
        }
        let start = self.clock.ticks();
        if self.io.send(lcore) != 1 {
            return Err("the loop didn't take a lone packet".to_owned());
        }
        let came = self.wait(lcore, number)?;
        let time = self.clock.ticks().wrapping_sub(start);
        let whole = self.io.burst.as_slice().first();
        let whole = whole.and_then(|packet| numbered::read(packet.data(), self.size));
        lcore.free(&mut self.io.burst);
        match (came, whole) {
            (1, Some(back)) if back == number => Ok(time),
            _ => Err(format!(
                "lone packet {number} came back changed or not alone; the measurement is void"
            )),
        }
    }

    fn wait(&mut self, lcore: &mut Lcore, number: u64) -> Result<usize, String> {
        let (mut turns, mut begin) = (0_u32, None);
        loop {
            match self.io.receive(lcore) {
                0 => {}
                came => return Ok(came),
            }
            if self.shares {
                std::thread::yield_now();
            }
            turns += 1;
            // The clock of the wall costs more than a look at the ring.
            if turns.is_multiple_of(TURNS)
                && begin.get_or_insert_with(Instant::now).elapsed() > PATIENCE
            {
                return Err(format!(
                    "lone packet {number} was lost; the measurement is void"
                ));
            }
        }
    }
}
