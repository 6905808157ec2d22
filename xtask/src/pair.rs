//! Two testpmd joined by a UNIX socket: virtio-user as the server in one, vhost as its client in the other, the setup of
//! the published figures. A [`Pair`] owns both processes and the folder of their socket, and ends them when dropped.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::checks::Folder;
use crate::session::{Counter, Session};

/// What two processes are started with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) name: &'static str,
    /// Appended to the device arguments of virtio-user.
    pub(crate) front: &'static str,
    /// Appended to those of vhost.
    pub(crate) back: &'static str,
    /// Application arguments of both.
    pub(crate) arguments: &'static [&'static str],
    /// Bytes of a packet.
    pub(crate) bytes: usize,
}

const IO: Setup = Setup {
    name: "vhost-virtio-io",
    front: ",mrg_rxbuf=1,in_order=1",
    back: "",
    arguments: &[],
    bytes: 64,
};

/// The standard ones.
pub(crate) const SETUPS: &[Setup] = &[
    IO,
    Setup {
        name: "vhost-virtio-macswap",
        arguments: &["--forward-mode=macswap"],
        ..IO
    },
    Setup {
        name: "vhost-virtio-nomrg",
        front: ",mrg_rxbuf=0,in_order=1",
        ..IO
    },
    Setup {
        name: "vhost-virtio-noinorder",
        front: ",mrg_rxbuf=1,in_order=0",
        ..IO
    },
    Setup {
        name: "vhost-virtio-packed",
        front: ",mrg_rxbuf=1,in_order=1,packed_vq=1",
        ..IO
    },
    Setup {
        name: "vhost-virtio-2q",
        front: ",mrg_rxbuf=1,in_order=1,queues=2",
        back: ",queues=2",
        arguments: &["--rxq=2", "--txq=2"],
        ..IO
    },
    Setup {
        name: "vhost-virtio-512",
        arguments: &["--txpkts=512"],
        bytes: 512,
        ..IO
    },
    Setup {
        name: "vhost-virtio-1518",
        arguments: &["--txpkts=1514"],
        bytes: 1518,
        ..IO
    },
];

/// Both processes, linked.
pub(crate) struct Pair {
    pub(crate) front: Session,
    pub(crate) back: Session,
    _folder: Folder,
}

/// How long a link may take to come up.
const PATIENCE: Duration = Duration::from_secs(10);

impl Pair {
    /// Starts both, virtio-user's main and worker on CPU 0, vhost's on CPU 1, and waits for the link.
    pub(crate) fn start(program: &Path, setup: &Setup) -> Result<Self, String> {
        let folder = Folder::new("pair")?;
        let socket = folder.path().join("vhost-net").display().to_string();
        let front = format!(
            "net_virtio_user0,mac=00:01:02:03:04:05,path={socket},server=1{}",
            setup.front
        );
        let back = format!("net_vhost0,iface={socket},client=1{}", setup.back);
        let mut pair = Self {
            front: open(program, "0@0,1@0", &front, setup)?,
            back: open(program, "0@1,1@1", &back, setup)?,
            _folder: folder,
        };
        let end = Instant::now() + PATIENCE;
        while !(is_up(&mut pair.front)? && is_up(&mut pair.back)?) {
            if Instant::now() > end {
                return Err(format!("{}: the link doesn't come up", setup.name));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(pair)
    }

    /// `start` in front, packets from behind.
    pub(crate) fn forward(&mut self) -> Result<(), String> {
        self.front.say("start")?;
        self.back.say("start tx_first 32").map(drop)
    }

    /// What the vhost port receives, in million packets a second.
    pub(crate) fn rate(&mut self, time: Duration) -> Result<f64, String> {
        let (first_time, first) = self.back.counter(1, Counter::Received)?;
        thread::sleep(time);
        let (last_time, last) = self.back.counter(1, Counter::Received)?;
        if last <= first {
            return Err(format!("no packet moved in {} s", time.as_secs_f64()));
        }
        Ok((last - first) as f64 / (last_time - first_time).as_secs_f64() / 1e6)
    }

    /// Ends both; each has to end well.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        for end in [&mut self.back, &mut self.front] {
            end.say("stop")?;
            end.say("quit")?;
        }
        self.back.finish()?;
        self.front.finish()
    }
}

fn open(program: &Path, lcores: &str, vdev: &str, setup: &Setup) -> Result<Session, String> {
    let mut arguments: Vec<String> = [
        "--in-memory",
        "--no-pci",
        "--single-file-segments",
        "--lcores",
        lcores,
        "--vdev",
        vdev,
        "--no-telemetry",
        "--",
        "-i",
    ]
    .map(str::to_owned)
    .into();
    arguments.extend(setup.arguments.iter().map(|&word| word.to_owned()));
    let mut session = Session::start(program, &arguments)?;
    session.wait_for(0, "prompt", |text| text.contains("testpmd> ").then_some(()))?;
    Ok(session)
}

fn is_up(session: &mut Session) -> Result<bool, String> {
    let at = session.say("show port info 0")?;
    session.wait_for(at, "link status", |text| {
        let line = text.lines().find(|line| line.starts_with("Link status:"))?;
        Some(line.contains("up"))
    })
}

/// Rate of a setup, in million packets a second.
pub(crate) fn rate(program: &Path, setup: &Setup, time: Duration) -> Result<f64, String> {
    let mut pair = Pair::start(program, setup)?;
    pair.forward()?;
    thread::sleep(Duration::from_millis(700));
    let rate = pair.rate(time)?;
    pair.finish()?;
    Ok(rate)
}
