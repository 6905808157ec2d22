//! A testpmd driven through its console, and the packet rate it reaches. A session owns its process: it ends it when
//! dropped. Used by `check` and `bench`; scripts of users drive the program in the same way.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long any single answer of the console may take.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often the output is looked at while waiting.
const POLL: Duration = Duration::from_millis(2);

/// A running testpmd.
pub(crate) struct Session {
    child: Child,
    input: Option<ChildStdin>,
    text: Arc<Mutex<String>>,
}

/// One thing to measure: what to start, and which counter is the rate.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    pub(crate) lcores: &'static str,
    pub(crate) vdevs: &'static [&'static str],
    pub(crate) arguments: &'static [&'static str],
    pub(crate) start: &'static str,
    pub(crate) counter: Counter,
}

/// The counter whose growth is the packet rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counter {
    Received,
    Sent,
}

impl Counter {
    fn label(self) -> &'static str {
        match self {
            Self::Received => "RX-packets:",
            Self::Sent => "TX-packets:",
        }
    }
}

impl Session {
    /// Starts the program with a console on pipes.
    pub(crate) fn start(program: &Path, arguments: &[String]) -> Result<Self, String> {
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}", program.display()))?;
        let text = Arc::new(Mutex::new(String::new()));
        if let Some(pipe) = child.stdout.take() {
            collect(pipe, &text);
        }
        if let Some(pipe) = child.stderr.take() {
            collect(pipe, &text);
        }
        let input = child.stdin.take();
        Ok(Self { child, input, text })
    }

    /// Types a line; returns where in the output its answer can start.
    pub(crate) fn say(&mut self, line: &str) -> Result<usize, String> {
        let at = self.text().len();
        let input = self.input.as_mut().ok_or("the console's input is closed")?;
        input
            .write_all(format!("{line}\n").as_bytes())
            .map_err(|error| self.last_words(&error.to_string()))?;
        Ok(at)
    }

    /// Waits until `found` finds what it looks for in the output from `at` on.
    pub(crate) fn wait_for<T>(
        &mut self,
        at: usize,
        what: &str,
        found: impl Fn(&str) -> Option<T>,
    ) -> Result<T, String> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            // Asked before the output is read, so that the last words of a process that ends are still looked at.
            let ended = self
                .child
                .try_wait()
                .map_err(|error| error.to_string())?
                .is_some();
            if let Some(value) = self.text().get(at..).and_then(&found) {
                return Ok(value);
            }
            if ended {
                break;
            }
            thread::sleep(POLL);
        }
        Err(self.last_words(&format!("no {what}")))
    }

    /// The sum of one counter over all ports, and when it was asked for.
    pub(crate) fn counter(
        &mut self,
        ports: usize,
        counter: Counter,
    ) -> Result<(Instant, u64), String> {
        let at = self.say("show port stats all")?;
        let now = Instant::now();
        let sum = self.wait_for(at, "statistics", |text| port_counters(text, ports, counter))?;
        Ok((now, sum))
    }

    /// Everything that was printed so far.
    pub(crate) fn text(&self) -> String {
        self.text
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// The process, for a look into /proc.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends the input and waits for the process.
    pub(crate) fn finish(mut self) -> Result<(), String> {
        self.input = None;
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Some(status) = self.child.try_wait().map_err(|error| error.to_string())? {
                return if status.success() {
                    Ok(())
                } else {
                    Err(self.last_words(&status.to_string()))
                };
            }
            thread::sleep(POLL);
        }
        Err(self.last_words("still running after the end of its input"))
    }

    fn last_words(&self, why: &str) -> String {
        format!("{why}; the program's last words: {}", tail(&self.text()))
    }
}

/// The end of a long text, for messages.
pub(crate) fn tail(text: &str) -> &str {
    let from = text.char_indices().rev().nth(600).map_or(0, |(at, _)| at);
    text[from..].trim()
}

impl Drop for Session {
    fn drop(&mut self) {
        if !matches!(self.child.try_wait(), Ok(Some(_))) {
            self.child.kill().and_then(|()| self.child.wait()).ok();
        }
    }
}

fn collect(mut pipe: impl Read + Send + 'static, text: &Arc<Mutex<String>>) {
    let text = Arc::clone(text);
    thread::spawn(move || {
        let mut chunk = [0; 65536];
        while let Ok(length) = pipe.read(&mut chunk) {
            if length == 0 {
                break;
            }
            let words = String::from_utf8_lossy(&chunk[..length]).into_owned();
            text.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push_str(&words);
        }
    });
}

/// Sum of a counter over `ports` complete statistics blocks; none while they are still being printed.
fn port_counters(text: &str, ports: usize, counter: Counter) -> Option<u64> {
    let (mut sum, mut complete, mut value) = (0, 0, None);
    for line in text.lines() {
        if line.contains("NIC statistics for port") {
            value = None;
        } else if let Some((_, rest)) = line.split_once(counter.label()) {
            value = value.or(rest
                .split_whitespace()
                .next()
                .and_then(|word| word.parse::<u64>().ok()));
        } else if line.trim().len() >= 60 && line.trim().bytes().all(|byte| byte == b'#') {
            sum += value.take()?;
            complete += 1;
        }
    }
    (complete >= ports).then_some(sum)
}

/// Rate of a scenario in million packets per second, from the program's own counters over our clock.
pub(crate) fn rate(program: &Path, scenario: &Scenario, time: Duration) -> Result<f64, String> {
    let mut arguments: Vec<String> = ["--in-memory", "--no-pci", "--lcores", scenario.lcores]
        .map(str::to_owned)
        .into();
    for vdev in scenario.vdevs {
        arguments.extend(["--vdev".to_owned(), (*vdev).to_owned()]);
    }
    arguments.extend(["--no-telemetry", "--", "-i"].map(str::to_owned));
    arguments.extend(
        scenario
            .arguments
            .iter()
            .map(|&argument| argument.to_owned()),
    );
    let mut session = Session::start(program, &arguments)?;
    session.wait_for(0, "prompt", |text| text.contains("testpmd> ").then_some(()))?;
    session.say(scenario.start)?;
    thread::sleep(Duration::from_millis(500));
    let (first_time, first) = session.counter(scenario.vdevs.len(), scenario.counter)?;
    thread::sleep(time);
    let (last_time, last) = session.counter(scenario.vdevs.len(), scenario.counter)?;
    session.say("stop")?;
    session.say("quit")?;
    session.finish()?;
    if last <= first {
        return Err(format!(
            "{}: no packet moved in {} s",
            scenario.name,
            time.as_secs_f64()
        ));
    }
    Ok((last - first) as f64 / (last_time - first_time).as_secs_f64() / 1e6)
}

/// Middle value; none of an empty list.
pub(crate) fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        length if length % 2 == 1 => Some(sorted[middle]),
        _ => Some((sorted[middle - 1] + sorted[middle]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(port: usize, received: &str) -> String {
        format!(
            "\n  ######################## NIC statistics for port {port}  ########################\n  \
             RX-packets: {received} RX-missed: 0          RX-bytes:  640\n  RX-errors: 0\n  RX-nombuf:  0\n  \
             TX-packets: 7          TX-errors: 0          TX-bytes:  0\n\n  Throughput (since last show)\n  \
             Rx-pps:            0          Rx-bps:            0\n  {}\n",
            "#".repeat(76)
        )
    }

    #[test]
    fn counters_are_summed_over_ports() {
        let text = block(0, "10") + &block(1, "32");
        assert_eq!(port_counters(&text, 2, Counter::Received), Some(42));
        assert_eq!(port_counters(&text, 2, Counter::Sent), Some(14));
    }

    #[test]
    fn half_a_block_is_no_answer() {
        let text = block(0, "10") + &block(1, "32");
        assert_eq!(
            port_counters(&text[..text.len() - 40], 2, Counter::Received),
            None
        );
        assert_eq!(port_counters(&block(0, "many"), 1, Counter::Received), None);
        assert_eq!(port_counters("", 1, Counter::Received), None);
    }

    #[test]
    fn medians() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }
}
