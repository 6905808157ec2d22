//! Middle values and percentiles of what was measured.

/// Lowest, middle and highest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// Of these values; none where there are none.
    pub(crate) fn of(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (low, high) = (*sorted.first()?, *sorted.last()?);
        let upper = *sorted.get(sorted.len() / 2)?;
        let lower = *sorted.get((sorted.len() - 1) / 2)?;
        Some(Self {
            low,
            median: f64::midpoint(lower, upper),
            high,
        })
    }
}

/// The value that so many thousandths of a sorted list don't exceed (nearest rank); zero of an empty list.
pub(crate) fn permille(sorted: &[u64], permille: usize) -> u64 {
    let rank = (sorted.len() * permille).div_ceil(1000).max(1);
    sorted.get(rank - 1).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    //! Lists whose answers are known.

    use super::{Spread, permille};

    #[test]
    fn spreads_of_odd_even_and_no_values() {
        let spread = |values: &[f64]| Spread::of(values).map(|s| (s.low, s.median, s.high));
        assert_eq!(spread(&[3.0, 1.0, 2.0]), Some((1.0, 2.0, 3.0)));
        assert_eq!(spread(&[4.0, 1.0, 2.0, 3.0]), Some((1.0, 2.5, 4.0)));
        assert_eq!(spread(&[5.0]), Some((5.0, 5.0, 5.0)));
        assert_eq!(spread(&[]), None);
    }

    #[test]
    fn percentiles_by_nearest_rank() {
        let thousand: Vec<u64> = (1..=1000).collect();
        assert_eq!(permille(&thousand, 500), 500);
        assert_eq!(permille(&thousand, 990), 990);
        assert_eq!(permille(&thousand, 999), 999);
        assert_eq!(permille(&[7], 999), 7);
        assert_eq!(permille(&[1, 2, 3], 500), 2);
        assert_eq!(permille(&[], 500), 0);
    }
}
