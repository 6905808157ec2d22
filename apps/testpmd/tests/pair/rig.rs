//! Two programs whose ports meet. Made by a test; both end with it.

use std::path::{Path, PathBuf};
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::run::{OURS, Run, alone};

/// The longest wait for something to become true.
const PATIENCE: Duration = Duration::from_secs(90);

/// The front end, which listens.
pub(crate) const FRONT: &str = "net_virtio_user0,path=./sock,server=1";

/// The back end, which connects.
pub(crate) const BACK: &str = "net_vhost0,iface=sock,client=1";

/// The event lines of a port 0.
pub(crate) const QUEUE_EVENT: &str = "\nPort 0: queue state event\n";
pub(crate) const LINK_EVENT: &str = "\nPort 0: link state change event\n";

/// A folder of one test's own; gone with it.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        // Relaxed: a lone counter.
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let own = format!("mpps-pair-{name}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(own);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Whether the socket's file is there.
    pub(crate) fn has_socket(&self) -> bool {
        self.0.join("sock").exists()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// How one program is called.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    /// Its ports.
    pub(crate) devices: &'a [&'a str],
    /// Behind `--`.
    pub(crate) application: &'a [&'a str],
    /// Forwarding cores.
    pub(crate) cores: u32,
}

impl<'a> Call<'a> {
    /// A console with one port and one forwarding core.
    pub(crate) const fn of(devices: &'a [&'a str]) -> Self {
        Self {
            devices,
            application: &["-i"],
            cores: 1,
        }
    }

    pub(crate) const fn with(self, application: &'a [&'a str]) -> Self {
        Self {
            application,
            ..self
        }
    }

    /// Starts it, its forwarding cores from this CPU on.
    pub(crate) fn start(&self, folder: &Folder, cpu: u32) -> Run {
        let cpus = std::thread::available_parallelism().map_or(1, |n| n.get() as u32);
        let mut lcores = String::from("0@0");
        for core in 0..self.cores {
            lcores += &format!(",{}@{}", core + 1, (cpu + core) % cpus);
        }
        let mut args = vec!["--lcores", &lcores];
        args.extend([
            "--no-pci",
            "--no-huge",
            "--no-telemetry",
            "--single-file-segments",
        ]);
        args.extend(self.devices.iter().flat_map(|device| ["--vdev", device]));
        args.push("--");
        args.extend(self.application);
        Run::start_in(folder.path(), Path::new(OURS), &args)
    }

    fn is_console(&self) -> bool {
        self.application.contains(&"-i")
    }
}

/// What a line is answered.
pub(crate) fn ask(run: &mut Run, line: &str) -> String {
    let at = run.text().len();
    run.command(line);
    run.text()[at..].replace('\r', "")
}

/// The figure behind a counter's name; none where the answer hasn't got it.
pub(crate) fn figure(text: &str, name: &str) -> Option<u64> {
    let at = text.find(name)? + name.len();
    let rest = text[at..].trim_start_matches([':', ' ']);
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

/// Packets that a port received and sent.
pub(crate) fn packets(run: &mut Run, port: u16) -> (u64, u64) {
    let text = ask(run, &format!("show port stats {port}"));
    let value = |name| figure(&text, name).unwrap_or_else(|| panic!("no {name}: {text}"));
    (value("RX-packets"), value("TX-packets"))
}

/// Waits until something is true of a program.
pub(crate) fn until(run: &mut Run, what: &str, mut holds: impl FnMut(&mut Run) -> bool) {
    let start = Instant::now();
    while !holds(run) {
        assert!(start.elapsed() < PATIENCE, "not {what}:\n{}", run.text());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits for a port's link.
pub(crate) fn linked(run: &mut Run, port: u16) {
    until(run, "up", |run| {
        ask(run, &format!("show port summary {port}")).contains(" up       ")
    });
}

/// Waits until a port receives packets that it hadn't before.
pub(crate) fn receives(run: &mut Run, port: u16) {
    let (before, _) = packets(run, port);
    until(run, "receiving", |run| packets(run, port).0 > before);
}

/// A pair; the front end's port comes last of its program's, the back end's first.
pub(crate) struct Pair {
    pub(crate) front: Run,
    pub(crate) back: Run,
    pub(crate) folder: Folder,
    _turn: MutexGuard<'static, ()>,
}

impl Pair {
    /// The two programs called so, and linked.
    pub(crate) fn of(name: &str, front: Call<'_>, back: Call<'_>) -> Self {
        let turn = alone();
        let folder = Folder::new(name);
        let (one, two) = (front.start(&folder, 0), back.start(&folder, 1));
        let mut pair = Self {
            front: one,
            back: two,
            folder,
            _turn: turn,
        };
        for (call, run) in [(front, &mut pair.front), (back, &mut pair.back)] {
            if call.is_console() {
                run.wait_for("testpmd> ", 1);
            }
        }
        if front.is_console() {
            linked(&mut pair.front, front.devices.len() as u16 - 1);
        }
        if back.is_console() {
            linked(&mut pair.back, 0);
        }
        pair
    }

    /// Packets go round: both ends receive.
    pub(crate) fn circulates(&mut self) {
        receives(&mut self.front, 0);
        receives(&mut self.back, 0);
    }

    /// Both forward, and packets go round.
    pub(crate) fn circulate(&mut self) {
        ask(&mut self.front, "start");
        ask(&mut self.back, "start tx_first 4");
        self.circulates();
    }

    /// Both quit, in good order; what they said.
    pub(crate) fn quit(self) -> (String, String) {
        let Self {
            front,
            back,
            folder,
            ..
        } = self;
        let said = (quit(front), quit(back));
        assert!(!folder.has_socket());
        said
    }
}

/// Quits a program; what it said.
pub(crate) fn quit(mut run: Run) -> String {
    run.send("quit\n");
    let ended = run.end();
    assert!(ended.status.success(), "{}", ended.text);
    ended.text.replace('\r', "")
}
