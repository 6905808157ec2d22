//! The project's own ruler against one handed in from outside, so that "our share of the limit" means something.

use std::env;
use std::path::PathBuf;

use super::{Bound, Check, Miss, Plant, Subject};
use crate::{limit, session};

pub(super) const CHECKS: &[Check] = &[Check {
    name: "limit-loop",
    proves: "the ruler of `bench` finds at least 95 % of what the outside one (MPPS_WALL) does, 64 bytes, median of seven pairs in turn",
    bound: Bound::AtLeast(0.95, "x"),
    run: against_the_wall,
    plant: Plant::Expectation,
}];

const PAIRS: usize = 7;
const BYTES: usize = 64;

fn against_the_wall(_: &Check, subject: &Subject) -> Result<f64, Miss> {
    let Some(wall) = env::var_os("MPPS_WALL").map(PathBuf::from) else {
        return Err(Miss::Skipped(
            "MPPS_WALL doesn't name the built ruler to compare with".to_owned(),
        ));
    };
    if !wall.is_file() {
        return Err(Miss::Failed(format!(
            "MPPS_WALL: there is no program '{}'",
            wall.display()
        )));
    }
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return Err(Miss::Skipped("one CPU only".to_owned()));
    }
    let ours = limit::program(&subject.workspace)?;
    let mut ratios = Vec::new();
    for pair in 0..PAIRS {
        // In turn; both take the best of three runs.
        let mut rates = [0.0f64; 2];
        let order = if pair % 2 == 0 { [0, 1] } else { [1, 0] };
        for which in order {
            rates[which] = if which == 0 {
                best_of_three(&ours)?
            } else {
                limit::measure(&wall, BYTES)?.pair
            };
        }
        println!(
            "limit-loop: {:.2} Mpps, outside {:.2} Mpps",
            rates[0], rates[1]
        );
        ratios.push(rates[0] / rates[1]);
    }
    let median = session::median(&ratios).ok_or_else(|| Miss::Failed("no pair".to_owned()))?;
    // The fault that is planted: a ruler a tenth too short.
    Ok(if subject.planted {
        median.min(1.0) * 0.9
    } else {
        median
    })
}

fn best_of_three(program: &std::path::Path) -> Result<f64, String> {
    let mut best = 0.0f64;
    for _ in 0..3 {
        best = best.max(limit::measure(program, BYTES)?.pair);
    }
    Ok(best)
}
