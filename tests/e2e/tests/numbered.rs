//! Numbered packets with checksums through each of the ten paths: each comes back whole, in order and once, or whoever
//! sent it back counted it as dropped.
//!
//! The harness (`tests/harness`) makes and checks them; at the other end is a port of the same process, or DPDK's testpmd.
//! How many packets is `MPPS_PACKETS`; the soak asks for 10^8.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use mpps_e2e::machine::Folder;
use mpps_e2e::paths::{PATHS, Path};
use mpps_e2e::peer::{HugePages, Whose, Wiring};
use mpps_e2e::program;
use mpps_e2e::report::forwarded;

/// In the short form.
const PACKETS: &str = "100000";

fn harness(port: &str, more: &[&str]) -> Command {
    let packets = std::env::var("MPPS_PACKETS").unwrap_or_else(|_| PACKETS.to_owned());
    let mut command = Command::new(program::harness());
    command
        .args(["contents", "--packets", &packets, "--port", port])
        .args(more);
    command
}

/// Both roles of a path, the one that is checked listening.
fn roles(path: &'static Path) -> [(Wiring, bool); 2] {
    [true, false].map(|ours_is_front| {
        let whose = |ours| if ours { Whose::Ours } else { Whose::Dpdk };
        let wiring = Wiring {
            front_serves: ours_is_front,
            ..Wiring::new(whose(ours_is_front), whose(!ours_is_front), path)
        };
        (wiring, ours_is_front)
    })
}

/// Packets lost, of the line that the harness ends with.
fn lost(line: &str) -> Option<u64> {
    let (before, _) = line.split_once(" lost")?;
    before.rsplit(' ').next()?.parse().ok()
}

#[test]
fn in_one_process_every_packet_is_found_once_or_counted() {
    for (wiring, front) in PATHS.iter().flat_map(roles) {
        let [port, echo] = [front, !front].map(|front| vdev(&wiring, front, "{}"));
        let ended = harness(&port, &["--echo", &echo])
            .output()
            .expect("the harness starts");
        let words = String::from_utf8_lossy(&ended.stdout);
        print!(
            "{}, checked from the {}: {words}",
            wiring.path.name,
            side(front)
        );
        let why = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{port}: {words}{why}");
    }
}

fn vdev(wiring: &Wiring, front: bool, socket: &str) -> String {
    if front {
        wiring.front_vdev(socket)
    } else {
        wiring.back_vdev(socket)
    }
}

fn side(front: bool) -> &'static str {
    if front { "front end" } else { "back end" }
}

/// The check finds what is wrong on purpose.
#[test]
fn a_fault_is_found() {
    let faults = [
        ("flip", "changed"),
        ("drop", "1 packets are lost, and 0 counted"),
        ("double", "came twice"),
    ];
    for (fault, said) in faults {
        let mut command = harness(
            "net_vhost0,iface={}",
            &["--echo", "net_virtio_user0,path={}"],
        );
        // Few under way: no ring is ever full.
        command.args(["--window", "64", "--plant", fault]);
        let ended = command.output().expect("the harness starts");
        let why = String::from_utf8_lossy(&ended.stderr);
        assert!(!ended.status.success(), "{fault} goes unseen");
        assert!(why.contains(said), "{fault}: {why}");
    }
}

fn with_dpdk(test: &str, paths: impl Iterator<Item = &'static Path>) {
    let Some(_pages) = HugePages::take(test) else {
        return;
    };
    for (wiring, front) in paths.flat_map(roles) {
        let name = format!("{}, checked from the {}", wiring.path.name, side(front));
        println!("{name}: {}", through_dpdk(&wiring, front, &name));
    }
}

/// Our port at one end, DPDK's program at the other; what the harness says in the end.
fn through_dpdk(wiring: &Wiring, front: bool, name: &str) -> String {
    let folder = Folder::new();
    let socket = folder.file("numbered");
    let mut command = harness(&vdev(wiring, front, &socket), &[]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the harness starts");
    let pipes = child.stdin.take().zip(child.stdout.take());
    let (mut input, output) = pipes.expect("both are piped");
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    while !std::path::Path::new(&socket).exists() {
        assert!(
            matches!(child.try_wait(), Ok(None)),
            "{name}: it ended early"
        );
        std::thread::yield_now();
    }
    let mut peer = if front {
        wiring.start_back(&socket)
    } else {
        wiring.start_front(&socket)
    };
    assert_eq!(lines.next().as_deref(), Some("linked"), "{name}");
    peer.ask("start");
    writeln!(input, "go").expect("the harness waits for it");
    let last = lines.next().unwrap_or_default();
    let rows = forwarded(&peer.ask("stop"));
    let row = rows.iter().find(|row| row.port == Some(0));
    let dropped = row.map(|row| row.tx[1]);
    assert_eq!(lost(&last), dropped, "{name}: {last}, of DPDK's {row:?}");
    peer.quit();
    writeln!(input, "gone").expect("the harness waits for it");
    let ended = child.wait().expect("it is our child");
    assert!(ended.success(), "{name}: {last}");
    last
}

#[test]
fn with_dpdk_every_packet_is_found_once_or_counted() {
    let names = ["packed-mergeable", "split-in-order-mergeable"];
    with_dpdk(
        "with_dpdk_every_packet_is_found_once_or_counted",
        PATHS.iter().filter(|path| names.contains(&path.name)),
    );
}

#[test]
#[ignore = "the long form of with_dpdk_every_packet_is_found_once_or_counted"]
fn with_dpdk_on_all_ten_paths_every_packet_is_found_once_or_counted() {
    with_dpdk(
        "with_dpdk_on_all_ten_paths_every_packet_is_found_once_or_counted",
        PATHS.iter(),
    );
}
