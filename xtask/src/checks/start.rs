//! How fast testpmd starts and ends, and how much memory it touches for that.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Instant;

use super::{Bound, Check, Miss, Plant, Subject};
use crate::session::{self, Session};

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "start-time",
        proves: "two null ports with defaults: start, one prompt, end of input and exit, median of 11 runs",
        bound: Bound::Below(50.0, " ms"),
        run: start_time,
        plant: Plant::Script("sleep 0.06; exec \"$REAL\" \"$@\""),
    },
    Check {
        name: "resident",
        proves: "two null ports with defaults: peak resident memory from start to exit",
        bound: Bound::Below(32.0, " MiB"),
        run: resident,
        plant: Plant::Script(
            "ballast=$(head -c 40000000 /dev/zero | tr '\\0' x); \"$REAL\" \"$@\"; exit $?",
        ),
    },
];

const RUNS: usize = 11;
const ARGUMENTS: [&str; 7] = [
    "--no-pci",
    "--vdev",
    "net_null0",
    "--vdev",
    "net_null1",
    "--",
    "-i",
];
const PROMPT: &str = "testpmd> ";

fn start_time(_: &Check, subject: &Subject) -> Result<f64, Miss> {
    let mut times = Vec::new();
    for _ in 0..RUNS {
        let begin = Instant::now();
        let output = Command::new(subject.testpmd())
            .args(ARGUMENTS)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| format!("testpmd: {error}"))?;
        times.push(begin.elapsed().as_secs_f64() * 1e3);
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || text.matches(PROMPT).count() != 1 {
            let words = String::from_utf8_lossy(&output.stderr);
            return Err(Miss::Failed(format!(
                "{}, not one prompt and success: {} {words}",
                output.status,
                session::tail(&text)
            )));
        }
    }
    session::median(&times).ok_or_else(|| Miss::Failed("no run".to_owned()))
}

fn resident(_: &Check, subject: &Subject) -> Result<f64, Miss> {
    let arguments = ARGUMENTS.map(str::to_owned);
    let mut session = Session::start(&subject.testpmd(), &arguments)?;
    session.wait_for(0, "prompt", |text| text.contains(PROMPT).then_some(()))?;
    let path = format!("/proc/{}/status", session.id());
    let status = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let kib = peak_kib(&status).ok_or_else(|| format!("{path} has no VmHWM"))?;
    session.finish()?;
    Ok(kib / 1024.0)
}

/// `VmHWM: 12345 kB`, the peak of what was resident.
fn peak_kib(status: &str) -> Option<f64> {
    status.lines().find_map(|line| {
        line.strip_prefix("VmHWM:")?
            .trim()
            .strip_suffix("kB")?
            .trim()
            .parse()
            .ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_is_read() {
        assert_eq!(
            peak_kib("Name:\ttestpmd\nVmHWM:\t   12345 kB\nVmRSS:\t 1 kB\n"),
            Some(12345.0)
        );
    }

    #[test]
    fn a_process_without_memory_has_no_peak() {
        assert_eq!(peak_kib("Name:\tkthreadd\nState:\tS\n"), None);
        assert_eq!(peak_kib("VmHWM:\tmuch kB\n"), None);
    }
}
