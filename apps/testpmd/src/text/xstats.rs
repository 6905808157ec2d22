//! `show port xstats`, its three switches, and the rates of `--display-xstats`.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::nic_stats::a_second;

/// One extended counter of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Xstat<'a> {
    /// The counter's name.
    pub name: &'a str,
    /// Its value now.
    pub value: u64,
    /// Whether the counter is switched on; `None` for a counter that has no switch, which is the rule.
    pub enabled: Option<bool>,
}

/// The switches `set xstats-hide-zero|hide-disabled|show-state`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct XstatsOptions {
    /// Leave out counters that are 0.
    pub hide_zero: bool,
    /// Leave out counters that are switched off.
    pub hide_disabled: bool,
    /// Write the state in front of each.
    pub show_state: bool,
}

/// The block of `show port xstats`: basic counters first, then per queue, then the driver's own, in the driver's order.
#[derive(Debug, Clone, Copy)]
pub struct Xstats<'a> {
    /// The port's number.
    pub port: u16,
    /// The counters; `None` where the port can't name them yet (a vhost port before its first peer). The app then adds
    /// [`Refusal::NoXstats`](super::Refusal::NoXstats) on standard error.
    pub counters: Option<&'a [Xstat<'a>]>,
    /// The switches.
    pub options: XstatsOptions,
}

impl fmt::Display for Xstats<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "###### NIC extended statistics for port {:<2}",
            self.port
        )?;
        self.counters
            .unwrap_or_default()
            .iter()
            .try_for_each(|counter| self.row(f, counter))
    }
}

impl Xstats<'_> {
    fn row(&self, f: &mut fmt::Formatter<'_>, counter: &Xstat<'_>) -> fmt::Result {
        let hidden = (self.options.hide_zero && counter.value == 0)
            || (self.options.hide_disabled && counter.enabled == Some(false));
        if hidden {
            return Ok(());
        }
        if self.options.show_state {
            let state = match counter.enabled {
                Some(true) => 'E',
                Some(false) => 'D',
                None => '-',
            };
            write!(f, "state: {state}\t")?;
        }
        writeln!(f, "{}: {}", counter.name, counter.value)
    }
}

/// A row of the table that `--display-xstats` adds to `show port stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct XstatRate<'a> {
    /// The counter's name.
    pub name: &'a str,
    /// Its value now.
    pub value: u64,
    /// Its growth a second since the last show.
    pub rate: u64,
}

/// Rows of that table, in the order of the option.
pub type XstatTable<'a> = Vec<XstatRate<'a>>;

/// What the last show saw of the counters that `--display-xstats` named. One a port, owned by the app.
#[derive(Debug, Clone, Default)]
pub struct XstatRates {
    last: Option<Duration>,
    seen: BTreeMap<String, u64>,
}

impl XstatRates {
    /// The rows for `wanted`, of those that `counters` has; the first call has rates of 0.
    pub fn rows<'a>(
        &mut self,
        now: Duration,
        wanted: &[String],
        counters: &[Xstat<'a>],
    ) -> XstatTable<'a> {
        let elapsed = self
            .last
            .map_or(Duration::ZERO, |last| now.saturating_sub(last));
        self.last = Some(now);
        let named = |name: &String| {
            counters
                .iter()
                .find(|counter| counter.name == name.as_str())
        };
        wanted
            .iter()
            .filter_map(named)
            .map(|counter| self.row(counter, elapsed))
            .collect()
    }

    fn row<'a>(&mut self, counter: &Xstat<'a>, elapsed: Duration) -> XstatRate<'a> {
        let before = self
            .seen
            .insert(counter.name.to_owned(), counter.value)
            .unwrap_or(counter.value);
        let rate = a_second(counter.value.saturating_sub(before), elapsed);
        XstatRate {
            name: counter.name,
            value: counter.value,
            rate,
        }
    }
}

#[cfg(test)]
#[path = "xstats_tests.rs"]
mod tests;
