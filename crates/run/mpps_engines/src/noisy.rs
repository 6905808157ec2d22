//! Engine noisy: a neighbour that queues packets and walks through memory, as a network function would.
//!
//! Packets are changed by the sub-mode, then wait in a queue of `--noisy-tx-sw-buffer-size` minus one packets, if there is
//! one. While it has room for what arrives, nothing is sent; then as many old packets leave as new ones come, oldest
//! first. A queue that is idle for `--noisy-tx-sw-buffer-flushtime` is sent whole. For each packet that arrives, cache
//! lines picked at random of a private area are written, read, or both.
//!
//! Queue and area belong to the stream, so that ports with several queues have several, and end with its engine, which
//! gives the mbufs back.

use std::collections::VecDeque;

use mpps_cpu::Clock;
use mpps_dev::Lcore;
use mpps_mbuf::{BURST_MAX, Mbuf};

use crate::five_tuple_swap::FiveTupleSwap;
use crate::mac::Mac;
use crate::macswap::MacSwap;
use crate::random::XorShift;
use crate::{Engine, EngineSpec, Needs, NoisyMode, NoisySettings, StreamIo, StreamSetup};

pub(crate) const SPEC: EngineSpec = EngineSpec {
    name: "noisy",
    needs: Needs::Both,
    min_frame: 0,
    answers: false,
    help: "queue packets and touch memory, as a busy network function would, before sending",
    notice: None,
    make: |setup| Ok(Box::new(Noisy::new(setup)?)),
};

/// What happens to packets beside the noise.
enum Work {
    Nothing,
    Mac(Mac),
    MacSwap(MacSwap),
    FiveTupleSwap(FiveTupleSwap),
}

struct Noisy {
    work: Work,
    queue: Option<Queue>,
    memory: Option<Memory>,
}

/// Packets that wait.
struct Queue {
    packets: VecDeque<Mbuf>,
    /// Most packets between two visits.
    capacity: usize,
    /// Milliseconds of idling after which all are sent; zero for never.
    flush_ms: u64,
    /// Clock ticks when packets were sent last; none until there was a look at the clock.
    sent_at: Option<u64>,
}

/// The area that lookups go to, by cache lines.
struct Memory {
    lines: Vec<Line>,
    writes: u32,
    reads: u32,
    reads_writes: u32,
    random: XorShift,
}

#[derive(Clone)]
#[repr(align(64))]
struct Line([u64; 8]);

impl Noisy {
    fn new(setup: &StreamSetup) -> Result<Self, String> {
        let settings = &setup.settings.noisy;
        Ok(Self {
            work: match settings.mode {
                NoisyMode::Io => Work::Nothing,
                NoisyMode::Mac => Work::Mac(Mac::new(setup)),
                NoisyMode::MacSwap => Work::MacSwap(MacSwap::new(setup)),
                NoisyMode::FiveTupleSwap => Work::FiveTupleSwap(FiveTupleSwap::new(setup)),
            },
            queue: Queue::new(settings)?,
            memory: Memory::new(settings, setup)?,
        })
    }
}

impl Queue {
    fn new(settings: &NoisySettings) -> Result<Option<Self>, String> {
        let size = settings.buffer;
        if size == 0 {
            return Ok(None);
        }
        if size < 2 || !size.is_power_of_two() {
            let near = size.max(2).checked_next_power_of_two().unwrap_or(1 << 31);
            return Err(format!(
                "noisy: --noisy-tx-sw-buffer-size is {size}, must be a power of two from 2 on, or 0 for none; try {near}"
            ));
        }
        let mut packets = VecDeque::new();
        packets
            .try_reserve_exact(size as usize + BURST_MAX)
            .map_err(|_| format!("noisy: no memory for a queue of {size} packets; lower --noisy-tx-sw-buffer-size"))?;
        Ok(Some(Self {
            packets,
            capacity: size as usize - 1,
            flush_ms: u64::from(settings.flush_ms),
            sent_at: None,
        }))
    }

    /// Queues what is in hand and puts in hand what has to leave for it.
    fn pass(&mut self, io: &mut StreamIo) {
        let (new, waiting) = (io.burst.len(), self.packets.len());
        let leaving = if waiting + new <= self.capacity {
            0
        } else {
            // As many as arrived, oldest first; more only where a burst is longer than the queue.
            new.min(waiting)
                .max((waiting + new).saturating_sub(self.capacity))
        };
        while let Some(packet) = io.burst.pop_front() {
            self.packets.push_back(packet);
        }
        self.take(io, leaving);
    }

    fn take(&mut self, io: &mut StreamIo, count: usize) {
        for _ in 0..count.min(io.burst.room()) {
            let Some(packet) = self.packets.pop_front() else {
                break;
            };
            if let Err(packet) = io.burst.push(packet) {
                self.packets.push_front(packet);
                break;
            }
        }
    }

    /// Whether packets have waited for as long as they may; `sent` says that some have just left.
    fn is_due(&mut self, clock: &Clock, sent: bool) -> bool {
        if self.flush_ms == 0 || self.packets.is_empty() {
            self.sent_at = None;
            return false;
        }
        let now = clock.ticks();
        let since = *self.sent_at.get_or_insert(now);
        if sent {
            self.sent_at = Some(now);
        }
        !sent && now.wrapping_sub(since) >= self.flush_ms * (clock.hz() / 1000)
    }

    /// Sends all that wait, in the largest bursts.
    fn flush(&mut self, lcore: &mut Lcore, io: &mut StreamIo) {
        let limit = io.burst.limit();
        io.burst.set_limit(BURST_MAX);
        while !self.packets.is_empty() {
            self.take(io, BURST_MAX);
            io.send(lcore);
        }
        io.burst.set_limit(limit);
        self.sent_at = None;
    }
}

impl Memory {
    fn new(settings: &NoisySettings, setup: &StreamSetup) -> Result<Option<Self>, String> {
        let lookups = [settings.writes, settings.reads, settings.reads_writes];
        if lookups == [0; 3] {
            return Ok(None);
        }
        let mib = settings.memory_mib;
        if mib == 0 {
            return Err(
                "noisy: --noisy-lkup-memory must be > 0 where there are lookups: give MiB, or --noisy-lkup-num-writes, -reads and -reads-writes of 0"
                    .to_owned(),
            );
        }
        let count = (mib as usize) * ((1 << 20) / size_of::<Line>());
        let mut lines = Vec::new();
        lines.try_reserve_exact(count).map_err(|_| {
            format!("noisy: --noisy-lkup-memory={mib} MiB can't be allocated; lower it")
        })?;
        // Written line by line: untouched pages would all be the kernel's one page of zeroes.
        lines.resize(count, Line([1; 8]));
        Ok(Some(Self {
            lines,
            writes: settings.writes,
            reads: settings.reads,
            reads_writes: settings.reads_writes,
            random: XorShift::of_queue(setup.rx.port, setup.rx.queue),
        }))
    }

    /// The lookups of this many packets.
    fn walk(&mut self, packets: usize) {
        for _ in 0..packets {
            for _ in 0..self.writes {
                let value = self.random.next();
                self.pick().0[0] = value;
            }
            for _ in 0..self.reads {
                std::hint::black_box(self.pick().0[0]);
            }
            for _ in 0..self.reads_writes {
                let line = self.pick();
                line.0[0] = std::hint::black_box(line.0[0]).wrapping_add(1);
            }
        }
        std::hint::black_box(&mut self.lines);
    }

    /// A random line.
    #[inline(always)]
    fn pick(&mut self) -> &mut Line {
        let index = self.random.below(self.lines.len());
        &mut self.lines[index]
    }
}

impl Engine for Noisy {
    fn step(&mut self, lcore: &mut Lcore, io: &mut StreamIo) -> bool {
        let received = io.receive(lcore);
        if received != 0 {
            match &mut self.work {
                Work::Nothing => {}
                Work::Mac(mac) => mac.work(lcore, io),
                Work::MacSwap(macswap) => macswap.work(lcore, io),
                Work::FiveTupleSwap(swap) => swap.work(lcore, io),
            }
            if let Some(memory) = &mut self.memory {
                memory.walk(received);
            }
        }
        let Some(queue) = &mut self.queue else {
            if received != 0 {
                io.send(lcore);
            }
            return received != 0;
        };
        if received != 0 {
            queue.pass(io);
        }
        let sent = !io.burst.is_empty();
        if sent {
            io.send(lcore);
        }
        let due = queue.is_due(lcore.clock(), sent);
        if due {
            queue.flush(lcore, io);
        }
        received != 0 || due
    }
}

#[cfg(test)]
mod tests;
