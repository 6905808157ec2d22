//! The loop of the founding post, two programs held against the recorded halves: virtio-user listens, vhost connects.
//! Here our front end at the installed back end of DPDK.
//!
//! No huge pages. What DPDK logs about the protocol, figures and feature bits are left out; events, which come when
//! they come, are looked at apart.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::differential::{installed, path_of};
use super::golden::common;
use super::rig::{EAL, OURS, Run, alone, two_cpus};
use super::transcript::{Exchange, exchanges, without_figures};

/// DPDK's logs and our own lines: from these words to the end of the line, at its beginning or behind a prompt.
const LOGS: [&str; 5] = [
    "VHOST_CONFIG: ",
    "VIRTIO_DRIVER: ",
    "VIRTIO_INIT: ",
    "vhost_user_start_server(): ",
    "mpps: ",
];

/// Events of ports.
pub(crate) const EVENTS: [&str; 2] = [
    "\nPort 0: queue state event\n",
    "\nPort 0: link state change event\n",
];

/// Lines of `Device private info:` whose value is a set of bits, which belongs to the program that made it.
const BITS: [&str; 5] = [
    "flags: ",
    "disable_flags: ",
    "features: ",
    "guest_features: ",
    "req_guest_features: ",
];

/// What the halves are called with, apart from EAL.
pub(crate) const FRONT: &str =
    "net_virtio_user0,mac=00:01:02:03:04:05,path=./vhost-net,server=1,mrg_rxbuf=1,in_order=1";
pub(crate) const BACK: &str = "net_vhost0,iface=vhost-net,client=1";

/// A folder of one test's own; gone with it.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mpps-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One half, its lcore 1 on this CPU.
pub(crate) fn half(folder: &Path, cpu: u32, device: &str) -> Run {
    let lcores = format!("0@0,1@{cpu}");
    let args = [
        "--lcores",
        &lcores,
        "--no-pci",
        "--no-huge",
        "--no-telemetry",
        "--single-file-segments",
        "--vdev",
        device,
        "--",
        "-i",
    ];
    Run::start_in(folder, Path::new(OURS), &args)
}

/// Asks a half until its link is up.
pub(crate) fn linked(run: &mut Run) {
    let start = Instant::now();
    run.wait_for("testpmd> ", 1);
    while !run.text().contains(" up       ") {
        run.command(WAITING);
        assert!(start.elapsed().as_secs() < 90, "{}", run.text());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// What is asked until the link is up; left out of what is compared.
const WAITING: &str = "show port summary 0";

/// The text without logs and events.
fn plain(text: &str) -> String {
    let mut text = text.replace('\r', "");
    for event in EVENTS {
        text = text.replace(event, "");
    }
    for log in LOGS {
        while let Some(at) = log_in(&text, log) {
            let end = text[at..].find('\n').map_or(text.len(), |n| at + n + 1);
            text.replace_range(at..end, "");
        }
    }
    text
}

fn log_in(text: &str, log: &str) -> Option<usize> {
    let mut places = text.match_indices(log).map(|(at, _)| at);
    places.find(|at| {
        let before = &text[..*at];
        before.is_empty() || before.ends_with('\n') || before.ends_with("testpmd> ")
    })
}

/// What is compared of a session: before the first prompt, then command by command.
fn cut(text: &str) -> (Vec<String>, Vec<Exchange>) {
    let (head, mut all) = exchanges(&plain(text));
    all.retain(|one| one.command != WAITING);
    for one in &mut all {
        one.reply = common(&one.reply)
            .iter()
            .filter(|line| !line.starts_with("Rx path: ") && !line.starts_with("Tx path: "))
            .map(|line| figureless(line))
            .collect();
    }
    (common(&head), all)
}

fn figureless(line: &str) -> String {
    match BITS.iter().find(|begin| line.starts_with(*begin)) {
        Some(begin) => format!("{begin}bits"),
        // Names of counters have figures in them, the values behind are the figures meant.
        None => match line.split_once(": ") {
            Some((name, value)) if is_counter(name) => {
                format!("{name}: {}", without_figures(value))
            }
            _ => without_figures(line),
        },
    }
}

fn is_counter(name: &str) -> bool {
    name.starts_with("rx_") || name.starts_with("tx_")
}

/// Holds ours against the recorded one.
pub(crate) fn compare(recorded: &str, ours: &str) {
    let (want_head, want) = cut(recorded);
    let (have_head, have) = cut(ours);
    assert_eq!(want_head, have_head);
    for (want, have) in want.iter().zip(&have) {
        assert_eq!(want, have, "in:\n{ours}");
    }
    assert_eq!(want.len(), have.len(), "{ours}");
}

/// Lets packets go round.
pub(crate) fn pass_time() {
    std::thread::sleep(Duration::from_millis(200));
}

#[test]
fn our_front_end_at_the_installed_back_end() {
    let test = "session_front_end";
    if !two_cpus(test) {
        return;
    }
    let Some((program, before)) = installed(test) else {
        return;
    };
    let _turn = alone();
    let folder = Folder::new("front");
    let mut front = half(&folder.0, 0, FRONT);
    front.wait_for("testpmd> ", 1);
    let theirs = [
        &before[..],
        EAL,
        &["--single-file-segments", "--vdev", BACK],
    ]
    .concat();
    let theirs = [&theirs[..], &["--", "-i", "--total-num-mbufs=8192"]].concat();
    let mut back = Run::start_in(&folder.0, &path_of(program), &theirs);
    back.wait_for(EVENTS[1], 1);
    linked(&mut front);
    for command in ["show port info 0", "show config fwd", "start"] {
        front.command(command);
    }
    back.command("start tx_first 32");
    pass_time();
    for command in ["show port stats all", "show port xstats 0"] {
        front.command(command);
    }
    back.command("stop");
    front.command("stop");
    front.send("quit\n");
    let front = front.end();
    assert!(front.status.success(), "{}", front.text);
    back.send("quit\n");
    assert!(back.end().status.success());
    compare(include_str!("../golden/virtio-user.txt"), &front.text);
    // Stopping the port, which quitting does, takes the link down too.
    let said = front.text.replace('\r', "");
    let (until, _) = said.split_once("Stopping port 0...").unwrap();
    assert_eq!(until.matches(EVENTS[1]).count(), 1, "{said}");
    counters_of(&front.text);
}

/// Packets went round, 64 bytes each, and were counted alike everywhere.
pub(crate) fn counters_of(text: &str) {
    let value = |name: &str| -> u64 {
        let mut found = text.lines().filter_map(|line| line.strip_prefix(name));
        found.next_back().unwrap().parse().unwrap()
    };
    let packets = value("rx_good_packets: ");
    assert!(packets > 0);
    // Read one after the other while packets passed.
    let bytes = value("rx_good_bytes: ");
    assert_eq!(bytes % 64, 0);
    assert!(
        bytes.abs_diff(packets * 64) <= 64 * 4096,
        "{packets} {bytes}"
    );
    assert_eq!(value("rx_q0_size_65_127_packets: "), 0);
    assert_eq!(value("rx_mbuf_allocation_errors: "), 0);
}

/// Logs and events between a prompt and its command don't hide the command.
#[test]
fn recorded_halves_are_cut_into_their_commands() {
    let commands = |text: &str| -> Vec<String> {
        let (_, all) = cut(text);
        all.into_iter().map(|one| one.command).collect()
    };
    assert_eq!(
        commands(include_str!("../golden/vhost.txt")),
        [
            "show port info 0",
            "show port xstats 0",
            "start tx_first 32",
            "show port stats all",
            "show port xstats 0",
            "show fwd stats all",
            "clear port stats all",
            "show port stats all",
            "stop",
            "port stop 0",
            "port start 0",
            "quit",
        ]
    );
    assert_eq!(
        commands(include_str!("../golden/virtio-user.txt")),
        [
            "show port info 0",
            "show config fwd",
            "start",
            "show port stats all",
            "show port xstats 0",
            "stop",
            "quit",
        ]
    );
    let told = "testpmd> \nPort 0: queue state event\nmpps: port 0: gone\nstop\nDone.\n";
    assert_eq!(commands(told), ["stop"]);
}
