//! How soon `stop` returns, and that nothing is lost by then.

use std::thread;
use std::time::{Duration, Instant};

use super::planted::Folder;
use super::{Bound, Check, Miss, Plant, Subject};
use crate::session::Session;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "stop-time",
        proves: "`stop` returns whatever the ports and the engine, worst of all combinations tried",
        bound: Bound::Below(100.0, " ms"),
        run: stop_time,
        plant: Plant::Script(
            "\"$REAL\" \"$@\" | while IFS= read -r line; do\n\
             case $line in *cores\\ to\\ finish*) sleep 0.2;; esac; printf '%s\\n' \"$line\"; done",
        ),
    },
    Check {
        name: "nothing-lost",
        proves: "after start and stop under every combination tried no pool misses an mbuf: complaints of the program",
        bound: Bound::Below(1.0, " complaints"),
        run: nothing_lost,
        plant: Plant::Script(
            "\"$REAL\" \"$@\"; echo 'mpps: mbuf pool x: 1 mbufs are still in use, its memory is kept'",
        ),
    },
];

/// Ports and engine options of a combination; `{rx}` and `{tx}` are files.
const COMBINATIONS: [(&[&str], &[&str]); 7] = [
    (&["net_null0", "net_null1"], &["--forward-mode=macswap"]),
    (
        &["net_null0", "net_null1"],
        &["--forward-mode=txonly", "--burst=512"],
    ),
    (
        &["net_null0", "net_null1"],
        &["--forward-mode=csum", "--burst=512"],
    ),
    (&["net_null0,no-rx=1", "net_ring0"], &["--forward-mode=io"]),
    (&["net_ring0", "net_ring1"], &["--forward-mode=io"]),
    (
        &["net_ring0", "net_ring1"],
        &["--forward-mode=noisy", "--noisy-tx-sw-buffer-size=256"],
    ),
    (
        &["net_pcap0,rx_pcap={rx},infinite_rx=1"],
        &["--port-topology=chained", "--forward-mode=5tswap"],
    ),
];

/// What the program says when a pool is released too early.
const COMPLAINT: &str = "still in use";

fn stop_time(_: &Check, subject: &Subject) -> Result<f64, Miss> {
    let mut worst = 0.0_f64;
    each(subject, |session| {
        session.say("start tx_first 32")?;
        thread::sleep(Duration::from_millis(300));
        let begin = Instant::now();
        let at = session.say("stop")?;
        session.wait_for(at, "end of stop", |text| {
            text.contains("\nDone.").then_some(())
        })?;
        worst = worst.max(begin.elapsed().as_secs_f64() * 1e3);
        Ok(())
    })?;
    Ok(worst)
}

fn nothing_lost(_: &Check, subject: &Subject) -> Result<f64, Miss> {
    let mut complaints = 0;
    each(subject, |session| {
        for _ in 0..3 {
            session.say("start tx_first 32")?;
            thread::sleep(Duration::from_millis(100));
            let at = session.say("stop")?;
            session.wait_for(at, "end of stop", |text| {
                text.contains("\nDone.").then_some(())
            })?;
        }
        let at = session.say("quit")?;
        session.wait_for(at, "farewell", |text| text.contains("Bye...").then_some(()))?;
        thread::sleep(Duration::from_millis(50));
        complaints += session.text().matches(COMPLAINT).count();
        Ok(())
    })?;
    Ok(complaints as f64)
}

/// Runs a session of each combination.
fn each(
    subject: &Subject,
    mut with: impl FnMut(&mut Session) -> Result<(), String>,
) -> Result<(), Miss> {
    let folder = Folder::new("stop")?;
    let capture = folder.path().join("frames.pcap");
    std::fs::write(&capture, frames())
        .map_err(|error| format!("{}: {error}", capture.display()))?;
    for (devices, options) in COMBINATIONS {
        let mut arguments: Vec<String> = ["--lcores", "0@0,1@0", "--no-pci"]
            .map(str::to_owned)
            .to_vec();
        for device in devices {
            arguments.push("--vdev".to_owned());
            arguments.push(device.replace("{rx}", &capture.display().to_string()));
        }
        arguments.extend(["--".to_owned(), "-i".to_owned()]);
        arguments.extend(options.iter().map(|option| (*option).to_owned()));
        let mut session = Session::start(&subject.testpmd(), &arguments)?;
        session.wait_for(0, "prompt", |text| text.contains("testpmd> ").then_some(()))?;
        with(&mut session).map_err(|why| format!("{devices:?} {options:?}: {why}"))?;
        session.finish()?;
    }
    Ok(())
}

/// A capture of ten frames of 60 bytes.
fn frames() -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65535, 1] {
        file.extend(word.to_le_bytes());
    }
    for n in 0..10_u8 {
        for word in [0_u32, u32::from(n), 60, 60] {
            file.extend(word.to_le_bytes());
        }
        file.extend([n; 60]);
    }
    file
}
