//! What the main job tells at the end: lines for people, none longer than 80 columns where names are short, or one JSON
//! object. What wasn't measured, because a signal came first, is left out.

use mpps_os::Signal;
use serde_json::{Value, json};

use crate::balance::Balance;
use crate::figures::Spread;
use crate::latency::Latency;
use crate::ring_loop::SIDES;
use crate::versus::{SLICE, Versus};

/// What was measured, as far as it came.
#[derive(Default)]
pub(crate) struct Findings {
    /// Rates of the loop, second by second, in Mpps.
    pub(crate) loops: Vec<f64>,
    /// Rates of the machine's ruler, in Mpps.
    pub(crate) limits: Vec<f64>,
    /// Rates of the loop over that of the ruler just before.
    pub(crate) shares: Vec<f64>,
    /// Ticks a packet at work and in all, by side.
    pub(crate) cycles: Option<[(f64, f64); 2]>,
    pub(crate) latency: Option<Latency>,
    pub(crate) balance: Option<Balance>,
    pub(crate) versus: Option<Versus>,
    /// The signal that ended it early.
    pub(crate) broken: Option<Signal>,
}

/// What the rows of the text begin with.
fn row(name: &str, text: &str) -> String {
    format!("  {name:<8} {text}\n")
}

fn range(spread: Spread) -> String {
    format!("{:.2} to {:.2}", spread.low, spread.high)
}

/// Three figures or more.
fn short(value: f64) -> String {
    let decimals = if value < 100.0 { 2 } else { 0 };
    format!("{value:.decimals$}")
}

impl Findings {
    /// For people.
    pub(crate) fn text(&self) -> String {
        [
            self.rate(),
            self.cycles(),
            self.latency(),
            self.limit(),
            self.balance(),
            self.versus(),
        ]
        .concat()
    }

    fn rate(&self) -> String {
        let Some(rate) = Spread::of(&self.loops) else {
            return String::new();
        };
        let text = format!(
            "{:.2} Mpps ({} in {} s), packets once round the loop",
            rate.median,
            range(rate),
            self.loops.len()
        );
        row("rate", &text)
    }

    fn cycles(&self) -> String {
        let Some([front, back]) = self.cycles else {
            return String::new();
        };
        let text = format!(
            "{} {:.1} of {:.1} a packet at work, {} {:.1} of {:.1}",
            SIDES[0], front.0, front.1, SIDES[1], back.0, back.1
        );
        row("cycles", &text)
    }

    fn latency(&self) -> String {
        let Some(latency) = &self.latency else {
            return String::new();
        };
        let [p50, p99, p999] = latency.micros();
        let text = format!(
            "p50 {}, p99 {}, p99.9 {} us, a lone packet once round",
            short(p50),
            short(p99),
            short(p999)
        );
        row("latency", &text)
    }

    fn limit(&self) -> String {
        let (limit, share) = (Spread::of(&self.limits), Spread::of(&self.shares));
        let text = match limit.zip(share) {
            Some((limit, share)) => format!(
                "{:.0} % ({:.0} to {:.0}) of a bare unchecked ring pair's {:.2} Mpps",
                100.0 * share.median,
                100.0 * share.low,
                100.0 * share.high,
                limit.median
            ),
            None if self.loops.is_empty() => return String::new(),
            None => "not measured: that takes two CPUs, and time on both".to_owned(),
        };
        row("limit", &text)
    }

    fn balance(&self) -> String {
        let Some(balance) = self.balance else {
            return String::new();
        };
        let Balance {
            made,
            found,
            dropped,
            sent,
            received,
        } = balance;
        row("balance", &format!("{sent} sent = {received} received;"))
            + &row(
                "",
                &format!(
                    "{made} made = {found} found whole at the end + {dropped} dropped, ring full"
                ),
            )
    }

    fn versus(&self) -> String {
        let Some(versus) = &self.versus else {
            return String::new();
        };
        let column = |who: usize| -> Vec<f64> { versus.rates.iter().map(|r| r[who]).collect() };
        let figures = (
            Spread::of(&versus.ratios()),
            Spread::of(&column(0)),
            Spread::of(&column(1)),
        );
        let (Some(ratio), Some(ours), Some(theirs)) = figures else {
            return String::new();
        };
        let text = format!(
            "{:.2} times {} ({}), {} rounds of {} s in turn",
            ratio.median,
            versus.name,
            range(ratio),
            versus.rates.len(),
            SLICE.as_secs()
        );
        row("versus", &text)
            + &row(
                "",
                &format!(
                    "ours   {:.2} Mpps ({}), {}",
                    ours.median,
                    range(ours),
                    versus.form()
                ),
            )
            + &row(
                "",
                &format!(
                    "theirs {:.2} Mpps ({}), {}",
                    theirs.median,
                    range(theirs),
                    versus.release()
                ),
            )
            + &row("", &versus.memory())
    }

    /// For programs; `scenario` is what was asked for.
    pub(crate) fn json(&self, scenario: Value) -> Value {
        let cycles = self.cycles.map(|sides| {
            let side = |(busy, all): (f64, f64)| json!({ "at_work": busy, "in_all": all });
            json!({ SIDES[0]: side(sides[0]), SIDES[1]: side(sides[1]) })
        });
        let latency = self.latency.as_ref().map(|latency| {
            let [p50, p99, p999] = latency.micros();
            json!({ "p50": p50, "p99": p99, "p99.9": p999, "packets": latency.rounds })
        });
        let balance = self.balance.map(|balance| {
            json!({
                "made": balance.made,
                "found": balance.found,
                "dropped": balance.dropped,
                "sent": balance.sent,
                "received": balance.received,
            })
        });
        json!({
            "mpps": env!("CARGO_PKG_VERSION"),
            "scenario": scenario,
            "rates_mpps": self.loops,
            "limits_mpps": self.limits,
            "shares_of_limit": self.shares,
            "cycles_a_packet": cycles,
            "latency_us": latency,
            "balance": balance,
            "versus": self.versus.as_ref().map(Versus::json),
            "broken_off": self.broken.map(|signal| signal.to_string()),
        })
    }
}

impl Versus {
    /// Ours over theirs, round by round.
    fn ratios(&self) -> Vec<f64> {
        self.rates
            .iter()
            .map(|[ours, theirs]| ours / theirs)
            .collect()
    }

    /// What of ours was measured.
    fn form(&self) -> &'static str {
        match self.ours {
            Some(_) => "two processes",
            None => "in this process",
        }
    }

    fn memory(&self) -> String {
        let options = self.memory.options().join(" ");
        match self.ours {
            Some(_) => format!("both with {options}"),
            None => format!("theirs with {options}; no testpmd is beside mpps"),
        }
    }

    fn release(&self) -> String {
        let version = self.version.as_deref().unwrap_or("version not told");
        format!("{version}, two processes")
    }

    fn json(&self) -> Value {
        json!({
            "program": self.name,
            "version": self.version,
            "ours": self.ours.as_ref().map(|path| path.display().to_string()),
            "options": self.memory.options(),
            "seconds_a_rate": SLICE.as_secs(),
            "ours_mpps": self.rates.iter().map(|rates| rates[0]).collect::<Vec<_>>(),
            "theirs_mpps": self.rates.iter().map(|rates| rates[1]).collect::<Vec<_>>(),
            "ratios": self.ratios(),
        })
    }
}

#[cfg(test)]
mod tests;
