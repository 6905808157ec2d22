//! The summary of a measurement.

use crate::bench::{Machine, Sample};

/// The first samples are left out: caches and clocks are still warming up.
const WARM_UP: usize = 2;

/// A finished measurement.
pub(crate) struct Measured {
    /// What was measured.
    pub(crate) title: &'static str,
    /// Its samples in order.
    pub(crate) samples: Vec<Sample>,
}

impl Measured {
    /// Lowest, median and highest rate of the samples, in Mpps.
    pub(crate) fn rates(&self) -> (f64, f64, f64) {
        let skip = if self.samples.len() > 2 * WARM_UP {
            WARM_UP
        } else {
            0
        };
        let mut rates: Vec<f64> = self.samples[skip..].iter().map(Sample::mpps).collect();
        rates.sort_by(f64::total_cmp);
        match (rates.first(), rates.last()) {
            (Some(low), Some(high)) => (*low, rates[rates.len() / 2], *high),
            _ => (0.0, 0.0, 0.0),
        }
    }

    /// The line of the summary.
    pub(crate) fn line(&self, machine: &Machine) -> String {
        let (low, median, high) = self.rates();
        let cycles = if median > 0.0 {
            machine.clock.hz() as f64 / (median * 1e6)
        } else {
            f64::NAN
        };
        format!(
            "  {:<24} {median:7.1} Mpps ({low:.1} to {high:.1}), {cycles:.1} cycles a packet",
            self.title
        )
    }
}

#[cfg(test)]
mod tests {
    //! Rates of known samples.

    use std::time::Duration;

    use super::{Measured, Sample};

    #[test]
    fn the_median_leaves_the_warm_up_out() {
        let sample = |packets| Sample {
            packets,
            time: Duration::from_millis(500),
        };
        let samples = [1, 1, 10, 30, 20, 50, 40]
            .map(|n| sample(n * 500_000))
            .to_vec();
        let measured = Measured {
            title: "x",
            samples,
        };
        assert_eq!(measured.rates(), (10.0, 30.0, 50.0));
        assert_eq!(
            Measured {
                title: "x",
                samples: Vec::new()
            }
            .rates(),
            (0.0, 0.0, 0.0)
        );
    }
}
