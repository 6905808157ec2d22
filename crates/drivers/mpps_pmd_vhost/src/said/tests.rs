//! Lines that come again, and many of them.

use std::time::{Duration, Instant};

use super::{ENOUGH, MOST, QUIET, Said};

#[test]
fn the_same_line_again_is_not_said() {
    let (mut said, now) = (Said::default(), Instant::now());
    let lines = ["a", "a", "b", "a", "a"].map(|line| said.admit(line, now));
    assert_eq!(lines, [Some("a"), None, Some("b"), Some("a"), None]);
}

#[test]
fn a_series_is_cut_off_and_says_so_once() {
    let (mut said, mut now) = (Said::default(), Instant::now());
    let mut admitted = Vec::new();
    for n in 0..10 * MOST {
        now += Duration::from_millis(900);
        let line = n.to_string();
        admitted.extend(said.admit(&line, now).map(str::to_owned));
    }
    assert_eq!(admitted.len(), MOST as usize + 1);
    assert_eq!(admitted[MOST as usize - 1], (MOST - 1).to_string());
    assert_eq!(admitted[MOST as usize], ENOUGH);
    // Too soon, and that counts too.
    now += QUIET - Duration::from_millis(1);
    assert_eq!(said.admit("x", now), None);
    now += QUIET;
    assert_eq!(said.admit("y", now), Some("y"));
}
