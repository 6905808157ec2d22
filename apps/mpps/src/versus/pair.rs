//! The loop as two processes of one program: a virtio-user port that listens, and a vhost port that connects to it.
//!
//! The command line is the founding post's, but for CPUs and memory. A [`Pair`] is started for one rate and ended after it,
//! so that where its memory happens to lie differs from round to round.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use mpps_os::Signals;

use super::console::{Console, PROMPT};
use super::trouble::Trouble;
use crate::bench::Failure;
use crate::folder::Folder;
use crate::job::nap;

/// Mbufs of a process: enough for its rings, caches and what is on its way, and little memory.
const MBUFS: &str = "--total-num-mbufs=16384";

/// Free huge pages of 2 MiB from which on both processes use them: 64 MiB each, and room for a program that wants more.
const PAGES: u64 = 256;

/// Packets come to their pace before a rate counts.
const SETTLE: Duration = Duration::from_millis(300);

/// How often a link is looked at until it is up.
const LOOK: Duration = Duration::from_millis(50);

/// Where the memory of the processes comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// Huge pages that were set aside.
    Huge,
    /// None are free: ordinary pages, or what the program makes of them.
    Ordinary,
}

impl Memory {
    /// What this machine has just now.
    pub(super) fn here() -> Self {
        let free = fs::read_to_string("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
        let free = free.ok().and_then(|pages| pages.trim().parse().ok());
        if free >= Some(PAGES) {
            Self::Huge
        } else {
            Self::Ordinary
        }
    }

    /// The options that ask for it.
    pub(crate) fn options(self) -> &'static [&'static str] {
        match self {
            Self::Huge => &["--in-memory", "--single-file-segments"],
            Self::Ordinary => &["--no-huge", "-m", "128"],
        }
    }
}

/// What all pairs of a run have in common.
pub(super) struct Setup {
    /// CPUs of virtio-user and of vhost; main and worker thread of a process share one.
    pub(super) cpus: [usize; 2],
    pub(super) size: usize,
    pub(super) packed: bool,
    pub(super) memory: Memory,
    pub(super) patience: Duration,
    pub(super) signals: Signals,
}

/// Which of the two processes.
#[derive(Clone, Copy)]
enum End {
    VirtioUser,
    Vhost,
}

impl Setup {
    /// The words behind the program's name.
    fn words(&self, end: End, socket: &Path, more: &[String]) -> Vec<String> {
        let socket = socket.display();
        let (name, cpu, device) = match end {
            End::VirtioUser => {
                let packed = if self.packed { ",packed_vq=1" } else { "" };
                let device = format!(
                    "net_virtio_user0,mac=00:01:02:03:04:05,path={socket},server=1,mrg_rxbuf=1,in_order=1{packed}"
                );
                ("virtio", self.cpus[0], device)
            }
            End::Vhost => {
                let device = format!("net_vhost0,iface={socket},client=1");
                ("vhost", self.cpus[1], device)
            }
        };
        let mut words = vec![
            "-v".to_owned(),
            "--no-pci".to_owned(),
            format!("--lcores=0@{cpu},1@{cpu}"),
            format!("--file-prefix=mpps-{}-{name}", std::process::id()),
            format!("--vdev={device}"),
        ];
        words.extend(self.memory.options().iter().map(|word| (*word).to_owned()));
        words.extend_from_slice(more);
        let size = format!("--txpkts={}", self.size);
        words.extend(["--", "-i", MBUFS, &size].map(str::to_owned));
        words
    }
}

/// A counter as it was printed, and between which instants that was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    pub(super) asked: Instant,
    pub(super) told: Instant,
    pub(super) packets: u64,
}

/// Packets a second, in millions: what the clock leaves open, and the middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pace {
    pub(super) least: f64,
    pub(super) middle: f64,
    pub(super) most: f64,
}

/// Two counters of the same packets differ by what is in the rings at either reading.
const ON_THE_WAY: f64 = 4096.0;

impl Pace {
    /// From one reading to the next of the same counter.
    pub(super) fn between(first: Reading, last: Reading) -> Self {
        let seconds = |from: Instant, to: Instant| to.saturating_duration_since(from).as_secs_f64();
        let longest = seconds(first.asked, last.told);
        let shortest = seconds(first.told, last.asked);
        let packets = last.packets.saturating_sub(first.packets) as f64 / 1e6;
        let rings = ON_THE_WAY / 1e6;
        Self {
            least: (packets - rings).max(0.0) / longest,
            middle: packets / f64::midpoint(longest, shortest),
            most: (packets + rings) / shortest,
        }
    }

    /// Whether both can be the rate of the same packets.
    pub(super) fn agrees(self, other: Self) -> bool {
        // Packets that a full ring didn't take were counted at one end alone: a trace of them is no fault.
        const SLACK: f64 = 1.02;
        self.least <= other.most * SLACK && other.least <= self.most * SLACK
    }
}

/// Two processes whose ports are linked.
pub(super) struct Pair {
    program: String,
    front: Console,
    back: Console,
    patience: Duration,
    /// Socket and run-time files; goes after the processes.
    _folder: Folder,
}

impl Pair {
    /// Starts both and waits until they are linked; `more` goes to both.
    pub(super) fn start(program: &Path, more: &[String], setup: &Setup) -> Result<Self, Failure> {
        let folder = Folder::new()?;
        let socket = folder.path().join("vhost-net");
        let begin = |end: End, part: &str| {
            let mut command = Command::new(program);
            command
                .args(setup.words(end, &socket, more))
                .current_dir(folder.path())
                // What a program leaves behind it leaves in a folder that goes.
                .env("RUNTIME_DIRECTORY", folder.path());
            let name = format!("'{}' ({part})", program.display());
            Console::start(name, &mut command, setup.patience, setup.signals)
        };
        let mut front = begin(End::VirtioUser, "virtio-user")?;
        // DPDK's has no prompt before the other end has come.
        wait_for_socket(&mut front, &socket)?;
        let mut back = begin(End::Vhost, "vhost")?;
        for console in [&mut back, &mut front] {
            console.wait(0, "prompt", |text| text.contains(PROMPT).then_some(()))?;
        }
        for console in [&mut front, &mut back] {
            wait_for_link(console, setup)?;
        }
        Ok(Self {
            program: program.display().to_string(),
            front,
            back,
            patience: setup.patience,
            _folder: folder,
        })
    }

    /// Has packets go round and says how many a second, in millions; `time` is how long they are counted.
    pub(super) fn rate(&mut self, time: Duration, signals: &Signals) -> Result<f64, Failure> {
        self.front.ask("start")?;
        self.back.ask("start tx_first 32")?;
        nap(SETTLE, signals)?;
        let first = (self.read_back()?, self.read_front()?);
        let last = loop {
            nap(time, signals)?;
            let last = (self.read_back()?, self.read_front()?);
            if last.0.packets > first.0.packets {
                break last;
            }
            // Where others have the CPUs it may only be slow.
            let time = first.0.told.elapsed();
            if time > self.patience / 10 {
                return Err(Trouble::Still {
                    process: self.back.name(),
                    time: Duration::from_millis(time.as_millis() as u64),
                    words: self.back.words(),
                }
                .into());
            }
        };
        let received = Pace::between(first.0, last.0);
        let sent = Pace::between(first.1, last.1);
        if !received.agrees(sent) {
            return Err(Trouble::Disagree {
                program: self.program.clone(),
                received: received.middle,
                sent: sent.middle,
            }
            .into());
        }
        Ok(received.middle)
    }

    fn read_back(&mut self) -> Result<Reading, Failure> {
        read(&mut self.back, "RX-packets:")
    }

    fn read_front(&mut self) -> Result<Reading, Failure> {
        read(&mut self.front, "TX-packets:")
    }

    /// The version that the program told of itself.
    pub(super) fn version(&mut self) -> Option<String> {
        // All has been said by now: this waits for nothing.
        let text = self.back.wait(0, "version", |text| Some(text.to_owned()));
        version(&text.ok()?)
    }

    /// Ends both.
    pub(super) fn quit(self) {
        self.back.quit();
        self.front.quit();
    }
}

/// The version in what a program says when it starts.
pub(super) fn version(text: &str) -> Option<String> {
    let rest = |mark: &str| text.split_once(mark).map(|(_, rest)| rest);
    let word = match (rest("RTE Version: '"), rest("mpps: testpmd ")) {
        (Some(rest), _) => rest.split(['\'', '\r', '\n']).next(),
        (None, Some(rest)) => rest.split_whitespace().next(),
        (None, None) => None,
    };
    word.map(str::to_owned)
}

fn wait_for_socket(front: &mut Console, socket: &Path) -> Result<(), Failure> {
    front.wait(0, "socket", |_| socket.exists().then_some(()))
}

fn wait_for_link(console: &mut Console, setup: &Setup) -> Result<(), Failure> {
    let begin = Instant::now();
    while !console.ask("show port info 0")?.contains("Link status: up") {
        if begin.elapsed() > setup.patience {
            // Nothing that it could say now would be a link.
            return console.wait(usize::MAX, "link", |_| None);
        }
        nap(LOOK, &setup.signals)?;
    }
    Ok(())
}

fn read(console: &mut Console, counter: &str) -> Result<Reading, Failure> {
    let asked = Instant::now();
    let answer = console.ask("show port stats 0")?;
    let told = Instant::now();
    match number_after(&answer, counter) {
        Some(packets) => Ok(Reading {
            asked,
            told,
            packets,
        }),
        None => console.wait(usize::MAX, &format!("counter {counter}"), |_| None),
    }
}

pub(super) fn number_after(text: &str, name: &str) -> Option<u64> {
    let (_, rest) = text.split_once(name)?;
    rest.split_whitespace().next()?.parse().ok()
}
