//! One of our ports with one of DPDK's at the other end, against DPDK at both ends. Ratios only, as in `speed`.

use std::fs;

use serde_json::Value;

use super::planted::Folder;
use super::{Bound, Check, Miss, Subject, speed};
use crate::session;

pub(super) const CHECKS: &[Check] = &[
    Check {
        name: "speed-our-vhost",
        proves: "our vhost with DPDK's virtio-user: at least 1.3 times the rate of DPDK 22.11 at both ends",
        bound: Bound::AtLeast(1.3, "x"),
        run: |_, subject| against_both(subject, "B+A"),
        plant: speed::SLOW,
    },
    Check {
        name: "speed-our-virtio-user",
        proves: "our virtio-user with DPDK's vhost: at least the rate of DPDK 22.11 at both ends",
        bound: Bound::AtLeast(1.0, "x"),
        run: |_, subject| against_both(subject, "A+B"),
        plant: speed::SLOW,
    },
];

const SCENARIO: &str = "vhost-virtio-io";

/// Median over the rounds of one kind's rate, virtio-user named first, to that of `B`. A round that failed would set the
/// lists against each other by one, so that the whole check fails with it.
fn against_both(subject: &Subject, kind: &str) -> Result<f64, Miss> {
    let folder = Folder::new("mixed")?;
    let file = folder.path().join("duel.json");
    let path = file.display().to_string();
    let output = speed::run_script(subject, SCENARIO, &["--mixed", "--json", &path])?;
    if !output.status.success() {
        return Err(Miss::Failed("a run failed".to_owned()));
    }
    let text = fs::read_to_string(&file).map_err(|error| format!("{path}: {error}"))?;
    median_ratio(&text, kind)
        .ok_or_else(|| Miss::Failed(format!("no rates of {kind} in what the duel wrote: {text}")))
}

fn median_ratio(text: &str, kind: &str) -> Option<f64> {
    let (ours, theirs) = (rates(text, kind)?, rates(text, "B")?);
    if ours.len() != theirs.len() {
        return None;
    }
    let ratios: Vec<f64> = ours.iter().zip(&theirs).map(|(a, b)| a / b).collect();
    session::median(&ratios)
}

/// What the duel's file says of this kind.
fn rates(text: &str, kind: &str) -> Option<Vec<f64>> {
    let written: Value = serde_json::from_str(text).ok()?;
    let list = written.get("mpps")?.get(kind)?.as_array()?;
    list.iter().map(Value::as_f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = r#"{
 "a": "testpmd",
 "b": "dpdk-testpmd",
 "mpps": { "A": [9.0, 9.0, 9.0], "B": [
   2.0,
   4.0,
   5.0
  ], "A+B": [4.0, 4.0, 20.0], "B+A": [1.0, 2.0] }
}"#;

    #[test]
    fn rounds_are_set_against_each_other() {
        assert_eq!(median_ratio(WRITTEN, "A+B"), Some(2.0));
    }

    #[test]
    fn lists_of_different_lengths_or_none_are_no_ratio() {
        assert_eq!(median_ratio(WRITTEN, "B+A"), None);
        assert_eq!(median_ratio(WRITTEN, "C"), None);
        assert_eq!(median_ratio("", "A+B"), None);
    }
}
