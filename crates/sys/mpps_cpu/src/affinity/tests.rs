use super::{AffinityError, current_affinity, pin_current_thread};
use crate::CpuSet;

#[test]
fn a_thread_can_be_pinned_and_says_so() {
    let all = current_affinity().unwrap();
    assert!(!all.is_empty());
    let one: CpuSet = all.first().into_iter().collect();
    let pinned = std::thread::spawn(move || {
        pin_current_thread(&one).unwrap();
        (one, current_affinity().unwrap())
    });
    let (one, seen) = pinned.join().unwrap();
    assert_eq!(one, seen);
    assert_eq!(
        current_affinity().unwrap(),
        all,
        "the other threads are left alone"
    );
}

#[test]
fn a_high_cpu_beside_an_allowed_one_is_fine() {
    let mut cpus: CpuSet = current_affinity().unwrap().first().into_iter().collect();
    cpus.insert(5000);
    std::thread::spawn(move || pin_current_thread(&cpus).unwrap())
        .join()
        .unwrap();
}

#[test]
fn the_refusal_names_what_is_allowed() {
    let allowed = current_affinity().unwrap();
    let error = pin_current_thread(&CpuSet::from_iter([60_000])).unwrap_err();
    assert!(matches!(error, AffinityError::NotAllowed { .. }));
    let text = format!("cannot pin a thread to CPU 60000: this process may use CPU {allowed}");
    assert_eq!(error.to_string(), text);
    assert!(matches!(
        pin_current_thread(&CpuSet::new()),
        Err(AffinityError::Empty)
    ));
}
