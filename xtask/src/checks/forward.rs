//! Command lines of users that must simply work.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::planted::Folder;
use super::{Bound, Check, Miss, Plant, Subject};
use crate::{session, shell};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "unprivileged-ia",
    proves: "an ordinary user without hugepages: testpmd -A ... -ia with `stop` moves packets both ways and exits with 0",
    bound: Bound::AtLeast(1.0, " packets on the idlest counter"),
    run: unprivileged,
    plant: Plant::Script("\"$REAL\" \"$@\" | sed 's/-packets: [0-9]*/-packets: 0/g'"),
}];

const ARGUMENTS: [&str; 14] = [
    "-l",
    "0-1",
    "--no-huge",
    "-m",
    "40",
    "-A",
    "--vdev",
    "net_null1",
    "--vdev",
    "net_null2",
    "--",
    "--no-mlockall",
    "--total-num-mbufs=2048",
    "-ia",
];
/// The user nobody, who owns nothing anywhere.
const NOBODY: u32 = 65534;

fn unprivileged(_: &Check, subject: &Subject) -> Result<f64, Miss> {
    // A copy where nobody can reach it; a stand-in needs the real program to be reachable too, so it runs as we are.
    let folder = Folder::new("unprivileged")?;
    let program = if subject.planted {
        subject.testpmd()
    } else {
        folder.copy_program(&subject.testpmd())?
    };
    let text = stop_after_a_second(&program, shell::is_root() && !subject.planted)?;
    let counts = forward_counts(&text);
    if counts.len() != 4 {
        return Err(Miss::Failed(format!(
            "{} forward counters instead of 4 in: {}",
            counts.len(),
            session::tail(&text)
        )));
    }
    Ok(counts.into_iter().min().unwrap_or(0) as f64)
}

/// `(sleep 1 && echo stop) | testpmd ...`
fn stop_after_a_second(program: &Path, as_nobody: bool) -> Result<String, String> {
    let mut command = Command::new(program);
    command.args(ARGUMENTS);
    command
        .current_dir("/")
        .env_remove("XDG_RUNTIME_DIR")
        .env("HOME", "/");
    if as_nobody {
        command.uid(NOBODY).gid(NOBODY);
    }
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit());
    let mut child = command
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let input = child.stdin.take();
    thread::spawn(move || {
        thread::sleep(Duration::from_secs(1));
        // A program that has ended already shows in its exit status.
        input.map(|mut pipe| pipe.write_all(b"stop\n"));
    });
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        Ok(text)
    } else {
        Err(format!("{}: {}", output.status, session::tail(&text)))
    }
}

/// Received and sent packets of each port, from the blocks that `stop` prints for single ports.
fn forward_counts(text: &str) -> Vec<u64> {
    let mut counts = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.contains("---") {
            inside = line.contains("Forward statistics for port");
        } else if inside {
            let words = line
                .trim()
                .strip_prefix("RX-packets:")
                .or(line.trim().strip_prefix("TX-packets:"));
            counts
                .extend(words.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok()));
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    const STOPPED: &str = "Telling cores to stop...\nWaiting for lcores to finish...\n\n  \
        ---------------------- Forward statistics for port 0  ----------------------\n  \
        RX-packets: 10             RX-dropped: 0             RX-total: 10\n  \
        TX-packets: 20             TX-dropped: 0             TX-total: 20\n  \
        ----------------------------------------------------------------------------\n\n  \
        ---------------------- Forward statistics for port 1  ----------------------\n  \
        RX-packets: 20             RX-dropped: 0             RX-total: 20\n  \
        TX-packets: 10             TX-dropped: 0             TX-total: 10\n  \
        ----------------------------------------------------------------------------\n\n  \
        +++++++++++++++ Accumulated forward statistics for all ports+++++++++++++++\n  \
        RX-packets: 30             RX-dropped: 0             RX-total: 30\n";

    #[test]
    fn counts_of_single_ports_only() {
        assert_eq!(forward_counts(STOPPED), [10, 20, 20, 10]);
    }

    #[test]
    fn no_statistics_no_counts() {
        assert!(forward_counts("testpmd> stop\nPacket forwarding not started\n").is_empty());
        assert!(
            forward_counts("--- Forward statistics for port 0 ---\nRX-packets: some\n").is_empty()
        );
    }
}
