//! A Linux guest in QEMU, under emulation: a machine that another project's driver runs on, at the other end of our
//! shared memory.
//!
//! A test fills in a [`Setup`], boots a [`Guest`], runs commands in it one by one and looks at what they print. Debian's
//! kernel package is fetched once ([`kernel`]); the root file system is made for each boot ([`initrd`]) from busybox,
//! the kernel's modules and the test's own program. Several guests may run at once: what they share is read only. QEMU
//! ends with the `Guest` that owns it, and with the test's thread, however that ends.

pub mod console;
mod image;
pub mod initrd;
pub mod kernel;
pub mod qemu;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::machine::{self, Folder, Lacks};
use console::Console;
use initrd::Initrd;
use kernel::Kernel;

/// How long a boot may take: ten seconds on an idle machine, and no machine of ours is idle.
pub const BOOT: Duration = Duration::from_secs(180);

/// How long a command may take that nothing is known about.
pub const COMMAND: Duration = Duration::from_secs(60);

/// What the kernel and the shell need, and the packages that bring them.
const PROGRAMS: [(&str, &str); 6] = [
    ("qemu-system-x86_64", "qemu-system-x86"),
    ("busybox", "busybox-static"),
    ("modprobe", "kmod"),
    ("ethtool", "ethtool"),
    ("setpriv", "util-linux"),
    ("ldd", "libc-bin"),
];

/// A network card of a guest, on a vhost-user port.
#[derive(Clone, Debug)]
pub struct Nic {
    /// The port's socket.
    pub socket: String,
    /// Queue pairs.
    pub queues: u16,
    /// QEMU waits for the port to connect, rather than connecting itself.
    pub listens: bool,
    /// Properties of `virtio-net-pci`, such as `packed=on,mrg_rxbuf=off`; empty for what QEMU does by itself.
    pub properties: String,
}

impl Nic {
    /// One queue pair on this socket, as QEMU makes it by itself.
    pub fn on(socket: impl Into<String>) -> Self {
        Self {
            socket: socket.into(),
            queues: 1,
            listens: false,
            properties: String::new(),
        }
    }

    /// The same with these properties.
    #[must_use]
    pub fn with(mut self, properties: &str) -> Self {
        properties.clone_into(&mut self.properties);
        self
    }
}

/// What to boot.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Names the guest in messages and gives its cards their addresses: 1 to 250, one a guest that runs.
    pub number: u8,
    /// The network cards, `eth0` and so on.
    pub nics: Vec<Nic>,
    /// Virtual CPUs.
    pub cpus: u16,
    /// A program to bring along as `/bin/probe`.
    pub probe: PathBuf,
    /// Whether a reboot in the guest starts the machine again; else it ends it.
    pub reboots: bool,
    /// What starts the kernel.
    pub firmware: Firmware,
}

/// How a guest comes to its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Firmware {
    /// QEMU hands it over; the cards are left alone until Linux finds them.
    Direct,
    /// The cards' boot code asks the network first, with a driver of its own; then another card boots Linux.
    Network,
}

impl Setup {
    /// A guest of one CPU with these cards.
    pub fn new(number: u8, probe: impl Into<PathBuf>, nics: Vec<Nic>) -> Self {
        Self {
            number,
            nics,
            cpus: 1,
            probe: probe.into(),
            reboots: false,
            firmware: Firmware::Direct,
        }
    }
}

/// A guest that runs, or has ended.
pub struct Guest {
    console: Console,
    /// The boot image lies in it.
    _folder: Folder,
}

impl Guest {
    /// Starts a guest; returns at once, while it boots.
    ///
    /// # Errors
    /// Names the package that this machine lacks.
    ///
    /// # Panics
    /// When the boot image can't be made, or QEMU not be started.
    pub fn start(setup: &Setup) -> Result<Self, String> {
        let kernel = ready()?;
        let folder = Folder::new();
        let image = folder.path().join("initrd");
        let root = Initrd::for_tests(&kernel, &setup.probe);
        root.and_then(|root| root.write(&image))
            .unwrap_or_else(|why| panic!("no boot image: {why}"));
        let command = qemu::command(setup, &kernel, &image, folder.path());
        Ok(Self {
            console: Console::spawn(command, &format!("guest {}", setup.number)),
            _folder: folder,
        })
    }

    /// Waits until the guest takes commands, after the start and after each reboot.
    pub fn wait_until_up(&mut self) {
        self.console.wait_for_shell(BOOT);
    }

    /// Runs a shell command and returns what it printed; it must end with status 0.
    ///
    /// # Panics
    /// When it fails, or the guest with it.
    pub fn run(&mut self, command: &str) -> String {
        self.run_within(command, COMMAND)
    }

    /// The same with a deadline of its own.
    ///
    /// # Panics
    /// When it fails, or the guest with it.
    pub fn run_within(&mut self, command: &str, deadline: Duration) -> String {
        let (status, text) = self.console.run(command, deadline);
        assert_eq!(status, 0, "{command:?} in the guest: {text}");
        text
    }

    /// Runs a shell command that may fail: its exit status, and what it printed.
    pub fn attempt(&mut self, command: &str) -> (i32, String) {
        self.attempt_within(command, COMMAND)
    }

    /// The same with a deadline of its own.
    pub fn attempt_within(&mut self, command: &str, deadline: Duration) -> (i32, String) {
        self.console.run(command, deadline)
    }

    /// Sends a command that doesn't come back, such as `reboot -f`.
    pub fn send(&mut self, command: &str) {
        self.console.send(command);
    }

    /// All that the guest wrote to its console so far.
    pub fn text(&self) -> String {
        self.console.text()
    }

    /// Kills QEMU with SIGKILL and waits for its end.
    pub fn kill(self) {
        drop(self);
    }

    /// Switches the guest off in the ordinary way.
    ///
    /// # Panics
    /// When QEMU doesn't end well.
    pub fn power_off(mut self) {
        self.console.send("poweroff -f");
        let status = self.console.wait_for_end(COMMAND);
        assert!(status.success(), "QEMU: {status}: {}", self.text());
    }
}

/// The kernel, once all programs are there.
fn ready() -> Result<Kernel, String> {
    for (program, package) in PROGRAMS {
        if find(program).is_none() {
            return Err(format!("no {program}; Debian's package {package} has it"));
        }
    }
    Kernel::find()
}

/// Whether guests can run here; says so when they can't, and the test then ends early.
pub fn can_run(test: &str) -> bool {
    match ready() {
        Ok(_) => true,
        Err(why) => {
            machine::skip(test, &why, Lacks::Package);
            false
        }
    }
}

/// A program by the search path, or where the programs of the superuser are.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    let mut files = folders.map(|folder| folder.join(program));
    files.find(|file| Path::is_file(file))
}
