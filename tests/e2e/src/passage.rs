//! Captures on their way through testpmd: rx_pcap, an engine, tx_pcap.
//!
//! Whoever calls [`pass`] judges what comes out; here it is made sure that all has come out.

use std::path::{Path, PathBuf};

use crate::capture::{self, Capture, ETHERNET};
use crate::frame::Mac;
use crate::machine::{Folder, lcores};
use crate::report::{accumulated, nics};
use crate::session::Session;

/// Captures that share a process.
pub const TOGETHER: usize = 32;

/// A capture: its path and what is in it.
#[derive(Debug)]
pub struct Input {
    /// The file.
    pub path: PathBuf,
    /// What is in it.
    pub capture: Capture,
}

impl Input {
    /// A capture file and its contents.
    pub fn read(path: PathBuf) -> Self {
        Self {
            capture: capture::read(&path),
            path,
        }
    }

    /// The path as text.
    pub fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// A capture that went through an engine.
#[derive(Debug)]
pub struct Passed<'a> {
    /// What went in.
    pub input: &'a Input,
    /// The port's address.
    pub mac: Mac,
    /// What it sent.
    pub output: Vec<Vec<u8>>,
}

/// Sends captures through an engine, [`TOGETHER`] at a time: each is a port that sends to itself.
///
/// # Panics
/// When frames are lost, or the program doesn't end well.
pub fn pass<'a>(inputs: &[&'a Input], engine: &str) -> Vec<Passed<'a>> {
    let together = inputs.chunks(TOGETHER);
    together
        .flat_map(|inputs| pass_together(inputs, engine))
        .collect()
}

fn pass_together<'a>(inputs: &[&'a Input], engine: &str) -> Vec<Passed<'a>> {
    let folder = Folder::new();
    let output = |n: usize| folder.file(&format!("{n}.pcap"));
    let mut words = vec!["--in-memory".to_owned(), "--no-pci".to_owned()];
    words.extend(["--lcores".to_owned(), lcores(0..2)]);
    for (n, input) in inputs.iter().enumerate() {
        let (from, to) = (input.name(), output(n));
        words.push(format!(
            "--vdev=net_pcap{n},rx_pcap={from},tx_pcap={to},snaplen=262144"
        ));
    }
    words.extend(["--", "-i", "--port-topology=loop", "--total-num-mbufs=8192"].map(str::to_owned));
    words.push(format!("--forward-mode={engine}"));
    let mut session = Session::start(&words);
    session.ask("start");
    let ended = |session: &Session| session.stderr().lines().filter(|line| is_end(line)).count();
    session.wait("end of all captures", |session| {
        (ended(session) == inputs.len()).then_some(())
    });
    let expected: usize = inputs.iter().map(|input| input.capture.frames.len()).sum();
    // The end of a file is told in the visit that reads its last frames; they are sent in the same one.
    session.ask("stop");
    let stats = nics(&session.ask("show port stats all"));
    let ended = session.quit();
    let sum = accumulated(&ended.stdout);
    let names: Vec<String> = inputs.iter().map(|input| input.name()).collect();
    assert_eq!(sum.rx[0], expected as u64, "frames of {names:?}");
    assert!(
        stats.iter().all(|nic| nic.rx_errors + nic.tx[1] == 0),
        "{stats:?}"
    );
    assert_eq!(sum.tx[1], 0, "dropped of {names:?}");
    let macs = macs(&ended.stdout);
    let passed = |(n, input): (usize, &&'a Input)| Passed {
        input,
        mac: macs[n],
        output: sent(Path::new(&output(n))),
    };
    inputs.iter().enumerate().map(passed).collect()
}

/// The frames of a file that a port has written.
///
/// # Panics
/// When it isn't a whole capture of Ethernet.
pub fn sent(path: &Path) -> Vec<Vec<u8>> {
    let capture = capture::read(path);
    assert_eq!((capture.link, capture.fault), (Some(ETHERNET), None));
    capture.frames
}

/// The line that a port says once when its file has no more frames, or none that can be read.
fn is_end(line: &str) -> bool {
    line.starts_with("mpps: net_pcap")
        && (line.contains(": end of ") || line.contains("frames came before"))
}

/// The ports' addresses, in order, from the lines of their start.
pub fn macs(text: &str) -> Vec<Mac> {
    let mac = |line: &str| {
        let (_, mac) = line.strip_prefix("Port ")?.split_once(": ")?;
        let bytes: Vec<u8> = mac
            .split(':')
            .filter_map(|byte| u8::from_str_radix(byte, 16).ok())
            .collect();
        bytes.try_into().ok()
    };
    text.lines().filter_map(mac).collect()
}
