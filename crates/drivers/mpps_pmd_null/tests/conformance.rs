//! The null port against the promises of every port.
#![forbid(unsafe_code)]

use mpps_dev::conformance::{Facts, Source, Subject, run};
use mpps_pmd_null::Null;

/// Names of the scenarios that don't apply.
fn skipped(device: &str, source: Source) -> Vec<&'static str> {
    let subject = Subject {
        driver: &Null,
        peer: None,
        devices: &|| vec![device.to_owned()],
        facts: Facts {
            source,
            queues: 3,
            ..Facts::SINK
        },
    };
    let skipped = run(&subject).unwrap();
    skipped.iter().map(|skipped| skipped.scenario).collect()
}

/// Nothing comes in again, nothing is ever left over, there is no peer.
const NEVER: [&str; 3] = [
    "order is kept",
    "leftovers stay the caller's, in order",
    "the peer vanishes",
];

#[test]
fn plain() {
    assert_eq!(skipped("net_null0", Source::Made), NEVER);
}

#[test]
fn copying() {
    assert_eq!(skipped("net_null0,copy=1,size=1500", Source::Made), NEVER);
}

#[test]
fn empty_packets() {
    assert_eq!(skipped("eth_null0,size=0", Source::Made), NEVER);
}

#[test]
fn sending_only() {
    assert_eq!(
        skipped("net_null0,no-rx=1", Source::Nothing),
        [
            "order is kept",
            "leftovers stay the caller's, in order",
            "a dry pool loses nothing",
            "the peer vanishes",
        ]
    );
}
