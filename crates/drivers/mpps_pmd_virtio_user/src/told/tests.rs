//! Once a line, and not for ever.

use super::{ENOUGH, MOST, Told};

#[test]
fn a_line_is_said_once_until_forgotten() {
    let mut told = Told::default();
    for _ in 0..2 {
        assert!(told.is_empty());
        assert_eq!(told.admit("a".to_owned()).as_deref(), Some("a"));
        assert_eq!(told.admit("a".to_owned()), None);
        assert_eq!(told.admit("b".to_owned()).as_deref(), Some("b"));
        assert_eq!(told.admit("a".to_owned()), None);
        assert!(!told.is_empty());
        told.forget();
    }
}

#[test]
fn new_lies_come_to_an_end() {
    let mut told = Told::default();
    let said: Vec<_> = (0..1000)
        .filter_map(|n| told.admit(n.to_string()))
        .collect();
    assert_eq!(said.len(), MOST + 1);
    assert_eq!(said[MOST], ENOUGH);
}
