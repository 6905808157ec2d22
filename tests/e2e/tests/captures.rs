//! Captures of others through the engines, frame by frame.
//!
//! The folder is that of `MPPS_CAPTURES`. What goes in and comes out is read by this crate's own reader, which is held
//! against tcpdump for every file. Several captures share a process: each is a port that sends to itself.

use std::path::PathBuf;
use std::sync::OnceLock;

use mpps_e2e::capture::{self, Capture, ETHERNET};
use mpps_e2e::frame::{self, Judged};
use mpps_e2e::judge;
use mpps_e2e::machine::{Folder, Lacks, lcores, skip};
use mpps_e2e::passage::{Input, Passed, TOGETHER, pass};
use mpps_e2e::session::Ended;

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
        paths.into_iter().map(Input::read).collect()
    })
}

/// Those that a port can receive.
fn ethernet(test: &str) -> Vec<&'static Input> {
    let inputs = inputs(test).iter();
    inputs
        .filter(|input| input.capture.link == Some(ETHERNET))
        .collect()
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
        for passed in pass(&[&broken], "macswap") {
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

/// Captures with bytes changed and ends cut off, by a generator with fixed seeds: what this crate's reader believes comes
/// through, what it doesn't is refused, and nothing crashes.
#[test]
fn captures_malformed_at_random() {
    let inputs = ethernet("captures_malformed_at_random");
    let small: Vec<_> = inputs
        .iter()
        .filter(|input| input.path.metadata().is_ok_and(|m| m.len() < 8192))
        .collect();
    let folder = Folder::new();
    let path = folder.path().join("malformed.pcap");
    let mut random = Random(1);
    for seed in 0..if small.is_empty() { 0 } else { 150 } {
        let input = small[random.below(small.len())];
        let mut bytes = std::fs::read(&input.path).expect("the capture");
        for _ in 0..=random.below(3) {
            // Most of what can go wrong is near the front, in headers.
            let reach = if random.below(2) == 0 {
                64
            } else {
                bytes.len()
            };
            let at = random.below(bytes.len().min(reach));
            // The version stays: what other versions look like is no matter of chance.
            if !(4..8).contains(&at) {
                bytes[at] = random.below(256) as u8;
            }
        }
        if random.below(3) == 0 {
            bytes.truncate(random.below(bytes.len()));
        }
        std::fs::write(&path, &bytes).expect("a file");
        let malformed = Input::read(path.clone());
        let name = format!("{} of {}", seed, input.name());
        if malformed.capture.link == Some(ETHERNET) {
            println!(
                "{name}: {} frames, {:?}",
                malformed.capture.frames.len(),
                malformed.capture.fault
            );
            let expected: Vec<_> = malformed
                .capture
                .frames
                .iter()
                .map(|f| frame::macswap(f))
                .collect();
            compare(&pass(&[&malformed], "macswap")[0], &expected);
        } else {
            println!("{name}: refused, {:?}", malformed.capture.fault);
            let vdev = format!("--vdev=net_pcap0,rx_pcap={}", malformed.name());
            let words = ["--in-memory", "--lcores", &lcores(0..2), &vdev, "--", "-i"];
            assert!(Ended::of(&words, "").refusal().contains(&malformed.name()));
        }
    }
}

/// Xorshift: enough to spread, and the same on each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }
}
