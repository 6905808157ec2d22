//! Captures of others through the engines, frame by frame.
//!
//! The folder is that of `MPPS_CAPTURES`. What goes in and comes out is read by this crate's own reader, which is held
//! against tcpdump for every file. Several captures share a process: each is a port that sends to itself.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use mpps_e2e::capture::{self, Capture, ETHERNET};
use mpps_e2e::frame::{self, Judged, Mac};
use mpps_e2e::judge;
use mpps_e2e::machine::{Folder, Lacks, lcores, skip};
use mpps_e2e::report::{accumulated, nics};
use mpps_e2e::session::{Ended, Session};

/// Captures that share a process.
const TOGETHER: usize = 32;

/// A capture: its path and what is in it.
struct Input {
    path: PathBuf,
    capture: Capture,
}

impl Input {
    fn name(&self) -> String {
        self.path.display().to_string()
    }
}

/// All captures; none, and a line that says why, where there is no folder.
fn inputs(test: &str) -> &'static [Input] {
    static ALL: OnceLock<Vec<Input>> = OnceLock::new();
    let Some(folder) = std::env::var_os("MPPS_CAPTURES") else {
        skip(test, "MPPS_CAPTURES isn't set", Lacks::Data);
        return &[];
    };
    ALL.get_or_init(|| {
        let entries = std::fs::read_dir(&folder).expect("the folder of captures");
        let mut paths: Vec<PathBuf> = entries
            .map(|entry| entry.expect("an entry").path())
            .collect();
        paths.sort();
        assert!(!paths.is_empty(), "the folder of captures is empty");
        let read = |path: PathBuf| Input {
            capture: capture::read(&path),
            path,
        };
        paths.into_iter().map(read).collect()
    })
}

/// Those that a port can receive.
fn ethernet(test: &str) -> Vec<&'static Input> {
    let inputs = inputs(test).iter();
    inputs
        .filter(|input| input.capture.link == Some(ETHERNET))
        .collect()
}

/// A capture that went through an engine.
struct Passed {
    input: &'static Input,
    /// The port's address.
    mac: Mac,
    /// What it sent.
    output: Vec<Vec<u8>>,
}

/// Sends captures through an engine, `TOGETHER` at a time.
fn pass(inputs: &[&'static Input], engine: &str) -> Vec<Passed> {
    let together = inputs.chunks(TOGETHER);
    together
        .flat_map(|inputs| pass_together(inputs, engine))
        .collect()
}

fn pass_together(inputs: &[&'static Input], engine: &str) -> Vec<Passed> {
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
    let passed = |(n, input): (usize, &&'static Input)| Passed {
        input,
        mac: macs[n],
        output: sent(Path::new(&output(n))),
    };
    inputs.iter().enumerate().map(passed).collect()
}

fn sent(path: &Path) -> Vec<Vec<u8>> {
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
fn macs(text: &str) -> Vec<Mac> {
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

#[test]
fn captures_are_read_alike_by_tcpdump() {
    let test = "captures_are_read_alike_by_tcpdump";
    if !judge::has_tcpdump(test) {
        return;
    }
    for input in inputs(test) {
        let name = input.name();
        match judge::tcpdump(&input.path) {
            Some(judged) => {
                assert_eq!(input.capture.link, judged.link, "{name}");
                assert!(input.capture.frames == judged.frames, "{name}");
            }
            None => assert!(input.capture.frames.is_empty(), "{name}"),
        }
    }
}

#[test]
fn captures_macswap() {
    for passed in pass(&ethernet("captures_macswap"), "macswap") {
        let expected: Vec<_> = passed
            .input
            .capture
            .frames
            .iter()
            .map(|f| frame::macswap(f))
            .collect();
        compare(&passed, &expected);
    }
}

#[test]
fn captures_5tswap() {
    for passed in pass(&ethernet("captures_5tswap"), "5tswap") {
        let frames = passed.input.capture.frames.iter();
        let expected: Vec<_> = frames.map(|f| frame::five_tuple_swap(f)).collect();
        compare(&passed, &expected);
    }
}

#[test]
fn captures_icmpecho() {
    let inputs = ethernet("captures_icmpecho");
    let mut answers = 0;
    for passed in pass(&inputs, "icmpecho") {
        let frames = passed.input.capture.frames.iter();
        let expected: Vec<_> = frames
            .filter_map(|f| frame::icmpecho(f, passed.mac))
            .collect();
        compare(&passed, &expected);
        answers += expected.len();
    }
    assert!(
        inputs.is_empty() || answers > 0,
        "no capture asks for anything"
    );
}

#[test]
fn captures_csum() {
    let inputs = ethernet("captures_csum");
    let mut judged = Judged::default();
    for (n, passed) in pass(&inputs, "csum").iter().enumerate() {
        let name = passed.input.name();
        let frames = &passed.input.capture.frames;
        assert_eq!(passed.output.len(), frames.len(), "{name}");
        // Ports send to themselves: the peer is the one that goes with the port's number.
        let peer = [2, 0, 0, 0, 0, (n % TOGETHER) as u8];
        for (at, (before, after)) in frames.iter().zip(&passed.output).enumerate() {
            let verdict = frame::judge_csum(before, after, peer, passed.mac, &mut judged);
            assert_eq!(verdict, Ok(()), "{name}: frame {at}");
        }
    }
    println!("checksums judged: {judged:?}");
    assert!(
        inputs.is_empty() || judged.ip > 0 && judged.l4 > 0 && judged.sctp > 0,
        "{judged:?}"
    );
}

fn compare(passed: &Passed, expected: &[Vec<u8>]) {
    let name = passed.input.name();
    assert_eq!(passed.output.len(), expected.len(), "{name}");
    let differs = |(sent, expected): (&Vec<u8>, &Vec<u8>)| sent != expected;
    let first = passed.output.iter().zip(expected).position(differs);
    if let Some(at) = first {
        panic!(
            "{name}: frame {at} is {:02x?}, must be {:02x?}",
            passed.output[at], expected[at]
        );
    }
}

/// Every capture of another link type is refused, the type named; what is no capture is refused too.
#[test]
fn captures_of_other_links_are_refused() {
    let others = inputs("captures_of_other_links_are_refused").iter();
    for input in others.filter(|input| input.capture.link != Some(ETHERNET)) {
        let vdev = format!("--vdev=net_pcap0,rx_pcap={}", input.name());
        let words = [
            "--in-memory",
            "--no-pci",
            "--lcores",
            &lcores(0..2),
            &vdev,
            "--",
            "-i",
        ];
        let ended = Ended::of(&words, "");
        let refusal = ended.refusal();
        assert!(refusal.contains(&input.name()), "{refusal}");
        if let Some(link) = input.capture.link {
            let names = [format!("({link})"), format!("number {link}")];
            let named =
                refusal.contains("link type ") && names.iter().any(|name| refusal.contains(name));
            assert!(named, "{link}: {refusal}");
        }
    }
}

/// A file cut anywhere gives the frames before the cut, and its line; so does one with a broken length.
#[test]
fn captures_that_are_broken_give_what_came_before() {
    let test = "captures_that_are_broken_give_what_came_before";
    let Some(input) = ethernet(test)
        .into_iter()
        .find(|input| input.name().ends_with("mixed.pcap"))
    else {
        return;
    };
    let whole = std::fs::read(&input.path).expect("the capture");
    let folder = Folder::new();
    let end = whole.len();
    for (n, cut) in [25, 39, 41, 1000, end / 2, end - 1].into_iter().enumerate() {
        let path = folder.path().join(format!("cut{n}.pcap"));
        std::fs::write(&path, &whole[..cut]).expect("a file");
        let frames = capture::read(&path).frames;
        let broken = Input {
            capture: Capture {
                frames,
                ..input.capture.clone()
            },
            path,
        };
        // Tests end with their process; the input lives until then.
        let broken: &'static Input = Box::leak(Box::new(broken));
        for passed in pass(&[broken], "macswap") {
            let expected: Vec<_> = broken
                .capture
                .frames
                .iter()
                .map(|f| frame::macswap(f))
                .collect();
            compare(&passed, &expected);
        }
    }
}
