//! Rates by way, size, kind and round, as text and as JSON.

use mpps_kernels::Copier;
use serde_json::{Map, Value, json};

use super::{SLICE, WAYS};
use crate::figures::Spread;

/// The rates of one kind at one size: by way, round after round.
type Cell = [Vec<f64>; WAYS.len()];

/// All rates.
pub(super) struct Table {
    kinds: Vec<&'static str>,
    sizes: Vec<u16>,
    /// By size, then by kind.
    cells: Vec<Vec<Cell>>,
    /// Rounds that are complete.
    rounds: usize,
}

impl Table {
    pub(super) fn new(kinds: &[(&'static str, Copier)], sizes: &[u16]) -> Self {
        Self::of(kinds.iter().map(|(name, _)| *name).collect(), sizes)
    }

    pub(super) fn of(kinds: Vec<&'static str>, sizes: &[u16]) -> Self {
        Self {
            cells: vec![vec![Cell::default(); kinds.len()]; sizes.len()],
            kinds,
            sizes: sizes.to_vec(),
            rounds: 0,
        }
    }

    /// Adds the rates of a round.
    pub(super) fn add(&mut self, row: usize, column: usize, rates: [f64; WAYS.len()]) {
        if let Some(cell) = self.cells.get_mut(row).and_then(|row| row.get_mut(column)) {
            for (list, rate) in cell.iter_mut().zip(rates) {
                list.push(rate);
            }
        }
    }

    /// From now on the round counts.
    pub(super) fn close_round(&mut self) {
        self.rounds += 1;
    }

    /// The highest rate round the loop at this size so far.
    pub(super) fn most(&self, row: usize) -> f64 {
        let cells = self.cells.get(row).into_iter().flatten();
        cells.flat_map(|cell| &cell[0]).copied().fold(0.0, f64::max)
    }

    /// The rates of complete rounds of a row, by kind.
    fn row(&self, row: usize, way: usize) -> Vec<&[f64]> {
        let cells = self.cells.get(row).into_iter().flatten();
        cells
            .map(|cell| cell[way].get(..self.rounds).unwrap_or_default())
            .collect()
    }

    /// Tables of text, one a way, none wider than 80 columns with the five kinds that there are.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (way, (_, says, _)) in WAYS.iter().enumerate() {
            let heads: String = self
                .kinds
                .iter()
                .map(|kind| format!("{kind:>13}"))
                .collect();
            text += &format!("\n  {says}\n  bytes{heads}  spread\n");
            for (row, size) in self.sizes.iter().enumerate() {
                text += &line(*size, &self.row(row, way));
            }
        }
        text
    }

    /// Every rate of complete rounds.
    pub(super) fn json(&self, ring: &str, auto: &str) -> Value {
        let ways = WAYS.iter().enumerate().map(|(way, (.., name))| {
            let sizes = self.sizes.iter().enumerate().map(|(row, size)| {
                let rates = self.row(row, way);
                let kinds = self.kinds.iter().zip(rates);
                let kinds = kinds.map(|(kind, rates)| ((*kind).to_owned(), json!(rates)));
                (size.to_string(), Value::Object(kinds.collect()))
            });
            ((*name).to_owned(), Value::Object(sizes.collect()))
        });
        json!({
            "mpps": env!("CARGO_PKG_VERSION"),
            "ring": ring,
            "auto": auto,
            "rounds": self.rounds,
            "milliseconds_a_rate": SLICE.as_millis() as u64,
            "rates_mpps": ways.collect::<Map<_, _>>(),
        })
    }
}

/// A line of a table: median and share of the best by kind, the widest spread.
fn line(size: u16, rates: &[&[f64]]) -> String {
    let shares = shares(rates);
    let cells = rates
        .iter()
        .zip(shares)
        .map(|(rates, share)| match Spread::of(rates) {
            Some(spread) => format!("{:8.2} {share:4.2}", spread.median),
            None => format!("{:>13}", "-"),
        });
    let spreads = rates.iter().filter_map(|rates| Spread::of(rates));
    let widest = spreads.map(|spread| 100.0 * (spread.high - spread.low) / spread.median);
    format!(
        "  {size:>5}{}{:>6.0} %\n",
        cells.collect::<String>(),
        widest.fold(0.0, f64::max)
    )
}

/// Each kind's share of the best. A round's rates are held against each other, not against those of other rounds: the
/// machine may have changed its pace in between.
pub(super) fn shares(rates: &[&[f64]]) -> Vec<f64> {
    let rounds = rates.iter().map(|rates| rates.len()).min().unwrap_or(0);
    let best: Vec<f64> = (0..rounds)
        .map(|round| rates.iter().map(|rates| rates[round]).fold(0.0, f64::max))
        .collect();
    let middle = |rates: &&[f64]| {
        let shares: Vec<f64> = rates
            .iter()
            .zip(&best)
            .map(|(rate, best)| rate / best)
            .collect();
        Spread::of(&shares).map_or(0.0, |spread| spread.median)
    };
    let middles: Vec<f64> = rates.iter().map(middle).collect();
    let most = middles.iter().copied().fold(0.0, f64::max);
    middles.iter().map(|middle| middle / most).collect()
}
