//! The same session with the installed testpmd of DPDK 22.11 and with ours, line by line.

use std::path::Path;
use std::process::Command;

use super::rig::{EAL, OURS, Run, alone, skip, two_cpus};
use super::transcript::{exchanges, without_figures};

const NAME: &str = "session_differential";

/// Commands whose answers are to be the same, up to [`CHANGED`].
const COMMANDS: &[&str] = &[
    "show port info 0",
    "show port summary all",
    "show port summary 9",
    "show port info 9",
    "show port stats all",
    "show port xstats all",
    "show port xstats 9",
    "show config fwd",
    "show config rxtx",
    "show config cores",
    "show config txpkts",
    "show config txtimes",
    "show config rxoffs",
    "show config rxpkts",
    "show config rxhdrs",
    "show rxq info 0 0",
    "show rxq info 0 9",
    "show txq info 9 0",
    "show port 0 macs",
    "show port 9 macs",
    "show port 0 mcast_macs",
    "show port 0 rx_offload capabilities",
    "show port 0 rx_offload configuration",
    "show port 0 tx_offload configuration",
    "show port 9 tx_offload capabilities",
    "show port 9 rx_offload configuration",
    "show port 0 rss reta 128 (0x3,0x1)",
    "show port 0 rss reta 128 (0x3)",
    "show port 0 rss reta 64 (0x3)",
    "show port 0 rss reta 0 (0x3)",
    "show port 0 rss reta 128 (0,0)",
    "show port 0 rss reta 128 x",
    "show port 9 rss reta 128 (0x3,0x1)",
    "show port 0 ptypes",
    "show port 9 ptypes",
    "show port 0 rxq 0 desc 0 status",
    "show port 9 rxq 0 desc 0 status",
    "show port 0 rxq 99 desc used count",
    "show port 9 rxq 0 desc used count",
    "show device info net_null1",
    "show device info nosuch",
    "show port info 0 representor",
    "show port 0 flow_ctrl",
    "show port 9 flow_ctrl",
    "show port 0 gro",
    "show port 9 gro",
    "show port 0 gso",
    "show port 9 gso",
    "csum show 9",
    "tso show 9",
    "tunnel_tso show 0",
    "show port dcb_tc 0",
    "show port 0 eeprom",
    "show port 0 fec_mode",
    "show port 0 flow transfer proxy",
    "show bonding config 9",
    "show bonding lacp info 0",
    "flow list 0",
    "flow list 9",
    "flow flush 0",
    "flow query 0 0 count",
    "flow isolate 0 1",
    "flow isolate 9 1",
    "flow create 0 ingress pattern eth / ipv4 / end actions drop / end",
    "flow create 9 ingress pattern eth / end actions drop / end",
    "flow create 0 ingress pattern nosuch / end",
    "flow validate 0 pattern end actions end",
    "dump_mempool nosuch",
    "dump_ring nosuch",
    "clear port stats all",
    "clear port xstats all",
    "show fwd stats all",
    "set fwd macswap",
    "set burst 64",
    "set burst 513",
    "set verbose 0",
    "start",
    "start",
    "show fwd stats all",
    "clear fwd stats all",
    "port stop 0",
    "stop",
    "stop",
    "port stop all",
    "csum show 0",
    "tso show 0",
    "tunnel_tso show 0",
    "show port summary all",
    "start",
    "port start all",
    "port close 1",
    "port stop 1",
    "port stop all",
    "port close 1",
    "show port info 1",
    "show config rxtx",
    "nonsense",
    "show",
    "",
];

/// The same of two loops with two queues each, through which nothing comes unless it is made.
const LOOPS: &[&str] = &[
    "show port info all",
    "show port summary all",
    "show port xstats all",
    "show port 0 rss-hash",
    "show port 0 rss-hash key",
    "show port 0 rss reta 128 (0x1,0x1)",
    "show port 0 ptypes",
    "show port 0 rx_offload capabilities",
    "show port 1 tx_offload capabilities",
    "show port 0 rx_offload configuration",
    "show port 1 tx_offload configuration",
    "show rxq info 0 1",
    "show txq info 1 2",
    "show config fwd",
    "show config rxtx",
    "start",
    "stop",
    "set fwd rxonly",
    "start",
    "stop",
    "set fwd csum",
    "show config fwd",
    "start",
    "show fwd stats all",
    "stop",
    "set fwd io retry",
    "start",
    "show config fwd",
    "stop",
    "set nbport 1",
    "show config fwd",
    "start",
    "stop",
    "set portlist 1,0",
    "show config fwd",
    "set fwd txonly",
    "show config rxtx",
    "start",
    "stop",
    "set fwd flowgen",
    "start",
    "stop",
    "set txpkts 64,128",
    "show config txpkts",
    "set txsplit rand",
    "show config txpkts",
    "show config rxtx",
];

/// Lines that 22.11 lacks or has otherwise, by how they begin; see the table in the module of the texts.
const CHANGED: &[&str] = &[
    "Minimum MTU: ",
    "Maximum MTU: ",
    "Hash key size in bytes: ",
    "Rx split:",
    "\tMax segments: ",
    "Device private info:",
    "  none",
    // Its drivers log one line more about what isn't there, in words of their own.
    "EAL: ",
    "mpps: ",
    "Primary: Sending 'stop_req'",
    // There `csum show` has the port configured anew at its next start.
    "Configuring Port 0",
];

/// A line as both have it: since 22.11 the device layer puts its name in front.
fn plain(line: &str) -> Option<String> {
    let line = line.strip_prefix("ETHDEV: ").unwrap_or(line);
    let changed = line.is_empty() || CHANGED.iter().any(|begin| line.starts_with(begin));
    (!changed).then(|| line.replace("TSO and UFO for", "TSO for"))
}

/// The installed program, run so that what it prints is not held back.
fn installed() -> Option<(&'static str, Vec<&'static str>)> {
    let runs = |program: &str| {
        Command::new("which")
            .arg(program)
            .output()
            .is_ok_and(|found| found.status.success())
    };
    let root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|id| id.stdout == b"0\n");
    if !runs("dpdk-testpmd") || !runs("stdbuf") {
        skip(NAME, "dpdk-testpmd is not installed", "package");
        None
    } else if root {
        Some((
            "stdbuf",
            vec![
                "-o0",
                "dpdk-testpmd",
                "-m",
                "256",
                "--file-prefix=mpps-session",
            ],
        ))
    } else {
        skip(NAME, "dpdk-testpmd wants to be run by root", "kernel");
        None
    }
}

fn hold(mut run: Run, commands: &[&str]) -> Vec<(String, Vec<String>)> {
    run.wait_for("testpmd> ", 1);
    for command in commands {
        run.command(command);
        if *command == "start" {
            // Both come to send something.
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
    run.send("quit\n");
    let ended = run.end();
    assert!(ended.status.success(), "{}", ended.text);
    let (_, all) = exchanges(&ended.text);
    all.into_iter()
        .map(|one| {
            (
                one.command,
                one.reply.iter().filter_map(|line| plain(line)).collect(),
            )
        })
        .collect()
}

/// Holds the session with both programs and says where they differ. Of `stop` the figures are left out where packets are made.
fn compare(ports: &[&str], commands: &[&str], figures: bool) -> String {
    let Some((program, before)) = installed() else {
        return String::new();
    };
    let of = |before: &[&'static str]| -> Vec<&str> {
        [
            before,
            EAL,
            ports,
            &["--", "-i", "--total-num-mbufs=8192"],
            &QUEUES[..if figures { 0 } else { 2 }],
        ]
        .concat()
    };
    let theirs = hold(Run::start(&path_of(program), &of(&before)), commands);
    let ours = hold(Run::start(Path::new(OURS), &of(&[])), commands);
    assert_eq!(theirs.len(), ours.len());
    let mut faults = String::new();
    for (their, our) in theirs.iter().zip(&ours) {
        let plain = |lines: &[String]| -> Vec<String> {
            lines.iter().map(|line| without_figures(line)).collect()
        };
        let same =
            their == our || (!figures && their.0 == "stop" && plain(&their.1) == plain(&our.1));
        if !same {
            let (theirs, ours) = (their.1.join("\n"), our.1.join("\n"));
            faults += &format!("--- {}\n22.11:\n{theirs}\nours:\n{ours}\n", their.0);
        }
    }
    faults
}

const QUEUES: [&str; 2] = ["--rxq=2", "--txq=2"];

#[test]
fn the_installed_testpmd_says_the_same() {
    if !two_cpus(NAME) {
        return;
    }
    let _turn = alone();
    let faults = compare(
        &["--vdev", "net_null0,no-rx=1", "--vdev", "net_null1,no-rx=1"],
        COMMANDS,
        true,
    );
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn the_installed_testpmd_says_the_same_of_loops() {
    if !two_cpus(NAME) {
        return;
    }
    let _turn = alone();
    let faults = compare(
        &["--vdev", "net_ring0", "--vdev", "net_ring1"],
        LOOPS,
        false,
    );
    assert!(faults.is_empty(), "{faults}");
}
fn path_of(program: &str) -> std::path::PathBuf {
    let found = Command::new("which").arg(program).output().unwrap();
    std::path::PathBuf::from(String::from_utf8(found.stdout).unwrap().trim())
}
