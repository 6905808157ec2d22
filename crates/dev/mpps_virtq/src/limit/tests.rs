//! The rulers move packets; how fast is for `cargo xtask bench`.

use std::time::Duration;

use mpps_cpu::current_affinity;

use super::{LimitError, Ruler};

/// Two CPUs of this machine, or none.
fn two() -> Option<[usize; 2]> {
    let cpus = current_affinity().expect("every kernel says so");
    let mut cpus = cpus.iter();
    Some([cpus.next()?, cpus.next()?])
}

/// A busy machine may starve a short run; a longer one moves something.
fn moves(ruler: impl Fn(&Ruler) -> Result<f64, LimitError>, bytes: usize) -> bool {
    let Some(cpus) = two() else { return true };
    [20, 200, 5000].into_iter().any(|millis| {
        let time = Duration::from_millis(millis);
        let rate = Ruler::new(bytes, cpus, time).and_then(|one| ruler(&one));
        matches!(rate, Ok(rate) if rate > 0.0)
    })
}

#[test]
fn both_rulers_move_packets_of_every_size() {
    for bytes in [64, 65, 512, 1518] {
        assert!(moves(Ruler::virtqueues, bytes), "loop, {bytes} bytes");
        assert!(moves(Ruler::echo, bytes), "echo, {bytes} bytes");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let time = Duration::from_millis(1);
    assert!(matches!(
        Ruler::new(63, [0, 1], time),
        Err(LimitError::Bytes(63))
    ));
    assert!(matches!(
        Ruler::new(1519, [0, 1], time),
        Err(LimitError::Bytes(1519))
    ));
    assert!(matches!(
        Ruler::new(64, [1, 1], time),
        Err(LimitError::SameCpu(1))
    ));
}

#[test]
fn a_cpu_that_is_not_there_is_an_error() {
    let ruler = Ruler::new(64, [0, 900], Duration::from_millis(5)).expect("sizes fit");
    assert!(matches!(ruler.virtqueues(), Err(LimitError::Affinity(_))));
}
