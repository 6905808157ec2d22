//! Numbered packets into a port, and back from the same port: each comes back whole, in order and once, or the one that
//! sends them back says that it dropped it.
//!
//! Who sends them back is another port of this process, polled by a worker, or another program, which the caller starts, and
//! asks for its drops at the end.

use std::io::BufRead;
use std::time::{Duration, Instant};

use mpps_cpu::pin_current_thread;
use mpps_dev::{Lcore, LcoreId};
use mpps_engines::StreamIo;
use mpps_mbuf::Burst;

use crate::echo::Echo;
use crate::packet;
use crate::rig::{BURST, Failure, Folder, Rig, one_cpu};

/// Mbufs of a pool: rings, caches, what is under way.
const MBUFS: u32 = 16384;

/// How long no packet may come before what is missing counts as lost: a busy machine may not run the other end for a while.
const QUIET: Duration = Duration::from_secs(2);

/// Turns without a packet between two looks at the clock.
const TURNS: u32 = 1 << 12;

/// What is wrong on purpose, in the middle of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Plant {
    /// A bit of one packet changes after its checksum was made.
    Flip,
    /// One packet is not sent, and counted as sent.
    Drop,
    /// One packet is sent twice.
    Double,
}

/// What is to be done.
pub(crate) struct Wish {
    /// Device arguments of our port.
    pub(crate) port: String,
    /// Those of the port that sends packets back, if it is in this process too.
    pub(crate) echo: Option<String>,
    pub(crate) packets: u64,
    /// Packets under way at most.
    pub(crate) window: u64,
    pub(crate) cpus: [usize; 2],
    pub(crate) plant: Option<Plant>,
}

/// Runs it and prints a line.
pub(crate) fn run(wish: &Wish) -> Result<(), Failure> {
    pin_current_thread(&one_cpu(wish.cpus[0]))?;
    let (rig, folder) = (Rig::new("contents", MBUFS)?, Folder::new()?);
    let socket = folder.file("contents");
    let mut port = rig.port(&wish.port.replace("{}", &socket), 0)?;
    let echo = match &wish.echo {
        Some(device) => Some(Echo::start(
            &device.replace("{}", &socket),
            wish.cpus[1],
            0,
        )?),
        None => None,
    };
    port.wait_for_link()?;
    if echo.is_none() {
        println!("linked");
        wait_for_caller()?;
    }
    let mut check = Check::new(&rig, port.io(), wish);
    let begin = Instant::now();
    let ran = check.run();
    let spent = begin.elapsed();
    let (rx, _) = port.dev.paths();
    let (sent, back, io) = check.close();
    let dropped = echo.map(Echo::finish).transpose()?;
    ran.map_err(|error| port.with_notes(&error.to_string()))?;
    let lost = sent - back;
    println!(
        "contents: {sent} sent, {back} back, {lost} lost, {:.2} Mpps, {}",
        back as f64 / spent.as_secs_f64() / 1e6,
        rx.as_deref().unwrap_or("path unknown"),
    );
    if dropped.is_none() {
        // Programs of others don't bear it when their peer goes first.
        wait_for_caller()?;
    }
    port.finish(io);
    match dropped {
        Some(dropped) if dropped != lost => {
            Err(format!("{lost} packets are lost, and {dropped} counted as dropped").into())
        }
        _ => Ok(()),
    }
}

/// The program at the other end is ready, or has gone, when our caller says so.
fn wait_for_caller() -> Result<(), Failure> {
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line)? == 0 {
        return Err("the input ended early".into());
    }
    Ok(())
}

struct Check<'a> {
    io: StreamIo,
    lcore: Lcore,
    rig: &'a Rig,
    wish: &'a Wish,
    /// Made, and not taken by the ring yet.
    out: Box<Burst>,
    /// The number that is made next.
    next: u64,
    /// The lowest number that may come next: packets keep their order.
    expected: u64,
    /// Numbers below are back, or lost.
    settled: u64,
    /// Packets that came back.
    back: u64,
    planted: bool,
}

impl<'a> Check<'a> {
    fn new(rig: &'a Rig, io: StreamIo, wish: &'a Wish) -> Self {
        Self {
            io,
            lcore: Lcore::new(LcoreId(1), std::slice::from_ref(&rig.pool), rig.clock),
            rig,
            wish,
            out: Burst::new(BURST),
            next: 0,
            expected: 0,
            settled: 0,
            back: 0,
            planted: false,
        }
    }

    /// Until all are back, or nothing comes any more.
    fn run(&mut self) -> Result<(), Failure> {
        let (mut idle, mut since) = (0_u32, None);
        while self.back < self.wish.packets {
            self.fill()?;
            if let Some(tx) = &mut self.io.tx
                && !self.out.is_empty()
            {
                tx.tx_burst(&mut self.lcore, &mut self.out);
            }
            if self.take()? > 0 {
                (idle, since) = (0, None);
                continue;
            }
            idle = idle.wrapping_add(1);
            if !idle.is_multiple_of(TURNS)
                || since.get_or_insert_with(Instant::now).elapsed() < QUIET
            {
                continue;
            }
            if !self.out.is_empty() {
                return Err("the other end takes no packets any more".into());
            }
            if self.next == self.wish.packets {
                break;
            }
            // A whole window was dropped.
            (self.settled, since) = (self.next, None);
        }
        Ok(())
    }

    /// Makes packets as far as the window allows.
    fn fill(&mut self) -> Result<(), Failure> {
        let end = self.wish.packets.min(self.settled + self.wish.window);
        while self.next < end && self.out.room() > 0 {
            let number = self.next;
            self.next += 1;
            let plant = self
                .wish
                .plant
                .filter(|_| !self.planted && number >= self.wish.packets / 2);
            self.planted |= plant.is_some();
            match plant {
                Some(Plant::Drop) => continue,
                Some(Plant::Double) => self.push(number, false)?,
                _ => {}
            }
            self.push(number, plant == Some(Plant::Flip))?;
        }
        Ok(())
    }

    fn push(&mut self, number: u64, flip: bool) -> Result<(), Failure> {
        let packet = packet::make(&mut self.lcore, self.rig.pool.id(), number);
        let mut packet = packet.ok_or("no mbuf for a packet")?;
        if flip && let Some(last) = packet.data_mut().and_then(<[u8]>::last_mut) {
            *last ^= 0x10;
        }
        // Only a doubled packet can find no room; its twin is there.
        if let Err(packet) = self.out.push(packet) {
            self.lcore.free_one(packet);
        }
        Ok(())
    }

    /// Receives a burst and checks it; says how many packets it had.
    fn take(&mut self) -> Result<usize, Failure> {
        let came = match &mut self.io.rx {
            Some(rx) => rx.rx_burst(&mut self.lcore, &mut self.io.burst),
            None => 0,
        };
        if came == 0 {
            return Ok(0);
        }
        for packet in self.io.burst.as_slice() {
            let number = packet::read(packet.data())
                .filter(|_| packet.segments() == 1)
                .ok_or_else(|| {
                    format!("a packet came back changed, after number {}", self.expected)
                })?;
            if number < self.expected {
                return Err(format!("packet {number} came twice, or late").into());
            }
            if number >= self.next {
                return Err(format!("packet {number} came, and was never sent").into());
            }
            self.expected = number + 1;
            self.back += 1;
        }
        self.settled = self.settled.max(self.expected);
        self.lcore.free(&mut self.io.burst);
        Ok(came)
    }

    /// Frees what is in hand: numbers sent, packets back, and the queues.
    fn close(mut self) -> (u64, u64, StreamIo) {
        self.lcore.free(&mut self.out);
        self.lcore.free(&mut self.io.burst);
        (self.next, self.back, self.io)
    }
}
