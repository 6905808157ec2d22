//! The same session with the installed testpmd of DPDK 22.11 and with ours, line by line.

use std::path::Path;
use std::process::Command;

use super::commands::{COMMANDS, LONELY, LOOPS, NO_PORTS, SETTINGS};
use super::rig::{EAL, OURS, Run, alone, skip, two_cpus};
use super::transcript::{exchanges, without_figures};

const NAME: &str = "session_differential";

/// Lines that 22.11 lacks or has otherwise, by how they begin; see the table in the module of the texts.
const CHANGED: &[&str] = &[
    "Minimum MTU: ",
    "Maximum MTU: ",
    "Hash key size in bytes: ",
    "Rx split:",
    "\tMax segments: ",
    "Device private info:",
    "  none",
    "Rx path: ",
    "Tx path: ",
    "VHOST_CONFIG: ",
    // 22.11 shows no private information.
    "iface_name: ",
    "flags: ",
    "disable_flags: ",
    "features: ",
    "max_queues: ",
    "vid: ",
    "started: ",
    "dev_attached: ",
    "vlan_strip: ",
    "rx_sw_csum: ",
    "tx_sw_csum: ",
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
pub(crate) fn installed(name: &str) -> Option<(&'static str, Vec<&'static str>)> {
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
        skip(name, "dpdk-testpmd is not installed", "package");
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
        skip(name, "dpdk-testpmd wants to be run by root", "kernel");
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
    let Some((program, before)) = installed(NAME) else {
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
#[test]
fn the_installed_testpmd_says_the_same_of_settings() {
    if !two_cpus(NAME) {
        return;
    }
    let _turn = alone();
    let ports = ["--vdev", "net_null0,no-rx=1", "--vdev", "net_null1,no-rx=1"];
    let faults = compare(&ports, SETTINGS, true);
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn the_installed_testpmd_says_the_same_of_nothing() {
    if !two_cpus(NAME) {
        return;
    }
    let _turn = alone();
    let faults = compare(&[], NO_PORTS, true);
    assert!(faults.is_empty(), "{faults}");
}

#[test]
fn the_installed_testpmd_says_the_same_of_a_port_without_peer() {
    if !two_cpus(NAME) {
        return;
    }
    let _turn = alone();
    let socket = std::env::temp_dir().join(format!("mpps-lonely-{}", std::process::id()));
    let device = format!("net_vhost0,iface={}", socket.display());
    let faults = compare(&["--vdev", &device], LONELY, true);
    assert!(faults.is_empty(), "{faults}");
}

pub(crate) fn path_of(program: &str) -> std::path::PathBuf {
    let found = Command::new("which").arg(program).output().unwrap();
    std::path::PathBuf::from(String::from_utf8(found.stdout).unwrap().trim())
}
