//! Two testpmd joined by vhost-user, ours or DPDK's at either end: a front end (virtio-user) and a back end (vhost).
//!
//! A test makes a [`Joint`] from a [`Wiring`]; it owns both processes and the folder of their socket. DPDK's program needs
//! root and huge pages: [`HugePages::take`] reserves them and puts back what was there.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::machine::{self, Folder, Lacks};
use crate::report::{Nic, nics};
use crate::session::{PATIENCE, PROMPT, Session};
use crate::{paths, program};

/// Whose testpmd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The one under test.
    Ours,
    /// DPDK's, from the search path.
    Dpdk,
}

/// The name of DPDK's program.
const DPDK: &str = "dpdk-testpmd";
/// 2 MiB pages that two of DPDK's processes need.
const PAGES: u32 = 256;
const NR_HUGEPAGES: &str = "/proc/sys/vm/nr_hugepages";

/// Huge pages for DPDK, for as long as this lives; one test at a time has them.
pub struct HugePages {
    before: Option<u32>,
    _turn: MutexGuard<'static, ()>,
}

impl HugePages {
    /// Reserves them; where DPDK's program can't run, says that `test` is skipped, and is none.
    pub fn take(test: &str) -> Option<Self> {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let path = std::env::var_os("PATH").unwrap_or_default();
        if !std::env::split_paths(&path).any(|folder| folder.join(DPDK).is_file()) {
            machine::skip(test, "dpdk-testpmd is not installed", Lacks::Package);
            return None;
        }
        if !machine::is_root() {
            machine::skip(test, "DPDK's testpmd needs root", Lacks::Kernel);
            return None;
        }
        let before = reserved()?;
        let mut pages = Self {
            before: None,
            _turn: turn,
        };
        if before < PAGES {
            pages.before = Some(before);
            let asked = fs::write(NR_HUGEPAGES, PAGES.to_string());
            if asked.is_err() || reserved() < Some(PAGES) {
                machine::skip(test, "no 256 huge pages to be had", Lacks::Kernel);
                return None;
            }
        }
        Some(pages)
    }
}

impl Drop for HugePages {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // Nothing more can be done here; the next test says what it lacks.
            let _ = fs::write(NR_HUGEPAGES, before.to_string());
        }
    }
}

fn reserved() -> Option<u32> {
    fs::read_to_string(NR_HUGEPAGES).ok()?.trim().parse().ok()
}

/// How two processes are joined.
#[derive(Clone, Copy, Debug)]
pub struct Wiring {
    /// Whose virtio-user.
    pub front: Whose,
    /// Whose vhost.
    pub back: Whose,
    /// Whether the front end listens, and the back end connects; or the other way round.
    pub front_serves: bool,
    /// The path through the rings.
    pub path: &'static paths::Path,
    /// Queue pairs.
    pub queues: u16,
    /// More device arguments of the front end, each with its comma.
    pub front_extra: &'static str,
    /// More ports of either process, beside the one on the socket.
    pub beside: &'static [&'static str],
}

impl Wiring {
    /// One queue pair, the front end listening.
    pub const fn new(front: Whose, back: Whose, path: &'static paths::Path) -> Self {
        Self {
            front,
            back,
            front_serves: true,
            path,
            queues: 1,
            front_extra: "",
            beside: &[],
        }
    }

    /// What a failure names.
    pub fn name(&self) -> String {
        let Self {
            front, back, path, ..
        } = self;
        format!("{front:?} front, {back:?} back, {}", path.name)
    }

    /// Device arguments of virtio-user.
    pub fn front_vdev(&self, socket: &str) -> String {
        let serves = if self.front_serves { ",server=1" } else { "" };
        let queues = match self.queues {
            1 => String::new(),
            more => format!(",queues={more}"),
        };
        let (path, extra) = (self.path.devargs, self.front_extra);
        format!(
            "net_virtio_user0,mac=00:01:02:03:04:05,path={socket}{serves},{path}{queues}{extra}"
        )
    }

    /// Device arguments of vhost.
    pub fn back_vdev(&self, socket: &str) -> String {
        let client = if self.front_serves { ",client=1" } else { "" };
        let queues = self.queues;
        format!("net_vhost0,iface={socket},queues={queues}{client}")
    }

    /// Starts virtio-user by itself.
    pub fn start_front(&self, socket: &str) -> End {
        let extra = [self.path.eal, self.path.front];
        End::start(self.front, "front", &self.front_vdev(socket), self, extra)
    }

    /// Starts vhost by itself.
    pub fn start_back(&self, socket: &str) -> End {
        let extra: [&[&str]; 2] = [&[], &[]];
        End::start(self.back, "back", &self.back_vdev(socket), self, extra)
    }
}

/// One process, driven by its console. Unlike a session of its own, it may say things between two commands: events.
pub struct End {
    session: Session,
    asked: usize,
}

impl End {
    fn start(whose: Whose, name: &str, vdev: &str, wiring: &Wiring, extra: [&[&str]; 2]) -> Self {
        let mut words: Vec<String> = ["--in-memory", "--no-pci", "--single-file-segments"]
            .map(str::to_owned)
            .into();
        words.push(format!("--file-prefix=e2e-{name}"));
        words.extend(["--lcores".to_owned(), machine::lcores(0..2)]);
        let vdevs = [vdev].into_iter().chain(wiring.beside.iter().copied());
        words.extend(vdevs.map(|vdev| format!("--vdev={vdev}")));
        words.extend(extra[0].iter().map(|&word| word.to_owned()));
        words.extend(["--no-telemetry", "--", "-i", "--total-num-mbufs=16384"].map(str::to_owned));
        let queues = wiring.queues;
        words.extend([format!("--rxq={queues}"), format!("--txq={queues}")]);
        words.extend(extra[1].iter().map(|&word| word.to_owned()));
        if !wiring.beside.is_empty() {
            // Each port to itself.
            words.push("--port-topology=loop".to_owned());
        }
        let command = match whose {
            Whose::Ours => {
                let mut command = Command::new(program::testpmd());
                command.args(words);
                command
            }
            Whose::Dpdk => {
                // Its own output is printed in blocks of kilobytes otherwise.
                let mut command = Command::new("stdbuf");
                command.args(["-oL", DPDK]).args(words);
                command
            }
        };
        Self {
            session: Session::spawn(command),
            asked: 0,
        }
    }

    /// Waits until the console has answered all commands so far.
    pub fn wait_for_prompt(&self) {
        self.session.wait("a prompt", |session| {
            (session.stdout().matches(PROMPT).count() > self.asked).then_some(())
        });
    }

    /// Types a line and returns what was printed until the next prompt.
    pub fn ask(&mut self, line: &str) -> String {
        self.wait_for_prompt();
        let at = self.session.stdout().len();
        self.session.say(line);
        self.asked += 1;
        self.wait_for_prompt();
        self.session.stdout()[at..].to_owned()
    }

    /// Counters of a port.
    ///
    /// # Panics
    /// When there is no such port.
    pub fn nic(&mut self, port: u16) -> Nic {
        let text = self.ask(&format!("show port stats {port}"));
        let found = nics(&text).into_iter().find(|nic| nic.port == port);
        found.unwrap_or_else(|| panic!("no statistics of port {port}: {text}"))
    }

    /// Whether its link is up.
    pub fn is_up(&mut self) -> bool {
        let text = self.ask("show port info 0");
        let line = text.lines().find(|line| line.starts_with("Link status:"));
        line.is_some_and(|line| line.contains("up"))
    }

    /// Asks until `holds` does.
    ///
    /// # Panics
    /// When it takes too long.
    pub fn until(&mut self, what: &str, mut holds: impl FnMut(&mut Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds(self) {
            let last = self.session.stdout();
            let tail = last.char_indices().rev().nth(900).map_or(0, |(at, _)| at);
            assert!(
                Instant::now() < end,
                "{what} takes too long: {}",
                &last[tail..]
            );
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// All it said on standard error.
    pub fn stderr(&self) -> String {
        self.session.stderr()
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.session.id()
    }

    /// Ends it as the out-of-memory killer would.
    pub fn kill(&mut self) {
        self.session.signal(Signal::KILL);
        self.session.wait_for_end();
    }

    /// Ends it well.
    pub fn quit(self) {
        self.wait_for_prompt();
        self.session.quit();
    }
}

/// Both processes and what joins them.
pub struct Joint {
    /// virtio-user.
    pub front: End,
    /// vhost.
    pub back: End,
    wiring: Wiring,
    folder: Folder,
}

impl Joint {
    /// Starts both and waits for the link. The one that listens is first; DPDK's doesn't get to its prompt before the other
    /// has connected.
    pub fn start(wiring: Wiring) -> Self {
        let folder = Folder::new();
        let socket = folder.file("vhost-net");
        let (front, back);
        if wiring.front_serves {
            front = wiring.start_front(&socket);
            wait_for(Path::new(&socket), &front);
            back = wiring.start_back(&socket);
        } else {
            back = wiring.start_back(&socket);
            back.wait_for_prompt();
            wait_for(Path::new(&socket), &back);
            front = wiring.start_front(&socket);
        }
        let mut joint = Self {
            front,
            back,
            wiring,
            folder,
        };
        joint.wait_for_link();
        joint
    }

    /// Waits until both say that the link is up.
    pub fn wait_for_link(&mut self) {
        for (name, end) in [("front", &mut self.front), ("back", &mut self.back)] {
            end.wait_for_prompt();
            end.until(
                &format!("{}: link of the {name}", self.wiring.name()),
                End::is_up,
            );
        }
    }

    /// A new front end in place of the old one, which is killed if it still runs.
    pub fn renew_front(&mut self) {
        self.front.kill();
        self.front = self.wiring.start_front(&self.folder.file("vhost-net"));
    }

    /// A new back end in place of the old one, which is killed if it still runs.
    pub fn renew_back(&mut self) {
        self.back.kill();
        self.back = self.wiring.start_back(&self.folder.file("vhost-net"));
    }

    /// Starts a loop that the back end feeds, and waits until `packets` more have come to both.
    pub fn flow(&mut self, packets: u64) {
        self.front.ask("start");
        self.back.ask("start tx_first 32");
        self.wait_for_packets(packets);
    }

    /// Waits until `packets` more have come to both.
    pub fn wait_for_packets(&mut self, packets: u64) {
        let name = self.wiring.name();
        for end in [&mut self.front, &mut self.back] {
            let aim = end.nic(0).rx[0] + packets;
            end.until(&format!("{name}: {packets} packets"), |end| {
                end.nic(0).rx[0] >= aim
            });
        }
    }

    /// Stops both such that no packet stays in a ring: all that was sent has been received. Returns what the two printed.
    pub fn drain(&mut self) -> [String; 2] {
        let back = self.back.ask("stop");
        settle(&mut self.front);
        let front = self.front.ask("stop");
        self.back.ask("set fwd rxonly");
        self.back.ask("start");
        settle(&mut self.back);
        self.back.ask("stop");
        self.back.ask("set fwd io");
        [front, back]
    }

    /// Ends both, the one that connects first.
    pub fn quit(self) {
        if self.wiring.front_serves {
            self.back.quit();
            self.front.quit();
        } else {
            self.front.quit();
            self.back.quit();
        }
    }
}

/// Waits until no more packets come.
fn settle(end: &mut End) {
    let mut before = end.nic(0);
    end.until("the last packet", |end| {
        thread::sleep(Duration::from_millis(40));
        let now = end.nic(0);
        std::mem::replace(&mut before, now) == now
    });
}

fn wait_for(socket: &Path, end: &End) {
    end.session
        .wait("a socket", |_| socket.exists().then_some(()));
}
