//! The published command lines, run: those whose ports there are forward, the others are refused by name.
//!
//! Nothing of a line is changed but what a published text can't know: paths lead into a folder of the test's own, and
//! what this machine lacks in CPUs and NUMA nodes is replaced as the program's own refusal advises.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use mpps_e2e::capture;
use mpps_e2e::machine::{Folder, lcores};
use mpps_e2e::program;
use mpps_e2e::published::{Class, Line, lines, vdevs, with_lcores, with_value};
use mpps_e2e::report::{Forwarded, accumulated};
use mpps_e2e::session::{Ended, PROMPT, Session};
use rustix::process::Signal;

/// What must come of a line.
#[derive(Clone, Copy, Debug)]
enum Expect {
    /// It forwards, and ends well.
    Forwards,
    /// It runs, has nobody to exchange packets with, and ends well.
    Waits,
    /// It has no ports, says so, and ends well.
    Idle,
    /// It is refused in a line that has these words.
    Refused(&'static str),
}

/// What the kind of device doesn't say already.
const EXPECTED: &[(&str, Expect)] = &[
    ("C021", Expect::Refused("rx_iface=eth0")),
    ("C022", Expect::Refused("tx_iface=eth1")),
    ("C023", Expect::Refused("iface=eth0")),
    ("C024", Expect::Refused("rx_iface=eth1")),
    ("C025", Expect::Refused("rx_iface_in=eth1")),
    ("C034", Expect::Refused("stray word `i`")),
    ("C041", Expect::Refused("--num-procs=2")),
    ("C053", Expect::Refused("stray word `nb-cores=2`")),
    ("C063", Expect::Refused("--trace=.*")),
    (
        "C096",
        Expect::Refused("`--forward-mode` is a testpmd option; put it after `--`"),
    ),
    ("C099", Expect::Refused("--huge-dir '")),
    ("C102", Expect::Refused("unknown argument \"dmas\"")),
    (
        "C103",
        Expect::Refused("`--enable-hw-vlan-strip` and `--nb-cores=2` are glued together"),
    ),
    // No PCI port can be driven, so that there are no two ports.
    ("C111", Expect::Refused("--nb-ports 2")),
    // Fewer lcores are named than are to forward; the console's doesn't.
    (
        "C114",
        Expect::Refused("--nb-cores 15 is out of range, must be 1 to 3"),
    ),
    (
        "C115",
        Expect::Refused("--nb-cores 4 is out of range, must be 1 to 3"),
    ),
    (
        "C116",
        Expect::Refused("--coremask names lcore 8, which is the main lcore"),
    ),
    ("C139", Expect::Refused("--nb-cores 16 is out of range")),
];

/// Lines published without the lcores that they need, and how many they get.
const WIDER: &[(&str, u32)] = &[
    ("C040", 3),
    ("C121", 3),
    ("C124", 3),
    // By default all CPUs are lcores, and this line asks for more than a small machine has and fewer than a big one.
    ("C139", 2),
];

/// Words that a line's own options bring about.
const SAYS: &[(&str, &str)] = &[
    ("C015", "ports=2 - cores=1 - streams=2"),
    ("C020", "port 0: RX queue number: 1 Tx queue number: 1"),
    ("C054", "io packet forwarding packets/burst=64"),
    ("C054", "RX desc=256"),
    ("C065", "NUMA support disabled"),
    ("C119", "Start automatic packet forwarding"),
    ("C132", "Set rxonly packet forwarding mode"),
    ("C046", "packets/burst=64"),
    ("C052", "Set flowgen packet forwarding mode"),
    ("C118", "Set io packet forwarding mode"),
    ("C110", "Set mac packet forwarding mode"),
];

/// Kinds of port that there are.
const PRESENT: [&str; 10] = [
    "net_null",
    "eth_null",
    "net_ring",
    "eth_ring",
    "net_pcap",
    "eth_pcap",
    "net_vhost",
    "eth_vhost",
    "net_virtio_user",
    "virtio_user",
];

/// Those that move packets only while there is somebody at the other end of their socket.
const PEERED: [&str; 2] = ["vhost", "virtio_user"];

/// A device of Hyper-V that asks for nothing when told to ignore its interfaces.
const IGNORED: &str = "net_vdev_netvsc,ignore=1";

fn expectation(line: &Line) -> Expect {
    if let Some((_, expect)) = EXPECTED.iter().find(|(id, _)| *id == line.id) {
        return *expect;
    }
    let mut devices = vdevs(&line.words);
    devices.retain(|device| *device != IGNORED);
    let present = |device: &&str| PRESENT.iter().any(|kind| device.starts_with(kind));
    if devices.iter().any(|device| device.contains("path=/dev/")) {
        return Expect::Refused("this is vhost-kernel, which isn't available");
    }
    match devices.iter().find(|device| !present(device)) {
        Some(_) => Expect::Refused("there is no "),
        None if devices.is_empty() => Expect::Idle,
        None if devices.iter().any(|device| peered(device)) => Expect::Waits,
        None => Expect::Forwards,
    }
}

fn peered(device: &str) -> bool {
    let name = device.split(',').next().unwrap_or_default();
    PEERED.iter().any(|kind| name.contains(kind))
}

/// The folder that lines run in: what they read is there.
fn folder() -> Folder {
    let folder = Folder::new();
    let frames: Vec<_> = (0..50).map(|n| vec![n; 60]).collect();
    capture::write(&folder.path().join("file_rx.pcap"), &frames);
    std::fs::write(folder.file("commands"), "show port stats all\n").expect("a file");
    folder
}

/// A line as it can run in that folder.
fn local(line: &Line, folder: &Folder) -> Vec<String> {
    let commands = folder.file("commands");
    let mut words = line.words.clone();
    for option in ["--cmdline-file", "--cmdline-file-noecho"] {
        words = with_value(&words, option, |_| commands.clone());
    }
    let nowhere = folder.file("hugepages");
    words = with_value(&words, "--huge-dir", |_| nowhere.clone());
    for word in &mut words {
        let device = word.strip_prefix("--vdev=").unwrap_or(word);
        if peered(device) && !device.contains("/dev/") {
            let folder = folder.path().display();
            let at = |key: &str| format!("{key}={folder}/");
            *word = word
                .replace("iface=/tmp/", &at("iface"))
                .replace("path=/tmp/", &at("path"));
        }
    }
    match WIDER.iter().find(|(id, _)| *id == line.id) {
        Some((_, count)) => with_lcores(&words, &lcores(0..*count)),
        None => words,
    }
}

/// Runs a line to its end, as often as it is refused for what this machine lacks.
fn run(line: &Line, folder: &Folder) -> Ended {
    let mut words = local(line, folder);
    for _ in 0..2 {
        let ended = once(&words, folder.path());
        if ended.status.success() {
            return ended;
        }
        let refusal = ended.refusal();
        if let Some((_, lcores)) = refusal.split_once("to run on those: --lcores ") {
            words = with_lcores(&words, lcores);
        } else if refusal.contains("there is no NUMA node") {
            let first = |value: &str| value.split(',').next().unwrap_or(value).to_owned();
            words = with_value(
                &with_value(&words, "--socket-mem", first),
                "--numa-mem",
                first,
            );
        } else {
            return ended;
        }
    }
    once(&words, folder.path())
}

/// Runs a line once, in the way that its options ask for.
fn once(words: &[String], folder: &Path) -> Ended {
    let mut command = Command::new(program::testpmd());
    command.args(words).current_dir(folder);
    let mut session = Session::spawn(command);
    let runs = session.wait("start or refusal", |session| {
        let said = session.stdout();
        let mode = ["Port statistics ====", "Press enter to exit", PROMPT].into_iter();
        let mode = mode.into_iter().find(|words| said.contains(words));
        mode.map(Some).or(session.is_over().then_some(None))
    });
    match runs {
        None => {}
        Some(PROMPT) => {
            // Rings have nothing to forward until something is sent.
            session.ask("start tx_first 2");
            thread::sleep(Duration::from_millis(50));
            session.ask("stop");
            session.say("quit");
        }
        Some("Press enter to exit") => {
            thread::sleep(Duration::from_millis(50));
            session.say("");
        }
        Some(_) => {
            thread::sleep(Duration::from_millis(50));
            session.signal(Signal::INT);
        }
    }
    session.wait_for_end()
}

fn check(line: &Line, ended: Ended) {
    let id = &line.id;
    match expectation(line) {
        Expect::Refused(words) => {
            let refusal = ended.refusal();
            assert!(refusal.contains(words), "{id}: {refusal}");
            if words == "there is no " {
                let names = vdevs(&line.words);
                let mut names = names.iter().filter_map(|device| device.split(',').next());
                assert!(names.any(|name| refusal.contains(name)), "{id}: {refusal}");
            }
            assert!(
                !ended.stdout.contains("packet forwarding - ports="),
                "{id}: {}",
                ended.stdout
            );
        }
        expect => {
            let ended = ended.well();
            assert!(ended.stdout.contains("Bye..."), "{id}: {}", ended.stdout);
            let sum = accumulated(&ended.stdout);
            let idle = ended.stderr.contains("No probed ethernet devices");
            match expect {
                Expect::Waits => assert!(!idle && sum.rx[0] == 0, "{id}: {sum:?}"),
                Expect::Idle => assert!(idle && sum == Forwarded::default(), "{id}: {sum:?}"),
                _ => assert!(!idle && sum.rx[0] > 0 && sum.tx[1] == 0, "{id}: {sum:?}"),
            }
            for device in on_buses(&line.words) {
                assert!(
                    ended.stderr.contains(device),
                    "{id}: nothing on {device}: {}",
                    ended.stderr
                );
            }
            for (_, words) in SAYS.iter().filter(|(of, _)| of == id) {
                assert!(
                    ended.stdout.contains(words),
                    "{id}: no {words:?}: {}",
                    ended.stdout
                );
            }
        }
    }
}

/// PCI addresses behind `-a` and `-w`, apart from the one that means no hardware; these devices are left alone.
fn on_buses(words: &[String]) -> Vec<&str> {
    let options = words.iter().zip(words.iter().skip(1));
    let named = options.filter(|(option, _)| ["-a", "-w", "--allow"].contains(&option.as_str()));
    let addresses = named.filter_map(|(_, value)| value.split(',').next());
    addresses
        .filter(|address| address.contains(':') && address.contains(|c| !"0:.".contains(c)))
        .collect()
}

fn check_all(class: Class) {
    let folder = folder();
    let lines: Vec<Line> = lines()
        .into_iter()
        .filter(|line| line.class == class)
        .collect();
    assert!(!lines.is_empty());
    for line in lines {
        let expect = expectation(&line);
        let broken = line.class == Class::Broken;
        assert!(
            !broken || matches!(expect, Expect::Refused(_)),
            "{}: {expect:?}",
            line.id
        );
        println!("{}: {expect:?}", line.id);
        let ended = run(&line, &folder);
        check(&line, ended);
    }
}

#[test]
fn corpus_lines_that_run_with_software_ports() {
    check_all(Class::Local);
}

#[test]
fn corpus_lines_whose_devices_are_absent() {
    check_all(Class::Parse);
}

#[test]
fn corpus_lines_with_a_mistake() {
    check_all(Class::Broken);
}

/// The two pcap lines: every frame of the file that is read is in the file that is written.
#[test]
fn corpus_lines_with_captures_copy_them() {
    for line in lines()
        .iter()
        .filter(|line| ["C019", "C020"].contains(&line.id.as_str()))
    {
        let folder = folder();
        check(line, run(line, &folder));
        let [read, written] =
            ["file_rx.pcap", "file_tx.pcap"].map(|name| capture::read(&folder.path().join(name)));
        assert!(
            read.frames == written.frames && read.frames.len() == 50,
            "{}",
            line.id
        );
    }
}

/// Null ports make packets of the size asked for.
#[test]
fn corpus_lines_with_null_ports_have_their_size() {
    for (id, size) in [("C015", 64), ("C016", 64), ("C017", 256), ("C054", 64)] {
        let line = lines()
            .into_iter()
            .find(|line| line.id == id)
            .expect("it is in the corpus");
        let folder = folder();
        let mut words = local(&line, &folder);
        words = with_value(&words, "--socket-mem", |_| "64".to_owned());
        let words = with_lcores(&words, &lcores(0..2));
        let ended = Ended::of(&words, "start\nstop\nshow port stats all\n").well();
        for nic in mpps_e2e::report::nics(&ended.stdout) {
            assert!(
                nic.rx[2] == nic.rx[0] * size && nic.rx_errors == 0,
                "{id}: {nic:?}"
            );
        }
    }
}

/// The founding post's two lines, unchanged but for `--lcores`: packets go round between two processes, and both end well.
#[test]
fn corpus_lines_of_the_founding_post_meet() {
    let folder = folder();
    let spawn = |id: &str| {
        let line = lines().into_iter().find(|line| line.id == id);
        let words = with_lcores(&line.expect("it is in the corpus").words, &lcores(0..2));
        let mut command = Command::new(program::testpmd());
        command.args(&words).current_dir(folder.path());
        let session = Session::spawn(command);
        session.wait("a prompt", |session| {
            session.stdout().contains(PROMPT).then_some(())
        });
        session
    };
    let mut front = spawn("C001");
    let mut back = spawn("C002");
    for session in [&mut front, &mut back] {
        session.wait("its link", |session| {
            session
                .stdout()
                .contains("link state change event")
                .then_some(())
        });
    }
    // Events may follow a prompt, so that the text needn't end with one.
    for (session, command) in [(&mut front, "start"), (&mut back, "start tx_first 32")] {
        session.say(command);
        session.wait_for_output("io packet forwarding packets/burst=32");
    }
    thread::sleep(Duration::from_millis(200));
    let ended = [back, front].map(|mut session| {
        session.say("stop");
        session.say("quit");
        session.wait_for_end().well()
    });
    for side in ended {
        assert!(side.stdout.contains("Bye..."), "{}", side.stdout);
        let sum = accumulated(&side.stdout);
        // More than the packets of the beginning came back.
        assert!(sum.rx[0] > 32 * 32, "{sum:?}");
    }
}
