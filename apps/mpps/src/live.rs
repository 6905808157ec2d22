//! The live line: overwritten in place on a terminal, one line a second elsewhere.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::bench::{Bench, Sample};

/// Width of the bar.
const BAR: usize = 20;

/// Time between two lines that stay, a little less than a second so that none falls out.
const PERIOD: Duration = Duration::from_millis(900);

/// Time between two looks at the counters.
const STEP: Duration = Duration::from_millis(250);

/// Watches a bench for `time` and returns a sample for each step.
pub(crate) fn watch(bench: &mut Bench, title: &str, time: Duration) -> Vec<Sample> {
    let mut line = Line::new();
    let (start, mut samples) = (Instant::now(), Vec::new());
    let mut most = 0.0_f64;
    while start.elapsed() < time {
        std::thread::sleep(
            STEP.min(time.saturating_sub(start.elapsed()))
                .max(Duration::from_millis(1)),
        );
        let sample = bench.sample();
        most = most.max(sample.mpps());
        let share = if most > 0.0 {
            sample.mpps() / most
        } else {
            0.0
        };
        line.show(
            title,
            sample.mpps(),
            share,
            &left(time.saturating_sub(start.elapsed())),
        );
        samples.push(sample);
    }
    line.end();
    samples
}

/// Clears what stands right of the cursor.
const CLEAR: &str = "\x1b[K";

/// The time to come as the line has it.
pub(crate) fn left(time: Duration) -> String {
    format!("{:.0} s left", time.as_secs_f64())
}

/// The line; printed by whoever measures.
pub(crate) struct Line {
    terminal: bool,
    last: Option<Instant>,
}

impl Line {
    pub(crate) fn new() -> Self {
        Self {
            terminal: io::stderr().is_terminal(),
            last: None,
        }
    }

    /// Shows a rate, its share of the highest one and what is to come, on less than 80 columns.
    pub(crate) fn show(&mut self, title: &str, mpps: f64, share: f64, left: &str) {
        let due = self.last.is_none_or(|last| last.elapsed() >= PERIOD);
        if due {
            self.last = Some(Instant::now());
        }
        let bar = "#".repeat((share * BAR as f64).round() as usize);
        let text = format!("  {title:<24.24} {mpps:8.2} Mpps [{bar:<BAR$}] {left}");
        // The line is for a human who may have gone: whether it can be written changes nothing.
        let _ = match self.terminal {
            true => write!(io::stderr(), "\r{text}{CLEAR}"),
            false if due => writeln!(io::stderr(), "{text}"),
            false => Ok(()),
        };
    }

    /// Leaves the place to what comes next.
    pub(crate) fn end(self) {}
}

impl Drop for Line {
    fn drop(&mut self) {
        if self.terminal {
            let _ = write!(io::stderr(), "\r{CLEAR}");
        }
    }
}
